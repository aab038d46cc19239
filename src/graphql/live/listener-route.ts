import type { ListenerRoute } from '../../informer/delivery/route.ts'
import { type Condition, namespacesOf } from '../../query/condition/condition.ts'

/**
 * What has to be heard of to follow a condition, where that is less than everything: what can be told from the name and namespace
 * of an object, which never change.
 */
export function listenerRoute(condition: Condition): ListenerRoute | undefined {
  const keys = keysOf(condition)
  if (keys !== undefined) return { keys }
  const namespaces = namespacesOf(condition)
  return namespaces === undefined ? undefined : { index: 'namespace', values: namespaces }
}

function keysOf(condition: Condition): readonly string[] | undefined {
  if (condition.form === 'keys') return condition.keys
  if (condition.form !== 'and') return undefined
  return condition.conditions.find((one) => one.form === 'keys')?.keys
}

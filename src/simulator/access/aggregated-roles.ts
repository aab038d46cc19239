import { labelSelectorOf, matchesLabels } from '../../kubernetes/label-selector.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { isJsonObject } from '../../lib/json.ts'
import { equalJson } from '../api/json.ts'
import type { Storage } from '../storage/storage.ts'
import { onRbacChange, rbacResources, rulesOf } from './rbac-objects.ts'

type Selector = Parameters<typeof labelSelectorOf>[0]

/**
 * Gives each aggregated ClusterRole the rules of the roles that its selectors select, now and after each change, as the
 * controller manager of a real cluster does.
 */
export function aggregateRoles(storage: Storage): void {
  let running = false
  const sync = (): void => {
    // Writes of a pass call `sync` again. The loop below makes passes until nothing is left to do.
    if (running) return
    running = true
    try {
      while (aggregateOnce(storage));
    } finally {
      running = false
    }
  }
  onRbacChange(storage, sync, [rbacResources.clusterRoles])
  sync()
}

/** Writes the first role whose rules are out of date. Returns whether it wrote one. */
function aggregateOnce(storage: Storage): boolean {
  const roles = Array.from(storage.list(rbacResources.clusterRoles)).toSorted((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  )
  for (const role of roles) {
    const selectors = selectorsOf(role)?.map(labelSelectorOf)
    if (selectors === undefined) continue
    const rules = roles
      .filter(
        (other) =>
          other !== role && selectors.some((one) => matchesLabels(one, other.metadata.labels)),
      )
      .flatMap(rulesOf)
    const unique = rules.filter(
      (rule, at) => rules.findIndex((other) => equalJson(rule, other)) === at,
    )
    if (equalJson(unique, rulesOf(role))) continue
    storage.update(rbacResources.clusterRoles, { ...role, rules: unique })
    return true
  }
  return false
}

function selectorsOf(role: Unstructured): readonly Selector[] | undefined {
  const { aggregationRule: aggregation } = role
  if (!isJsonObject(aggregation)) return undefined
  return (aggregation['clusterRoleSelectors'] ?? []) as readonly Selector[]
}

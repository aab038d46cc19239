import {
  equalitySelector,
  type LabelRequirement,
  type LabelSelector,
  LabelSelectorError,
  labelSelectorOf,
} from '../../kubernetes/label-selector.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { parsePath, valueAt, valuesAt } from '../index/path.ts'
import type { SelectsRelation } from './relation-definition.ts'

/** What an object selects others by. */
export interface ObjectSelector {
  readonly labels: LabelSelector
  /** The namespaces that it reaches; `any`: all of them. */
  readonly namespaces: readonly string[] | 'any'
}

/**
 * Reads the selectors of an object; none where it selects nothing. A malformed one, which the API server would have
 * refused, selects nothing either. Throws `PathError`.
 */
export function readSelectors(
  definition: SelectsRelation,
  isNamespaced: boolean,
): (object: KubernetesObject) => readonly ObjectSelector[] {
  const path = parsePath(definition.path)
  const { selector: form, namespacesPath } = definition
  const whenAbsent: readonly LabelSelector[] = definition.whenAbsent === 'everything' ? [[]] : []
  const namespacesAt = namespacesPath === undefined ? undefined : parsePath(namespacesPath)
  return (object) => {
    const found = valuesAt(path, object)
    const labels =
      found.length === 0
        ? whenAbsent
        : found.flatMap((value) =>
            form === 'map' && isEmpty(value) ? whenAbsent : (readSelector(form, value) ?? []),
          )
    if (labels.length === 0) return []
    const said = namespacesAt === undefined ? undefined : valueAt(namespacesAt, object)
    const { namespace = '' } = object.metadata
    const namespaces = isNamespaced ? namespacesOf(said, namespace) : ('any' as const)
    return labels.map((one) => ({ labels: one, namespaces }))
  }
}

/** A list of requirements as one value, so that lists of lists stay lists of selectors. */
function readSelector(
  form: SelectsRelation['selector'],
  value: unknown,
): [LabelSelector] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (form === 'map') {
    return Object.values(value).every((one) => typeof one === 'string')
      ? [equalitySelector(value as Record<string, string>)]
      : undefined
  }
  try {
    return [labelSelectorOf(value)]
  } catch (error) {
    if (error instanceof LabelSelectorError) return undefined
    throw error
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** `{ any: true }` and `{ matchNames: [...] }`, the form of the Prometheus operator; else the own namespace. */
function namespacesOf(said: unknown, own: string): readonly string[] | 'any' {
  if (typeof said !== 'object' || said === null) return [own]
  const { any, matchNames } = said as { readonly any?: unknown; readonly matchNames?: unknown }
  if (any === true) return 'any'
  if (!Array.isArray(matchNames) || matchNames.length === 0) return [own]
  return matchNames.filter((name) => typeof name === 'string')
}

/** Whether a selector reaches a namespace; `''` is that of cluster-scoped objects. */
export function reaches({ namespaces }: ObjectSelector, namespace: string): boolean {
  return namespaces === 'any' || namespaces.includes(namespace)
}

/** A requirement that names values, of which the object must have one: the one with the fewest values. */
export function narrowestOf(
  selector: LabelSelector,
): Extract<LabelRequirement, { operator: 'in' | 'notin' }> | undefined {
  let fewest: Extract<LabelRequirement, { operator: 'in' | 'notin' }> | undefined
  for (const requirement of selector) {
    if (requirement.operator !== 'in') continue
    if (fewest === undefined || requirement.values.length < fewest.values.length) {
      fewest = requirement
    }
  }
  return fewest
}

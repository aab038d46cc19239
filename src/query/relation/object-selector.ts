import {
  equalitySelector,
  type LabelRequirement,
  type LabelSelector,
  LabelSelectorError,
  labelSelectorOf,
  matchesLabels,
} from '../../kubernetes/label-selector.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { parsePath, valueAt, valuesAt } from '../index/path.ts'
import type { SelectsRelation } from './relation-definition.ts'

/** What an object selects others by. */
export interface ObjectSelector {
  readonly labels: LabelSelector
  /** The namespaces that it reaches; `any`: all of them, `labels`: those with such labels. */
  readonly namespaces: readonly string[] | 'any' | { readonly labels: LabelSelector }
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
  const { selector: form, namespacesPath, namespaceLabelsPath } = definition
  const whenAbsent: readonly LabelSelector[] = definition.whenAbsent === 'everything' ? [[]] : []
  const namespacesAt = namespacesPath === undefined ? undefined : parsePath(namespacesPath)
  const labelsAt = namespaceLabelsPath === undefined ? undefined : parsePath(namespaceLabelsPath)
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
    const own = isNamespaced ? namespacesOf(said, namespace) : ('any' as const)
    const byLabels = labelsAt === undefined ? undefined : valueAt(labelsAt, object)
    const namespaces = byLabels === undefined ? own : labelledNamespaces(byLabels)
    if (namespaces === undefined) return []
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

/** The namespaces with labels that a label selector selects; of a malformed one, none. */
function labelledNamespaces(value: unknown): ObjectSelector['namespaces'] | undefined {
  const [labels] = readSelector('labelSelector', value) ?? []
  if (labels === undefined) return undefined
  return labels.length === 0 ? 'any' : { labels }
}

/**
 * Whether a selector reaches a namespace; `''` is that of cluster-scoped objects. `labelsOf` gives the labels of the namespace;
 * `undefined` where it is not there.
 */
export function reaches(
  { namespaces }: ObjectSelector,
  namespace: string,
  labelsOf: () => Readonly<Record<string, string>> | undefined,
): boolean {
  if (namespaces === 'any') return true
  if (!('labels' in namespaces)) return namespaces.includes(namespace)
  const labels = labelsOf()
  return labels !== undefined && matchesLabels(namespaces.labels, labels)
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

/*
 * The selectors that objects have: labels as a map or as `matchLabels` and `matchExpressions`, and the namespaces that they
 * cover, by name or by label. `readSelectors` reads them. `placesOfSelector` gives the labels under which an index keeps a
 * selector, `placesOfLabels` gives the labels under which to look for the selectors of an object.
 */

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
import type { RelationBase } from './relation.ts'
import type { TemplateRelation } from './template-labels.ts'

/** The object selects others of its namespace by labels: `Service.pods` by `spec.selector`. */
export interface SelectsRelation extends RelationBase {
  readonly form: 'selects'
  /** The path of the selector. With `[*]` there are several, and an object needs to match one. */
  readonly path: string
  /**
   * `map`: label values by key; an empty map selects nothing (Service). `labelSelector`: `matchLabels` and
   * `matchExpressions`; an empty object selects everything in the namespace (NetworkPolicy, PodDisruptionBudget).
   */
  readonly selector: 'map' | 'labelSelector'
  /** What an absent selector selects; default: `nothing`. */
  readonly whenAbsent?: 'nothing' | 'everything'
  /** The path of names beside the selector: with one, an absent selector selects nothing. */
  readonly unlessNamed?: string
  /** The path of `any` or `matchNames`, for selectors that cover other namespaces; absent: the object's own. */
  readonly namespacesPath?: string
  /**
   * The path of a label selector of namespaces. An empty selector covers all namespaces, an absent one the object's
   * own.
   */
  readonly namespaceLabelsPath?: string
  /** Selects objects by the labels of their pod template; absent: by their own labels. */
  readonly template?: TemplateRelation
  /** False if the object does not use what it selects, so that it does not appear in its `usedBy`. */
  readonly uses?: false
}

export interface ObjectSelector {
  readonly labels: LabelSelector
  /** The namespaces that it covers. `any`: all; `labels`: those with such labels. */
  readonly namespaces: readonly string[] | 'any' | { readonly labels: LabelSelector }
}

/**
 * Reads the selectors of an object; none if it selects nothing. A malformed selector, which the API server would have
 * refused, selects nothing either. Throws `PathError`.
 */
export function readSelectors(
  definition: SelectsRelation,
  isNamespaced: boolean,
): (object: KubernetesObject) => readonly ObjectSelector[] {
  const path = parsePath(definition.path)
  const { selector: form, namespacesPath, namespaceLabelsPath } = definition
  const whenAbsent: readonly LabelSelector[] = definition.whenAbsent === 'everything' ? [[]] : []
  const namesAt =
    definition.unlessNamed === undefined ? undefined : parsePath(definition.unlessNamed)
  const namespacesAt = namespacesPath === undefined ? undefined : parsePath(namespacesPath)
  const labelsAt = namespaceLabelsPath === undefined ? undefined : parsePath(namespaceLabelsPath)
  return (object) => {
    const found = valuesAt(path, object)
    const labels =
      found.length === 0
        ? namesAt !== undefined && valuesAt(namesAt, object).length > 0
          ? []
          : whenAbsent
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

/** Returns a list of requirements as one value, so that several selectors make a list of lists. */
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

/**
 * `{ any: true }` and `{ matchNames: [...] }`, the form of the Prometheus operator; else the object's own namespace.
 */
function namespacesOf(said: unknown, own: string): readonly string[] | 'any' {
  if (typeof said !== 'object' || said === null) return [own]
  const { any, matchNames } = said as { readonly any?: unknown; readonly matchNames?: unknown }
  if (any === true) return 'any'
  if (!Array.isArray(matchNames) || matchNames.length === 0) return [own]
  return matchNames.filter((name) => typeof name === 'string')
}

function labelledNamespaces(value: unknown): ObjectSelector['namespaces'] | undefined {
  const [labels] = readSelector('labelSelector', value) ?? []
  if (labels === undefined) return undefined
  return labels.length === 0 ? 'any' : { labels }
}

/**
 * Whether a selector covers a namespace; `''` stands for cluster-scoped objects. `labelsOf` returns the labels of the
 * namespace, or `undefined` if it does not exist.
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

/** The requirement that lists the fewest values, among those that an object must meet with one of its values. */
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

/** Stands for any namespace. No namespace has this name. */
export const anyNamespace = '*'
/** Stands for selectors that require no label value. No label key is like it. */
const anyLabel = '*'

/** A label that an object must have, or the placeholder for any. */
export type LabelPlace = readonly [key: string, value: string]

/** The labels under which a selector is indexed: an object that it selects has one of them. */
export function placesOfSelector(selector: LabelSelector): readonly LabelPlace[] {
  const { key, values } = narrowestOf(selector) ?? { key: anyLabel, values: [''] }
  return values.map((value) => [key, value])
}

/** The labels under which selectors of an object with these labels may be indexed. */
export function placesOfLabels(labels: Readonly<Record<string, string>>): readonly LabelPlace[] {
  return [[anyLabel, ''], ...Object.entries(labels)]
}

export function placeIn(namespace: string, [key, value]: LabelPlace): string {
  return `${namespace}/${key}=${value}`
}

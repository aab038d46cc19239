import type { LabelSelector } from '../../kubernetes/label-selector.ts'
import { narrowestOf } from './object-selector.ts'

/** Stands for the namespace of selectors that reach all. No namespace is called so. */
export const anyNamespace = '*'
/** Stands for the label of selectors that ask for none by its values. No label key is like it. */
const anyLabel = '*'

/** A label, or what stands for any, that an object has to have. */
export type LabelPlace = readonly [key: string, value: string]

/** The labels of which an object that a selector selects has one: selectors are looked for under these. */
export function placesOfSelector(selector: LabelSelector): readonly LabelPlace[] {
  const { key, values } = narrowestOf(selector) ?? { key: anyLabel, values: [''] }
  return values.map((value) => [key, value])
}

/** Where selectors may stand that select an object with these labels. */
export function placesOfLabels(labels: Readonly<Record<string, string>>): readonly LabelPlace[] {
  return [[anyLabel, ''], ...Object.entries(labels)]
}

/** A place in a namespace, as the value of an index. */
export function placeIn(namespace: string, [key, value]: LabelPlace): string {
  return `${namespace}/${key}=${value}`
}

/*
 * The labels of pod templates, so that a selector of pods also finds the workloads that create the pods. An index on the
 * store of the type that has the template keeps `key=value` and `key` of each label; relations with the same path share it.
 */

import type { Indexers } from '../../informer/store/store-view.ts'
import type { LabelSelector } from '../../kubernetes/label-selector.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { type Condition, hasValue, nothing } from '../condition/condition.ts'
import { type LabelConditions, selectorCondition } from '../condition/list-condition.ts'
import { parsePath, valueAt } from '../index/path.ts'
import { stemOf } from './name-template.ts'
import { originObject, type RelationOrigin } from './relation.ts'

/** Where the objects of a type hold the labels of the pods that they create. */
export interface TemplateRelation {
  /** The full name of the relation to the pods: `Service.pods`. Its indexes of selectors are used. */
  readonly as: string
  /** The path of the labels: `spec.template.metadata.labels`. */
  readonly labelsPath: string
  /** A label that each pod has besides: the name of the object, `-` and a number. */
  readonly numberedLabel?: string
  /** A label that each pod has besides, with values that only the controller knows: a hash of the template. */
  readonly addedLabel?: string
}

type Labels = Readonly<Record<string, string>>

export class TemplateLabels {
  readonly indexers: Indexers
  /** The label that the controller adds to the pods. Selectors with any of its values may match. */
  readonly addedLabel: string | undefined
  readonly #isNumbered: boolean
  readonly #index: string
  readonly #valuesOf: (object: KubernetesObject) => readonly string[]
  readonly #conditions: LabelConditions

  /** Throws `PathError`. */
  constructor({ labelsPath, numberedLabel, addedLabel = numberedLabel }: TemplateRelation) {
    const path = parsePath(labelsPath)
    this.addedLabel = addedLabel
    this.#isNumbered = numberedLabel !== undefined
    this.#index = `labels:${labelsPath}${addedLabel === undefined ? '' : `+${addedLabel}`}`
    this.#valuesOf = (object) => {
      const labels = Object.entries(valueAt(path, object) ?? {})
      if (addedLabel !== undefined) {
        labels.push([addedLabel, this.#isNumbered ? `${object.metadata.name}-#` : '#'])
      }
      return labels.flatMap(([key, value]) => [key, labelText(key, String(value))])
    }
    this.indexers = { [this.#index]: this.#valuesOf }
    this.#conditions = {
      hasAny: (key, values) =>
        hasValue(
          this.#index,
          values.map((value) => labelText(key, value)),
        ),
      exists: (key) => hasValue(this.#index, [key]),
      // Selectors of objects compare no numbers.
      test: () => nothing,
    }
  }

  /** The labels of the pods of one object. `#` stands for a number, or for the value of the added label. */
  of(origin: RelationOrigin): Labels {
    const { view, id } = origin
    const values = view.hasIndex(this.#index)
      ? view.index(this.#index).valuesOf(id)
      : this.#valuesOf(originObject(origin))
    const labels: Record<string, string> = {}
    for (const value of values) {
      const equals = value.indexOf('=')
      if (equals >= 0) labels[value.slice(0, equals)] = value.slice(equals + 1)
    }
    return labels
  }

  /** Turns a selector of pods into one of the labels that {@link of} returns. */
  selecting(selector: LabelSelector): LabelSelector {
    const added = this.addedLabel
    if (added === undefined || !selector.some(({ key }) => key === added)) return selector
    const read = (value: string): string => (this.#isNumbered ? `${stemOf(value) ?? value}#` : '#')
    return selector.flatMap((one): LabelSelector => {
      if (one.key !== added || !('values' in one)) return [one]
      // A selector that leaves out some values selects the pods with others.
      if (one.operator === 'notin') return []
      return [{ ...one, values: one.values.map(read) }]
    })
  }

  /** The objects whose templates a selector selects. */
  condition(selector: LabelSelector): Condition {
    return selectorCondition(this.selecting(selector), this.#conditions)
  }
}

/** No label key has a `=`. */
function labelText(key: string, value: string): string {
  return `${key}=${value}`
}

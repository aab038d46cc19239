import type { Indexers } from '../../informer/store/store-view.ts'
import { type KubernetesObject, splitObjectKey } from '../../kubernetes/object.ts'
import {
  equalitySelector,
  type LabelRequirement,
  type LabelSelector,
  LabelSelectorError,
  labelSelectorOf,
  matchesLabels,
} from '../../kubernetes/label-selector.ts'
import { allOf, everything, hasKey, hasValue, nothing } from '../condition/condition.ts'
import { parsePath, valueAt } from '../index/path.ts'
import {
  originObject,
  type Relation,
  type RelationContext,
  type RelationOrigin,
} from './relation.ts'
import { relationName, type ReverseRelation, type SelectsRelation } from './relation-definition.ts'
import { selectorCondition } from '../condition/selector-condition.ts'

/**
 * The indexes of the selectors of a relation on the store of the selecting type: by a label that each asks for, and by the
 * text of the selector itself, so that it can be tried without decoding its object.
 */
function selectorIndexNames(definition: SelectsRelation): { places: string; selectors: string } {
  const name = relationName(definition)
  return { places: `sel:${name}`, selectors: `selector:${name}` }
}

/** Selectors reach the objects of their own namespace; those of cluster-scoped objects, all. */
export function compileSelects(definition: SelectsRelation, context: RelationContext): Relation {
  const selectorOf = readSelector(definition)
  const isNamespaced = context.isNamespaced(definition.from)
  const { selectors } = selectorIndexNames(definition)
  /** Where the reverse is declared, the index has it at hand. */
  const known = ({ view, id }: RelationOrigin): LabelSelector | undefined => {
    const text = view.hasIndex(selectors) ? view.index(selectors).endValue(id, false) : undefined
    return text === undefined ? undefined : (JSON.parse(text) as LabelSelector)
  }
  return {
    definition,
    reads: [definition.to],
    indexers: {},
    follow(origin) {
      const selector = known(origin) ?? selectorOf(originObject(origin))
      if (selector === undefined) return nothing
      const { view, id } = origin
      return allOf([
        isNamespaced ? hasValue('namespace', view.index('namespace').valuesOf(id)) : everything,
        selectorCondition(selector),
      ])
    },
  }
}

/**
 * The objects whose selectors select this one. An index keeps each selector under a label that it asks for, so that only
 * the selectors under one of the object's own labels, and those that ask for none, have to be tried.
 */
export function compileReverseSelects(
  definition: ReverseRelation,
  selects: SelectsRelation,
  context: RelationContext,
): Relation {
  const selectorOf = readSelector(selects)
  const names = selectorIndexNames(selects)
  const isNamespaced = context.isNamespaced(selects.from)
  const indexers: Indexers = {
    [names.places](object) {
      const selector = selectorOf(object)
      return selector === undefined ? [] : placesOf(object.metadata.namespace ?? '', selector)
    },
    [names.selectors](object) {
      const selector = selectorOf(object)
      return selector === undefined ? [] : [JSON.stringify(selector)]
    },
  }
  return {
    definition,
    reads: [definition.to],
    indexers: { [definition.to]: indexers },
    follow(origin) {
      const labels = origin.view.labelsOf(origin.id)
      const { namespace } = splitObjectKey(origin.view.keyOf(origin.id))
      const selecting = origin.stores(definition.to)
      const [index, selectors] = [selecting.index(names.places), selecting.index(names.selectors)]
      const place = isNamespaced ? namespace : ''
      const keys: string[] = []
      const places = Object.entries(labels).map(([key, value]) => placeOf(place, key, value))
      for (const posting of [anywhere(place), ...places].map((one) => index.posting(one))) {
        if (posting === undefined) continue
        origin.budget.spend('examined', posting.size)
        for (const id of posting) {
          const [text = ''] = selectors.valuesOf(id)
          const selector = JSON.parse(text) as LabelSelector
          if (matchesLabels(selector, labels)) keys.push(selecting.keyOf(id))
        }
      }
      return hasKey(keys)
    },
  }
}

function placesOf(namespace: string, selector: LabelSelector): readonly string[] {
  let fewest: Extract<LabelRequirement, { operator: 'in' | 'notin' }> | undefined
  for (const requirement of selector) {
    if (requirement.operator !== 'in') continue
    if (fewest === undefined || requirement.values.length < fewest.values.length) {
      fewest = requirement
    }
  }
  if (fewest === undefined) return [anywhere(namespace)]
  const { key, values } = fewest
  return values.map((value) => placeOf(namespace, key, value))
}

const placeOf = (namespace: string, key: string, value: string) => `${namespace}/${key}=${value}`
/** No label key is `*`. */
const anywhere = (namespace: string) => `${namespace}/*`

/**
 * Reads the selector of an object; `undefined` where it selects nothing. A malformed one, which the API server would have
 * refused, selects nothing either.
 */
function readSelector(
  definition: SelectsRelation,
): (object: KubernetesObject) => LabelSelector | undefined {
  const path = parsePath(definition.path)
  const whenAbsent = definition.whenAbsent === 'everything' ? [] : undefined
  return (object) => {
    const value = valueAt(path, object)
    if (typeof value !== 'object' || value === null) return whenAbsent
    if (definition.selector === 'labelSelector') return readLabelSelector(value)
    if (Object.keys(value).length === 0) return whenAbsent
    return Object.values(value).every((one) => typeof one === 'string')
      ? equalitySelector(value as Record<string, string>)
      : undefined
  }
}

function readLabelSelector(value: object): LabelSelector | undefined {
  try {
    return labelSelectorOf(value)
  } catch (error) {
    if (error instanceof LabelSelectorError) return undefined
    throw error
  }
}

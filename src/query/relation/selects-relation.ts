import type { Indexers, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { matchesLabels } from '../../kubernetes/label-selector.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import {
  allOf,
  anyOf,
  type Condition,
  everything,
  hasKey,
  hasValue,
} from '../condition/condition.ts'
import { isInScope } from '../condition/scope.ts'
import { selectorCondition } from '../condition/selector-condition.ts'
import { anyNamespace, placeIn, placesOfLabels, placesOfSelector } from './label-places.ts'
import { type ObjectSelector, reaches, readSelectors } from './object-selector.ts'
import {
  originObject,
  type Relation,
  type RelationContext,
  type RelationOrigin,
} from './relation.ts'
import { relationName, type ReverseRelation, type SelectsRelation } from './relation-definition.ts'
import { SelectingMemo } from './selecting-memo.ts'
import { siblingsOf } from './siblings.ts'
import { visibleIds } from './visible-ids.ts'

/** The indexes of the selectors of a relation on the store of the selecting type. */
interface SelectorIndexes {
  /** By the text of the selectors themselves, so that they can be tried without decoding their object. */
  readonly selectors: string
  /** By a label, in a namespace, that each asks for. */
  readonly places: string
  /** By the key of that label: most labels of an object are asked for by nobody. */
  readonly keys: string
  readonly indexers: Indexers
}

function selectorIndexes(definition: SelectsRelation, context: RelationContext): SelectorIndexes {
  const name = relationName(definition)
  const [selectors, places, keys] = [`selector:${name}`, `sel:${name}`, `selkey:${name}`]
  const read = readSelectors(definition, context.isNamespaced(definition.from))
  return {
    selectors,
    places,
    keys,
    indexers: {
      [selectors]: (object) => read(object).map((one) => JSON.stringify(one)),
      [places]: (object) => read(object).flatMap(placesOf),
      [keys]: (object) =>
        read(object).flatMap(({ labels }) => placesOfSelector(labels).map(([key]) => key)),
    },
  }
}

/**
 * Selectors reach the objects of their own namespace, or those that they say; those of cluster-scoped objects, all. Throws
 * `PathError`.
 */
export function compileSelects(definition: SelectsRelation, context: RelationContext): Relation {
  const read = readSelectors(definition, context.isNamespaced(definition.from))
  const { selectors, indexers } = selectorIndexes(definition, context)
  const { [selectors]: valuesOf = () => [] } = indexers
  return {
    definition,
    reads: readsOf(definition, definition.to),
    indexers: {},
    shortcuts: { [definition.from]: { [selectors]: valuesOf } },
    follow(origin) {
      const { view, id } = origin
      const own = view.hasIndex(selectors)
        ? view.index(selectors).valuesOf(id).map(parsedSelector)
        : read(originObject(origin))
      return anyOf(own.map((selector) => selectedBy(selector, origin)))
    },
  }
}

/** The type whose labels some selectors ask for. */
const namespaceType = 'Namespace'

function readsOf({ namespaceLabelsPath }: SelectsRelation, to: string): readonly string[] {
  return namespaceLabelsPath === undefined ? [to] : [namespaceType, to]
}

function selectedBy({ labels, namespaces }: ObjectSelector, origin: RelationOrigin): Condition {
  return allOf([namespacesIn(namespaces, origin), selectorCondition(labels)])
}

function namespacesIn(namespaces: ObjectSelector['namespaces'], origin: RelationOrigin): Condition {
  if (namespaces === 'any') return everything
  if (!('labels' in namespaces)) return hasValue('namespace', namespaces)
  const part = origin.part(namespaceType)
  const ids = visibleIds(selectorCondition(namespaces.labels), part, origin.budget) ?? []
  return hasValue(
    'namespace',
    ids.map((id) => part.view.keyOf(id)),
  )
}

/** The labels of a namespace; `undefined` where it is not there, or not to be seen. */
function labelsOfNamespace(
  { part }: RelationOrigin,
  namespace: string,
): Readonly<Record<string, string>> | undefined {
  const { view, scope } = part(namespaceType)
  const id = view.idOf(namespace)
  return id === undefined || !isInScope(scope, namespace) ? undefined : view.labelsOf(id)
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
  const { selectors, places, keys: labelKeys, indexers } = selectorIndexes(selects, context)
  const readsLabels = selects.namespaceLabelsPath !== undefined
  const reachesFar =
    readsLabels || selects.namespacesPath !== undefined || !context.isNamespaced(selects.from)
  const last = new WeakMap<StoreView, LastSelected>()
  const memo = new SelectingMemo()
  const follow = (origin: Omit<RelationOrigin, 'object'>): Condition => {
    const { view, id, part, budget } = origin
    const { namespace } = splitObjectKey(view.keyOf(id))
    const { view: selecting, scope } = part(definition.to)
    const labels = view.labelsOf(id)
    const { resourceVersion } = selecting
    const before = last.get(selecting)
    if (
      resourceVersion !== '' &&
      before?.resourceVersion === resourceVersion &&
      before.namespace === namespace &&
      isSame(before.labels, labels)
    ) {
      return before.condition
    }
    const [byPlace, texts] = [selecting.index(places), selecting.index(selectors)]
    const asked = selecting.index(labelKeys)
    const keys: string[] = []
    const values = placesOfLabels(labels)
    budget.spend('tests', values.length)
    for (const place of values) {
      if (asked.posting(place[0]) === undefined) continue
      for (const where of reachesFar ? [namespace, anyNamespace] : [namespace]) {
        const posting = byPlace.posting(placeIn(where, place))
        if (posting === undefined) continue
        budget.spend('examined', posting.size)
        for (const candidate of posting) {
          // What may not be seen must not even be tried: that the namespace may not be read would tell that it is there.
          if (readsLabels && !isInScope(scope, selecting.keyOf(candidate))) continue
          const isMet = texts.valuesOf(candidate).some((text) => {
            const selector = parsedSelector(text)
            return (
              matchesLabels(selector.labels, labels) &&
              reaches(selector, namespace, () => labelsOfNamespace(origin, namespace))
            )
          })
          if (isMet) keys.push(selecting.keyOf(candidate))
        }
      }
    }
    const condition = hasKey(keys)
    // What the labels of namespaces say is another thing with each of their changes, and for each viewer.
    if (!readsLabels) last.set(selecting, { resourceVersion, namespace, labels, condition })
    return condition
  }
  return {
    definition,
    reads: readsOf(selects, definition.to),
    indexers: { [definition.to]: indexers },
    ofSiblings: true,
    follow,
    followAll(origin, ids) {
      const { view } = origin
      const selecting = origin.part(definition.to).view
      const found = new Set<Condition>()
      let isSibling: ((id: ObjectId) => boolean) | undefined
      for (const id of ids) {
        if (isSibling?.(id) === true) continue
        isSibling = siblingsOf(view, id)
        const find = (): Condition => follow({ ...origin, id })
        found.add(readsLabels ? find() : memo.of(selecting, view, id, find))
      }
      return anyOf([...found])
    },
  }
}

type Labels = Readonly<Record<string, string>>

/** What selects the object that was asked for last: siblings have the same labels, and are asked for one after the other. */
interface LastSelected {
  readonly resourceVersion: string
  readonly namespace: string
  readonly labels: Labels
  readonly condition: Condition
}

function isSame(labels: Labels, other: Labels): boolean {
  for (const key in labels) if (labels[key] !== other[key]) return false
  for (const key in other) if (labels[key] === undefined) return false
  return true
}

function placesOf({ labels, namespaces }: ObjectSelector): readonly string[] {
  const named = namespaces === 'any' || 'labels' in namespaces ? [anyNamespace] : namespaces
  const places = placesOfSelector(labels)
  return named.flatMap((namespace) => places.map((place) => placeIn(namespace, place)))
}

/** Selectors by their text: they come from templates, so that there are few of them. */
const parsed = new Map<string, ObjectSelector>()
const maxParsed = 10_000

function parsedSelector(text: string): ObjectSelector {
  let selector = parsed.get(text)
  if (selector === undefined) {
    if (parsed.size >= maxParsed) parsed.clear()
    parsed.set(text, (selector = JSON.parse(text) as ObjectSelector))
  }
  return selector
}

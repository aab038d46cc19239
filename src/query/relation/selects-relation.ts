/*
 * Relations by label selectors. Forwards, the selectors of an object become conditions on labels and namespaces. Backwards,
 * an index keeps each selector under a label that it requires, so only selectors under the object's own labels, and those
 * without required labels, need a test. Siblings have the same labels and pages are read again, so results are remembered.
 */

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
import { selectorCondition } from '../condition/list-condition.ts'
import {
  anyNamespace,
  type ObjectSelector,
  placeIn,
  placesOfLabels,
  placesOfSelector,
  reaches,
  readSelectors,
  type SelectsRelation,
} from './object-selector.ts'
import {
  codeOf,
  type Declaration,
  originObject,
  type Relation,
  type RelationContext,
  type RelationForm,
  relationName,
  type RelationOrigin,
  type ReverseRelation,
  siblingsOf,
} from './relation.ts'
import { parsePath } from '../index/path.ts'
import { visibleIds } from './last-steps.ts'
import { TemplateLabels, type TemplateRelation } from './template-labels.ts'
import type { HeldObject } from '../../informer/codec/object-codec.ts'

/** A selector covers its own namespace, or the ones that it names. A selector of a cluster-scoped object covers all. */
export const selectsForm: RelationForm<SelectsRelation> = {
  directives: { selects: { read: selectsOf } },
  compile: compileSelects,
  compileReverse: compileReverseSelects,
  staysInNamespace: ({ namespacesPath, namespaceLabelsPath }) =>
    namespacesPath === undefined && namespaceLabelsPath === undefined,
  words: ({ path, template }) =>
    `${template === undefined ? 'that' : 'whose pod template'} ${codeOf([path])} selects by its labels`,
  wordsBack: ({ path, template, to }) =>
    `whose ${codeOf([path])} selects ${template === undefined ? `this ${to}` : `the pod template of this ${to}`} by its labels`,
}

interface SelectsArguments extends Required<Pick<SelectsRelation, 'selector' | 'whenAbsent'>> {
  readonly path?: string | null
  readonly unlessNamed?: string | null
  readonly namespaceSelector?: string | null
  readonly namespaceLabels?: string | null
  readonly as?: string | null
  readonly at?: string | null
  readonly numberedLabel?: string | null
  readonly addedLabel?: string | null
  readonly uses?: boolean | null
}

function selectsOf(args: SelectsArguments, declaration: Declaration): SelectsRelation {
  const { as, at, numberedLabel, addedLabel, ...own } = args
  const added = { numberedLabel, addedLabel }
  const template = as && at ? templateOf({ as, at, ...added }, declaration) : undefined
  const other = as ? (declaration.argumentsOf(as) as SelectsArguments | undefined) : own
  const fail = (message: string, hint: string): Error =>
    declaration.fail('unsupported', message, hint)
  if (!as !== !at) throw fail('@selects with one of as and at', 'give both, or neither')
  if (as && own.path) throw fail('path beside as', 'give one of them')
  if (numberedLabel && !as) throw fail('numberedLabel without as', 'give both, or neither')
  if (addedLabel && !as) throw fail('addedLabel without as', 'give both, or neither')
  if (addedLabel && numberedLabel) throw fail('addedLabel beside numberedLabel', 'give one of them')
  if (other === undefined) {
    const hint = 'correct the name, as in Service.pods'
    throw declaration.fail('unknown-relation', `${as} is no @selects`, hint)
  }
  const { namespaceSelector, namespaceLabels, selector, whenAbsent, path, unlessNamed } = other
  if (path === undefined || path === null)
    throw fail('@selects without a path', 'give it one, or as')
  const { name, from, to } = declaration
  if (namespaceLabels) declaration.needTypes([namespaceType])
  declaration.needConnection()
  const further = [namespaceSelector, namespaceLabels, unlessNamed].filter(
    (one) => typeof one === 'string',
  )
  for (const text of [path, ...further]) parsePath(text)
  declaration.present([path, ...further])
  return {
    form: 'selects',
    name,
    from,
    to,
    path,
    selector,
    whenAbsent,
    ...(unlessNamed ? { unlessNamed } : {}),
    ...(namespaceSelector ? { namespacesPath: namespaceSelector } : {}),
    ...(namespaceLabels ? { namespaceLabelsPath: namespaceLabels } : {}),
    ...(template === undefined ? {} : { template }),
    ...((args.uses ?? other.uses) === false ? { uses: false } : {}),
  }
}

interface TemplateArguments {
  readonly as: string
  readonly at: string
  readonly numberedLabel: string | null | undefined
  readonly addedLabel: string | null | undefined
}

function templateOf(
  { as, at, numberedLabel, addedLabel }: TemplateArguments,
  declaration: Declaration,
): TemplateRelation {
  const labelsPath = `${at}.metadata.labels`
  parsePath(labelsPath)
  declaration.presentOfTarget([labelsPath])
  return {
    as,
    labelsPath,
    ...(numberedLabel ? { numberedLabel } : {}),
    ...(addedLabel ? { addedLabel } : {}),
  }
}

/**
 * The indexes of a relation's selectors on the store of the selecting type. Relations to workloads use the indexes of the
 * relation to pods.
 */
interface SelectorIndexes {
  /** By the text of the selectors, so that testing them does not decode objects. */
  readonly selectors: string
  /** By a label that each selector requires, within a namespace. */
  readonly places: string
  /** By the key of that label: no selector requires most of an object's labels. */
  readonly keys: string
  readonly indexers: Indexers
}

function selectorIndexes(definition: SelectsRelation, context: RelationContext): SelectorIndexes {
  const name = definition.template?.as ?? relationName(definition)
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

function compileSelects(definition: SelectsRelation, context: RelationContext): Relation {
  const read = readSelectors(definition, context.isNamespaced(definition.from))
  const { selectors, indexers } = selectorIndexes(definition, context)
  const { [selectors]: valuesOf = () => [] } = indexers
  const template = definition.template && new TemplateLabels(definition.template)
  return {
    definition,
    reads: readsOf(definition, definition.to),
    indexers: template === undefined ? {} : { [definition.to]: template.indexers },
    shortcuts: { [definition.from]: { [selectors]: valuesOf } },
    follow(origin) {
      const { view, id } = origin
      const own = view.hasIndex(selectors)
        ? view.index(selectors).valuesOf(id).map(parsedSelector)
        : read(originObject(origin))
      return anyOf(own.map((selector) => selectedBy(selector, origin, template)))
    },
  }
}

const namespaceType = 'Namespace'

function readsOf({ namespaceLabelsPath }: SelectsRelation, to: string): readonly string[] {
  return namespaceLabelsPath === undefined ? [to] : [namespaceType, to]
}

function selectedBy(
  { labels, namespaces }: ObjectSelector,
  origin: RelationOrigin,
  template: TemplateLabels | undefined,
): Condition {
  const selected = template?.condition(labels) ?? selectorCondition(labels)
  return allOf([namespacesIn(namespaces, origin), selected])
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

/** The labels of a namespace; `undefined` if it does not exist or is hidden. */
function labelsOfNamespace(
  { part }: RelationOrigin,
  namespace: string,
): Readonly<Record<string, string>> | undefined {
  const { view, scope } = part(namespaceType)
  const id = view.idOf(namespace)
  return id === undefined || !isInScope(scope, namespace) ? undefined : view.labelsOf(id)
}

function compileReverseSelects(
  definition: ReverseRelation,
  selects: SelectsRelation,
  context: RelationContext,
): Relation {
  const { selectors, places, keys: labelKeys, indexers } = selectorIndexes(selects, context)
  const readsLabels = selects.namespaceLabelsPath !== undefined
  const reachesFar =
    readsLabels || selects.namespacesPath !== undefined || !context.isNamespaced(selects.from)
  const template = selects.template && new TemplateLabels(selects.template)
  const last = new WeakMap<StoreView, LastSelected>()
  const memo = new SelectingMemo()
  const follow = (origin: RelationOrigin): Condition => {
    const { view, id, part, budget } = origin
    const { namespace } = splitObjectKey(view.keyOf(id))
    const { view: selecting, scope } = part(definition.to)
    const labels = template?.of(origin) ?? view.labelsOf(id)
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
      const [key] = place
      const ofKey = asked.posting(key)
      if (ofKey === undefined) continue
      // The index has each value of the added label on its own.
      const isAdded = key === template?.addedLabel
      for (const where of reachesFar && !isAdded ? [namespace, anyNamespace] : [namespace]) {
        const posting = isAdded ? ofKey : byPlace.posting(placeIn(where, place))
        if (posting === undefined) continue
        budget.spend('examined', posting.size)
        for (const candidate of posting) {
          // Testing a hidden selector would reveal it: reading its namespace may fail.
          if (readsLabels && !isInScope(scope, selecting.keyOf(candidate))) continue
          const isMet = texts.valuesOf(candidate).some((text) => {
            const selector = parsedSelector(text)
            return (
              matchesLabels(template?.selecting(selector.labels) ?? selector.labels, labels) &&
              reaches(selector, namespace, () => labelsOfNamespace(origin, namespace))
            )
          })
          if (isMet) keys.push(selecting.keyOf(candidate))
        }
      }
    }
    const condition = hasKey(keys)
    // Namespace labels may change at any time, and their visibility depends on the viewer.
    if (!readsLabels) last.set(selecting, { resourceVersion, namespace, labels, condition })
    return condition
  }
  return {
    definition,
    reads: readsOf(selects, definition.to),
    indexers: { [definition.to]: indexers },
    ...(template === undefined
      ? { ofSiblings: true }
      : { shortcuts: { [definition.from]: template.indexers } }),
    follow,
    followAll(origin, ids) {
      const { view } = origin
      const selecting = origin.part(definition.to).view
      const found = new Set<Condition>()
      let isSibling: ((id: ObjectId) => boolean) | undefined
      for (const id of ids) {
        if (isSibling?.(id) === true) continue
        if (template === undefined) isSibling = siblingsOf(view, id)
        const find = (): Condition => follow({ ...origin, id })
        found.add(readsLabels ? find() : memo.of(selecting, view, id, find))
      }
      return anyOf([...found])
    },
  }
}

type Labels = Readonly<Record<string, string>>

/** The result for the last object. Siblings have the same labels, and come one after the other. */
interface LastSelected {
  readonly resourceVersion: string
  readonly namespace: string
  readonly labels: Labels
  readonly condition: Condition
}

function isSame(labels: Labels, other: Labels): boolean {
  for (const key in labels) if (labels[key] !== other[key]) return false
  // A label may have the key `constructor`, which every object inherits.
  for (const key in other) if (!Object.hasOwn(labels, key)) return false
  return true
}

function placesOf({ labels, namespaces }: ObjectSelector): readonly string[] {
  const named = namespaces === 'any' || 'labels' in namespaces ? [anyNamespace] : namespaces
  const places = placesOfSelector(labels)
  return named.flatMap((namespace) => places.map((place) => placeIn(namespace, place)))
}

/** Selectors by text. There are few, because they come from templates. */
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

/** The objects that select an object; valid for one version of it. */
interface Selecting {
  readonly held: HeldObject
  readonly condition: Condition
}

/** What selects the objects of other stores, in one state of the selecting store. Does not retain the stores. */
interface StoreState {
  readonly resourceVersion: string
  readonly byView: WeakMap<StoreView, Map<ObjectId, Selecting>>
}

/** How many objects of a store are remembered. Each stands for its siblings. */
const maxRemembered = 4096

/**
 * Remembers which objects select others, by the selecting store. That store seldom changes (Services), while the same
 * objects are looked up again and again (a page of Deployments). Does not depend on the viewer.
 */
class SelectingMemo {
  readonly #states = new WeakMap<StoreView, StoreState>()

  /** The selecting objects. Calls `find` if the object or the selecting store has changed. */
  of(selecting: StoreView, view: StoreView, id: ObjectId, find: () => Condition): Condition {
    const { resourceVersion } = selecting
    if (resourceVersion === '') return find()
    let state = this.#states.get(selecting)
    if (state?.resourceVersion !== resourceVersion) {
      this.#states.set(selecting, (state = { resourceVersion, byView: new WeakMap() }))
    }
    let byId = state.byView.get(view)
    if (byId === undefined) state.byView.set(view, (byId = new Map()))
    const held = view.held(id)
    const known = byId.get(id)
    if (known?.held === held) return known.condition
    const condition = find()
    if (byId.size >= maxRemembered) byId.clear()
    byId.set(id, { held, condition })
    return condition
  }
}

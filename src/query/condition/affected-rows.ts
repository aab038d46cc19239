/*
 * Finds the rows that a change of a related object may add to or remove from a filtered list: the rows that led to the object
 * before the change, and the rows that lead to it now.
 *
 * This holds even if several objects on a path change at once, provided that each change is looked at. Take a path from a row
 * to a related object that counted before or counts now, and the changed object on it that is nearest to the row. Everything
 * in between is unchanged. So reading back from that object's own state, through the current stores, reaches the row.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../../informer/store/change.ts'
import {
  builtInIndexers,
  type IndexFunction,
  type ObjectId,
} from '../../informer/store/store-view.ts'
import { type IndexDefinition, indexFunctionOf } from '../index/index-definition.ts'
import { eachMember } from './candidates.ts'
import {
  anyOf,
  type Condition,
  type IndexReference,
  type OriginView,
  type RelatedBy,
  type RelatedHop,
  relatedIn,
  type RelatedPart,
  testsPerStep,
} from './condition.ts'
import { bindCondition } from './id-set.ts'
import type { WorkBudget } from './work-budget.ts'
import { type KubernetesObject, objectKey, splitObjectKey } from '../../kubernetes/object.ts'
import { isWithin } from './value-ranges.ts'
import type { ApiResource } from '../../kubernetes/api-resource.ts'

export interface AffectedTypes {
  /** The indexes of a type that conditions use. */
  definitionsOf(type: string): readonly IndexDefinition[]
  /** Whether the type exists. If it does not, no object is related to its objects. */
  has(type: string): boolean
}

/** The stores that the rows are looked up in, within one tick. */
export interface AffectedReading {
  /** Throws if a type cannot be read. */
  readonly part: (type: string) => RelatedPart
  readonly budget: WorkBudget
  /** More affected rows than this are not enumerated. */
  readonly maxRows: number
}

/** One path by which rows depend on the objects of a type. */
interface Role {
  readonly hops: readonly RelatedHop[]
  /** The condition on the objects; absent for types in the middle of a path. */
  readonly matches?: ObjectTest
}

export class AffectedRows {
  readonly #roles = new Map<string, Role[]>()
  readonly #relations = new Set<RelatedBy>()
  readonly #types: AffectedTypes

  constructor(condition: Condition, types: AffectedTypes) {
    this.#types = types
    this.#collect(condition, [])
  }

  get types(): readonly string[] {
    return [...this.#roles.keys()]
  }

  get relations(): ReadonlySet<RelatedBy> {
    return this.#relations
  }

  /**
   * The keys of rows that changes of a type affect; `undefined` if any row may be affected, or more than `maxRows`.
   * Does not include rows for changes of their own. Throws `QueryTooCostlyError`.
   */
  of(
    type: string,
    changes: readonly Change[],
    reading: AffectedReading,
  ): ReadonlySet<string> | undefined {
    const keys = new Set<string>()
    const { resource } = reading.part(type).view
    reading.budget.spend('rows', changes.length)
    const states = changes.map((change) => statesOf(change, resource))
    try {
      for (const role of this.#roles.get(type) ?? []) {
        const leading: Condition[] = []
        for (const one of states) {
          const back = backFrom(one, role, reading)
          if (back === undefined) return undefined
          leading.push(...back)
        }
        if (!addRows(keys, anyOf(leading), role.hops, reading)) return undefined
      }
    } catch (error) {
      if (error instanceof UnknownStateError) return undefined
      throw error
    }
    return keys
  }

  #collect(condition: Condition, before: readonly RelatedHop[]): void {
    if ('conditions' in condition) {
      for (const one of condition.conditions) this.#collect(one, before)
    } else if (condition.form === 'not') {
      this.#collect(condition.condition, before)
    } else if (condition.form === 'related') {
      const { relation, condition: inner } = condition
      if (!this.#types.has(relation.to)) return
      this.#relations.add(relation)
      for (const [at, { to }] of relation.hops.entries()) {
        const hops = [...before, ...relation.hops.slice(0, at + 1)]
        const isEnd = at === relation.hops.length - 1
        this.#add(to, {
          hops,
          ...(isEnd ? { matches: objectTest(inner, this.#types.definitionsOf(to)) } : {}),
        })
      }
      // Other types that the relation reads, such as Namespace for its labels, may affect any row.
      const onWay = new Set(relation.hops.flatMap(({ from, to }) => [from, to]))
      for (const type of relation.indexes.keys())
        if (!onWay.has(type)) this.#add(type, { hops: [] })
      if (relatedIn(inner) !== undefined) this.#collect(inner, [...before, ...relation.hops])
    }
  }

  #add(type: string, role: Role): void {
    const roles = this.#roles.get(type)
    if (roles === undefined) this.#roles.set(type, [role])
    else roles.push(role)
  }
}

/** The object before and after a change, if it existed. */
function statesOf(
  change: Change,
  resource: RelatedPart['view']['resource'],
): readonly ObjectState[] {
  const { key, uid, type, previousHeld } = change
  const now = new ObjectState({ resource, key, uid, object: () => change.object })
  if (type !== 'MODIFIED') return [now]
  const object = previousHeld === undefined ? undefined : () => change.previous ?? change.object
  return [new ObjectState({ resource, key, uid, object }), now]
}

/**
 * Conditions for the objects that lead to the changed object in the last step, for each state in which it may match;
 * `undefined` if they are unknown.
 */
function backFrom(
  states: readonly ObjectState[],
  { hops, matches }: Role,
  { part, budget }: AffectedReading,
): readonly Condition[] | undefined {
  const hop = hops.at(-1)
  if (hop?.followBack === undefined) return undefined
  const { view: store } = part(hop.from)
  const verdicts = states.map((state) =>
    matches === undefined || !state.isKnown ? undefined : matches(state.object()),
  )
  const leading: Condition[] = []
  for (const [at, view] of states.entries()) {
    if (verdicts[at] === false) continue
    budget.spend('tests', testsPerStep)
    const back = hop.followBack({ view, id: onlyId, part, budget }, store)
    if (back === undefined) return undefined
    leading.push(back)
  }
  const isAsBefore = leading.length === 2 && verdicts.every((verdict) => verdict === true)
  return isAsBefore && isDeepStrictEqual(leading[0], leading[1]) ? [] : leading
}

/** Adds the rows that a path leads back to. Returns false if there are too many. */
function addRows(
  keys: Set<string>,
  condition: Condition,
  hops: readonly RelatedHop[],
  reading: AffectedReading,
): boolean {
  const { part, budget, maxRows } = reading
  let leading = condition
  for (const [at, hop] of [...hops.entries()].toReversed()) {
    if (leading.form === 'nothing') return true
    const { view } = part(hop.from)
    const ids = idsOf(leading, reading, hop.from)
    if (ids === undefined) return false
    const before = hops[at - 1]
    if (before === undefined) {
      for (const id of ids) keys.add(view.keyOf(id))
      return keys.size <= maxRows
    }
    budget.spend('tests', testsPerStep * ids.length)
    const { view: store } = part(before.from)
    const next: Condition[] = []
    for (const id of ids) {
      const back = before.followBack?.({ view, id, part, budget }, store)
      if (back === undefined) return false
      next.push(back)
    }
    leading = anyOf(next)
  }
  return true
}

function idsOf(
  condition: Condition,
  { part, budget, maxRows }: AffectedReading,
  type: string,
): readonly ObjectId[] | undefined {
  const { view } = part(type)
  const set = bindCondition(condition, view, budget)
  const candidates = set.candidates(maxRows)
  if (candidates === undefined) return undefined
  const ids: ObjectId[] = []
  eachMember({ set, candidates, view, budget }, (id) => ids.push(id))
  return ids
}

/** Whether an object meets a condition; `undefined` if that depends on an unknown index. */
export type ObjectTest = (object: KubernetesObject) => boolean | undefined

/**
 * Compiles a condition into a test of single objects that are in no store, such as the previous state of an object.
 * Computes the index values of each object: for few objects, not for lists.
 */
export function objectTest(
  condition: Condition,
  definitions: readonly IndexDefinition[],
): ObjectTest {
  const functionOf = indexFunctions(definitions)
  const valuesOf = (
    { form, name }: IndexReference,
    object: KubernetesObject,
  ): readonly string[] | undefined => {
    if (form === 'index') return functionOf(name)?.(object)
    const { labels = {} } = object.metadata
    const value = Object.hasOwn(labels, name) ? labels[name] : undefined
    return value === undefined ? [] : [value]
  }
  return (object) => meets(condition, object, valuesOf)
}

type ValuesOf = (index: IndexReference, object: KubernetesObject) => readonly string[] | undefined

function meets(
  condition: Condition,
  object: KubernetesObject,
  valuesOf: ValuesOf,
): boolean | undefined {
  switch (condition.form) {
    case 'everything':
      return true
    case 'nothing':
      return false
    case 'keys':
      return condition.keys.includes(objectKey(object.metadata))
    case 'values':
      return valuesOf(condition.index, object)?.some((value) => condition.values.includes(value))
    case 'ranges':
      return valuesOf(condition.index, object)?.some((value) => isWithin(condition.ranges, value))
    case 'tests':
      return valuesOf(condition.index, object)?.some((value) =>
        condition.tests.some((test) => test(value)),
      )
    case 'and': {
      const each = condition.conditions.map((one) => meets(one, object, valuesOf))
      return each.includes(false) ? false : each.includes(undefined) ? undefined : true
    }
    case 'or': {
      const each = condition.conditions.map((one) => meets(one, object, valuesOf))
      return each.includes(true) ? true : each.includes(undefined) ? undefined : false
    }
    case 'not': {
      const inner = meets(condition.condition, object, valuesOf)
      return inner === undefined ? undefined : !inner
    }
    case 'related':
      return undefined
  }
}

/** Index functions by name, including the built-in ones; `undefined` for an unknown name. */
function indexFunctions(
  definitions: readonly IndexDefinition[],
): (name: string) => IndexFunction | undefined {
  const functions = new Map<string, IndexFunction | undefined>(Object.entries(builtInIndexers))
  const declared = (name: string): IndexFunction | undefined => {
    const definition = definitions.find((one) => one.name === name)
    // The values of a measured index are not in the object itself.
    const isElsewhere = definition?.measured !== undefined || definition?.isOfContents === true
    const isUnknown = definition === undefined || isElsewhere
    return isUnknown ? undefined : indexFunctionOf(definition)
  }
  return (name) => {
    if (!functions.has(name)) functions.set(name, declared(name))
    return functions.get(name)
  }
}

const onlyId: ObjectId = 0

interface ObjectStateOptions {
  readonly resource: ApiResource
  readonly key: string
  readonly uid: string
  /** `undefined` if only the object's identity is known. */
  readonly object: (() => KubernetesObject) | undefined
}

/** More than the identity of a state is needed, and only that is known. */
class UnknownStateError extends Error {}

/** One state of an object, in a store or not, as the start of relations. */
class ObjectState implements OriginView {
  readonly resource: ApiResource
  readonly #options: ObjectStateOptions

  constructor(options: ObjectStateOptions) {
    this.resource = options.resource
    this.#options = options
  }

  get isKnown(): boolean {
    return this.#options.object !== undefined
  }

  keyOf(): string {
    return this.#options.key
  }

  uidOf(): string {
    return this.#options.uid
  }

  hasIndex(name: string): boolean {
    return Object.hasOwn(builtIn, name)
  }

  /** Built-in indexes only. Callers with other index functions compute those values from the object. */
  index(name: string): { valuesOf(): readonly string[] } {
    const valuesOf = builtIn[name]
    if (valuesOf === undefined) throw new TypeError(`a single state has no index ${name}`)
    return {
      valuesOf: () => valuesOf(this.#options, () => this.object()).filter((one) => one !== ''),
    }
  }

  labelsOf(): Readonly<Record<string, string>> {
    return this.object().metadata.labels ?? {}
  }

  /** Throws {@link UnknownStateError}. */
  object(): KubernetesObject {
    const { object, key } = this.#options
    if (object === undefined) throw new UnknownStateError(key)
    return object()
  }
}

type ValuesOfState = (
  state: ObjectStateOptions,
  object: () => KubernetesObject,
) => readonly string[]

const builtIn: Readonly<Record<string, ValuesOfState>> = {
  namespace: ({ key }) => [splitObjectKey(key).namespace],
  name: ({ key }) => [splitObjectKey(key).name],
  uid: ({ uid }) => [uid],
  ownerUid: (_state, object) => builtInIndexers.ownerUid(object()),
}

import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../../informer/store/change.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import type { IndexDefinition } from '../index/index-definition.ts'
import { eachMember } from './candidates.ts'
import { anyOf, type Condition, relatedIn } from './condition.ts'
import { bindCondition } from './id-set.ts'
import { ObjectState, onlyId, UnknownStateError } from './object-state.ts'
import { type ObjectTest, objectTest } from './object-test.ts'
import { type RelatedBy, type RelatedHop, type RelatedPart, testsPerStep } from './related-by.ts'
import type { WorkBudget } from './work-budget.ts'

/** What a condition on related objects must know of the types that it speaks of. */
export interface ConcernedTypes {
  /** The indexes that its parts may ask. */
  definitionsOf(type: string): readonly IndexDefinition[]
  /** Whether there can be objects of a type at all; where not, nothing is related to them. */
  has(type: string): boolean
}

/** What the rows are looked for in, within one tick. */
export interface ConcernedReading {
  /** Throws where a type cannot be read. */
  readonly part: (type: string) => RelatedPart
  readonly budget: WorkBudget
  /** MissingRead so many it is not told which. */
  readonly maxRows: number
}

/** One way in which rows rest on the objects of a type. */
interface Role {
  /** From the rows to those objects. */
  readonly hops: readonly RelatedHop[]
  /** What is asked of the objects; absent for those that are only passed on the way. */
  readonly matches?: ObjectTest
}

/**
 * Which rows a change of another object may let in or out of a condition on related objects: those that led to the object as it
 * was, and those that lead to it as it is.
 *
 * That is enough, even where several objects on a way have changed at once, if each single change is told. Of a way from a row to
 * an object that counted, or counts now, take the changed object that is nearest to the row. All between them is as it was, so
 * what leads back from that object's own state, through the stores as they are, arrives at the row.
 */
export class AffectedRows {
  readonly #roles = new Map<string, Role[]>()
  readonly #relations = new Set<RelatedBy>()
  readonly #types: ConcernedTypes

  constructor(condition: Condition, types: ConcernedTypes) {
    this.#types = types
    this.#collect(condition, [])
  }

  /** The types whose changes may concern rows. */
  get types(): readonly string[] {
    return [...this.#roles.keys()]
  }

  /** The relations that the condition follows. */
  get relations(): ReadonlySet<RelatedBy> {
    return this.#relations
  }

  /**
   * The keys of rows that changes of a type concern; `undefined` where that may be any, or more than are wanted. Rows that have
   * changed themselves are not among them. Throws `QueryTooCostlyError`.
   */
  of(
    type: string,
    changes: readonly Change[],
    reading: ConcernedReading,
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
      // What else it reads, as the labels of Namespaces: that may concern any row.
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

/** The object as it was before a change, where it was there, and as it was behind it. */
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

/** What leads to an object in the last step of a way, in the states in which it may count; `undefined` where that cannot be told. */
function backFrom(
  states: readonly ObjectState[],
  { hops, matches }: Role,
  { part, budget }: ConcernedReading,
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

/** Adds the rows that a way leads back to; false where they are too many. */
function addRows(
  keys: Set<string>,
  condition: Condition,
  hops: readonly RelatedHop[],
  reading: ConcernedReading,
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
  { part, budget, maxRows }: ConcernedReading,
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

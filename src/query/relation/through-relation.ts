/*
 * A chain of relations. Forwards, each step starts from the visible objects that the step before it leads to. Backwards, it
 * begins with the last step, and each step starts from the visible objects that lead to the one behind it.
 */

import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import {
  anyOf,
  type Condition,
  nothing,
  type OriginView,
  testsPerStep,
} from '../condition/condition.ts'
import { LastSteps, visibleIds } from './last-steps.ts'
import {
  type Backwards,
  codeOf,
  type Declaration,
  type IndexersByType,
  type Relation,
  type RelationBase,
  type RelationForm,
  type RelationOrigin,
  type RelationSet,
} from './relation.ts'

/** A chain of relations: `Service.nodes` by `Service.pods` and `Pod.node`. */
export interface ThroughRelation extends RelationBase {
  readonly form: 'through'
  /** The full names of the relations, from this type to `to`; at least two. */
  readonly steps: readonly string[]
}

export const throughForm: RelationForm<ThroughRelation> = {
  directives: { through: { read: throughOf } },
  compile: (definition, relations) => compileThrough(definition, stepsOf(definition, relations)),
  backwards: (definition, relations) =>
    throughBackwards(
      stepsOf(definition, relations).map((step) => ({
        from: step.definition.from,
        ...relations.inverse(step),
      })),
    ),
  hops: (definition, relations) =>
    stepsOf(definition, relations).flatMap((step) => relations.inverse(step).hops),
  staysInNamespace: (definition, relations) =>
    stepsOf(definition, relations).every((step) => relations.inverse(step).isLocal),
  isVague: () => true,
  words: ({ steps }) =>
    `that ${codeOf([steps.map((step) => step.slice(step.indexOf('.') + 1)).join('.')])} leads to`,
}

const maxSteps = 6

function throughOf({ path }: { readonly path: string }, declaration: Declaration): ThroughRelation {
  const { name, from, to } = declaration
  const fields = path.split('.')
  if (fields.length < 2 || fields.length > maxSteps) {
    const message = `path ${JSON.stringify(path)} has ${fields.length} steps`
    throw declaration.fail('bad-path', message, `give it 2 to ${maxSteps}: pods.node`)
  }
  const steps: string[] = []
  let many = false
  let type = from
  for (const field of fields) {
    const full = `${type}.${field}`
    const step = declaration.relation(full)
    if (step === undefined) {
      const hint = `declare ${full} or correct the path`
      throw declaration.fail('no-step', `there is no relation ${full} to go through`, hint)
    }
    steps.push(full)
    many ||= step.many
    type = step.to
  }
  if (type !== to) {
    const hint = `write its type as ${many ? `${type}Connection` : type}`
    throw declaration.fail('field-type', `${path} leads to ${type}, not to ${to}`, hint)
  }
  if (many) declaration.needConnection()
  return { form: 'through', name, from, to, steps }
}

function stepsOf({ steps }: ThroughRelation, relations: RelationSet): readonly Relation[] {
  return steps.map((step) => relations.relation(step))
}

function compileThrough(definition: ThroughRelation, steps: readonly Relation[]): Relation {
  const [first, ...further] = steps
  if (first === undefined) throw new RangeError(`${definition.name} has no steps`)
  return {
    definition,
    reads: [...new Set(steps.flatMap(({ reads }) => reads))].toSorted(last(definition.to)),
    indexers: merged(steps.map(({ indexers }) => indexers)),
    shortcuts: merged(steps.map(({ shortcuts = {} }) => shortcuts)),
    follow(origin) {
      const { budget, steps: known = new LastSteps() } = origin
      const taken = known.take(first, origin)
      let { condition } = taken
      let from = first
      for (const step of further) {
        if (condition.form === 'nothing') break
        const part = origin.part(from.definition.to)
        const ids =
          from === first ? taken.ids(part, budget) : (visibleIds(condition, part, budget) ?? [])
        condition = followEach(step, origin, { view: part.view, ids })
        from = step
      }
      return condition
    },
  }
}

/** Where a step leads from several objects of a store. */
function followEach(
  step: Relation,
  origin: RelationOrigin,
  { view, ids }: { readonly view: StoreView; readonly ids: readonly ObjectId[] },
): Condition {
  if (step.followAll !== undefined) return step.followAll({ ...origin, view }, ids)
  return anyOf(ids.map((id) => step.follow({ ...origin, view, id, object: undefined })))
}

/** One step of a chain, read backwards. */
interface BackwardStep extends Backwards {
  /** The type that it leads back to. */
  readonly from: string
}

function throughBackwards(steps: readonly BackwardStep[]): Backwards {
  const backIndexers = merged(steps.map(({ backIndexers: own = {} }) => own))
  if (steps.some(({ followBack }) => followBack === undefined)) return { backIndexers }
  return {
    backIndexers,
    followBack(target, store) {
      let at: { readonly view: OriginView; readonly ids: readonly ObjectId[] } = {
        view: target.view,
        ids: [target.id],
      }
      let condition: Condition | undefined = nothing
      for (const [number, { from, followBack }] of steps.toReversed().entries()) {
        const isLast = number === steps.length - 1
        const { view, ids } = at
        const { object, ...rest } = target
        const start = number === 0 && object !== undefined ? { ...rest, object } : rest
        const part = isLast ? undefined : target.part(from)
        const leading: Condition[] = []
        // The caller has paid for the first one.
        if (number > 0) target.budget.spend('tests', testsPerStep * ids.length)
        for (const id of ids) {
          const one = followBack?.({ ...start, view, id }, part?.view ?? store)
          if (one === undefined) return undefined
          leading.push(one)
        }
        condition = anyOf(leading)
        if (condition.form === 'nothing' || part === undefined) break
        const seen = visibleIds(condition, part, target.budget, target.allowance)
        if (seen === undefined) return undefined
        at = { view: part.view, ids: seen }
      }
      return condition
    },
  }
}

/** Sorts the target type last, since the others are read on the way to it. */
function last(to: string): (a: string, b: string) => number {
  return (a, b) => Number(a === to) - Number(b === to)
}

function merged(all: readonly IndexersByType[]): IndexersByType {
  const types = new Set(all.flatMap((one) => Object.keys(one)))
  return Object.fromEntries(
    [...types].map((type) => [type, Object.assign({}, ...all.map((one) => one[type] ?? {}))]),
  )
}

import type { SelectionSetNode } from 'graphql'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { Condition } from '../../query/condition/condition.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { objectByKey } from '../../query/page/lookup.ts'
import { findObject } from '../../query/page/page.ts'
import type { Kind, RelationField } from '../model/kind.ts'
import type { KindPart } from '../operation/kind-part.ts'
import { namespacesOfRelated } from '../operation/related-parts.ts'
import type { SchemaRelation } from '../operation/schema-relations.ts'
import { DirectReference, saidKey } from './direct-reference.ts'
import type { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from './not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { RelationWays } from './relation-ways.ts'
import type { ConnectionWriter, RowWriter } from './writers.ts'

/** A relation as a field of a selection. */
export interface RelationSelection {
  readonly from: Kind
  readonly field: RelationField
  readonly args: FieldArguments
}

/** Follows a relation from one object. */
type Follow = (run: PlanRun, part: KindPart, id: ObjectId, withRelated?: boolean) => Condition

/** Compiles what is written of the objects that a relation leads to: one read of an index per object that has the relation. */
export function relationWriter(
  { field, args }: RelationSelection,
  selectionSets: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): RowWriter {
  const found = compiler.served.relations.byField.get(field)
  if (found === undefined) throw new NotCoveredError(field.definition.name)
  const { relation, needs, reads, to } = found
  if (to.uncached) throw new NotCoveredError('a live read')
  compiler.leadsTo(reads)
  for (const { kind, indexes } of needs.values()) compiler.reads(kind, indexes)
  const { place } = compiler
  // What others may go through, to go on from there. Events are followed in two ways.
  const isStep = field.many && !['through', 'events'].includes(relation.definition.form)
  const isSaid = field.definition.form === 'reference' && !field.many
  const ways = new RelationWays(found)
  const follow: Follow = (run, { cluster, view }, id, withRelated = false) => {
    run.budget.report?.at(place)
    const part = (type: string): KindPart =>
      ways.part(run, cluster, type, () => namespaceOf(view, id))
    const origin = { view, id, withRelated, part, budget: run.budget, steps: run.steps }
    const condition = isStep ? run.steps.take(relation, origin).condition : relation.follow(origin)
    run.followed?.({ reads, condition, isSaid })
    return condition
  }
  return field.many
    ? manyWriter(found, { ways, follow, args, write: compiler.connection(to, args, selectionSets) })
    : oneWriter(found, { ways, follow, write: compiler.row(to, selectionSets) })
}

function oneWriter(
  found: SchemaRelation,
  {
    ways,
    follow,
    write,
  }: { readonly ways: RelationWays; readonly follow: Follow; readonly write: RowWriter },
): RowWriter {
  const { keysIndex } = found.relation
  const direct = keysIndex === undefined ? undefined : new DirectReference(keysIndex, ways)
  return (run, part, id) => {
    const named = direct?.objects(run, part)
    const key = named && saidKey(named, id)
    if (named !== undefined && key !== undefined) {
      if (key === '') return 'null'
      run.budget.spend('examined', 1)
      const namedId = named.part.view.idOf(key)
      if (namedId === undefined) return 'null'
      run.budget.spend('rows', 1)
      return write(run, named.part, namedId)
    }
    const condition = follow(run, part, id)
    if (condition.form === 'nothing') return 'null'
    const at = ways.target(part.cluster)
    const within = () => namespacesOfRelated(found, condition, namespaceOf(part.view, id))
    const target =
      condition.form === 'keys' ? run.named(at, condition.keys) : run.part(at, { within })
    const targetId = target && firstOf(run, target, condition)
    if (target === undefined || targetId === undefined) return 'null'
    run.budget.spend('rows', 1)
    return write(run, target, targetId)
  }
}

function manyWriter(
  found: SchemaRelation,
  {
    ways,
    follow,
    args,
    write,
  }: {
    readonly ways: RelationWays
    readonly follow: Follow
    readonly args: FieldArguments
    readonly write: ConnectionWriter
  },
): RowWriter {
  return (run, part, id) => {
    const { cluster, view } = part
    const withRelated = run.argumentsOf(args)['related'] === true
    const condition = follow(run, part, id, withRelated)
    const within = () => namespacesOfRelated(found, condition, namespaceOf(view, id))
    const target = run.part(ways.target(cluster), { within })
    const origin = view.uidOf(id) || view.keyOf(id)
    const list = `${found.name}${withRelated ? '+related' : ''}/${origin}`
    return write(run, target, { list, condition })
  }
}

/** The object that a relation to one leads to. Keys are looked up, without a search. */
function firstOf(run: PlanRun, part: KindPart, condition: Condition): ObjectId | undefined {
  const options = { ...part, budget: run.budget }
  if (condition.form !== 'keys') return findObject({ ...options, condition })
  for (const key of condition.keys.length === 1 ? condition.keys : condition.keys.toSorted()) {
    const id = objectByKey(options, key)
    if (id !== undefined) return id
  }
  return undefined
}

function namespaceOf(view: StoreView, id: ObjectId): string {
  return splitObjectKey(view.keyOf(id)).namespace
}

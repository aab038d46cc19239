import type { SelectionSetNode } from 'graphql'
import type { StoreView } from '../../informer/store/store-view.ts'
import { type Condition, nothing } from '../../query/condition/condition.ts'
import { findObject } from '../../query/page/page.ts'
import { relationName } from '../../query/relation/relation-definition.ts'
import type { Kind, RelationField } from '../model/kind.ts'
import type { KindPart } from '../operation/kind-part.ts'
import { connectionWriter } from './connection-writer.ts'
import type { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from './not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { type RowWriter, rowWriter } from './row-writer.ts'

/** A relation as a field of a selection. */
export interface RelationSelection {
  readonly from: Kind
  readonly field: RelationField
  readonly args: FieldArguments
}

/** Compiles what is written of the objects that a relation leads to: one read of an index per object that has the relation. */
export function relationWriter(
  selected: RelationSelection,
  selectionSets: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): RowWriter {
  const { field, args } = selected
  const { served } = compiler
  const resolved = served.relations.byField.get(field)
  if (resolved === undefined) throw new NotCoveredError(relationName(field.definition))
  const { name, relation, reads, to } = resolved
  for (const kind of reads) compiler.reads(kind)
  const follow = (run: PlanRun, { cluster, view }: KindPart, id: number): Condition => {
    const stores = (type: string): StoreView => {
      const kind = served.kinds.get(type)
      if (kind === undefined) throw new NotCoveredError(type)
      return run.part({ cluster, kind }).view
    }
    return relation.follow({ view, id, stores, budget: run.budget })
  }
  if (!field.many) {
    const write = rowWriter(to, selectionSets, compiler)
    return (run, part, id) => {
      const target = run.part({ cluster: part.cluster, kind: to })
      const condition = follow(run, part, id)
      if (condition === nothing) return 'null'
      const { view, scope } = target
      const found = findObject({ view, condition, scope, budget: run.budget })
      if (found === undefined) return 'null'
      run.budget.spend('rows', 1)
      return write(run, target, found)
    }
  }
  const write = connectionWriter(to, args, selectionSets, compiler)
  return (run, part, id) => {
    const { cluster, view } = part
    const target = run.part({ cluster, kind: to })
    const origin = view.uidOf(id) || view.keyOf(id)
    return write(run, target, { list: `${name}/${origin}`, condition: follow(run, part, id) })
  }
}

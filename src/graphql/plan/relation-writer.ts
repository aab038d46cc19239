import type { SelectionSetNode } from 'graphql'
import type { RelationField } from '../model/kind.ts'
import { RelationRead } from '../operation/relation-read.ts'
import type { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from '../operation/not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { RowWriter } from './writers.ts'

/** Compiles what is written of the objects that a relation leads to. */
export function relationWriter(
  field: RelationField,
  args: FieldArguments,
  selectionSets: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): RowWriter {
  const relation = compiler.served.relations.byField.get(field)
  if (relation === undefined) throw new NotCoveredError(field.definition.name)
  const { needs, reads, to } = relation
  if (to.uncached) throw new NotCoveredError('a live read')
  compiler.leadsTo(reads)
  for (const { kind, indexes } of needs.values()) compiler.reads(kind, indexes)
  const { place } = compiler
  const read = new RelationRead(field, relation)
  if (field.many) {
    const write = compiler.connection(to, args, selectionSets)
    return (run, part, id) => {
      run.budget.report?.at(place)
      const withRelated = run.argumentsOf(args)['related'] === true
      const { part: target, list } = read.many(run, part, id, withRelated)
      return write(run, target, list)
    }
  }
  const write = compiler.row(to, selectionSets)
  return (run, part, id) => {
    run.budget.report?.at(place)
    const found = read.one(run, part, id)
    if (found === undefined) return 'null'
    run.budget.spend('rows', 1)
    return write(run, found.part, found.id)
  }
}

import type { SelectionSetNode } from 'graphql'
import type { RelationField } from '../model/kind.ts'
import { pageOf } from '../reads/list-read.ts'
import type { FieldArguments } from './field-arguments.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { RowWriter } from './writers.ts'

/** Compiles the objects that a relation leads to. */
export function relationWriter(
  field: RelationField,
  args: FieldArguments,
  selectionSets: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): RowWriter {
  const read = compiler.relation(field)
  const { to } = read
  const { place } = compiler
  if (field.many) {
    const write = compiler.connection(to, args, selectionSets)
    return (run, part, id) => {
      run.budget.report?.at(place)
      const withRelated = run.argumentsOf(args)['related'] === true
      const { part: target, list } = read.many(run, part, id, withRelated)
      return write(run, target, pageOf(run, target, list, run.requestOf(args, to)))
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

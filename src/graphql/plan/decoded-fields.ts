/**
 * Writes own fields of an object one by one, from the decoded object. This is the slow way, for what a projection cannot
 * write: a value that the schema forbids, such as text where it has an integer, and arguments that cannot be read. Then each
 * field fails by itself, with the error that graphql-js words, and what is around it becomes null as section 6.4.4 of the
 * GraphQL specification says. Nothing of it is kept.
 */
import type { GraphQLObjectType } from 'graphql'
import { ruledHealth } from '../../kubernetes/health/health.ts'
import { objectKey, type Unstructured } from '../../kubernetes/object.ts'
import { podAmountsOf } from '../../query/index/pod-total.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { printedColumns } from '../schema/object-fields.ts'
import { answered } from './field-errors.ts'
import { jsonAt, jsonReader } from './json-values.ts'
import type { AdjacentFields } from './plain-writer.ts'
import { type PlanCompiler, PlanField, type RowWriter } from './plan-compiler.ts'
import { plannedFields } from './plan-run.ts'
import { objectText } from './value-run.ts'
import { valueWriter } from './value-writer.ts'

/** Compiles adjacent own fields of the objects of a type, with the braces around them. */
export function decodedFields(
  type: GraphQLObjectType,
  fields: AdjacentFields,
  compiler: PlanCompiler,
): RowWriter {
  const members = fields.map(([key, nodes], position) => {
    const before = `${position === 0 ? '' : ','}${JSON.stringify(key)}:`
    if (nodes[0]?.name.value === '__typename') {
      return { before, write: () => JSON.stringify(type.name) }
    }
    return compiler.within(key, () => {
      const field = new PlanField(type, key, nodes, compiler)
      return { before, write: answered(field, memberWriter(field)) }
    })
  })
  return (run, part, id) => {
    run.budget.spend('fields', members.length * plannedFields)
    return objectText(run, members, part, part.view.object(id) as Unstructured)
  }
}

type MemberWriter = (run: Parameters<RowWriter>[0], part: KindView, object: Unstructured) => string

function memberWriter(field: PlanField): MemberWriter {
  const { args } = field
  const read = readerOf(field)
  const write = valueWriter(field)
  return (run, part, object) => write(run, read(object, run.argumentsOf(args), part))
}

type Read = (
  object: Unstructured,
  args: Readonly<Record<string, unknown>>,
  part: KindView,
) => unknown

/** Reads an own field: `isOwnField` says which there are. */
function readerOf(field: PlanField): Read {
  const { source } = field
  switch (source.form) {
    case 'id':
      return ({ metadata }, _args, part) =>
        objectIdOf(part, { key: objectKey(metadata), uid: metadata.uid ?? '' })
    case 'clusterName':
      return (_object, _args, { cluster }) => cluster
    case 'constant':
      return () => source.value
    case 'json':
      return (object, args) => jsonAt(object, args[source.argument] as string | null | undefined)
    case 'health':
      return (object) => ruledHealth(source.rule, object)
    case 'podAmounts':
      return (object) => podAmountsOf(source.list, object)
    case 'printerColumns': {
      const { printed, argument } = source
      if (printed === undefined) break
      return (object, args) => printedColumns(printed, object, args[argument] === true)
    }
    default: {
      const read = jsonReader(source)
      if (read !== undefined) return read
    }
  }
  throw field.notCovered()
}

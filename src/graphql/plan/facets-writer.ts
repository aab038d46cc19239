import type { FieldNode, GraphQLObjectType } from 'graphql'
import { facetsOf } from '../operation/facets.ts'
import type { FacetArguments } from '../schema/read-arguments.ts'
import type { Facet } from '../schema/read-context.ts'
import { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from '../operation/not-covered.ts'
import { plainWriter } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PageWriter } from './writers.ts'

/** Compiles the `facets` of a connection. */
export function facetsWriter(
  connection: GraphQLObjectType,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PageWriter {
  const [node] = nodes
  const field = connection.getFields()[node?.name.value ?? '']
  if (node === undefined || field === undefined) throw new NotCoveredError('facets')
  const args = new FieldArguments(field, node)
  const write = plainWriter<Facet>('Facet', nodes, compiler, (name, same) => {
    switch (name) {
      case 'by':
        return (_run, { by }) => JSON.stringify(by)
      case 'distinctCount':
        return (_run, { distinctCount }) => String(distinctCount)
      case 'missingCount':
        return (_run, { missingCount }) => String(missingCount)
      case 'values': {
        const one = plainWriter<Facet['values'][number]>('FacetValue', same, compiler, (member) =>
          member === 'value'
            ? (_run, { value }) => JSON.stringify(value)
            : member === 'count'
              ? (_run, { count }) => String(count)
              : undefined,
        )
        return (run, { values }) => run.list(values, (value) => one(run, value))
      }
      default:
        return undefined
    }
  })
  return (run, part, page) => {
    const facets = facetsOf(page, part, run.argumentsOf(args) as unknown as FacetArguments)
    return run.list(facets, (facet) => write(run, facet))
  }
}

import type { FieldNode, GraphQLObjectType } from 'graphql'
import { facetsOf } from '../operation/facets.ts'
import type { Facet, FacetArguments } from '../schema/read-context.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from './not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PageWriter } from './writers.ts'

type MemberWriter<T> = (source: T) => string

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
  const write = objectWriter<Facet>('Facet', nodes, compiler, (name, same) => {
    switch (name) {
      case 'by':
        return ({ by }) => JSON.stringify(by)
      case 'distinctCount':
        return ({ distinctCount }) => String(distinctCount)
      case 'missingCount':
        return ({ missingCount }) => String(missingCount)
      case 'values': {
        const one = objectWriter<Facet['values'][number]>('FacetValue', same, compiler, (member) =>
          member === 'value'
            ? ({ value }) => JSON.stringify(value)
            : member === 'count'
              ? ({ count }) => String(count)
              : undefined,
        )
        return ({ values }) => `[${values.map(one).join(',')}]`
      }
      default:
        return undefined
    }
  })
  return (run, part, page) => {
    const facets = facetsOf(page, part, run.argumentsOf(args) as unknown as FacetArguments)
    return run.list(facets, write)
  }
}

/** Writes a plain object, member by member. */
function objectWriter<T>(
  type: string,
  nodes: readonly FieldNode[],
  { collect }: PlanCompiler,
  memberOf: (name: string, nodes: readonly FieldNode[]) => MemberWriter<T> | undefined,
): MemberWriter<T> {
  const members = Array.from(
    collectFields(selectionsOf(nodes), new Set([type]), collect),
    ([key, same]) => {
      const name = same[0]?.name.value ?? ''
      const write = name === '__typename' ? () => JSON.stringify(type) : memberOf(name, same)
      if (write === undefined) throw new NotCoveredError(`${type}.${name}`)
      return { before: `${JSON.stringify(key)}:`, write }
    },
  )
  return (source) => `{${members.map(({ before, write }) => before + write(source)).join(',')}}`
}

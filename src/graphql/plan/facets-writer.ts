import type { FieldNode, GraphQLObjectType } from 'graphql'
import { facetsOf } from '../reads/facets-read.ts'
import type { FacetArguments } from '../schema/read-arguments.ts'
import type { Facet } from '../schema/read-context.ts'
import { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { plainMembers, plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import { leastLengthOf } from './plan-run.ts'
import type { PageWriter } from './writers.ts'

type FacetValue = Facet['values'][number]

const facetMember = valueMembers<Facet>(['by', 'distinctCount', 'missingCount'])

const valueMember = valueMembers<FacetValue>(['value', 'count'])

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
  let leastPerValue = 0
  const write = plainWriter<Facet>('Facet', nodes, compiler, (name, same) => {
    if (name !== 'values') return facetMember(name)
    const members = plainMembers<FacetValue>('FacetValue', same, compiler, valueMember)
    leastPerValue += leastLengthOf(members)
    return (run, { values }) => run.list(values, (value) => run.object(members, value))
  })
  return (run, part, page) => {
    const facets = facetsOf(page, part, run.argumentsOf(args) as unknown as FacetArguments)
    const values = facets.reduce((sum, facet) => sum + facet.values.length, 0)
    run.budget.foresee('bytes', leastPerValue * values)
    return run.list(facets, (facet) => write(run, facet))
  }
}

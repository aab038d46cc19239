import type { FieldNode, SelectionSetNode } from 'graphql'
import { objectKey } from '../../kubernetes/object.ts'
import { namespacesOf } from '../../query/condition/condition.ts'
import { objectByKey } from '../../query/page/lookup.ts'
import type { Kind } from '../model/kind.ts'
import { clusterNamed } from '../operation/cluster-argument.ts'
import { idsCondition } from '../operation/ids-condition.ts'
import type { ClusterKind } from '../operation/kind-view.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import type { ListFieldArguments, LookupArguments } from '../schema/read-arguments.ts'
import { selectionsOf } from './collected-fields.ts'
import { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from '../operation/not-covered.ts'
import { graphWriter } from './graph-writer.ts'
import { objectByIdWriter, objectByRefWriter, objectsByIdsWriter } from './object-root-writers.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { searchWriter } from './search-writer.ts'
import type { RootWriter } from './writers.ts'

/** Compiles a field of `Query`. Throws {@link NotCoveredError}, and the GraphQLError of a constant argument. */
export function rootWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): RootWriter {
  const [node] = nodes
  const query = compiler.served.schema.getQueryType()
  const field = query?.getFields()[node?.name.value ?? '']
  if (node === undefined || field === undefined) throw new NotCoveredError('an unknown field')
  const source = fieldSourceOf(field)
  const args = new FieldArguments(field, node)
  const selections = selectionsOf(nodes)
  if ('kind' in source && source.kind.uncached) throw new NotCoveredError('a live read')
  switch (source.form) {
    case 'list':
      return listWriter(source.kind, args, selections, compiler)
    case 'lookup':
      return lookupWriter(source.kind, args, selections, compiler)
    case 'objectById':
      return objectByIdWriter(args, { nodes, type: field.type }, compiler)
    case 'objectsByIds':
      return objectsByIdsWriter(args, nodes, compiler)
    case 'objectByRef':
      return objectByRefWriter(args, nodes, compiler)
    case 'aroundObjects':
      return graphWriter(args, nodes, compiler)
    case 'search':
      return searchWriter(args, nodes, compiler)
    default:
      throw new NotCoveredError(`Query.${field.name}`)
  }
}

function listWriter(
  kind: Kind,
  args: FieldArguments,
  selections: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): RootWriter {
  const write = compiler.connection(kind, args, selections)
  return {
    needs: compiler.takeNeeds(),
    args,
    write(run) {
      const { condition } = run.requestOf(args, kind)
      const part = run.part(at(run, kind, args), { within: () => namespacesOf(condition) })
      const { ids } = run.argumentsOf(args) as unknown as ListFieldArguments
      return write(run, part, { list: kind.listField, condition: idsCondition(ids, part) })
    },
  }
}

function lookupWriter(
  kind: Kind,
  args: FieldArguments,
  selections: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): RootWriter {
  compiler.reads(kind)
  const write = compiler.row(kind, selections)
  const { place } = compiler
  return {
    needs: compiler.takeNeeds(),
    args,
    write(run) {
      const { namespace, name } = run.argumentsOf(args) as unknown as LookupArguments
      const key = objectKey(namespace === undefined ? { name } : { namespace, name })
      const part = run.forLookup(at(run, kind, args), [key])
      if (part === undefined) return 'null'
      run.budget.report?.at(place)
      const id = objectByKey({ ...part, budget: run.budget }, key)
      if (id === undefined) return 'null'
      run.budget.spend('rows', 1)
      return write(run, part, id)
    },
  }
}

function at(run: PlanRun, kind: Kind, args: FieldArguments): ClusterKind {
  const { cluster } = run.argumentsOf(args) as { readonly cluster?: string | null }
  return { cluster: clusterNamed(run.served, cluster), kind }
}

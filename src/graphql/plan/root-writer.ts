import type { FieldNode, SelectionSetNode } from 'graphql'
import { objectKey } from '../../kubernetes/object.ts'
import type { Kind } from '../model/kind.ts'
import { clusterNamed } from '../served/cluster-argument.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import { readList } from '../reads/list-read.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { foundByKey } from '../reads/object-read.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import type { LookupArguments } from '../schema/read-arguments.ts'
import { canAnywhereWriter, viewerWriter } from './can-writer.ts'
import { clustersWriter } from './cluster-writer.ts'
import { selectionsOf } from './collected-fields.ts'
import { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { graphWriter } from './graph-writer.ts'
import { objectByIdWriter, objectByRefWriter, objectsByIdsWriter } from './object-root-writers.ts'
import type { PlanCompiler } from './plan-compiler.ts'
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
    case 'clusterStates':
      return clustersWriter(args, nodes, compiler)
    case 'currentViewer':
      return viewerWriter(args, nodes, compiler)
    case 'rootCan':
      return canAnywhereWriter(args, compiler)
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
  const { place } = compiler
  return {
    needs: compiler.takeNeeds(),
    args,
    write(run) {
      run.budget.report?.at(place)
      const read = readList(run, kind, run.requestOf(args, kind))
      return read === undefined ? 'null' : write(run, read.part, read.page)
    },
  }
}

function lookupWriter(
  kind: Kind,
  args: FieldArguments,
  selections: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): RootWriter {
  const write = compiler.row(kind, selections)
  const { place } = compiler
  const at = (served: ServedSchema, { cluster }: Partial<LookupArguments>): ClusterKind => ({
    cluster: clusterNamed(served, cluster),
    kind,
  })
  return {
    needs: compiler.takeNeeds(),
    args,
    further(served, given: Partial<LookupArguments>) {
      return kind.uncached || given.live === true ? [] : [at(served, given)]
    },
    write(run) {
      const asked = run.argumentsOf(args) as unknown as LookupArguments
      run.budget.report?.at(place)
      const found = foundByKey(run, at(run.served, asked), objectKey(asked), asked.live === true)
      if (found === undefined) return 'null'
      run.budget.spend('rows', 1)
      return write(run, found.part, found.id)
    },
  }
}

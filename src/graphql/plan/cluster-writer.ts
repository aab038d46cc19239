import type { FieldNode } from 'graphql'
import { fleetOf } from '../operation/fleet-state.ts'
import type { ClusterState, ResourceState } from '../schema/read-context.ts'
import { NotCoveredError } from './not-covered.ts'
import { plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { RowWriter } from './writers.ts'

/** Compiles `cluster`: the state of the cluster that an object is in. */
export function clusterWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): RowWriter {
  const write = plainWriter<ClusterState>('GatewayCluster', nodes, compiler, (name, same) => {
    if (name !== 'resources') return clusterMember(name)
    const one = plainWriter<ResourceState>('GatewayResource', same, compiler, resourceMember)
    return ({ resources }) => `[${resources.map(one).join(',')}]`
  })
  return (run, { cluster }) => {
    // What a viewer may know of it may have to be asked for.
    const state = fleetOf(run.served, run.access).cluster(cluster)
    if (state === null) return 'null'
    if (state instanceof Promise) throw new NotCoveredError('the clusters of a viewer')
    const text = write(state)
    run.budget.spend('fields', 1 + state.resources.length)
    run.budget.spend('bytes', text.length)
    return text
  }
}

const clusterMember = valueMembers<ClusterState>(['name', 'state', 'version'])

const resourceMember = valueMembers<ResourceState>([
  'kind',
  'state',
  'objects',
  'resourceVersion',
  'lagMs',
  'lastError',
])

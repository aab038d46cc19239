import type { FieldNode } from 'graphql'
import { clusterState } from '../reads/fleet-state.ts'
import type { ClusterState, PermissionState, ResourceState } from '../schema/read-context.ts'
import { type PlainWriter, plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { FieldArguments } from './field-arguments.ts'
import type { RootWriter, RowWriter } from './writers.ts'

type PermissionResource = PermissionState['resources'][number]

/** Compiles `cluster`, the state of an object's cluster. Rows of subscriptions keep the state of their last write. */
export function clusterWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): RowWriter {
  const write = stateWriter(nodes, compiler)
  return (run, { cluster }) => write(run, cluster)
}

/** Compiles `Query.gatewayClusters`. */
export function clustersWriter(
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RootWriter {
  const write = stateWriter(nodes, compiler)
  return {
    args,
    needs: compiler.takeNeeds(),
    write: (run) => run.list([...run.served.clusters.keys()], (name) => write(run, name)),
  }
}

/** Compiles the state of a cluster. The writer takes the cluster's name. */
function stateWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): PlainWriter<string> {
  let withResources = false
  const write = plainWriter<ClusterState>('GatewayCluster', nodes, compiler, (name, same) => {
    switch (name) {
      case 'permissions': {
        const one = permissionsWriter(same, compiler)
        return (run, { permissions }) => (permissions === null ? 'null' : one(run, permissions))
      }
      case 'resources': {
        withResources = true
        compiler.dependsOnViewer()
        const one = plainWriter<ResourceState>('GatewayResource', same, compiler, resourceMember)
        return (run, { resources }) => run.list(resources, (resource) => one(run, resource))
      }
      default:
        return clusterMember(name)
    }
  })
  return (run, cluster) => {
    if (withResources) run.parts.dependsOnViewer?.()
    const state = clusterState(run.served, run.parts, cluster, withResources)
    if (state === null || state === undefined) return 'null'
    run.budget.spend('fields', 1 + state.resources.length)
    return write(run, state)
  }
}

function permissionsWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PlainWriter<PermissionState> {
  return plainWriter<PermissionState>('GatewayPermissions', nodes, compiler, (name, same) => {
    if (name !== 'resources') return permissionMember(name)
    const type = 'GatewayPermissionResource'
    const one = plainWriter<PermissionResource>(type, same, compiler, permissionResourceMember)
    return (run, { resources }) => run.list(resources, (resource) => one(run, resource))
  })
}

const permissionMember = valueMembers<PermissionState>(['state'])

const permissionResourceMember = valueMembers<PermissionResource>(['resource', 'resourceVersion'])

const clusterMember = valueMembers<ClusterState>(['name', 'state', 'version', 'uid'])

const resourceMember = valueMembers<ResourceState>([
  'kind',
  'state',
  'objects',
  'resourceVersion',
  'lagMs',
  'lastError',
])

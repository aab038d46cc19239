import type { FieldNode } from 'graphql'
import { clusterAsKnown, fleetOf } from '../operation/fleet-state.ts'
import type { ClusterState, PermissionState, ResourceState } from '../schema/read-context.ts'
import { NotCoveredError } from '../operation/not-covered.ts'
import { type PlainWriter, plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { RowWriter } from './writers.ts'

type PermissionResource = PermissionState['resources'][number]

/** Compiles `cluster`: the state of the cluster that an object is in. In a subscription all but its name is as it was when the row was written. */
export function clusterWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): RowWriter {
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
  return (run, { cluster }) => {
    if (withResources) run.parts.dependsOnViewer?.()
    const state = clusterAsKnown(run.served, run.access, cluster, withResources)
    if (state === null) return 'null'
    if (state === undefined) {
      if (run.parts.awaits === undefined) throw new NotCoveredError('unknown permissions')
      run.parts.awaits(async () => fleetOf(run.served, run.access).cluster(cluster))
      return 'null'
    }
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

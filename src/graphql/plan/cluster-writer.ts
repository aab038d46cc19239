import type { Viewer } from '../../access/viewer.ts'
import { clusterState, clusterStates } from '../reads/fleet-state.ts'
import { canAnywhere, listedNamespaces } from '../reads/permissions.ts'
import type { CanArguments, NamespacesArguments } from '../schema/read-arguments.ts'
import type { ClusterState, PermissionState, ResourceState } from '../schema/read-context.ts'
import { type PlainWriter, plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanField, RootWriter, RowWriter } from './plan-compiler.ts'

/** Compiles `cluster`, the state of an object's cluster. Rows of subscriptions keep the state of their last write. */
export function clusterWriter(field: PlanField): RowWriter {
  const write = stateWriter(field)
  return (run, { cluster }) => {
    const state = clusterState(run, cluster)
    return state === null ? 'null' : write(run, state)
  }
}

/** Compiles `Query.gatewayClusters`. */
export function clustersWriter(field: PlanField): RootWriter {
  const write = stateWriter(field)
  return {
    write: (run) => run.list(clusterStates(run), (state) => write(run, state)),
  }
}

function stateWriter(field: PlanField): PlainWriter<ClusterState> {
  return plainWriter<ClusterState>(field, (member) => {
    switch (member.name) {
      case 'permissions': {
        const one = permissionsWriter(member)
        return (run, { permissions }) => (permissions === null ? 'null' : one(run, permissions))
      }
      case 'resources': {
        member.compiler.dependsOnViewer()
        const one = plainWriter(member, resourceMember)
        return (run, { resources }) => run.list(resources, (resource) => one(run, resource))
      }
      default:
        return clusterMember(member)
    }
  })
}

function permissionsWriter(field: PlanField): PlainWriter<PermissionState> {
  return plainWriter<PermissionState>(field, (member) => {
    if (member.name !== 'resources') return permissionMember(member)
    const one = plainWriter(member, permissionResourceMember)
    return (run, { resources }) => run.list(resources, (resource) => one(run, resource))
  })
}

const permissionMember = valueMembers<PermissionState>(['state'])

const permissionResourceMember = valueMembers<PermissionState['resources'][number]>([
  'resource',
  'resourceVersion',
])

const clusterMember = valueMembers<ClusterState>(['name', 'state', 'version', 'uid'])

const resourceMember = valueMembers<ResourceState>([
  'type',
  'state',
  'objects',
  'resourceVersion',
  'lagMs',
  'lastError',
])

/** Compiles `Query.can`. */
export function canAnywhereWriter({ args }: PlanField): RootWriter {
  return {
    write(run) {
      const asked = run.argumentsOf(args) as unknown as CanArguments
      return String(canAnywhere(run.served, run, asked) ?? null)
    },
  }
}

const viewerMember = valueMembers<Viewer>(['username', 'groups'])

function namespacesWriter({ args }: PlanField): PlainWriter<Viewer> {
  return (run) => {
    const asked: NamespacesArguments = run.argumentsOf(args)
    return JSON.stringify(listedNamespaces(run.served, run, asked) ?? null)
  }
}

/** Compiles `Query.viewer`. */
export function viewerWriter(field: PlanField): RootWriter {
  const write = plainWriter<Viewer>(field, (member) =>
    member.name === 'namespaces' ? namespacesWriter(member) : viewerMember(member),
  )
  return {
    write(run) {
      const { access } = run.parts
      return access === undefined ? 'null' : write(run, access.viewer)
    },
  }
}

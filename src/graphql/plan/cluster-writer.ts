import type { Viewer } from '../../access/viewer.ts'
import { clusterState, clusterStates } from '../reads/fleet-state.ts'
import { canAnywhere, listedNamespaces } from '../reads/permissions.ts'
import type {
  CanArguments,
  FacetArguments,
  NamespacesArguments,
  ResourcesArguments,
} from '../schema/read-arguments.ts'
import type {
  ClusterState,
  KindIndex,
  PermissionState,
  ResourceState,
} from '../schema/read-context.ts'
import { facetsWriter } from './connection-writer.ts'
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
        const one = resourceWriter(member)
        return (run, cluster) => {
          const args: ResourcesArguments = run.argumentsOf(member.args)
          return run.list(cluster.resources(args), (resource) => one(run, resource))
        }
      }
      default:
        return clusterMember(member)
    }
  })
}

function resourceWriter(field: PlanField): PlainWriter<ResourceState> {
  return plainWriter<ResourceState>(field, (member) => {
    switch (member.name) {
      case 'indexes': {
        const one = plainWriter(member, indexMember)
        return (run, { indexes }) => run.list(indexes, (index) => one(run, index))
      }
      case 'columns': {
        const one = plainWriter(member, columnMember)
        return (run, { columns }) =>
          columns === null ? 'null' : run.list(columns, (column) => one(run, column))
      }
      case 'facets': {
        const write = facetsWriter(member)
        return (run, resource) => {
          const args = run.argumentsOf(member.args) as unknown as FacetArguments
          const facets = resource.facets(args)
          return facets === null ? 'null' : write(run, facets)
        }
      }
      default:
        return resourceMember(member)
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

const clusterMember = valueMembers<ClusterState>([
  'name',
  'labels',
  'source',
  'state',
  'since',
  'problem',
  'problemText',
  'version',
  'uid',
  'writable',
])

const indexMember = valueMembers<KindIndex>(['name', 'form', 'values', 'summable', 'description'])

const columnMember = valueMembers<NonNullable<ResourceState['columns']>[number]>([
  'name',
  'type',
  'format',
  'priority',
])

const resourceMember = valueMembers<ResourceState>([
  'type',
  'group',
  'version',
  'apiVersion',
  'kind',
  'resource',
  'namespaced',
  'shortNames',
  'listField',
  'state',
  'objects',
  'resourceVersion',
  'lagMs',
  'lastError',
  'namespaces',
  'namespacesReason',
  'excludedNamespaces',
  'refusedNamespaces',
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

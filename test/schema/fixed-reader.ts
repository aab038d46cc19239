import type { KubernetesObject } from '../../src/kubernetes/object.ts'
import type { Kind } from '../../src/graphql/model/kind.ts'
import { decodeObjectId } from '../../src/graphql/model/object-id.ts'
import { idOfRow } from '../../src/graphql/schema/object-fields.ts'
import type {
  ClusterState,
  ConnectionSource,
  Frame,
  ResolverContext,
  Row,
} from '../../src/graphql/schema/read-context.ts'
import type { SchemaModel } from '../../src/graphql/model/schema-model.ts'

/** What was asked of a reader: the method's name, the kind's or relation's, the arguments. */
export type Asked = readonly [method: string, what: string, args: unknown]

const clusterState: ClusterState = {
  name: 'test',
  state: 'CONNECTED',
  version: 'v1.36.3',
  uid: null,
  permissions: null,
  resources: [],
}

/** Answers from a fixed list of objects, without filters, and notes what it was asked. */
export function fixedReader(
  model: SchemaModel,
  objects: readonly KubernetesObject[],
): { readonly context: ResolverContext; readonly asked: Asked[] } {
  const asked: Asked[] = []
  const rows = objects.map((object): Row => {
    const group = object.apiVersion.includes('/') ? (object.apiVersion.split('/')[0] ?? '') : ''
    const kind = model.kindOf(group, object.kind)
    if (kind === undefined) throw new Error(`${object.kind} is not in the model`)
    return { kind, cluster: 'test', object }
  })
  const rowsOf = (kind: Kind | undefined): readonly Row[] => rows.filter((row) => row.kind === kind)
  const frames = async function* (kind: Kind): AsyncGenerator<Frame> {
    yield {
      reset: true,
      synced: true,
      changes: rowsOf(kind).map((row) => ({
        type: 'ADDED' as const,
        removal: null,
        objectId: idOfRow(row),
        object: row,
        previous: row.object,
        finalStateKnown: true,
      })),
      resumeToken: 'token',
      resourceVersion: '7',
    }
  }
  const read: ResolverContext['read'] = {
    secret() {
      throw new TypeError('no test asks for it')
    },
    usedBy() {
      throw new TypeError('no test asks for it')
    },
    list(kind, args) {
      asked.push(['list', kind.typeName, args])
      return connectionOf(rowsOf(kind))
    },
    lookup(kind, args) {
      asked.push(['lookup', kind.typeName, args])
      return rowsOf(kind).find((row) => row.object.metadata.name === args.name) ?? null
    },
    object(id) {
      decodeObjectId(id)
      return rows.find((row) => idOfRow(row) === id) ?? null
    },
    objectByRef(args) {
      asked.push(['objectByRef', args.kind, args])
      return rows.find(({ object }) => object.metadata.name === args.name) ?? null
    },
    referenced: (ref) =>
      rows.find(({ object: { metadata } }) =>
        ref.uid === null ? metadata.name === ref.name : metadata.uid === ref.uid,
      ) ?? null,
    owners: (row) => rows.filter((other) => isOwner(other, row)),
    owned: (row) => ({
      ...connectionOf(rows.filter((other) => isOwner(row, other))),
      kinds: () => ['Pod'],
      notLookedAt: () => [],
      failures: [],
    }),
    printerColumns(row) {
      throw new Error(`nobody prints ${row.kind.typeName}`)
    },
    followPolymorphic: () => ({
      ...connectionOf([]),
      kinds: () => [],
      notLookedAt: () => [],
      failures: [],
    }),
    graph: (args) => ({
      nodes: () => [],
      edges: () => [],
      truncated: args.maxNodes === 0,
      kinds: [],
      notFollowed: [],
      failures: [],
    }),
    search: () => ({
      ...connectionOf([]),
      rows: () => [],
      edges: () => [],
      counts: () => [],
      kinds: () => [],
      failures: [],
    }),
    follow(_row, { definition }, args) {
      asked.push(['follow', `${definition.from}.${definition.name}`, args])
      return connectionOf(rowsOf(model.kindOfType(definition.to)))
    },
    followOne(_row, { definition }) {
      asked.push(['followOne', `${definition.from}.${definition.name}`, {}])
      return rowsOf(model.kindOfType(definition.to))[0] ?? null
    },
  }
  const live: ResolverContext['live'] = {
    subscribe(kind, args) {
      asked.push(['subscribe', kind.typeName, args])
      return frames(kind)
    },
    subscribeOne(kind, args) {
      asked.push(['subscribeOne', kind.typeName, args])
      return frames(kind)
    },
    async *subscribePage(kind, args) {
      asked.push(['subscribePage', kind.typeName, args])
      const changes = rowsOf(kind).map((row, index) => ({
        step: 'INSERT' as const,
        index,
        from: null,
        objectId: idOfRow(row),
        object: row,
      }))
      const rest = { resumeToken: 'token', resourceVersion: '7' }
      yield { reset: true, synced: true, totalCount: changes.length, changes, ...rest }
    },
  }
  const fleet: ResolverContext['fleet'] = {
    clusters: () => [clusterState],
    cluster: (name) => (name === clusterState.name ? clusterState : null),
  }
  const permissions: ResolverContext['permissions'] = {
    viewer: null,
    can: () => true,
    canDo: () => true,
  }
  return { context: { read, live, fleet, permissions, report() {} }, asked }
}

function isOwner(owner: Row, row: Row): boolean {
  const references = row.object.metadata.ownerReferences ?? []
  return references.some(({ uid }) => uid === owner.object.metadata.uid)
}

function connectionOf(rows: readonly Row[]): ConnectionSource {
  return {
    rows: () => rows,
    edges: () => rows.map((node, at) => ({ cursor: String(at), node })),
    pageInfo: () => ({
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: null,
      endCursor: null,
    }),
    totalCount: () => rows.length,
    resourceVersion: () => '7',
    resumeToken: () => 'token',
    facets: ({ by }) =>
      by.map((one) => ({ by: one, values: [], distinctCount: 0, missingCount: rows.length })),
  }
}

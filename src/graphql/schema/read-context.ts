import type { GraphQLError } from 'graphql'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { SentStep } from '../../query/page/page-steps.ts'
import type { Kind, PolymorphicRelationField, RelationField } from '../model/kind.ts'
import type {
  CanArguments,
  FacetArguments,
  GraphArguments,
  ListFieldArguments,
  ListSubscriptionArguments,
  LivePageArguments,
  LookupArguments,
  LookupSubscriptionArguments,
  ObjectByRefArguments,
  ObjectCanArguments,
  OwnedArguments,
  RelationArguments,
  SearchArguments,
  UsedByArguments,
} from './read-arguments.ts'

/** One object on its way through the resolvers: the source of every type of a kind. Valid within one tick. */
export interface Row {
  readonly kind: Kind
  readonly cluster: string
  readonly object: KubernetesObject
}

/** One column of what `kubectl get` shows of an object. */
export interface PrinterColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly priority: number
  /** Of a date the time itself. */
  readonly value: unknown
  /** From when on kubectl counts until now. */
  readonly since: string | null
}

/** Relay's page information. */
export interface PageInfo {
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly startCursor: string | null
  readonly endCursor: string | null
}

/** One edge of a connection. */
export interface EdgeSource<T = Row> {
  readonly cursor: string
  readonly node: T
}

/** A connection, computed part by part as the operation asks. Each part may be asked for more than once. */
export interface ConnectionSource<T = Row> {
  rows(): readonly T[]
  edges(): readonly EdgeSource<T>[]
  pageInfo(): PageInfo
  totalCount(): number
  /** Asked for only of connections of one kind, as the next two. */
  resourceVersion(): string
  resumeToken(): string
  facets(args: FacetArguments): readonly Facet[]
}

/** The objects of several kinds that one object owns. */
export interface OwnedConnectionSource extends ConnectionSource {
  /** The type names of the kinds that were looked into, sorted. */
  kinds(): readonly string[]
  /** Those of kinds that might hold more and were not: not loaded, or not allowed. Sorted. */
  notLookedAt(): readonly string[]
  /** Why others could not be. */
  readonly failures: readonly Error[]
}

/** An object that makes use of another one. */
export interface UseSource {
  readonly object: ObjectRef
  /** Where it names it: paths with the numbers of list items. */
  paths(): readonly string[]
}

/** Those that make use of one object. */
export interface UsedByConnectionSource extends ConnectionSource<UseSource> {
  /** The type names of the kinds that were looked into, sorted. */
  kinds(): readonly string[]
}

/** How the objects of a list are spread over the values of an index. */
export interface Facet {
  readonly by: string
  /** Most frequent first. */
  readonly values: readonly { readonly value: string | number | boolean; readonly count: number }[]
  /** All values, those beyond `top` included. */
  readonly distinctCount: number
  /** Objects without a value. */
  readonly missingCount: number
}

/** Which object is meant, of whatever kind, whether or not it is there. */
export interface ObjectRef {
  readonly cluster: string
  readonly group: string
  /** `null` where only the group is known. */
  readonly apiVersion: string | null
  readonly kind: string
  /** `null` for cluster-scoped objects. */
  readonly namespace: string | null
  readonly name: string
  /** `null` where only the name is known. */
  readonly uid: string | null
}

/** One change of a frame. */
export interface FrameChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED'
  /** Why it is removed: it is gone, it no longer matches, it may no longer be seen. `null` for what is not removed. */
  readonly removal: 'DELETED' | 'UNMATCHED' | 'HIDDEN' | null
  /** The object's `id`. */
  readonly objectId: string
  /** `null` where the viewer may no longer see the object. */
  readonly object: Row | null
  /** The object before the change; `null` where it is not known. */
  readonly previous: KubernetesObject | null
  readonly finalStateKnown: boolean
}

/** What a subscription sends. */
export interface Frame {
  readonly reset: boolean
  readonly synced: boolean
  readonly changes: readonly FrameChange[]
  readonly resumeToken: string
  readonly resourceVersion: string
}

/** One step from a live page to the next. */
export interface LivePageChange extends SentStep {
  /** Of an INSERT or UPDATE. */
  readonly object: Row | null
}

/** What a live page sends. */
export interface LivePage {
  readonly reset: boolean
  readonly synced: boolean
  readonly totalCount: number
  readonly changes: readonly LivePageChange[]
  readonly resumeToken: string
  readonly resourceVersion: string
}

/** The state of one kind's cache. */
export interface ResourceState {
  readonly kind: string
  readonly state:
    | 'IDLE'
    | 'LISTING'
    | 'WAITING'
    | 'WATCHING'
    | 'SYNCED'
    | 'RECONNECTING'
    | 'STOPPED'
  readonly objects: number | null
  readonly resourceVersion: string | null
  readonly lagMs: number | null
  readonly lastError: string | null
}

/** How what viewers may see is kept up with. */
export interface PermissionState {
  /** See `AccessState`. */
  readonly state: 'FOLLOWING' | 'SETTLING' | 'EXPIRING'
  /** How far each resource is followed that decides about permissions, `roles.rbac.authorization.k8s.io`. */
  readonly resources: readonly {
    readonly resource: string
    readonly resourceVersion: string | null
  }[]
}

/** The state of one cluster. */
export interface ClusterState {
  readonly name: string
  readonly state: 'CONNECTED' | 'UNREACHABLE'
  readonly version: string | null
  /** By what it is known; `null` where that is not known. */
  readonly uid: string | null
  /** `null` where nobody has been asked about yet. */
  readonly permissions: PermissionState | null
  readonly resources: readonly ResourceState[]
}

/** One object of a graph. */
export interface GraphNodeSource {
  readonly ref: ObjectRef
  /** How many steps it is from a root. */
  readonly depth: number
}

/** One relation between two objects of a graph, by their `id`s. */
export interface GraphEdgeSource {
  readonly from: string
  readonly to: string
  readonly relation: string
}

/** What `graph` finds. */
export interface GraphSource {
  nodes(): readonly GraphNodeSource[]
  edges(): readonly GraphEdgeSource[]
  readonly truncated: boolean
  /** The type names of the kinds that were looked into, sorted. */
  readonly kinds: readonly string[]
  /** Relations that would have led to kinds that are not in memory, sorted. */
  readonly notFollowed: readonly string[]
  /** Why others, which were named, could not be followed. */
  readonly failures: readonly Error[]
}

/** One object that was found, and which of its values holds the text. */
export interface SearchResultSource {
  readonly object: ObjectRef
  /** `name`, `labels["app"]`, or the name of an index. */
  readonly matched: string
  readonly value: string
}

/** How many objects of one kind were found. */
export interface SearchCount {
  /** The type name. */
  readonly kind: string
  readonly count: number
}

/** A page of what `search` finds. */
export interface SearchSource {
  rows(): readonly SearchResultSource[]
  edges(): readonly { readonly cursor: string; readonly node: SearchResultSource }[]
  pageInfo(): PageInfo
  totalCount(): number
  counts(): readonly SearchCount[]
  /** The type names of the kinds that were looked into, sorted. */
  kinds(): readonly string[]
  /** Why others, which were named, could not be. */
  readonly failures: readonly Error[]
}

/** What a Secret holds besides its metadata. */
export interface SecretContents {
  /** Base64, by key. */
  readonly data: Readonly<Record<string, string>> | null
  readonly type: string | null
}

/**
 * What one run of an operation reads, within one tick. What has to be read from the API server, and is not there yet, is `null`: it is
 * fetched, and the operation runs again.
 */
export interface StoreReads {
  list(kind: Kind, args: ListFieldArguments): ConnectionSource | null
  lookup(kind: Kind, args: LookupArguments): Row | null
  /** By the `id` of an object, see `decodeObjectId`. */
  object(id: string): Row | null
  objectByRef(args: ObjectByRefArguments): Row | null
  /** The object that is meant; `null` where there is none, or where its kind is not served. */
  referenced(ref: ObjectRef): Row | null
  /** The objects that own this one, whatever their kind. */
  owners(row: Row): readonly Row[]
  /** The objects that this one owns, of the kinds that it is known to own and those that are asked for. */
  owned(row: Row, args: OwnedArguments): OwnedConnectionSource
  /** Those that make use of the object, of all kinds that may, or of those that are asked for. */
  usedBy(row: Row, args: UsedByArguments): UsedByConnectionSource
  /** What `kubectl get` shows of an object whose columns the API server alone knows; `null` where it is gone. */
  printerColumns(row: Row, wide: boolean): readonly PrinterColumn[] | null
  /** What a Secret holds, as whoever asks is told it; `null` where it is gone. */
  secret(row: Row): SecretContents | null
  /** Follows a relation to objects of several kinds, of those that are cached and those that are asked for. */
  followPolymorphic(
    row: Row,
    field: PolymorphicRelationField,
    args: OwnedArguments,
  ): OwnedConnectionSource
  /** The objects around some, and how they are related. */
  graph(args: GraphArguments): GraphSource
  /** The objects of any kind of which a value holds a text. */
  search(args: SearchArguments): SearchSource
  /** Follows a relation with `many`. */
  follow(row: Row, relation: RelationField, args: RelationArguments): ConnectionSource
  /** Follows a relation without `many`. */
  followOne(row: Row, relation: RelationField): Row | null
}

/** How the clusters and their caches are. */
export interface FleetState {
  clusters(): readonly ClusterState[]
  /** One of the clusters; `null` where it is none of them any more. */
  cluster(name: string): ClusterState | null
}

/** What whoever asks may do. */
export interface Permissions {
  /** Who asks; `null` where nobody is asked who they are. */
  readonly viewer: { readonly username: string; readonly groups: readonly string[] } | null
  /** `null` where it has to be asked for first. */
  can(args: CanArguments): boolean | null
  /** The same of one object. */
  canDo(row: Row, args: ObjectCanArguments): boolean | null
}

/** Where subscriptions come from. The iteration ends its listener when it is left. */
export interface LiveSource {
  subscribe(kind: Kind, args: ListSubscriptionArguments): AsyncIterable<Frame>
  subscribeOne(kind: Kind, args: LookupSubscriptionArguments): AsyncIterable<Frame>
  /** The first objects of a list in its order, as they change. */
  subscribePage(kind: Kind, args: LivePageArguments): AsyncIterable<LivePage>
}

/**
 * The `contextValue` of an operation, as far as the schema's resolvers need it: all that they know of the gateway.
 * Everything is synchronous. Every method may throw; the error is that of the field which asked.
 */
export interface ResolverContext {
  readonly read: StoreReads
  readonly fleet: FleetState
  readonly live: LiveSource
  readonly permissions: Permissions
  /** Takes an error of a field that has a value all the same: an entry of `errors` beside it. */
  readonly report: (error: GraphQLError) => void
}

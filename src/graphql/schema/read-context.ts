import type { FieldNode, GraphQLError, GraphQLOutputType } from 'graphql'
import type { JsonText } from '../../lib/json.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { ProblemSeverity } from '../../kubernetes/problems/problem-fact.ts'
import type { Kind, PolymorphicRelationField, RelationField } from '../model/kind.ts'
import type { ExtensionField } from './field-source.ts'
import type {
  FacetArguments,
  GraphArguments,
  KubernetesObjectsArguments,
  ListFieldArguments,
  LookupArguments,
  ObjectByRefArguments,
  ObjectCanArguments,
  ObjectListArguments,
  OwnedArguments,
  ProblemObjectsArguments,
  ProblemsArguments,
  RelationArguments,
  CompleteArguments,
  SearchArguments,
  SumArguments,
  UsedByArguments,
} from './read-arguments.ts'

/** One object: the source of a kind's type. Valid within one tick. */
export interface Row {
  readonly kind: Kind
  readonly cluster: string
  readonly object: KubernetesObject
}

/** One column of an object in `kubectl get`. */
export interface PrinterColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly priority: number
  /** For a date, the time. */
  readonly value: unknown
  /** The time from which kubectl counts until now. */
  readonly since: string | null
}

/** Relay's page information. */
/** What an object used when it was last measured. Quantities are as Kubernetes writes them. */
export interface ResourceUsage {
  readonly cpu: string | null
  readonly memory: string | null
  readonly at: string | null
  readonly window: string | null
  readonly containers: readonly ContainerUsage[] | null
}

/** What a container used in the same window. */
export interface ContainerUsage {
  readonly name: string
  readonly cpu: string | null
  readonly memory: string | null
}

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

/** A connection. Each part is computed when a field asks for it, possibly more than once. */
export interface ConnectionSource<T = Row> {
  nodes(): readonly T[]
  edges(): readonly EdgeSource<T>[]
  pageInfo(): PageInfo
  totalCount(): number
  /** Since when the caches that the page is read from may be out of date, by RFC 3339; `null` while all are in step. */
  staleSince(): string | null
  incomplete(): readonly ClusterGap[]
  /** Why clusters are missing; absent for lists of one cluster. */
  readonly failures?: readonly Error[]
  /** This and the next four belong to connections of one kind only. */
  type(): string
  resourceVersion(): string
  resumeToken(): string
  facets(args: FacetArguments): readonly Facet[]
  sum(args: SumArguments): readonly IndexSum[]
}

/** A connection of objects of several kinds. */
export interface OwnedConnectionSource extends ConnectionSource {
  /** The type names of the kinds that were read, sorted. */
  types(): readonly string[]
  /** The type names of the kinds that may hold more, but are not loaded or not allowed, sorted. */
  notLookedAt(): readonly string[]
  complete(): boolean
  /** The number of objects of each type on all pages. */
  counts(): readonly TypeCount[]
  /** Why kinds could not be read. */
  readonly failures: readonly Error[]
}

/** An object that uses another one. */
export interface UseSource {
  readonly object: ObjectRef
  /** The paths where it names the other one, with the numbers of list items. */
  paths(): readonly string[]
}

/** The objects that use one object. */
export interface UsedByConnectionSource extends ConnectionSource<UseSource> {
  /** The type names of the kinds that were read, sorted. */
  types(): readonly string[]
  notLookedAt(): readonly string[]
  complete(): boolean
}

/** What is missing in an answer over clusters, or out of date. */
export interface ClusterGap {
  readonly cluster: string
  /** The type name of the kind; `null`: every kind of the cluster. */
  readonly type: string | null
  /** `NOT_SERVED`, or the code of an error. */
  readonly code: string
  readonly message: string
  /** Since when it cannot be reached, or what the answer has of it may be out of date, by RFC 3339. */
  readonly since: string | null
}

/** A container whose log is read. */
export interface LogPlace {
  readonly cluster: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

/** One line of a log. */
export interface LogLine extends LogPlace {
  /** RFC 3339 with nine digits after the second; `null` if the line has none. */
  readonly time: string | null
  readonly text: string
  readonly truncated: boolean
  /** The line as a JSON object, with all its digits; `null` if it is none. */
  readonly fields: JsonText | null
}

/** How the log of a container is read at this time. */
export interface LogStreamState extends LogPlace {
  readonly state: 'WAITING' | 'STREAMING' | 'ENDED' | 'FAILED'
  /** A word, such as `ContainerCreating`, `Completed`, `FORBIDDEN`. */
  readonly reason: string | null
  readonly message: string | null
}

/** A part of the logs of some pods: the answer of a query, or a frame. */
export interface PodLogsSource {
  readonly lines: readonly LogLine[]
  /** `null` if none has changed since the frame before. */
  readonly streams: readonly LogStreamState[] | null
  readonly skipped: number
  readonly notFollowed: number
  readonly incomplete: readonly ClusterGap[]
}

/** One value of an index, and the objects of the list that have it. */
export interface FacetValue {
  readonly value: string | number | boolean
  readonly count: number
  readonly sums: readonly IndexSum[]
}

/** The sum of an index over some objects. */
export interface IndexSum {
  readonly of: string
  /** A quantity in canonical form. */
  readonly value: string
  readonly number: number
  /** The number of objects that have a value. */
  readonly count: number
}

/** The distribution of the objects of a list over the values of an index. */
export interface Facet {
  readonly by: string
  /** Most frequent first. */
  readonly values: readonly FacetValue[]
  /** The number of all values, including those beyond `top`. */
  readonly distinctCount: number
  /** The number of objects without a value. */
  readonly missingCount: number
}

/** A reference to an object of any kind, whether or not the object exists. */
export interface ObjectRef {
  readonly cluster: string
  readonly group: string
  /** `null` if only the group is known. */
  readonly apiVersion: string | null
  readonly kind: string
  /** `null` for cluster-scoped objects. */
  readonly namespace: string | null
  readonly name: string
  /** `null` if only the name is known. */
  readonly uid: string | null
}

/** One object of a graph. */
export interface GraphNodeSource {
  readonly ref: ObjectRef
  /** The number of steps from the nearest root. */
  readonly depth: number
}

/** One relation between two objects of a graph, by their `id`s. */
export interface GraphEdgeSource {
  readonly from: string
  readonly to: string
  readonly relation: string
}

/** The result of `graph`. */
export interface GraphSource {
  nodes(): readonly GraphNodeSource[]
  edges(): readonly GraphEdgeSource[]
  readonly truncated: boolean
  /** The type names of the kinds that were read, sorted. */
  readonly types: readonly string[]
  /** The relations to kinds that are not in memory, sorted. */
  readonly notFollowed: readonly string[]
  /** The type names of the kinds that may hold more, but were not read, sorted. */
  notLookedAt(): readonly string[]
  complete(): boolean
  /** Why named relations could not be followed. */
  readonly failures: readonly Error[]
}

/** One result of `search`: the object, and its value with the text. */
export interface SearchResultSource {
  readonly object: ObjectRef
  /** `name`, `labels["app"]`, or the name of an index. */
  readonly matched: string
  readonly value: string
}

/** The number of results of one kind. */
export interface TypeCount {
  readonly type: string
  readonly count: number
}

/** A page of results of `search`. */
export interface SearchSource {
  nodes(): readonly SearchResultSource[]
  edges(): readonly { readonly cursor: string; readonly node: SearchResultSource }[]
  pageInfo(): PageInfo
  totalCount(): number
  staleSince(): string | null
  counts(): readonly TypeCount[]
  /** The type names of the kinds that were read, sorted. */
  types(): readonly string[]
  notLookedAt(): readonly string[]
  complete(): boolean
  /** Why named kinds could not be read. */
  readonly failures: readonly Error[]
}

/** A problem: a topmost owner and a reason. */
export interface ProblemSource {
  readonly id: string
  readonly cluster: string
  /** The topmost owner. */
  readonly object: ObjectRef
  readonly kind: string
  /** `null` if the kind is not served. */
  readonly type: string | null
  readonly severity: ProblemSeverity
  readonly reason: string
  readonly message: string | null
  /** By RFC 3339. */
  readonly since: string | null
  readonly count: number
  /** The objects that have it. */
  objects(args: ProblemObjectsArguments): readonly ObjectRef[]
  lastEvent(): ProblemEvent | null
}

/** A Warning Event. */
export interface ProblemEvent {
  readonly reason: string
  readonly message: string | null
  readonly count: number
  readonly lastSeen: string | null
}

/** The number of problems of one severity and kind. */
export interface ProblemCount {
  readonly severity: ProblemSeverity
  readonly type: string | null
  readonly kind: string
  readonly count: number
}

/** A page of problems. */
export interface ProblemsSource {
  nodes(): readonly ProblemSource[]
  edges(): readonly { readonly cursor: string; readonly node: ProblemSource }[]
  pageInfo(): PageInfo
  totalCount(): number
  staleSince(): string | null
  counts(): readonly ProblemCount[]
  incomplete(): readonly ClusterGap[]
  /** The type names of the kinds that were looked at, sorted. */
  lookedAt(): readonly string[]
  notLookedAt(): readonly string[]
  complete(): boolean
  /** Why named kinds could not be read. */
  readonly failures: readonly Error[]
}

/** A value, with the errors that stand beside it. */
export interface ReadBeside {
  readonly failures: readonly Error[]
}

/** The content of a Secret besides its metadata. */
export interface SecretContents {
  /** Base64, by key. */
  readonly data: Readonly<Record<string, string>> | null
  readonly type: string | null
}

/** Receives the error of an object that a row names and the viewer may not get, whether or not it exists. */
export type ToldRefusal = (error: Error) => void

/**
 * The reads of one run of an operation, within one tick. `null` also stands for data that the API server must provide
 * first: the server fetches them, and the operation runs again.
 */
export interface StoreReads {
  list(kind: Kind, args: ListFieldArguments): ConnectionSource | null
  /** The list of the kind that the arguments name. */
  objectList(args: ObjectListArguments): ConnectionSource | null
  /** The objects of several kinds and clusters as one list. */
  kubernetesObjects(args: KubernetesObjectsArguments): OwnedConnectionSource
  lookup(kind: Kind, args: LookupArguments): Row | null
  /** By the `id` of an object, see `decodeObjectId`. */
  object(id: string): Row | null
  objectByRef(args: ObjectByRefArguments): Row | null
  /** The object that a representation of federation names. */
  entity(representation: unknown): Row | null
  /** The chain of owners, the nearest first. */
  ownerChain(row: Row, refused: ToldRefusal): readonly ObjectRef[]
  /** The referenced object; `null` if it does not exist, is refused, or its kind is not served. */
  referenced(ref: ObjectRef, refused?: ToldRefusal): Row | null
  /** The objects that own this one, whatever their kind. */
  owners(row: Row, refused: ToldRefusal): readonly Row[]
  /** The objects that this one owns, of the kinds that the schema declares, those in `args` and those in memory. */
  owned(row: Row, args: OwnedArguments): OwnedConnectionSource
  /** The objects that use this one, of all kinds that can, or of those in `args`. */
  usedBy(row: Row, args: UsedByArguments): UsedByConnectionSource
  /** The columns of an object in `kubectl get`, which only the API server knows; `null` if the object is gone. */
  printerColumns(row: Row, wide: boolean): readonly PrinterColumn[] | null
  /** The data of a Secret, read on behalf of the caller; `null` if the Secret is gone. */
  secret(row: Row): SecretContents | null
  /** What a pod or node used. Reports why it is not known. */
  usage(row: Row, refused: ToldRefusal): ResourceUsage | null
  /** Follows a relation to objects of several kinds: those in memory and those in `args`. */
  followPolymorphic(
    row: Row,
    field: PolymorphicRelationField,
    args: OwnedArguments,
  ): OwnedConnectionSource
  /** The objects around some objects, and their relations. */
  graph(args: GraphArguments): GraphSource
  /** The objects of any kind with a value that contains a text. */
  search(args: SearchArguments): SearchSource
  /** What is wrong with the objects of the kinds that are looked at. */
  problems(args: ProblemsArguments): ProblemsSource
  /** The ways to complete the last word of a search text. */
  complete(args: CompleteArguments): ReadBeside
  /** The value of a field of an extension; `null` until its resolver has been called. */
  extension(
    field: ExtensionField,
    args: Readonly<Record<string, unknown>>,
    parent: unknown,
    at: ResolvedField,
  ): unknown
  /** The state of an object's cluster. */
  cluster(row: Row): unknown
  /** Whether the viewer may do something to an object; `null` if the server has to ask the API server first. */
  can(row: Row, args: ObjectCanArguments): boolean | null
  /** A value that a resolver of an extension has given, with the objects of kinds as rows. */
  extensionValue(value: unknown, at: Pick<ResolvedField, 'type'>): unknown
  /** Follows a relation with `many`. */
  follow(row: Row, relation: RelationField, args: RelationArguments): ConnectionSource
  /** Follows a relation without `many`. */
  followOne(row: Row, relation: RelationField, refused: ToldRefusal): Row | null
}

/** A field of an extension in an operation. */
export interface ResolvedField {
  readonly nodes: readonly FieldNode[]
  readonly type: GraphQLOutputType
}

/** What the writes of one operation have done. They are made before the answer is read; dispose it after that. */
export interface WriteResults extends Disposable {
  /**
   * The value of a field of `Mutation`, by its response key: its payload, of `apply` one for each document, or what the
   * resolver of an extension gave. Throws the error of the write.
   */
  result(key: string): unknown
}

/**
 * The `contextValue` of an operation as resolvers see it: all that they know of the gateway. Everything is synchronous.
 * Every method may throw; the error belongs to the field that called.
 */
export interface ResolverContext {
  readonly read: StoreReads
  /** What the writes of a mutation have done; absent in queries. */
  readonly writes?: WriteResults
  /** Adds an error for a field that still has a value. */
  readonly report: (error: GraphQLError) => void
}

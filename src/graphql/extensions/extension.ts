/*
 * The public interface of extensions: the types and resolvers that a program gives (`GatewayExtension`), the context of
 * its resolvers (`ExtensionContext`), and the errors of an unusable extension (`ExtensionError`). docs/extending.md
 * explains them.
 */

import type DataLoader from 'dataloader'
import type { DocumentNode, GraphQLScalarType } from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import type { ApiResource, Resource } from '../../kubernetes/api-resource.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { BuiltInResources } from '../../kubernetes/resources.ts'
import { CodedError } from '../../lib/coded-error.ts'
import type { ExtensionFieldInfo } from '../schema/field-source.ts'
import type { ListFieldArguments } from '../reads/list-arguments.ts'

/** Types and fields that a program adds to the schema, with their resolvers. */
export interface GatewayExtension {
  /** Names the extension in errors. Default: its position, `extend[0]`. */
  readonly name?: string
  /**
   * SDL: own types, and `extend type` for `Query`, `Mutation`, `Subscription` and the types of kinds. `@cost(weight: 50)`
   * on a field sets the price of one call of its resolver, in fields of the work budget. Default: 10.
   */
  readonly typeDefs: string | DocumentNode
  /**
   * By type and field. A field that extends a type of the gateway needs a resolver. The default for others is the member
   * of the source with the field's name.
   */
  readonly resolvers?: ExtensionResolvers
  readonly needs?: ExtensionNeeds
}

/** The kinds that an extension reads. A kind is named by its list field, `pods`, or its type, `Pod`. */
export interface ExtensionNeeds {
  /**
   * Kinds that its resolvers read through `context.cache`. An operation with one of its fields takes their caches and
   * asks for access before it calls resolvers. Kinds that are not served are ignored until they are.
   */
  readonly kinds?: readonly string[]
  /** Kinds without which the gateway does not start. */
  readonly required?: readonly string[]
}

/** Resolvers by type name. A custom scalar has a `GraphQLScalarType`, an interface or union may have `__resolveType`. */
export type ExtensionResolvers = Readonly<
  Record<string, GraphQLScalarType | Readonly<Record<string, FieldResolver | SubscriptionResolver>>>
>

/**
 * Computes a field. `source` is the object that the field belongs to. For a field of a kind, it is the Kubernetes object,
 * read-only and decoded when the resolver first touches it. The value may be a promise.
 */
export type FieldResolver = (
  // oxlint-disable-next-line typescript/no-explicit-any -- the program knows its types
  source: any,
  // oxlint-disable-next-line typescript/no-explicit-any -- the arguments are as `typeDefs` declares them
  args: any,
  context: ExtensionContext,
  info: ExtensionFieldInfo,
) => unknown

/**
 * A field of `Subscription`: its events, and the value of the field for each event. Default value: the member of the
 * event with the field's name.
 */
export interface SubscriptionResolver {
  readonly subscribe: (
    source: undefined,
    // oxlint-disable-next-line typescript/no-explicit-any -- the arguments are as `typeDefs` declares them
    args: any,
    context: ExtensionContext,
    info: ExtensionFieldInfo,
  ) => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>
  readonly resolve?: FieldResolver
}

/** The context of resolvers: one for each operation, and one for each event of a subscription. */
export interface ExtensionContext {
  /** The caller; `undefined`: the server does not authenticate callers, who may see everything. */
  readonly viewer: Viewer | undefined
  /** Aborts at the deadline of the present batch of resolvers. */
  readonly signal: AbortSignal
  /** The gateway's caches, limited to what the caller may see. */
  readonly cache: ExtensionCache
  /**
   * A dataloader of this operation: the same one for the same `name`. It collects the keys that the resolvers of one level
   * ask for, and calls `batch` once for all.
   */
  readonly loader: <K, V>(
    name: unknown,
    batch: (keys: readonly K[], context: ExtensionContext) => PromiseLike<ArrayLike<V | Error>>,
    options?: DataLoader.Options<K, V>,
  ) => DataLoader<K, V>
}

type ObjectOf<R> = R extends Resource<infer T> ? T : KubernetesObject

/** The caches by kind. */
export type ExtensionCache = {
  readonly [K in keyof BuiltInResources]: KindCache<ObjectOf<BuiltInResources[K]>>
} & {
  /** The cache of a custom resource, or of any other resource. Reads of one that is not served are refused. */
  of<T extends KubernetesObject = KubernetesObject>(
    resource: Resource<T> | Pick<ApiResource, 'group' | 'resource'>,
  ): KindCache<T>
}

/** The arguments of a list, as in the list field in GraphQL. */
export type CacheListArguments = Omit<
  ListFieldArguments,
  'related' | 'clusters' | 'clusterSelector'
>

/** Names an object for `get`. */
export interface CacheLookup {
  readonly cluster?: string
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string
  readonly name: string
}

/**
 * Reads one kind as the caller. Objects are read-only and decoded when they are first touched. An object may be the value
 * of a field of its kind's type. Rejects with the error of the list field: FORBIDDEN, NOT_SYNCED, …
 */
export interface KindCache<T extends KubernetesObject> {
  /** All objects that match; at most `first`. More than 10,000 without `first` are refused. */
  list(args?: CacheListArguments): Promise<readonly T[]>
  /** `undefined` if it does not exist, or the caller may not see it. */
  get(place: CacheLookup): Promise<T | undefined>
  count(args?: CacheListArguments): Promise<number>
}

/** The problems of extensions. */
export type ExtensionProblem =
  /** GraphQL cannot parse `typeDefs`, or it is not valid. */
  | 'sdl'
  /** The gateway, a kind or another extension has the type or field. */
  | 'taken'
  /** A resolver has no field. */
  | 'no-field'
  /** A field on a type of the gateway has no resolver. */
  | 'no-resolver'
  /** The extension does something that extensions cannot do. */
  | 'unsupported'
  /** No cluster serves a required kind. */
  | 'missing-kind'

/** An extension cannot be served. `value` names the part that is wrong: `Pod.cost`. */
export class ExtensionError extends CodedError {
  readonly problem: ExtensionProblem
  readonly extension: string

  constructor(
    problem: ExtensionProblem,
    extension: string,
    about: string,
    message: string,
    hint: string,
    cause?: unknown,
  ) {
    super('EXTENSION', `${extension}: ${message}`, { value: about, hint, cause })
    this.problem = problem
    this.extension = extension
  }
}

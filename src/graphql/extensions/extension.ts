/*
 * What programs see of extensions: the types and resolvers that they give (`GatewayExtension`), what their resolvers
 * get (`ExtensionContext`), and what is wrong with an extension (`ExtensionError`). docs/extending.md explains them.
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
  /** Names it in errors. Default: its position, `extend[0]`. */
  readonly name?: string
  /**
   * SDL: own types, and `extend type` for `Query`, `Mutation`, `Subscription` and the types of kinds. `@cost(weight: 50)` on
   * a field is what one call of its resolver costs, in fields of the work budget. Default 10.
   */
  readonly typeDefs: string | DocumentNode
  /** By type and field. A field that extends a type of the gateway needs one; others default to a member of the source. */
  readonly resolvers?: ExtensionResolvers
  readonly needs?: ExtensionNeeds
}

/** The kinds that an extension reads. A kind is named by its list field, `pods`, or its type, `Pod`. */
export interface ExtensionNeeds {
  /**
   * Kinds that its resolvers read by `context.cache`. An operation with one of its fields takes their caches and asks for
   * access before it calls resolvers. Kinds that are not served are ignored until they are.
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
 * Computes a field. `source` is the object that the field belongs to: of a kind, the Kubernetes object, decoded when the
 * resolver first touches it, and read-only. The value may be a promise.
 */
export type FieldResolver = (
  // oxlint-disable-next-line typescript/no-explicit-any -- the program knows its types
  source: any,
  // oxlint-disable-next-line typescript/no-explicit-any -- the arguments are as `typeDefs` declares them
  args: any,
  context: ExtensionContext,
  info: ExtensionFieldInfo,
) => unknown

/** A field of `Subscription`: its events, and the value of the field at each; default: the event's member of its name. */
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

/** What resolvers get of their operation. One for each operation, and for each event of a subscription. */
export interface ExtensionContext {
  /** The caller; `undefined`: the server does not authenticate callers, and everything may be seen. */
  readonly viewer: Viewer | undefined
  /** Aborts at the deadline of the present batch of resolvers. */
  readonly signal: AbortSignal
  /** The gateway's caches, as far as the caller may see them. */
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

/** The arguments of a list, as those of the list field in GraphQL. */
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
 * Reads one kind, as the caller may see it. Objects are read-only and decoded when they are first touched; one may be the
 * value of a field of its kind's type. Rejects with the error of the list field: FORBIDDEN, NOT_SYNCED, …
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
  /** A resolver without a field. */
  | 'no-field'
  /** A field of a type of the gateway without a resolver. */
  | 'no-resolver'
  /** It does something that extensions cannot. */
  | 'unsupported'
  /** A required kind that no cluster serves. */
  | 'missing-kind'

/** An extension cannot be served. `value` is what it is about: `Pod.cost`. */
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

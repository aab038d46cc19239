import { isDeepStrictEqual } from 'node:util'
import {
  type ApiResource,
  apiVersionOf,
  groupResourceOf,
  requireResource,
  type Resource,
} from '../kubernetes/api-resource.ts'
import type { KubernetesObject, MetadataOf, Unstructured } from '../kubernetes/object.ts'
import { reflectorBackoff } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { checkedWait, type WaitOptions } from '../lib/deadline.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import { aFunction, anObject, checkedOptions, type OptionChecks, present } from '../lib/options.ts'
import { notOneSource, type SourceOfResources } from './controller.ts'
import type { ListerWatcher } from './reflector/lister-watcher.ts'
import { reflectorDefaults } from './reflector/reflector-options.ts'
import {
  createSharedInformer,
  InformerStoppedError,
  requireNamespaceNames,
  type SharedInformer,
  sharedInformerChecks,
  sharedInformerDefaults,
  type SharedInformerOptions,
} from './shared-informer.ts'
import type { IndexFunction } from './store/store-view.ts'

/** The options of one informer that its factory does not determine. */
export type InformerOptions<T extends KubernetesObject = KubernetesObject> = Partial<
  Omit<SharedInformerOptions<T>, 'resource' | 'source' | 'apiServer'>
>

/** The options of a factory; the others apply to all its informers. */
export interface SharedInformerFactoryOptions extends Omit<InformerOptions, 'metadataOnly'> {
  /** The server of the resources. Either this or {@link source} is required. */
  readonly apiServer?: SourceOfResources
  /** The source of a resource's objects, instead of an `ApiServer`. */
  readonly source?: (
    resource: ApiResource,
    options: { readonly metadataOnly?: boolean },
  ) => ListerWatcher
  /**
   * The namespaces of all its informers, each listed and watched by itself; absent: all, by one list. Resources without
   * namespaces are listed as a whole, and informers that are given a namespace or namespaces of their own keep to
   * those. {@link InformerFactory.setNamespaces} changes them.
   */
  readonly namespaces?: readonly string[]
  /** Options of one resource's informers, which override those of the factory. */
  readonly forResource?: (resource: ApiResource) => Omit<InformerOptions, 'metadataOnly'>
}

const { resource: _, source: __, apiServer: ___, ...informerChecks } = sharedInformerChecks
const { metadataOnly: ____, ...commonChecks } = informerChecks

export const factoryChecks: OptionChecks<SharedInformerFactoryOptions> = {
  ...commonChecks,
  apiServer: anObject,
  source: aFunction,
  forResource: aFunction,
}

/** One namespace of a factory. */
export interface FactoryNamespace {
  /** Whether every informer of the factory's namespaces has listed it. */
  readonly isSynced: boolean
  /** The last failures of its lists and watches since their last success, by resource (`pods`, `deployments.apps`). */
  readonly errors: ReadonlyMap<string, Error>
}

/** Informers have not synced: by resource (`pods`, `deployments.apps`), with the reasons. */
export class CacheSyncError extends CodedError {
  readonly errors: ReadonlyMap<string, Error>

  constructor(errors: ReadonlyMap<string, Error>) {
    const reasons = [...errors].map(([name, { message }]) => `${name}: ${message}`)
    const [cause] = errors.values()
    super('CACHE_NOT_SYNCED', `not synced: ${reasons.join('; ')}`, {
      value: [...errors.keys()],
      cause,
    })
    this.errors = errors
  }
}

interface FactoryInformer {
  readonly informer: SharedInformer
  /** The options of its first caller. */
  readonly options: InformerOptions
  /** The indexers of all callers. */
  readonly indexers: Map<string, IndexFunction>
  /** Whether it has the namespaces of the factory, now and later. */
  readonly isFollowing: boolean
  readonly controller: AbortController
  running: Promise<void> | undefined
}

/** Informers that are created on demand, and started and stopped together. */
export class InformerFactory implements AsyncDisposable {
  readonly #options: Omit<SharedInformerFactoryOptions, 'namespaces'>
  readonly #informers = new Map<string, FactoryInformer>()
  #namespaces: readonly string[] | undefined
  #stopped = false

  constructor(options: SharedInformerFactoryOptions) {
    const { namespaces, ...rest } = checkedOptions('an informer factory', options, factoryChecks)
    const { apiServer, source, namespace } = rest
    requireNamespaceNames({ namespaces, namespace })
    this.#options = rest
    this.#namespaces = namespaces
    if ((apiServer === undefined) === (source === undefined)) throw notOneSource(source)
  }

  /** The informer of a resource and options; created for the first caller. */
  protected shared(resource: ApiResource, given: object): SharedInformer {
    requireResource('resource', resource)
    if (this.#stopped) throw new InformerStoppedError(groupResourceOf(resource))
    const { apiServer, source, forResource, ...common } = this.#options
    const own: InformerOptions = checkedOptions('an informer', given, informerChecks)
    // An informer does not know T; functions of T are functions of what it holds.
    const options: InformerOptions = {
      ...common,
      ...present(forResource?.(resource) ?? {}),
      ...own,
    }
    const isFollowing =
      resource.namespaced && options.namespace === undefined && options.namespaces === undefined
    const key = identityOf(resource, options)
    const known = this.#informers.get(key)
    if (known !== undefined) {
      join(known, own)
      return known.informer
    }
    const { indexers = {}, metadataOnly = false } = options
    const from =
      source === undefined ? { apiServer } : { source: source(resource, { metadataOnly }) }
    const informer: SharedInformer = createSharedInformer<KubernetesObject>({
      ...options,
      ...(isFollowing ? present({ namespaces: this.#namespaces }) : {}),
      ...from,
      resource,
    } as SharedInformerOptions)
    this.#informers.set(key, {
      informer,
      options,
      indexers: new Map(Object.entries(indexers)),
      isFollowing,
      controller: new AbortController(),
      running: undefined,
    })
    return informer
  }

  /** Starts every informer that is not running yet. May be called repeatedly. Throws `InformerStoppedError`. */
  start(): void {
    if (this.#stopped) throw new InformerStoppedError('this factory')
    for (const entry of this.#informers.values()) {
      entry.running ??= entry.informer.run(entry.controller.signal)
    }
  }

  /**
   * The informer that follows all objects of a resource as they are, if there is one: without selection, namespaces and
   * transform.
   */
  informerOfAll(resource: ApiResource, metadataOnly = false): SharedInformer | undefined {
    if (this.#stopped) return undefined
    const { informer } = this.#informers.get(identityOf(resource, { metadataOnly })) ?? {}
    return informer?.namespaces === undefined ? informer : undefined
  }

  *informers(): IterableIterator<SharedInformer> {
    for (const { informer } of this.#informers.values()) yield informer
  }

  /**
   * The namespaces of the factory; `undefined` if it covers all. Each namespace is listed and watched by itself: one
   * that fails does not hold up the others once they are synced.
   */
  get namespaces(): ReadonlyMap<string, FactoryNamespace> | undefined {
    return (
      this.#namespaces &&
      new Map(this.#namespaces.map((namespace) => [namespace, this.#stateIn(namespace)]))
    )
  }

  #stateIn(namespace: string): FactoryNamespace {
    const errors = new Map<string, Error>()
    let isSynced = true
    for (const { informer, isFollowing } of this.#informers.values()) {
      if (!isFollowing) continue
      const { isListed = false, lastError } = informer.namespaces?.get(namespace) ?? {}
      isSynced &&= isListed
      if (lastError !== undefined) errors.set(groupResourceOf(informer.resource), lastError)
    }
    return { isSynced, errors }
  }

  /**
   * Changes the namespaces of the factory, also while it runs; `undefined`: all. Handlers get a deletion for each object of a
   * namespace that leaves, and an addition for each object of a namespace that comes. The informers of other namespaces go on
   * undisturbed. {@link waitForCacheSync} waits for the new namespaces. Throws `InvalidOptionError`.
   */
  setNamespaces(namespaces: readonly string[] | undefined): void {
    const { namespace } = this.#options
    requireNamespaceNames({ namespaces, namespace })
    if (this.#stopped) throw new InformerStoppedError('this factory')
    this.#namespaces = namespaces && [...new Set(namespaces)]
    for (const { informer, isFollowing } of this.#informers.values()) {
      if (isFollowing) informer.setNamespaces(namespaces)
    }
  }

  /**
   * Resolves when every informer has synced, and has listed each of its namespaces. Rejects with {@link CacheSyncError},
   * which names the informers that have not and why, or with the signal's reason.
   */
  async waitForCacheSync(options: WaitOptions = {}): Promise<void> {
    const errors = new Map<string, Error>()
    for (const [name, error] of await this.#syncs(options)) {
      if (error !== undefined) errors.set(name, error)
    }
    options.signal?.throwIfAborted()
    if (errors.size > 0) throw new CacheSyncError(errors)
  }

  /**
   * Resolves with whether all informers of each resource (`pods`, `deployments.apps`) have synced. Rejects only with
   * `InvalidOptionError`.
   */
  async settleCacheSync(options: WaitOptions = {}): Promise<ReadonlyMap<string, boolean>> {
    const syncs = await this.#syncs(options)
    return new Map(Array.from(syncs, ([name, error]) => [name, error === undefined]))
  }

  /** Waits for every informer. For each resource, the first error of its informers, or `undefined`. */
  async #syncs(options: WaitOptions): Promise<ReadonlyMap<string, Error | undefined>> {
    checkedWait(options)
    const syncs = new Map<string, Error | undefined>()
    await Promise.all(
      Array.from(this.informers(), async (informer) => {
        const error = await informer.waitForNamespaces(options).then(
          () => undefined,
          (failure: Error) => failure,
        )
        const name = groupResourceOf(informer.resource)
        syncs.set(name, syncs.get(name) ?? error)
      }),
    )
    return syncs
  }

  /** Stops every informer and waits for them. Also ends waits for informers that were never started. */
  async shutdown(): Promise<void> {
    this.#stopped = true
    const entries = [...this.#informers.values()]
    for (const { controller } of entries) controller.abort()
    await Promise.all(
      entries.map((entry) => (entry.running ??= entry.informer.run(entry.controller.signal))),
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown()
  }
}

/**
 * One informer per resource, selection, transform and `metadataOnly`, shared by all callers (client-go's
 * `SharedInformerFactory`). Informers are created on demand, started with {@link start} and stopped together. Its
 * constructor throws `InvalidOptionError` unless exactly one of `apiServer` and `source` is given.
 */
export class SharedInformerFactory extends InformerFactory {
  /**
   * Returns the informer of a resource; creates it for the first caller. An informer is shared if the selection
   * (namespace, namespaces, selectors, `tweakListOptions`), the transform and `metadataOnly` are the same; functions must be
   * identical. Adds missing indexers. `T` comes from a `Resource<T>`, or is the caller's claim about the objects.
   * Throws `InformerConflictError` if another caller gave a different value for any other option, or another index of
   * the same name, and `InformerStoppedError`.
   */
  informer<T extends KubernetesObject = Unstructured>(
    resource: Resource<T>,
    options: InformerOptions<MetadataOf<T>> & { readonly metadataOnly: true },
  ): SharedInformer<MetadataOf<T>>
  informer<T extends KubernetesObject = Unstructured>(
    resource: Resource<T>,
    options?: InformerOptions<T>,
  ): SharedInformer<T>
  informer(resource: Resource, options: object = {}): SharedInformer {
    return this.shared(resource, options)
  }
}

/** Creates a factory; nothing runs before {@link SharedInformerFactory.start}. Throws `InvalidOptionError`. */
export function createSharedInformerFactory(
  options: SharedInformerFactoryOptions,
): SharedInformerFactory {
  return new SharedInformerFactory(options)
}

/** Two callers want one informer with different options. */
export class InformerConflictError extends CodedError {
  /** The option's name; `indexers.byNode` for an index function. */
  readonly option: string

  constructor(resource: ApiResource, option: string, value: unknown) {
    super(
      'INFORMER_CONFLICT',
      `the informer of ${groupResourceOf(resource)} already exists with another ${option}`,
      {
        value,
        hint: option.startsWith('indexers.')
          ? 'give the index another name, or both callers the same function'
          : 'ask everywhere for the same, or give the option to the factory (forResource)',
      },
    )
    this.option = option
  }
}

/**
 * The values of absent options. An absent page size differs from its default, which only applies where paging is
 * useful.
 */
const defaults: Readonly<Record<string, unknown>> = {
  ...reflectorDefaults,
  ...sharedInformerDefaults,
  pageSize: undefined,
}

/** The options that make a separate informer. Callers that differ in others conflict. */
const distinguishing = [
  'namespace',
  'namespaces',
  'labelSelector',
  'fieldSelector',
  'tweakListOptions',
  'transform',
  'metadataOnly',
] as const satisfies readonly (keyof InformerOptions)[]

/** A text that identifies an informer: its resource, selection, transform and `metadataOnly`. */
export function identityOf(resource: ApiResource, options: InformerOptions): string {
  const parts = distinguishing.map((name) => identify(options[name] ?? defaults[name]))
  return [apiVersionOf(resource), resource.resource, resource.kind, ...parts].join('\n')
}

/** Adds the indexers that an informer lacks for these options. Throws {@link InformerConflictError}. */
function join(known: FactoryInformer, { indexers = {}, ...options }: InformerOptions): void {
  const { informer } = known
  const knownOptions: Readonly<Record<string, unknown>> = known.options
  for (const [name, value] of Object.entries(options)) {
    if (!isSame(name, value, knownOptions[name])) {
      throw new InformerConflictError(informer.resource, name, value)
    }
  }
  const added = new Map<string, IndexFunction>()
  for (const [name, index] of Object.entries(indexers)) {
    const same = known.indexers.get(name)
    if (same === undefined) added.set(name, index)
    else if (!isSameIndex(same, index)) {
      throw new InformerConflictError(informer.resource, `indexers.${name}`, index)
    }
  }
  for (const [name, index] of added) known.indexers.set(name, index)
  if (added.size > 0) informer.addIndexers(Object.fromEntries(added))
}

function isSame(name: string, value: unknown, known: unknown): boolean {
  const [one, other] = [value, known].map((given) => given ?? defaults[name])
  if (name !== 'backoff') return isDeepStrictEqual(one, other)
  const given = { ...reflectorBackoff, ...(one as object) }
  return isDeepStrictEqual(given, { ...reflectorBackoff, ...(other as object) })
}

/**
 * Whether two functions are identical or have the same text. Index functions are pure, and one written inline is a new
 * object each time. (The text does not show captured variables: an index function must only depend on its object.)
 */
function isSameIndex(one: IndexFunction, other: IndexFunction): boolean {
  if (one === other) return true
  const text = String(one)
  return text === String(other) && !text.includes('[native code]')
}

const identities = new WeakMap<object, number>()
let nextIdentity = 1

function identify(value: unknown): string {
  if (typeof value !== 'function') return JSON.stringify(value) ?? ''
  const identity = getOrInsert(identities, value, () => nextIdentity++)
  return `#${identity}`
}

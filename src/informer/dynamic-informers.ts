import { type ApiResource, apiVersionOf, groupResourceOf } from '../kubernetes/api-resource.ts'
import type { KubernetesObject, MetadataOf, Unstructured } from '../kubernetes/object.ts'
import { sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { checkedWait, type WaitOptions } from '../lib/deadline.ts'
import {
  aFunction,
  aNumber,
  checkedOptions,
  InvalidOptionError,
  type OptionChecks,
} from '../lib/options.ts'
import {
  createSharedInformerFactory,
  factoryChecks,
  type SharedInformerFactory,
  type SharedInformerFactoryOptions,
} from './informers.ts'
import type { SharedInformer } from './shared-informer.ts'
import type { InformerOptions } from './shared-options.ts'
import type { SourceOfResources } from './source.ts'

/** What names a resource without knowing its kind: `{ group: 'apps', version: 'v1', resource: 'deployments' }`. */
export type GroupVersionResource = Pick<ApiResource, 'group' | 'version' | 'resource'>

type Discover = (signal: AbortSignal) => Promise<{ readonly resources: readonly ApiResource[] }>

/** What a dynamic factory is made from; the rest are options of all its informers. */
export interface DynamicInformerFactoryOptions extends SharedInformerFactoryOptions {
  /** Whose resources these are, and who is asked what there is. */
  readonly apiServer?: SourceOfResources & { readonly discover?: Discover }
  /** What the server serves now. Must be given where `apiServer` is not. */
  readonly discover?: Discover
  /** How often {@link DynamicInformerFactory.waitForResource} asks again, milliseconds. */
  readonly discoverEveryMs?: number
}

/** Every default of {@link DynamicInformerFactoryOptions}, but for its informers'. */
export const dynamicInformerDefaults = { discoverEveryMs: 1000 } as const

const dynamicChecks: OptionChecks<DynamicInformerFactoryOptions> = {
  ...factoryChecks,
  discover: aFunction,
  discoverEveryMs: aNumber(),
}

/** A resource that the server does not serve, or not yet. */
export class ResourceNotServedError extends CodedError {
  constructor(wanted: GroupVersionResource, known: readonly ApiResource[]) {
    const versions = known
      .filter(({ group, resource }) => group === wanted.group && resource === wanted.resource)
      .map(apiVersionOf)
    super(
      'RESOURCE_NOT_SERVED',
      `the server does not serve ${groupResourceOf(wanted)} in ${apiVersionOf(wanted)}`,
      {
        value: wanted,
        hint:
          versions.length > 0
            ? `it serves it in ${versions.join(', ')}`
            : 'install its CustomResourceDefinition, or wait for it with waitForResource',
      },
    )
  }
}

/**
 * Informers of resources that are known by name only, custom ones above all (client-go's
 * `DynamicSharedInformerFactory`). The kind comes from discovery, when an informer is first asked for.
 *
 * An informer whose resource vanishes while it runs keeps the deletions that the server sent, reports each list that
 * the server refuses with 404, and tries again with back-off; it recovers by itself when the resource is there again.
 */
export class DynamicInformerFactory implements AsyncDisposable {
  readonly #discoverNow: Discover
  readonly #discoverEveryMs: number
  readonly #factory: SharedInformerFactory
  #known: readonly ApiResource[] = []

  constructor(options: DynamicInformerFactoryOptions) {
    const { discover, discoverEveryMs, ...shared } = checkedOptions(
      'a dynamic informer factory',
      options,
      dynamicChecks,
    )
    const { apiServer } = shared
    const found = discover ?? apiServer?.discover?.bind(apiServer)
    if (found === undefined) {
      throw new InvalidOptionError('discover', discover, 'it, or an apiServer that has it')
    }
    this.#discoverNow = found
    this.#discoverEveryMs = discoverEveryMs ?? dynamicInformerDefaults.discoverEveryMs
    this.#factory = createSharedInformerFactory(shared)
  }

  /**
   * The informer of a resource, one per resource and options. Asks the server what it serves when the resource is not
   * known yet. Rejects with {@link ResourceNotServedError}.
   */
  informer<T extends KubernetesObject = Unstructured>(
    wanted: GroupVersionResource,
    options: InformerOptions<MetadataOf<T>> & {
      readonly metadataOnly: true
      readonly signal?: AbortSignal
    },
  ): Promise<SharedInformer<MetadataOf<T>>>
  informer<T extends KubernetesObject = Unstructured>(
    wanted: GroupVersionResource,
    options?: InformerOptions<T> & { readonly signal?: AbortSignal },
  ): Promise<SharedInformer<T>>
  async informer(
    wanted: GroupVersionResource,
    options: InformerOptions & { readonly signal?: AbortSignal } = {},
  ): Promise<SharedInformer> {
    const { signal = new AbortController().signal, ...rest } = options
    const resource = this.#find(wanted) ?? (await this.#discover(wanted, signal))
    if (resource === undefined) throw new ResourceNotServedError(wanted, this.#known)
    return this.#factory.informer<KubernetesObject>(resource, rest)
  }

  /** Resolves when the server serves the resource. Rejects with {@link ResourceNotServedError} after `deadlineMs`. */
  async waitForResource(
    wanted: GroupVersionResource,
    options: WaitOptions = {},
  ): Promise<ApiResource> {
    const { deadlineMs = Number.POSITIVE_INFINITY, signal = new AbortController().signal } =
      checkedWait(options)
    const end = performance.now() + deadlineMs
    while (true) {
      const resource = await this.#discover(wanted, signal)
      if (resource !== undefined) return resource
      if (performance.now() >= end) throw new ResourceNotServedError(wanted, this.#known)
      await sleep(this.#discoverEveryMs, signal)
      signal.throwIfAborted()
    }
  }

  /** Starts every informer that is not running yet. */
  start(): void {
    this.#factory.start()
  }

  /** See `SharedInformerFactory.waitForCacheSync`. */
  waitForCacheSync(options: WaitOptions = {}): Promise<void> {
    return this.#factory.waitForCacheSync(options)
  }

  /** See `SharedInformerFactory.settleCacheSync`. */
  settleCacheSync(options: WaitOptions = {}): Promise<ReadonlyMap<string, boolean>> {
    return this.#factory.settleCacheSync(options)
  }

  /** Stops every informer and waits for them. */
  shutdown(): Promise<void> {
    return this.#factory.shutdown()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown()
  }

  async #discover(
    wanted: GroupVersionResource,
    signal: AbortSignal,
  ): Promise<ApiResource | undefined> {
    const { resources } = await this.#discoverNow(signal)
    this.#known = resources
    return this.#find(wanted)
  }

  #find(wanted: GroupVersionResource): ApiResource | undefined {
    return this.#known.find(
      ({ group, version, resource }) =>
        group === wanted.group && version === wanted.version && resource === wanted.resource,
    )
  }
}

/** Creates a dynamic factory; nothing is asked before the first informer. */
export function createDynamicInformerFactory(
  options: DynamicInformerFactoryOptions,
): DynamicInformerFactory {
  return new DynamicInformerFactory(options)
}

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
import type { SourceOfResources } from './controller.ts'
import {
  factoryChecks,
  InformerFactory,
  type InformerOptions,
  type SharedInformerFactoryOptions,
} from './informers.ts'
import type { SharedInformer } from './shared-informer.ts'

/** A resource by name, without its kind: `{ group: 'apps', version: 'v1', resource: 'deployments' }`. */
export type GroupVersionResource = Pick<ApiResource, 'group' | 'version' | 'resource'>

type Discover = (signal: AbortSignal) => Promise<{ readonly resources: readonly ApiResource[] }>

/** The options of a dynamic factory; the others apply to all its informers. */
export interface DynamicInformerFactoryOptions extends SharedInformerFactoryOptions {
  /** The server that has the resources and discovers them. */
  readonly apiServer?: SourceOfResources & { readonly discover?: Discover }
  /** Returns the resources that the server serves now. Required without `apiServer`. */
  readonly discover?: Discover
  /** How often {@link DynamicInformerFactory.waitForResource} asks again, in milliseconds. */
  readonly discoverEveryMs?: number
}

/** The defaults of {@link DynamicInformerFactoryOptions}, without those of its informers. */
export const dynamicInformerDefaults = { discoverEveryMs: 1000 } as const

const dynamicChecks: OptionChecks<DynamicInformerFactoryOptions> = {
  ...factoryChecks,
  discover: aFunction,
  discoverEveryMs: aNumber(),
}

/** The server does not serve a resource, or not yet. */
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
 * `DynamicSharedInformerFactory`). Discovery finds the kind when an informer is first requested.
 *
 * If a resource vanishes while its informer runs, the informer applies the deletions that the server sent, reports each
 * list that fails with 404, and retries with back-off. It recovers when the resource is back.
 */
export class DynamicInformerFactory extends InformerFactory {
  readonly #discoverNow: Discover
  readonly #discoverEveryMs: number
  #known: readonly ApiResource[] = []

  constructor(options: DynamicInformerFactoryOptions) {
    const { discover, discoverEveryMs, ...shared } = checkedOptions(
      'a dynamic informer factory',
      options,
      dynamicChecks,
    )
    super(shared)
    const { apiServer } = shared
    const found = discover ?? apiServer?.discover?.bind(apiServer)
    if (found === undefined) {
      throw new InvalidOptionError('discover', discover, 'it, or an apiServer that has it')
    }
    this.#discoverNow = found
    this.#discoverEveryMs = discoverEveryMs ?? dynamicInformerDefaults.discoverEveryMs
  }

  /**
   * The informer of a resource: one per resource and options. Asks the server what it serves if the resource is not
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
    return this.shared(resource, rest)
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

/** Creates a dynamic factory. Sends no request before the first informer. */
export function createDynamicInformerFactory(
  options: DynamicInformerFactoryOptions,
): DynamicInformerFactory {
  return new DynamicInformerFactory(options)
}

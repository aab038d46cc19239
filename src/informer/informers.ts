import { type ApiResource, apiVersionOf, groupResourceOf } from '../kubernetes/api-resource.ts'
import type { KubernetesObject } from '../kubernetes/object.ts'
import type { ListerWatcher } from './reflector/lister-watcher.ts'
import {
  createSharedInformer,
  InformerStoppedError,
  type SharedInformer,
  type SharedInformerOptions,
} from './shared-informer.ts'

/** The options of one informer that its factory does not decide. */
export type InformerOptions<T extends KubernetesObject = KubernetesObject> = Partial<
  Omit<SharedInformerOptions<T>, 'resource' | 'source'>
>

/** What a factory is made from; the rest are options of all its informers. */
export interface SharedInformerFactoryOptions extends InformerOptions {
  /** Where the objects of a resource come from: `apiServer.resource(…)`, or any other source. */
  readonly source: (
    resource: ApiResource,
    options: { readonly metadataOnly?: boolean },
  ) => ListerWatcher
  /** Options of the informers of one resource, over those of the factory. */
  readonly forResource?: (resource: ApiResource) => InformerOptions
}

interface RunningInformer {
  readonly informer: SharedInformer
  readonly controller: AbortController
  running: Promise<void> | undefined
}

/**
 * One informer per resource and options, however many ask for it (client-go's `SharedInformerFactory`). Informers
 * are created on demand, started with {@link start} and stopped together.
 */
export class SharedInformerFactory implements AsyncDisposable {
  readonly #options: SharedInformerFactoryOptions
  readonly #informers = new Map<string, RunningInformer>()
  #stopped = false

  constructor(options: SharedInformerFactoryOptions) {
    this.#options = options
  }

  /**
   * The informer of a resource, created when nobody has asked for it with these options before. Options that are
   * functions count as the same only when they are the same function. `T` is the caller's word for what the objects
   * are: nothing checks it. Throws {@link InformerStoppedError}.
   */
  informer<T extends KubernetesObject = KubernetesObject>(
    resource: ApiResource,
    options: InformerOptions<T> = {},
  ): SharedInformer<T> {
    if (this.#stopped) throw new InformerStoppedError(groupResourceOf(resource))
    const key = this.#keyOf(resource, options)
    const known = this.#informers.get(key)
    if (known !== undefined) return known.informer as SharedInformer<T>
    const { source, forResource, ...common } = this.#options
    // An informer does not know T: what it is given as functions of T are functions of what it holds.
    const merged = { ...common, ...forResource?.(resource), ...(options as object) }
    const { metadataOnly } = merged
    const informer = createSharedInformer({
      ...merged,
      resource,
      source: source(resource, metadataOnly === undefined ? {} : { metadataOnly }),
    })
    this.#informers.set(key, { informer, controller: new AbortController(), running: undefined })
    return informer as SharedInformer<T>
  }

  /** Starts every informer that is not running yet. Can be called again at any time. */
  start(): void {
    if (this.#stopped) throw new InformerStoppedError('this factory')
    for (const entry of this.#informers.values()) {
      entry.running ??= entry.informer.run(entry.controller.signal)
    }
  }

  /** Every informer of the factory. */
  *informers(): IterableIterator<SharedInformer> {
    for (const { informer } of this.#informers.values()) yield informer
  }

  /**
   * Waits until every informer has synced, or `deadlineMs` have passed; never rejects. The result says for each
   * resource (`pods`, `deployments.apps`) whether it has.
   */
  async waitForCacheSync(options: {
    readonly deadlineMs: number
    readonly signal?: AbortSignal
  }): Promise<ReadonlyMap<string, boolean>> {
    const results = new Map<string, boolean>()
    await Promise.all(
      [...this.informers()].map(async (informer) => {
        const synced = await informer.waitForSync(options).then(
          () => true,
          () => false,
        )
        const name = groupResourceOf(informer.resource)
        results.set(name, synced && results.get(name) !== false)
      }),
    )
    return results
  }

  /** Stops every informer and waits for them. */
  async shutdown(): Promise<void> {
    this.#stopped = true
    const entries = [...this.#informers.values()]
    for (const { controller } of entries) controller.abort()
    await Promise.all(entries.map(({ running }) => running ?? Promise.resolve()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown()
  }

  #keyOf(resource: ApiResource, options: object): string {
    const parts = Object.entries(options)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${name}=${identify(value)}`)
    return [apiVersionOf(resource), resource.resource, ...parts].join('\n')
  }
}

const identities = new WeakMap<object, number>()
let nextIdentity = 1

function identify(value: unknown): string {
  if (typeof value !== 'object' && typeof value !== 'function') return JSON.stringify(value)
  if (value === null) return 'null'
  let identity = identities.get(value)
  if (identity === undefined) identities.set(value, (identity = nextIdentity++))
  return `#${identity}`
}

/** Creates a factory; nothing happens until {@link SharedInformerFactory.start}. */
export function createSharedInformerFactory(
  options: SharedInformerFactoryOptions,
): SharedInformerFactory {
  return new SharedInformerFactory(options)
}

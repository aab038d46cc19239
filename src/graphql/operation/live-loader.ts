import DataLoader from 'dataloader'
import type {
  DirectApi,
  DirectList,
  DirectListRequest,
  DirectResource,
} from '../../cache/direct-api.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { boundedParallel } from '../../lib/concurrency.ts'
import { ClientError } from './client-error.ts'
import type { ClusterKind } from './kind-view.ts'
import { failedRead, lateRead } from './live-errors.ts'
import { LiveTableLoader } from './live-table-loader.ts'
import { SecretLoader, type SecretReader } from './secret-loader.ts'
import type { OperationLimits, ServedSchema } from './served-schema.ts'

/** One read of the API server: an object, or a part of a list. */
type LiveKey = { readonly at: ClusterKind } & (
  | { readonly object: { readonly namespace?: string; readonly name: string } }
  | { readonly list: DirectListRequest }
)

type LiveAnswer = KubernetesObject | DirectList | undefined

/** Reads that are under way at once for one operation. */
const maxParallel = 8
/** Reads of one operation: each is a request to the API server. */
const maxReads = 100

/**
 * Reads of the API server for one operation: what several fields ask alike is read once, what they ask in one tick is read
 * together, some at a time, until a deadline. Rejects with `ClientError`.
 */
export class LiveLoader {
  readonly #served: ServedSchema
  readonly #deadlineMs: number
  readonly #isViewer: boolean
  readonly #loader: DataLoader<LiveKey, LiveAnswer, string>
  readonly #asked = new Set<string>()
  /** Objects as the API server prints them. */
  readonly tables: LiveTableLoader
  /** What Secrets hold; absent where that is not told: in frames. */
  readonly secrets: SecretLoader | undefined

  /** `isViewer`: whether it is asked who reads; `reader`: where what Secrets hold is told. */
  constructor(
    served: ServedSchema,
    { liveDeadlineMs }: Pick<OperationLimits, 'liveDeadlineMs'>,
    isViewer: boolean,
    reader?: SecretReader,
  ) {
    this.#served = served
    this.#deadlineMs = liveDeadlineMs
    this.#loader = new DataLoader((keys) => this.#readAll(keys), { cacheKeyFn: nameOf })
    this.#isViewer = isViewer
    this.tables = new LiveTableLoader(served, liveDeadlineMs, isViewer)
    this.secrets = reader && new SecretLoader(served, liveDeadlineMs, reader)
  }

  /** `undefined` where there is no such object. */
  async object(
    at: ClusterKind,
    object: { readonly namespace?: string; readonly name: string },
  ): Promise<KubernetesObject | undefined> {
    return (await this.#load({ at, object })) as KubernetesObject | undefined
  }

  async list(at: ClusterKind, list: DirectListRequest): Promise<DirectList> {
    return (await this.#load({ at, list })) as DirectList
  }

  #load(key: LiveKey): Promise<LiveAnswer> {
    this.#asked.add(nameOf(key))
    if (this.#asked.size > maxReads) {
      const message = `the operation makes more than ${maxReads} live reads`
      const hint = 'read from the caches, or in several queries'
      throw new ClientError('QUERY_TOO_COSTLY', message, { value: this.#asked.size, hint })
    }
    return this.#loader.load(key)
  }

  /** The answers, or why there is none, in the order of the keys. */
  #readAll(keys: readonly LiveKey[]): Promise<readonly (LiveAnswer | Error)[]> {
    const signal = AbortSignal.timeout(this.#deadlineMs)
    return boundedParallel(keys, maxParallel, (key) => this.#read(key, signal))
  }

  async #read(key: LiveKey, signal: AbortSignal): Promise<LiveAnswer | Error> {
    const { cluster, kind } = key.at
    try {
      const api: DirectApi | undefined = this.#served.clusters.get(cluster)?.direct(kind.resource)
      if (api === undefined) throw new TypeError(`there is no cluster ${cluster}`)
      const of: DirectResource = { resource: kind.resource, metadataOnly: kind.metadataOnly }
      return 'object' in key
        ? await api.object(of, key.object, signal)
        : await api.list(of, key.list, signal)
    } catch (error) {
      return signal.aborted
        ? lateRead(key.at, this.#deadlineMs)
        : failedRead(key.at, error, this.#isViewer)
    }
  }
}

function nameOf(key: LiveKey): string {
  const { cluster, kind } = key.at
  return JSON.stringify([cluster, kind.typeName, 'object' in key ? key.object : key.list])
}

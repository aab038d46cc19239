import DataLoader from 'dataloader'
import { placeOf, questionOf } from '../../access/access-question.ts'
import type { CallerToken } from '../../access/authentication/authenticator.ts'
import type { DirectApi } from '../../cache/direct-api.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import { boundedParallel } from '../../lib/concurrency.ts'
import type { Row, SecretContents } from '../schema/read-context.ts'
import { ClientError } from './client-error.ts'
import type { ClusterKind } from './kind-view.ts'
import { lateRead } from './live-errors.ts'
import type { ServedSchema } from './served-schema.ts'
import { forbidden, type ViewerAccess } from './viewer-access.ts'

/** As whom Secrets are read, and who is told. */
export interface SecretReader {
  /** Who asks; absent where nobody is asked who they are: then it is the gateway that reads. */
  readonly access: ViewerAccess | undefined
  /** What they read with; absent where they have shown no token. */
  readonly token: CallerToken | undefined
  /** Told of each Secret that was read, `cluster/namespace/name`. */
  readonly read: (secret: string) => void
}

/** Reads that are under way at once for one operation, in one cluster. */
const maxParallel = 8
/** Secrets of one operation: each is a request to the API server. */
const maxReads = 100

/**
 * What Secrets hold, read for one operation as whoever asks: with their own token, each Secret once, those that are asked for in
 * one tick together, some at a time, until a deadline. Rejects with `ClientError`, which tells nothing of what was read.
 */
export class SecretLoader {
  readonly #served: ServedSchema
  readonly #deadlineMs: number
  readonly #reader: SecretReader
  readonly #loader: DataLoader<Row, SecretContents | null, string>
  #asked = 0

  constructor(served: ServedSchema, deadlineMs: number, reader: SecretReader) {
    this.#served = served
    this.#deadlineMs = deadlineMs
    this.#reader = reader
    this.#loader = new DataLoader((rows) => this.#readAll(rows), {
      cacheKeyFn: ({ cluster, object: { metadata } }) =>
        JSON.stringify([cluster, metadata.namespace, metadata.name, metadata.uid]),
    })
  }

  /** `null` where the Secret is not there any more, or another one has its name. */
  contents(row: Row): Promise<SecretContents | null> {
    return this.#loader.load(row)
  }

  /** What they hold, or why that is not told, in the order of the rows. */
  async #readAll(rows: readonly Row[]): Promise<(SecretContents | Error | null)[]> {
    this.#asked += rows.length
    if (this.#asked > maxReads) return rows.map(() => tooMany(this.#asked))
    const signal = AbortSignal.timeout(this.#deadlineMs)
    const outcomes = new Map<Row, SecretContents | Error | null>()
    const byCluster = Map.groupBy(rows, ({ cluster }) => cluster)
    await Promise.all(
      Array.from(byCluster.values(), async (same) => {
        try {
          await this.#readIn(same, outcomes, signal)
        } catch (error) {
          for (const row of same) outcomes.set(row, failedSecret(row, error))
        }
      }),
    )
    return rows.map((row) => outcomes.get(row) ?? null)
  }

  /** Those of one cluster. */
  async #readIn(
    rows: readonly Row[],
    outcomes: Map<Row, SecretContents | Error | null>,
    signal: AbortSignal,
  ): Promise<void> {
    const [first] = rows
    if (first === undefined) return
    await using api = this.#open(first)
    await boundedParallel(rows, maxParallel, async (row) => {
      outcomes.set(row, await this.#read(row, api, signal))
    })
  }

  /** A connection as whoever asks. Throws `ClientError`. */
  #open(at: ClusterKind): DirectApi & AsyncDisposable {
    const { cluster, kind } = at
    const { access, token } = this.#reader
    const cache = this.#served.clusters.get(cluster)
    if (cache === undefined) throw new TypeError(`there is no cluster ${cluster}`)
    if (access === undefined) {
      return { ...cache.direct(kind.resource), [Symbol.asyncDispose]: () => Promise.resolve() }
    }
    if (token === undefined) {
      const hint =
        'callers who show no bearer token cannot be read for: the gateway impersonates nobody'
      throw unsupported(at, 'is read with the token of the caller, and there is none', hint)
    }
    const [byDefault] = this.#served.clusters.keys()
    // No other API server may come to know it.
    if (cluster !== (token.cluster ?? byDefault)) {
      const hint = `the token of a caller is sent to ${token.cluster ?? byDefault} only`
      throw unsupported(at, 'is in another cluster than the token of the caller', hint)
    }
    return cache.directAs(kind.resource, token.reveal())
  }

  async #read(
    row: Row,
    api: DirectApi,
    signal: AbortSignal,
  ): Promise<SecretContents | Error | null> {
    const { cluster, kind, object } = row
    const { resource } = kind
    const { namespace = '', name, uid } = object.metadata
    const { access, read } = this.#reader
    try {
      // The API server decides about the token; this holds where something before it adds credentials of its own.
      const question = questionOf('get', resource, placeOf(resource, { namespace, name }))
      if ((await access?.may(cluster, question)) === false) return forbidden(row, 'get')
      const found = await api.object({ resource, metadataOnly: false }, { namespace, name }, signal)
      if (found === undefined || (uid ?? found.metadata.uid) !== found.metadata.uid) return null
      read(`${cluster}/${namespace}/${name}`)
      const { data = null, type = null } = found as Partial<SecretContents>
      return { data, type }
    } catch (error) {
      return signal.aborted ? lateRead(row, this.#deadlineMs) : failedSecret(row, error)
    }
  }
}

/** Why a frame does not say what a Secret holds. */
export function noSecretInFrames(at: ClusterKind): ClientError {
  return unsupported(at, 'is not told in frames', 'ask for it by a query when the Secret changes')
}

function tooMany(value: number): ClientError {
  const message = `the operation reads more than ${maxReads} Secrets`
  const hint = 'ask for the data of fewer, or in several queries'
  return new ClientError('QUERY_TOO_COSTLY', message, { value, hint })
}

function unsupported({ cluster, kind }: ClusterKind, why: string, hint: string): ClientError {
  const { typeName } = kind
  const message = `what a ${typeName} holds ${why}`
  return new ClientError('UNSUPPORTED', message, { cluster, kind: typeName, hint })
}

/** Without the cause, whose text may be a part of the answer. */
function failedSecret(at: ClusterKind, cause: unknown): ClientError {
  if (cause instanceof ClientError) return cause
  const { cluster, kind } = at
  const details = { cluster, kind: kind.typeName }
  if (!(cause instanceof ApiStatusError)) {
    const message = `${kind.typeName} cannot be read from the API server`
    return new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs: 1_000 })
  }
  const { httpStatus, retryAfterMs } = cause
  if (httpStatus === 403) return forbidden(at, 'get')
  if (httpStatus === 401) {
    const hint = 'tokens have to be for the API server too, not for the gateway alone'
    return unsupported(at, 'is not told: the API server does not accept this token', hint)
  }
  const message = `${kind.typeName} cannot be read from the API server: HTTP ${httpStatus}`
  return new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs })
}

import { placeOf, questionOf } from '../../../access/access-question.ts'
import type { CallerToken } from '../../../access/authentication/authenticator.ts'
import type { DirectApi } from '../../../cache/direct-api.ts'
import { ApiStatusError } from '../../../kubernetes/status.ts'
import { boundedParallel } from '../../../lib/concurrency.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import { forbidden, type ViewerAccess } from '../../prepare/viewer-access.ts'
import type { SecretContents } from '../../schema/read-context.ts'
import type { DirectObject, DirectReadMeans } from './direct-tables.ts'
import { lateRead } from '../../prepare/read-failures.ts'

/** The access and token that Secrets are read with, and the callback for each read. */
export interface SecretReader {
  /** The access of the viewer; `undefined` without authentication: the gateway then reads with its own account. */
  readonly access: ViewerAccess | undefined
  /** The caller's token, if the caller sent one. */
  readonly token: CallerToken | undefined
  /** Receives each Secret that was read, as `cluster/namespace/name`. */
  readonly read: (secret: string) => void
}

type Contents = SecretContents | null

/** Concurrent reads of one operation in one cluster. */
const maxParallel = 8
/** The Secrets that one operation may read. Each is a request to the API server. */
const maxReads = 100

/**
 * The contents of Secrets, read with the caller's own token; `null` for a Secret that is gone or was replaced under its
 * name. `count` is the number of Secrets in the operation so far. Errors quote no contents.
 */
export async function readSecrets(
  secrets: readonly DirectObject[],
  count: number,
  reader: DirectReadMeans & SecretReader,
): Promise<ReadonlyMap<DirectObject, Contents | Error>> {
  if (count > maxReads) return new Map(secrets.map((one) => [one, tooMany(count)]))
  const signal = AbortSignal.timeout(reader.deadlineMs)
  const outcomes = new Map<DirectObject, Contents | Error>()
  const byCluster = Map.groupBy(secrets, ({ cluster }) => cluster)
  await Promise.all(
    Array.from(byCluster.values(), async (same) => {
      try {
        const [first] = same
        if (first === undefined) return
        await using api = openAs(first, reader)
        await boundedParallel(same, maxParallel, async (secret) => {
          outcomes.set(secret, await readSecret(secret, api, reader, signal))
        })
      } catch (error) {
        for (const secret of same) outcomes.set(secret, failedSecret(secret, error))
      }
    }),
  )
  return outcomes
}

/** Connects as the caller. Throws `ClientError`. */
function openAs(
  at: ClusterKind,
  { served, access, token }: DirectReadMeans & SecretReader,
): DirectApi & AsyncDisposable {
  const { cluster, kind } = at
  const cache = served.clusters.get(cluster)
  if (cache === undefined) throw new TypeError(`there is no cluster ${cluster}`)
  if (access === undefined) {
    return { ...cache.direct(kind.resource), [Symbol.asyncDispose]: () => Promise.resolve() }
  }
  if (token === undefined) {
    const hint =
      'callers who show no bearer token cannot be read for: the gateway impersonates nobody'
    throw unsupported(at, 'is read with the token of the caller, and there is none', hint)
  }
  const [byDefault] = served.clusters.keys()
  // A token goes only to the API server that it is for.
  if (cluster !== (token.cluster ?? byDefault)) {
    const hint = `the token of a caller is sent to ${token.cluster ?? byDefault} only`
    throw unsupported(at, 'is in another cluster than the token of the caller', hint)
  }
  return cache.directAs(kind.resource, token.reveal())
}

async function readSecret(
  secret: DirectObject,
  api: DirectApi,
  { access, read, deadlineMs }: DirectReadMeans & SecretReader,
  signal: AbortSignal,
): Promise<Contents | Error> {
  const { cluster, kind, namespace = '', name, uid } = secret
  const { resource } = kind
  try {
    // The API server checks the token. A proxy in front may add its own credentials, so the gateway reviews access too.
    const question = questionOf('get', resource, placeOf(resource, { namespace, name }))
    if ((await access?.may(cluster, question)) === false) return forbidden(secret, 'get')
    const found = await api.object({ resource, metadataOnly: false }, { namespace, name }, signal)
    if (found === undefined || (uid !== '' && uid !== found.metadata.uid)) return null
    read(`${cluster}/${namespace}/${name}`)
    const { data = null, type = null } = found as Partial<SecretContents>
    return { data, type }
  } catch (error) {
    return signal.aborted ? lateRead(secret, deadlineMs) : failedSecret(secret, error)
  }
}

/** The error for the contents of a Secret in a frame. */
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

/** Leaves out the cause: its text may quote the response. */
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

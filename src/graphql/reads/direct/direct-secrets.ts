import type { CallerToken } from '../../../access/authentication/authenticator.ts'
import type { DirectApi } from '../../../cache/direct-api.ts'
import type { ApiResource } from '../../../kubernetes/api-resource.ts'
import { ApiStatusError } from '../../../kubernetes/status.ts'
import { ClientError } from '../../errors/client-error.ts'
import { isTokenFor } from '../../prepare/caller-server.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import { forbidden } from '../../prepare/read-failures.ts'
import type { SecretContents } from '../../schema/read-context.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import type { IdentifiedPlace } from './direct-tables.ts'

/** Connections to the API servers, opened with the token of the caller. */
export class CallerConnections implements AsyncDisposable {
  readonly #served: ServedSchema
  readonly #token: CallerToken | undefined
  readonly #open = new Map<string, DirectApi & AsyncDisposable>()

  constructor(served: ServedSchema, token: CallerToken | undefined) {
    this.#served = served
    this.#token = token
  }

  /** The connection for a kind. Throws `ClientError`. */
  to({ cluster, kind }: ClusterKind): DirectApi {
    let api = this.#open.get(cluster)
    if (api === undefined) {
      const token = tokenFor({ cluster, kind }, this.#served, this.#token)
      const cache = this.#served.clusters.get(cluster)
      if (cache === undefined) throw new TypeError(`there is no cluster ${cluster}`)
      this.#open.set(cluster, (api = cache.directAs(kind.resource, token.reveal())))
    }
    return api
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(Array.from(this.#open.values(), (api) => api[Symbol.asyncDispose]()))
  }
}

/** The caller's token for a cluster. Throws `ClientError`: a token goes only to the API server that it is for. */
export function tokenFor(
  at: ClusterKind,
  { members }: ServedSchema,
  token: CallerToken | undefined,
): CallerToken {
  if (token === undefined) {
    const hint = 'send a bearer token: the gateway does not impersonate callers'
    throw unreadable(at, 'you sent no bearer token to read it with', hint)
  }
  const [byDefault] = members.keys()
  const own = token.cluster ?? byDefault
  if (!isTokenFor({ members }, at.cluster, token)) {
    const hint = `read Secrets of cluster ${own}: the gateway sends your token nowhere else`
    throw unreadable(at, `your token is not for cluster ${at.cluster}`, hint)
  }
  return token
}

/** The contents of a Secret; `null` if it is gone or was replaced under its name. */
export async function secretContents(
  api: DirectApi,
  resource: ApiResource,
  { namespace = '', name, uid }: IdentifiedPlace,
  signal: AbortSignal,
): Promise<SecretContents | null> {
  const found = await api.object({ resource, metadataOnly: false }, { namespace, name }, signal)
  if (found === undefined || (uid !== '' && uid !== found.metadata.uid)) return null
  const { data = null, type = null } = found as Partial<SecretContents>
  return { data, type }
}

function unreadable({ cluster, kind }: ClusterKind, why: string, hint: string): ClientError {
  const { typeName } = kind
  const message = `the data of this ${typeName} cannot be read: ${why}`
  return new ClientError('UNSUPPORTED', message, { cluster, type: typeName, hint })
}

/** The error of a failed read of a Secret. Leaves out the cause: its text may quote the contents. */
export function failedSecret(at: ClusterKind, cause: unknown): ClientError {
  const { cluster, kind } = at
  const details = { cluster, type: kind.typeName }
  if (!(cause instanceof ApiStatusError)) {
    const message = `${kind.typeName} cannot be read from the API server`
    return new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs: 1_000 })
  }
  const { httpStatus, retryAfterMs } = cause
  if (httpStatus === 403) return forbidden(at, 'get')
  if (httpStatus === 401) {
    const hint = 'use a token whose audiences include the API server, not the gateway alone'
    return unreadable(at, `the API server of cluster ${cluster} does not accept your token`, hint)
  }
  const message = `${kind.typeName} cannot be read from the API server: HTTP ${httpStatus}`
  return new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs })
}

import {
  ConnectionError,
  type ConnectionFailure,
} from '../api-server/transport/connection-error.ts'
import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import { CodedError, type ErrorDetails } from '../lib/coded-error.ts'
import { DeadlineError } from '../lib/deadline.ts'

export type UnreadableCode =
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'NOT_SYNCED'
  | 'CLUSTER_UNREACHABLE'
  | 'CACHE_FULL'
  | 'UNSUPPORTED'

export interface UnreadablePlace {
  /** The cluster's name. */
  readonly cluster: string
  readonly resource: ApiResource
}

/** A resource cannot be read now. */
export class UnreadableResourceError extends CodedError {
  declare readonly code: UnreadableCode
  readonly cluster: string
  /** `pods`, `deployments.apps`. */
  readonly resource: string
  /** When a retry may succeed; `undefined` if unknown. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: UnreadableCode,
    { cluster, resource }: UnreadablePlace,
    problem: string,
    details: ErrorDetails & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(code, problem, details)
    this.cluster = cluster
    this.resource = groupResourceOf(resource)
    this.retryAfterMs = details.retryAfterMs
  }
}

/** When a retry may find a resource loaded. */
export const retryAfterMs = 1_000

export function notServed(place: UnreadablePlace): UnreadableResourceError {
  const { cluster, resource } = place
  const problem = `cluster ${cluster} does not serve ${groupResourceOf(resource)}`
  return new UnreadableResourceError('NOT_FOUND', place, problem)
}

export function notCached(place: UnreadablePlace): UnreadableResourceError {
  const name = groupResourceOf(place.resource)
  return new UnreadableResourceError(
    'UNSUPPORTED',
    place,
    `${name} is read from the API server, without a cache: it has no subscriptions and no relations`,
    { hint: 'use its list and its look-up' },
  )
}

export function reindexed(place: UnreadablePlace): UnreadableResourceError {
  const name = groupResourceOf(place.resource)
  const problem = `${name} is being listed again: its definition has changed`
  return new UnreadableResourceError('NOT_SYNCED', place, problem, { retryAfterMs })
}

export function renewed(place: UnreadablePlace): UnreadableResourceError {
  const name = groupResourceOf(place.resource)
  const problem = `${name} is being listed again: cluster ${place.cluster} was replaced or restored`
  return new UnreadableResourceError('NOT_SYNCED', place, problem, { retryAfterMs })
}

export function notIndexed(place: UnreadablePlace, index: string): UnreadableResourceError {
  const name = groupResourceOf(place.resource)
  const problem = `${name} is still being indexed by ${index}`
  const hint = 'ask again in a moment'
  return new UnreadableResourceError('NOT_SYNCED', place, problem, { hint, retryAfterMs })
}

export function unindexable(
  place: UnreadablePlace,
  index: string,
  cause: Error,
): UnreadableResourceError {
  const name = groupResourceOf(place.resource)
  const problem = `${name} could not be indexed by ${index}: ${cause.message}`
  const hint = 'ask again in a moment: the gateway tries again'
  return new UnreadableResourceError('NOT_SYNCED', place, problem, { cause, hint, retryAfterMs })
}

export function unreachable(place: UnreadablePlace, cause: Error): UnreadableResourceError {
  return new UnreadableResourceError('CLUSTER_UNREACHABLE', place, cause.message, {
    cause,
    hint: cause instanceof CodedError ? cause.hint : undefined,
  })
}

export function stopped(place: UnreadablePlace): UnreadableResourceError {
  return new UnreadableResourceError('NOT_SYNCED', place, 'the gateway is stopping')
}

/**
 * Explains by the informer's last failure why a resource is not synced. `waitedMs`: how long the caller has waited.
 */
export function notSynced(
  place: UnreadablePlace,
  cause: Error | undefined,
  waitedMs?: number,
): UnreadableResourceError {
  const name = groupResourceOf(place.resource)
  if (cause instanceof ApiStatusError) return refused(place, cause)
  if (cause instanceof ConnectionError) return unreachable(place, cause)
  const waited = waitedMs === undefined ? '' : ` after ${waitedMs} ms`
  const why = cause === undefined || cause instanceof DeadlineError ? '' : `: ${cause.message}`
  return new UnreadableResourceError(
    'NOT_SYNCED',
    place,
    `${name} is still loading${waited}${why}`,
    {
      hint: 'ask again in a moment',
      retryAfterMs,
      cause,
    },
  )
}

function refused(place: UnreadablePlace, cause: ApiStatusError): UnreadableResourceError {
  const name = groupResourceOf(place.resource)
  const detail = cause.status.message ?? `HTTP ${cause.httpStatus}`
  switch (cause.httpStatus) {
    case 401:
      return new UnreadableResourceError(
        'CLUSTER_UNREACHABLE',
        place,
        `the cluster does not accept the gateway's credentials: ${detail}`,
        { cause, hint: 'renew the credentials that the gateway reads the cluster with' },
      )
    case 403:
      return new UnreadableResourceError(
        'FORBIDDEN',
        place,
        `the gateway may not list and watch ${name}: ${detail}`,
        { cause, hint: "grant the gateway's account list and watch on the resource" },
      )
    case 404:
      return new UnreadableResourceError(
        'NOT_FOUND',
        place,
        `the cluster no longer serves ${name}: ${detail}`,
        { cause },
      )
    default:
      return new UnreadableResourceError(
        'NOT_SYNCED',
        place,
        `${name} cannot be listed: ${detail}`,
        { cause, retryAfterMs: cause.retryAfterMs },
      )
  }
}

const lastingStatuses: ReadonlySet<number> = new Set([401, 403, 404])

const lastingFailures: ReadonlySet<ConnectionFailure> = new Set<ConnectionFailure>([
  'certificate-expired',
  'certificate-not-yet-valid',
  'unknown-authority',
  'wrong-host',
  'client-certificate',
])

/** Whether a failure lasts until an operator acts, so that waiting is of no use. The informer retries all others. */
export function isLasting(error: Error): boolean {
  if (error instanceof ApiStatusError) return lastingStatuses.has(error.httpStatus)
  return error instanceof ConnectionError && lastingFailures.has(error.failure)
}

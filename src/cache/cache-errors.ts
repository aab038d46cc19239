/*
 * The errors of resources that cannot be read now, with codes. Some failures last until an operator acts (`isLasting`);
 * others may pass, and their errors say when to retry. The texts name the cluster, the resource, and the way out.
 */

import {
  ConnectionError,
  type ConnectionFailure,
} from '../api-server/transport/connection-error.ts'
import { isUnauthorized } from '../api-server/transport/reachability.ts'
import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import { CodedError, type ErrorDetails } from '../lib/coded-error.ts'
import type { Coverage } from './coverage.ts'
import { DeadlineError } from '../lib/deadline.ts'

export type UnreadableCode =
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'NOT_SYNCED'
  | 'CLUSTER_UNREACHABLE'
  | 'CLUSTER_UNAUTHORIZED'
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
  /** How long to wait before a retry; `undefined` if unknown. */
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

/** How long to wait before a retry may find a resource loaded. */
export const retryAfterMs = 1_000

export function notServed(place: UnreadablePlace): UnreadableResourceError {
  const problem = `cluster ${place.cluster} does not serve ${groupResourceOf(place.resource)}`
  return new UnreadableResourceError('NOT_FOUND', place, problem)
}

const shownNames = 10

/** The gateway's account may list the resource in none of the namespaces to cache. */
export function listedNowhere(
  place: UnreadablePlace,
  { cause, refused: names }: Coverage,
  refusal: Error | undefined,
): UnreadableResourceError {
  const name = groupResourceOf(place.resource)
  const shown = [...names].slice(0, shownNames).join(', ')
  const more = names.size > shownNames ? ` and ${names.size - shownNames} more` : ''
  const where =
    cause === 'configured'
      ? `in the namespaces that cache.namespaces names: ${shown}${more}`
      : 'in all namespaces, nor in one that it knows'
  const told = refusal === undefined ? '' : `: ${refusal.message}`
  const problem = `the gateway may not list and watch ${name} ${where}${told}`
  const hint = `grant the gateway's account list and watch on ${name}, by a RoleBinding in each namespace, or in all`
  return new UnreadableResourceError('FORBIDDEN', place, problem, { hint, cause: refusal })
}

export function notCached(place: UnreadablePlace): UnreadableResourceError {
  const name = groupResourceOf(place.resource)
  const problem = `${name} is read from the API server, without a cache: it has no subscriptions and no relations`
  const hint = 'query its list field or its look-up field instead'
  return new UnreadableResourceError('UNSUPPORTED', place, problem, { hint })
}

export function reindexed(place: UnreadablePlace): UnreadableResourceError {
  return notYet(place, 'is being listed again: its definition has changed')
}

export function renewed(place: UnreadablePlace): UnreadableResourceError {
  return notYet(place, `is being listed again: cluster ${place.cluster} was replaced or restored`)
}

/** `cause`: the error of the last build of the index, if it failed. */
export function notIndexed(
  place: UnreadablePlace,
  index: string,
  cause: Error | undefined,
): UnreadableResourceError {
  return cause === undefined
    ? notYet(place, `is still being indexed by ${index}`, { hint: 'try again in a moment' })
    : notYet(place, `could not be indexed by ${index}: ${cause.message}`, {
        hint: 'try again in a moment: the gateway is retrying',
        cause,
      })
}

export function unreachable(place: UnreadablePlace, cause: Error): UnreadableResourceError {
  const hint = cause instanceof CodedError ? cause.hint : undefined
  const code = isUnauthorized(cause) ? 'CLUSTER_UNAUTHORIZED' : 'CLUSTER_UNREACHABLE'
  return new UnreadableResourceError(code, place, cause.message, { cause, hint })
}

/** The resource cannot be loaded: the cluster is known to be unreachable. `cause`: the last failure of the list. */
export function away(place: UnreadablePlace, cause?: Error): UnreadableResourceError {
  if (cause instanceof ConnectionError) return unreachable(place, cause)
  const problem = `cluster ${place.cluster} cannot be reached`
  const hint = 'try again in a moment'
  return new UnreadableResourceError('CLUSTER_UNREACHABLE', place, problem, { hint, retryAfterMs })
}

export function stopped(place: UnreadablePlace): UnreadableResourceError {
  return new UnreadableResourceError('NOT_SYNCED', place, 'the gateway is stopping')
}

/** Explains by the informer's last failure why a resource is not synced. `waitedMs`: how long the caller has waited. */
export function notSynced(
  place: UnreadablePlace,
  cause: Error | undefined,
  waitedMs?: number,
): UnreadableResourceError {
  if (cause instanceof ApiStatusError) return refused(place, cause)
  const isLost = cause instanceof ConnectionError || isUnauthorized(cause)
  if (cause !== undefined && isLost) return unreachable(place, cause)
  const waited = waitedMs === undefined ? '' : ` after ${waitedMs} ms`
  const why = cause === undefined || cause instanceof DeadlineError ? '' : `: ${cause.message}`
  return notYet(place, `is still loading${waited}${why}`, { hint: 'try again in a moment', cause })
}

/** A retry may find the resource readable. */
function notYet(
  place: UnreadablePlace,
  problem: string,
  details: ErrorDetails = {},
): UnreadableResourceError {
  const text = `${groupResourceOf(place.resource)} ${problem}`
  return new UnreadableResourceError('NOT_SYNCED', place, text, { ...details, retryAfterMs })
}

interface Refusal {
  readonly code: UnreadableCode
  readonly problem: (resource: string) => string
  readonly hint?: string
}

/** The HTTP statuses of a list that last until an operator acts. */
const lastingRefusals: Readonly<Record<number, Refusal>> = {
  401: {
    code: 'CLUSTER_UNAUTHORIZED',
    problem: () => "the cluster does not accept the gateway's credentials",
    hint: 'renew the credentials that the gateway uses for the cluster',
  },
  403: {
    code: 'FORBIDDEN',
    problem: (resource) => `the gateway may not list and watch ${resource}`,
    hint: "grant the gateway's account list and watch on the resource",
  },
  404: { code: 'NOT_FOUND', problem: (resource) => `the cluster no longer serves ${resource}` },
}

function refused(place: UnreadablePlace, cause: ApiStatusError): UnreadableResourceError {
  const name = groupResourceOf(place.resource)
  const detail = cause.status.message ?? `HTTP ${cause.httpStatus}`
  const lasting = lastingRefusals[cause.httpStatus]
  if (lasting === undefined) {
    const details = { cause, retryAfterMs: cause.retryAfterMs }
    const problem = `${name} cannot be listed: ${detail}`
    return new UnreadableResourceError('NOT_SYNCED', place, problem, details)
  }
  const { code, problem, hint } = lasting
  return new UnreadableResourceError(code, place, `${problem(name)}: ${detail}`, { cause, hint })
}

const lastingFailures: ReadonlySet<ConnectionFailure> = new Set<ConnectionFailure>([
  'certificate-expired',
  'certificate-not-yet-valid',
  'unknown-authority',
  'wrong-host',
  'client-certificate',
])

/** Whether a failure lasts until an operator acts, so that waiting does not help. The informer retries after others. */
export function isLasting(error: Error): boolean {
  if (error instanceof ApiStatusError) return lastingRefusals[error.httpStatus] !== undefined
  return error instanceof ConnectionError && lastingFailures.has(error.failure)
}

/*
 * The errors of reads, with their codes and hints. For a viewer, an error withholds what the API server says about the
 * gateway's account, and what else is in memory: the viewer gets a plain reason instead.
 * Messages about the request itself are passed on. Only the log has the address of the API server.
 *
 * A cache may cover some namespaces only. A list without a namespace then answers with the covered part and a note
 * (`incompleteKind`). A read that names an uncovered namespace is refused (`requireCovered`). Neither reveals a namespace
 * that the viewer may not list: the coverage would tell which namespaces exist.
 */

import { ConnectionError } from '../../api-server/transport/connection-error.ts'
import { isUnauthorized } from '../../api-server/transport/reachability.ts'
import { type UnreadableCode, UnreadableResourceError } from '../../cache/cache-errors.ts'
import type { ClusterConnection } from '../../cache/cluster-cache.ts'
import { AccessReviewError } from '../../access/subject-access-review.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import { ClientError, type ClientErrorCode } from '../errors/client-error.ts'
import type { ClusterKind, IncompleteKind, KindView } from './kind-view.ts'
import { type Coverage, covers } from '../../cache/coverage.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { isInScope, type Scope, unrestricted } from '../../query/condition/scope.ts'

/**
 * The error of a read of a cluster that this gateway does not hold: it has just left the fleet, or another gateway holds
 * it, which its connection says.
 */
export function goneCluster(cluster: string, connection?: ClusterConnection): ClientError {
  const isElsewhere = connection?.state === 'unreachable'
  const message = isElsewhere ? connection.error.message : `cluster ${cluster} is no longer served`
  return new ClientError('CLUSTER_UNREACHABLE', message, { cluster, retryAfterMs: 1_000 })
}

export function lateRead({ cluster, kind }: ClusterKind, deadlineMs: number): ClientError {
  const message = `${kind.typeName} was not read from the API server within ${deadlineMs} ms`
  const details = { cluster, type: kind.typeName, hint: 'try again in a moment' }
  return new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs: 1_000 })
}

/** The error of a failed read from the API server. `isViewer`: the caller is a viewer, who gets fewer details. */
export function failedRead(at: ClusterKind, cause: unknown, isViewer: boolean): ClientError {
  if (cause instanceof UnreadableResourceError) return unreadableKind(at, cause, isViewer)
  const { cluster, kind } = at
  if (isUnauthorized(cause)) return unauthorizedCluster(cluster, kind.typeName, cause)
  const details = { cluster, type: kind.typeName, cause }
  if (cause instanceof ApiStatusError) {
    const { httpStatus, retryAfterMs, status } = cause
    const isTold = !isViewer || aboutRequest.has(httpStatus)
    const reason = (isTold ? status.message : undefined) ?? `HTTP ${httpStatus}`
    const message = `${kind.typeName} cannot be read from the API server: ${reason}`
    if (httpStatus === 410) {
      const hint = 'the list has moved on: begin again without `after`'
      return new ClientError('BAD_USER_INPUT', message, { ...details, argument: 'after', hint })
    }
    const code = statusCodes[httpStatus] ?? 'CLUSTER_UNREACHABLE'
    return new ClientError(code, message, { ...details, retryAfterMs })
  }
  const reason = cause instanceof Error ? cause.message : String(cause)
  const message = isViewer || isOfConnection(cause) ? unreachable(at) : reason
  return new ClientError('CLUSTER_UNREACHABLE', message, details)
}

/** Whether an error comes of a connection: its text has the address of the API server, which is for the log alone. */
function isOfConnection(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; { cause } = cause) {
    if (cause instanceof ConnectionError) return true
  }
  return false
}

const statusCodes: Readonly<Record<number, ClientErrorCode>> = {
  400: 'BAD_USER_INPUT',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'UNSUPPORTED',
  406: 'UNSUPPORTED',
}

/** With these statuses, the API server's message is about the request, not about the gateway's account. */
const aboutRequest: ReadonlySet<number> = new Set([400, 404, 405, 406, 410])

/** The error of a field whose kind cannot be read from a cache. `isViewer`: as in {@link failedRead}. */
export function unreadableKind(
  at: ClusterKind,
  cause: UnreadableResourceError,
  isViewer: boolean,
): ClientError {
  const { code, retryAfterMs } = cause
  const { cluster, kind } = at
  const plain = isViewer || isOfConnection(cause) ? plainReasons[code]?.(at) : undefined
  // An error without a cause has the gateway's own message.
  const isPlain = plain !== undefined && (cause.cause !== undefined || code === 'CACHE_FULL')
  const isHidden = isPlain && isViewer && code === 'CLUSTER_UNREACHABLE'
  const hint = isHidden ? 'try again in a moment' : cause.hint
  const details = { cluster, type: kind.typeName, hint, retryAfterMs, cause }
  return new ClientError(code, isPlain ? plain : cause.message, details)
}

const unreachable = ({ cluster }: ClusterKind): string => `cluster ${cluster} cannot be reached`
const unauthorized = ({ cluster }: Pick<ClusterKind, 'cluster'>): string =>
  `cluster ${cluster} does not accept the gateway's credentials`

/** The error of a cluster that refuses the gateway itself, independent of the caller. */
export function unauthorizedCluster(cluster: string, type?: string, cause?: unknown): ClientError {
  const hint = "tell the gateway's operator to renew them; its log says which"
  const details = { cluster, type, hint, cause }
  return new ClientError('CLUSTER_UNAUTHORIZED', unauthorized({ cluster }), details)
}

const plainReasons: Partial<Record<UnreadableCode, (at: ClusterKind) => string>> = {
  CACHE_FULL: ({ kind }) => `the cache has no room for ${kind.typeName}`,
  CLUSTER_UNREACHABLE: unreachable,
  CLUSTER_UNAUTHORIZED: unauthorized,
  FORBIDDEN: ({ kind }) => `the gateway may not list and watch ${kind.typeName}`,
  NOT_FOUND: ({ cluster, kind }) => `cluster ${cluster} does not serve ${kind.typeName}`,
  NOT_SYNCED: ({ kind }) => `${kind.typeName} is still loading`,
}

/** The viewer lacks the verb that a field needs. `orElse`: a way out besides the permission. */
export function forbidden({ cluster, kind }: ClusterKind, verb: string, orElse = ''): ClientError {
  const { typeName, resource } = kind
  const hint = `ask for ${verb} on ${resource.resource}${orElse}`
  const message = `you may not ${verb} ${typeName}`
  return new ClientError('FORBIDDEN', message, { cluster, type: typeName, hint })
}

export function forbiddenList(at: ClusterKind, watch: boolean): ClientError {
  const orElse = at.kind.resource.namespaced ? ', or name a namespace where you may' : ''
  return forbidden(at, watch ? 'list and watch' : 'list', orElse)
}

/**
 * The error of a search for all users of an object if the viewer may not see all users of some type. `among`: which types
 * these are, and which the viewer may name instead.
 */
export function hiddenUsers(
  { cluster, kind }: ClusterKind,
  message: string,
  among?: { readonly visibleTypes: readonly string[]; readonly hiddenTypes: readonly string[] },
): ClientError {
  const { typeName, resource } = kind
  const hint = `name in \`types\` the types of users that you may list, or ask for list on ${resource.resource}`
  return new ClientError('FORBIDDEN', message, { cluster, type: typeName, hint, facts: among })
}

/** The server does not know the namespaces of a cluster yet. `orElse`: a way out besides waiting. */
export function namespacesNotKnown(
  { cluster, kind }: Pick<ClusterKind, 'cluster'> & Partial<ClusterKind>,
  orElse = '',
): ClientError {
  const message = `the namespaces of cluster ${cluster} are not known yet`
  const account = "if this lasts, let the gateway's account list and watch namespaces"
  const hint = `try again in a moment${orElse}; ${account}`
  const details = { cluster, type: kind?.typeName, hint, retryAfterMs: 1_000 }
  return new ClientError('NOT_SYNCED', message, details)
}

export function tooManyNamespaces({ cluster, kind }: ClusterKind, most: number): ClientError {
  const message = `to find out which ${kind.typeName} you may see, more than ${most} namespaces would have to be asked about`
  return new ClientError('RBAC_BUDGET_EXCEEDED', message, {
    cluster,
    type: kind.typeName,
    value: most,
    hint: 'name the namespaces: namespace, namespaces, or where: { namespace: … }',
  })
}

/** A failed access review as the error of the field that needs it. Returns other errors unchanged. */
export function reviewFailure(cluster: string, error: unknown): unknown {
  if (!(error instanceof AccessReviewError)) return error
  if (error.isUnauthorized) return unauthorizedCluster(cluster, undefined, error)
  const { message, hint, isRefused } = error
  const details = { cluster, hint, cause: error }
  return isRefused
    ? new ClientError('FORBIDDEN', message, details)
    : new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs: 1_000 })
}

/** The note that a list without a namespace has objects of some namespaces only; `undefined` if the scope is within them. */
export function incompleteKind(
  { cluster, kind, coverage }: KindView,
  viewed: Scope,
): IncompleteKind | undefined {
  if (coverage === undefined || viewed.form === 'names') return undefined
  // Namespaces that the viewer may not list are no gap, and their names are withheld.
  const own = viewed.form === 'namespaces' ? [...viewed.namespaces] : undefined
  if (own?.every((name) => covers(coverage, name))) return undefined
  const { namespaces, excluded } = coverage
  const covered = own?.filter((name) => covers(coverage, name)) ?? namespaces
  return {
    cluster,
    type: kind.typeName,
    code: 'NAMESPACE_NOT_CACHED',
    message: messageOf(kind.typeName, coverage, covered),
    namespaces: covered === undefined ? null : [...covered].toSorted(),
    excluded: own === undefined ? [...excluded].toSorted() : [],
  }
}

/**
 * Throws the `ClientError` of a read that needs objects of a namespace which the cache does not cover. Ignores namespaces
 * outside `viewed`.
 */
export function requireCovered(
  part: KindView,
  within: readonly string[] | undefined,
  viewed: Scope = unrestricted,
): void {
  const { coverage } = part
  if (coverage === undefined || within === undefined) return
  const shown = within.filter((name) => isInScope(viewed, `${name}/`))
  const outside = shown.find((name) => !covers(coverage, name))
  if (outside !== undefined) throw notCovered(part, coverage, outside)
  const loading = shown.find((name) => coverage.loading.has(name))
  if (loading === undefined) return
  const { cluster, kind } = part
  const message = `${kind.typeName} of the namespace ${JSON.stringify(loading)} is still loading`
  throw new ClientError('NOT_SYNCED', message, {
    cluster,
    type: kind.typeName,
    value: loading,
    hint: 'try again in a moment',
    retryAfterMs: 1_000,
  })
}

export function namespacesOfKeys(keys: readonly string[]): readonly string[] {
  return keys.map((key) => splitObjectKey(key).namespace).filter((name) => name !== '')
}

/** The error of a question that a cache of some namespaces cannot answer: whether no object of a kind exists. */
export function notWhole({ cluster, kind }: ClusterKind, coverage: Coverage): ClientError {
  const { typeName: type } = kind
  const message = `the gateway does not see all objects of ${type}: ${reasons[coverage.cause]}`
  const hint = `limit the list to namespaces where ${type} is cached: gatewayClusters { resources { namespaces } } has them`
  return new ClientError('NAMESPACE_NOT_CACHED', message, { cluster, type, hint })
}

function notCovered(
  { cluster, kind }: ClusterKind,
  coverage: Coverage,
  namespace: string,
): ClientError {
  const { typeName: type, resource } = kind
  const message = `${type} of the namespace ${JSON.stringify(namespace)} is not cached: ${reasons[coverage.cause]}`
  const configured = `add it to cache.namespaces of cluster ${cluster}`
  const granted = `let the gateway's account list and watch ${resource.resource} there; the gateway notices it within seconds`
  const hint =
    coverage.cause === 'excluded' || coverage.excluded.has(namespace)
      ? `take it out of cache.excludeNamespaces of cluster ${cluster}`
      : coverage.cause === 'configured' && !coverage.refused.has(namespace)
        ? configured
        : granted
  return new ClientError('NAMESPACE_NOT_CACHED', message, { cluster, type, value: namespace, hint })
}

const shownNames = 10

function messageOf(
  type: string,
  coverage: Coverage,
  covered: Iterable<string> | undefined,
): string {
  const names = [...(covered ?? coverage.excluded)].toSorted()
  const shown = names.slice(0, shownNames).join(', ')
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : ''
  const few = names.length === 1 ? 'the namespace' : 'the namespaces'
  const which = covered === undefined ? 'all namespaces but' : few
  const where = names.length === 0 ? 'no namespace' : `${which} ${shown}${more}`
  return `${type} of ${where} only: ${reasons[coverage.cause]}`
}

const reasons: Readonly<Record<Coverage['cause'], string>> = {
  account: "the gateway's account may list it in some namespaces only",
  configured: 'the gateway is configured to cache some namespaces only',
  excluded: 'the gateway is configured to leave some namespaces out',
}

/*
 * Reads of kinds whose cache covers some namespaces only. A list without a namespace answers with the covered part and a
 * note (`incompleteKind`). A read that names an uncovered namespace is refused (`requireCovered`). Neither reveals a
 * namespace that the viewer may not list: the coverage would tell which namespaces exist.
 */

import { type Coverage, covers } from '../../cache/coverage.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { isInScope, type Scope, unrestricted } from '../../query/condition/scope.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ClusterKind, IncompleteKind, KindView } from './kind-view.ts'

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

import { createHash } from 'node:crypto'
import type { Scope } from '../../query/condition/scope.ts'
import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { KindView } from './kind-view.ts'

/** What may be seen of a kind in a cluster. */
export interface SeenKind extends Pick<KindView, 'cluster' | 'kind' | 'scope' | 'byName'> {
  /** What may be looked up by names, where that is decided by namespaces. */
  readonly look?: Scope | undefined
}

/**
 * What of these kinds may be seen, as one short text: two viewers with the same one see the same objects by the same
 * operation, so what is made for one may be sent to the other. `''` where everything may be seen. The order of the kinds is
 * of no matter. `privileges`: texts of what whoever sees that may do besides. Opaque, and of one moment: a permission that changes changes it.
 */
export function accessFingerprint(
  kinds: Iterable<SeenKind>,
  privileges: Iterable<string> = [],
): string {
  const lines = new Set<string>()
  for (const privilege of privileges) lines.add(JSON.stringify([privilege]))
  for (const { cluster, kind, scope, byName, look } of kinds) {
    if (scope.form === 'all' && (look === undefined || look.form === 'all')) continue
    const { resource } = kind
    lines.add(
      JSON.stringify([
        cluster,
        apiVersionOf(resource),
        resource.resource,
        ...scopeTexts(scope),
        byName?.identity ?? null,
        ...(look === undefined ? [] : scopeTexts(look)),
      ]),
    )
  }
  if (lines.size === 0) return ''
  return createHash('sha256')
    .update([...lines].toSorted().join('\n'))
    .digest('base64url')
    .slice(0, 22)
}

function scopeTexts(scope: Scope): readonly unknown[] {
  switch (scope.form) {
    case 'all':
      return ['all']
    case 'namespaces':
      return ['namespaces', [...scope.namespaces].toSorted()]
    case 'names':
      return ['names', [...scope.keys].toSorted()]
  }
}

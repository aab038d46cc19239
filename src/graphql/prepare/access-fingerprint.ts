import { createHash } from 'node:crypto'
import type { Scope } from '../../query/condition/scope.ts'
import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { KindView } from './kind-view.ts'

/** What a viewer may see of a kind in a cluster. */
export interface SeenKind extends Pick<KindView, 'cluster' | 'kind' | 'scope' | 'byName'> {
  /** What the viewer may look up by name, if namespaces decide that. */
  readonly look?: Scope | undefined
}

/**
 * A short text for what a viewer may see of these kinds, in any order. Viewers with the same text see the same objects
 * by the same operation, so they can share its results. `''`: the viewer may see everything. The text is opaque, and
 * changes with each change of access.
 */
export function accessFingerprint(kinds: Iterable<SeenKind>): string {
  const lines = new Set<string>()
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
  if (scope.form === 'all') return ['all']
  const places = scope.form === 'namespaces' ? scope.namespaces : scope.keys
  return [scope.form, [...places].toSorted()]
}

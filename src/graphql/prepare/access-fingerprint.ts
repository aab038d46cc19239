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
  const byKind = new Map<string, { readonly lines: Set<string>; isLimited: boolean }>()
  for (const { cluster, kind, scope, byName, look } of kinds) {
    const { resource } = kind
    const name = JSON.stringify([cluster, apiVersionOf(resource), resource.resource])
    const found = byKind.get(name) ?? { lines: new Set(), isLimited: false }
    byKind.set(name, found)
    found.isLimited ||= scope.form !== 'all' || (look !== undefined && look.form !== 'all')
    const seen = [scopeTexts(scope), byName?.identity ?? null, look && scopeTexts(look)]
    found.lines.add(name + JSON.stringify(seen))
  }
  // A kind with any limit counts with all its lines: one line may be whole where another is not.
  const lines = [...byKind.values()].flatMap(({ isLimited, lines: all }) =>
    isLimited ? [...all] : [],
  )
  if (lines.length === 0) return ''
  const text = lines.toSorted().join('\n')
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

function scopeTexts(scope: Scope): readonly unknown[] {
  if (scope.form === 'all') return ['all']
  const places = scope.form === 'namespaces' ? scope.namespaces : scope.keys
  return [scope.form, [...places].toSorted()]
}

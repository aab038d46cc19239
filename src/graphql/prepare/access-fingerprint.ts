import { createHash } from 'node:crypto'
import type { Scope } from '../../query/condition/scope.ts'
import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { KindView } from './kind-view.ts'

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
  const all = [...kinds]
  const isLimited = ({ scope, look = scope }: SeenKind): boolean =>
    scope.form !== 'all' || look.form !== 'all'
  const limited = new Set(all.filter(isLimited).map(nameOf))
  if (limited.size === 0) return ''
  // Takes all entries of a limited kind: one entry may be whole where another is not.
  const lines = new Set<string>()
  for (const one of all) {
    if (!limited.has(nameOf(one))) continue
    const { scope, byName, look } = one
    const seen = [scopeTexts(scope), byName?.identity ?? null, look && scopeTexts(look)]
    lines.add(nameOf(one) + JSON.stringify(seen))
  }
  const text = [...lines].toSorted().join('\n')
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

/** The fingerprint of the access to several lists, from the fingerprint of each. */
export function joinedFingerprint(fingerprints: readonly string[]): string {
  const [only] = fingerprints
  return fingerprints.length === 1 && only !== undefined ? only : joinedHash(fingerprints)
}

/** A short text for some texts. */
export function joinedHash(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('base64url').slice(0, 22)
}

function nameOf({ cluster, kind: { resource } }: SeenKind): string {
  return JSON.stringify([cluster, apiVersionOf(resource), resource.resource])
}

function scopeTexts(scope: Scope): readonly unknown[] {
  if (scope.form === 'all') return ['all']
  const places = scope.form === 'names' ? scope.keys : scope.namespaces
  return [scope.form, [...places].toSorted()]
}

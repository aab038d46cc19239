import { createHash } from 'node:crypto'
import type { Viewer } from './viewer.ts'

const known = new WeakMap<Viewer, string>()

/** One text for each viewer: the same for the same members, whatever the order of groups and of `extra`. */
export function viewerKey(viewer: Viewer): string {
  let key = known.get(viewer)
  if (key !== undefined) return key
  const { username, uid, groups, extra, systemIdentityClusters } = viewer
  const sorted = Object.entries(extra).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const text = JSON.stringify([username, uid, groups.toSorted(), sorted, systemIdentityClusters])
  key = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  known.set(viewer, key)
  return key
}

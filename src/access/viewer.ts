/*
 * The identity of a caller in the clusters. Identities that belong to one cluster (`system:`) are valid only there, so
 * that an account of one cluster has no rights in another.
 */

import { createHash } from 'node:crypto'
import { getOrInsert } from '../lib/get-or-insert.ts'

/**
 * A caller in the terms of an API server: the user of a TokenReview, of a verified JWT, or of a trusted proxy's headers.
 * The first four members are part of each SubjectAccessReview.
 */
export interface Viewer {
  readonly username: string
  /** Empty if the authenticator provides none. */
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
  /**
   * The clusters in which the caller's `system:` users and groups are valid; `*` for all. Absent: only the default cluster.
   */
  readonly systemIdentityClusters?: readonly string[] | undefined
}

export const authenticatedGroup = 'system:authenticated'

const anonymous: Viewer = {
  username: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
}

const foreign = new WeakMap<Viewer, Viewer>()

/**
 * The viewer in a cluster where their `system:` names are foreign. Each cluster has its own ServiceAccounts, nodes and
 * administrators under these names. So such groups are dropped, except `system:authenticated`, and such a user becomes
 * anonymous.
 */
export function foreignViewer(viewer: Viewer): Viewer {
  const { username, groups } = viewer
  if (isSystem(username)) return anonymous
  return getOrInsert(foreign, viewer, () => {
    const meant = groups.filter((group) => group === authenticatedGroup || !isSystem(group))
    return meant.length === groups.length ? viewer : { ...viewer, groups: meant }
  })
}

function isSystem(name: string): boolean {
  return name.startsWith('system:')
}

const keys = new WeakMap<Viewer, string>()

/** A unique text for each viewer. The order of groups and of `extra` does not matter. */
export function viewerKey(viewer: Viewer): string {
  let key = keys.get(viewer)
  if (key !== undefined) return key
  const { username, uid, groups, extra, systemIdentityClusters } = viewer
  const sorted = Object.entries(extra).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const text = JSON.stringify([username, uid, groups.toSorted(), sorted, systemIdentityClusters])
  key = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  keys.set(viewer, key)
  return key
}

import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'

/** An object that has been sought by its UID. */
export interface KnownOwner {
  readonly id: ObjectId
  /** Of its own owners. */
  readonly ownerUids: readonly string[]
}

interface Remembered {
  readonly uids: IndexView
  readonly ownerUids: IndexView
  readonly revision: number
  readonly owners: Map<string, KnownOwner>
}

const remembered = new WeakMap<StoreView, Remembered>()

/**
 * Finds objects of a store by UID, within one tick. What was found is remembered until an object comes, goes, or changes
 * its owners, which is rare among Deployments and ReplicaSets: every query seeks the same few of them, and in a large
 * index each search waits for memory several times.
 */
export function ownersIn(view: StoreView): (uid: string) => KnownOwner | undefined {
  const uids = view.index('uid')
  const ownerUids = view.index('ownerUid')
  const revision = uids.revision + ownerUids.revision
  let known = remembered.get(view)
  if (known?.uids !== uids || known.ownerUids !== ownerUids || known.revision !== revision) {
    known = { uids, ownerUids, revision, owners: new Map() }
    remembered.set(view, known)
  }
  const { owners } = known
  return (uid) => {
    let owner = owners.get(uid)
    if (owner === undefined) {
      const id = view.idOfUid(uid)
      if (id === undefined) return undefined
      owners.set(uid, (owner = { id, ownerUids: ownerUids.valuesOf(id) }))
    }
    return owner
  }
}

import type { ObjectCodec } from '../codec/object-codec.ts'
import { Change, type ChangeType } from '../store/change.ts'
import type { IndexedStore } from '../store/indexed-store.ts'
import { idsOnRoute, type ListenerRoute } from './route.ts'

export interface SnapshotOptions {
  readonly codec: ObjectCodec
  /** As additions, or as modifications that change nothing. */
  readonly type: Extract<ChangeType, 'ADDED' | 'MODIFIED'>
  /** Only what is on it. */
  readonly route: ListenerRoute | undefined
}

/** What is in a store now, told as changes. Throws `UnknownIndexError`. */
export function snapshotOf(store: IndexedStore, { codec, type, route }: SnapshotOptions): Change[] {
  const isInInitialList = type === 'ADDED'
  const changes: Change[] = []
  for (const id of route === undefined ? store.contents.ids.values() : idsOnRoute(store, route)) {
    const held = store.held(id)
    const key = store.keyOf(id)
    const uid = store.uidOf(id)
    const previous = isInInitialList ? {} : { previousHeld: held }
    changes.push(new Change(codec, { type, key, uid, held, isInInitialList, ...previous }))
  }
  return changes
}

import { liveCollection } from '@informerql/client'
import { useMemo, useSyncExternalStore } from 'react'
import { type AnswerError, errorsOf, type Gateway, useGateway } from '../gateway/gateway.ts'
import { FollowObjectDocument, type ObjectPartsFragment } from '../gateway/documents.ts'

/** An object as its view shows it. */
export type SeenObject = ObjectPartsFragment

/** An object that is followed. */
export interface LiveObject {
  /** Its last known state; `undefined` while it is not known. */
  readonly object: SeenObject | undefined
  /** `missing`: there is none of this `id`. `refused`: it cannot be shown, as `errors` say. */
  readonly state: 'loading' | 'live' | 'missing' | 'refused'
  readonly errors: readonly AnswerError[]
  /** Since when the object may be out of date; null while it is not. */
  readonly staleSince: string | null
  /** What has become of it: deleted, or the user may no longer see it. */
  readonly gone: { readonly how: 'DELETED' | 'HIDDEN'; readonly at: Date } | undefined
}

/** Follows one object by its `id`. When it is deleted, its last state stays. */
export function useLiveObject(id: string): LiveObject {
  const gateway = useGateway()
  const { subscribe, getSnapshot } = useMemo(() => followed(gateway, id), [gateway, id])
  return useSyncExternalStore(subscribe, getSnapshot)
}

function followed(
  { socket }: Gateway,
  id: string,
): {
  readonly subscribe: (listener: () => void) => () => void
  readonly getSnapshot: () => LiveObject
} {
  const collection = liveCollection({
    client: socket,
    query: FollowObjectDocument,
    variables: { id },
  })
  let object: SeenObject | undefined
  let gone: LiveObject['gone']
  let seen: unknown
  let shown: LiveObject | undefined
  const getSnapshot = (): LiveObject => {
    const snapshot = collection.getSnapshot()
    if (shown !== undefined && snapshot === seen) return shown
    seen = snapshot
    const { status, error, rows, staleSince } = snapshot
    const [row] = rows
    if (row !== undefined) {
      object = row
      gone = undefined
    }
    const errors = errorsOf(error)
    const isForbidden = errors[0]?.extensions?.code === 'FORBIDDEN'
    if (status === 'failed' && object !== undefined && isForbidden) {
      gone ??= { how: 'HIDDEN', at: new Date() }
    }
    const isKnown = object !== undefined
    const failed = status === 'failed' ? 'refused' : 'loading'
    const state = isKnown ? 'live' : status === 'live' ? 'missing' : failed
    shown = { object, state, errors, staleSince, gone }
    return shown
  }
  return {
    subscribe: (listener) => {
      const leaveChanges = collection.onChanges((changes) => {
        for (const change of changes) {
          if (change.type !== 'REMOVED') continue
          gone = { how: change.removal === 'HIDDEN' ? 'HIDDEN' : 'DELETED', at: new Date() }
          shown = undefined
        }
        listener()
      })
      const leave = collection.subscribe(listener)
      return () => {
        leaveChanges()
        leave()
      }
    },
    getSnapshot,
  }
}

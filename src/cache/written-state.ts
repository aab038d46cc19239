/*
 * Waits until a store shows a write. Resolves with true once it does, with false if the deadline passes first. Mostly the
 * store's resource version tells. There are two exceptions, where the object itself is compared in short intervals: a
 * deletion, whose version is unknown, and versions without an order.
 */

import type { IndexedStore } from '../informer/store/indexed-store.ts'
import { resourceVersionOf, splitObjectKey } from '../kubernetes/object.ts'
import {
  compareResourceVersions,
  type ResourceVersion,
  resourceVersion,
} from '../kubernetes/resource-version.ts'
import { sleep } from '../lib/backoff.ts'
import { DeadlineError } from '../lib/deadline.ts'

/** The state of an object after a write. */
export type WrittenState = { readonly key: string } & (
  | { readonly gone: false; readonly resourceVersion: ResourceVersion }
  | { readonly gone: true; readonly uid: string }
)

type WaitableStore = Pick<IndexedStore, 'idOf' | 'object' | 'uidOf' | 'waitForResourceVersion'>

const firstPauseMs = 1
const maxPauseMs = 20

export async function showsWrite(
  store: WaitableStore,
  written: WrittenState,
  deadlineMs: number,
): Promise<boolean> {
  if (!written.gone && deadlineMs > 0) {
    try {
      const { namespace } = splitObjectKey(written.key)
      await store.waitForResourceVersion(written.resourceVersion, { deadlineMs, namespace })
      return true
    } catch (error) {
      if (error instanceof DeadlineError) return false
    }
  }
  const endsAtMs = performance.now() + deadlineMs
  const { signal } = new AbortController()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    if (shows(store, written)) return true
    const leftMs = endsAtMs - performance.now()
    if (leftMs <= 0) return false
    await sleep(Math.min(pauseMs, leftMs), signal)
  }
}

function shows(store: WaitableStore, written: WrittenState): boolean {
  const id = store.idOf(written.key)
  if (written.gone) return id === undefined || store.uidOf(id) !== written.uid
  if (id === undefined) return false
  const held = resourceVersion(resourceVersionOf(store.object(id)))
  if (held === written.resourceVersion) return true
  const order = compareResourceVersions(held, written.resourceVersion)
  return order !== undefined && order > 0
}

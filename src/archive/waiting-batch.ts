/*
 * Changes of a kind that wait to be written together. An event has its bytes as they came; the state of what a list concluded
 * is the held row, which becomes text when the batch is written.
 */

import type { HeldObject } from '../informer/codec/object-codec.ts'
import type { ChangeType } from '../informer/store/change.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import { recordTypes } from './archive-calls.ts'

export const maxRecords = 300
const maxBatchBytes = 2 ** 20
/** What a record takes besides its text. */
const recordBytes = 200

const places: Readonly<Record<ChangeType, number>> = {
  ADDED: recordTypes.indexOf('ADDED'),
  MODIFIED: recordTypes.indexOf('MODIFIED'),
  DELETED: recordTypes.indexOf('REMOVED'),
}

/** What becomes an `ArchiveBatch`. */
export class WaitingBatch {
  /** When the last change was seen: a change may be told late, and never before it was. */
  timeMs: number
  readonly beginsMs: number
  readonly afterMs: number | undefined
  position: ResourceVersion
  /** In a store of several namespaces: what each has reached; `undefined`: its objects are not whole, or it is not covered. */
  readonly reached: Map<string, ResourceVersion | undefined> = new Map()
  readonly keys: string[] = []
  /** The position after each record. */
  readonly positions: ResourceVersion[] = []
  readonly uids: string[] = []
  readonly types: number[] = []
  /** The text of an event, or a row; `undefined`: no text. */
  readonly states: (Uint8Array | HeldObject | undefined)[] = []
  bytes = 0

  constructor(timeMs: number, afterMs: number | undefined, position: ResourceVersion) {
    this.timeMs = timeMs
    this.beginsMs = timeMs
    this.afterMs = afterMs
    this.position = position
  }

  get isFull(): boolean {
    return this.keys.length >= maxRecords || this.bytes >= maxBatchBytes
  }

  add(
    type: ChangeType,
    key: string,
    uid: string,
    state: Uint8Array | HeldObject | undefined,
    position: ResourceVersion = this.position,
  ): void {
    this.#put(places[type], key, uid, state, position)
  }

  /** The batch with the records of some states. */
  keeping(isKept: (state: Uint8Array | HeldObject) => boolean): WaitingBatch {
    const kept = new WaitingBatch(this.beginsMs, this.afterMs, this.position)
    kept.timeMs = this.timeMs
    for (const [at, state] of this.states.entries()) {
      if (state === undefined || !isKept(state)) continue
      const key = this.keys[at] ?? ''
      const position = this.positions[at] ?? this.position
      kept.#put(this.types[at] ?? 0, key, this.uids[at] ?? '', state, position)
    }
    return kept
  }

  #put(
    type: number,
    key: string,
    uid: string,
    state: Uint8Array | HeldObject | undefined,
    position: ResourceVersion,
  ): void {
    this.keys.push(key)
    this.positions.push(position)
    this.uids.push(uid)
    this.types.push(type)
    this.states.push(state)
    this.bytes += recordBytes + (state instanceof Uint8Array ? state.length : 0)
  }
}

/*
 * What the archive keeps of an object, and how two states of it differ.
 */

import type { ArchivedKind } from '../archive-calls.ts'

/** A state as it is kept. */
export interface KeptState {
  /** JSON, without what is not kept. */
  readonly text: string
  readonly uid: string
  /** The resource version. */
  readonly version: string
  /** In milliseconds since the epoch. */
  readonly created: number | null
  readonly health: string | null
  /** JSON. */
  readonly labels: string
}

/** What is written of a change, besides whose it is. */
export interface KeptChange {
  readonly manager: string | null
  readonly paths: string
  readonly fieldCount: number
  /** 1: `detail` has the state before without need of the one after. */
  readonly whole: 0 | 1
  /** What {@link stateBefore} needs, and what a reader sees. */
  readonly detail: string
}

interface ObjectText {
  readonly metadata: {
    readonly uid?: string
    readonly resourceVersion?: string
    readonly creationTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
    managedFields?: unknown
  }
}

/** `text`: an object as it came. */
export function keptState(_kind: ArchivedKind, text: string): KeptState {
  const object = JSON.parse(text) as ObjectText
  delete object.metadata.managedFields
  const { uid, resourceVersion, creationTimestamp, labels } = object.metadata
  return {
    text: JSON.stringify(object),
    uid: uid ?? '',
    version: resourceVersion ?? '',
    created: creationTimestamp === undefined ? null : Date.parse(creationTimestamp),
    health: null,
    labels: JSON.stringify(labels ?? {}),
  }
}

/**
 * How a kept state became another one of the same object; `undefined`: nothing that counts as a change. A change without
 * `before` is an addition, one without `after` a removal.
 */
export function keptChange(
  _kind: ArchivedKind,
  before: string | undefined,
  after: KeptState | undefined,
): KeptChange | undefined {
  if (before === after?.text) return undefined
  const detail = JSON.stringify({ before: before === undefined ? null : JSON.parse(before) })
  return { manager: null, paths: '', fieldCount: 1, whole: 1, detail }
}

/** The object in a kept text, as a reader may have it. */
export function readableText(text: string): string {
  return text
}

/** The kept state before a change, from the one after it; `undefined`: there was none. */
export function stateBefore(_after: string | undefined, detail: string): string | undefined {
  const { before } = JSON.parse(detail) as { readonly before: unknown }
  return before === null ? undefined : JSON.stringify(before)
}

/*
 * Reads the frames of a watch. API servers write `type` before `object` and nothing else. Then the object is a part of the
 * frame, neither copied nor parsed; any other form is parsed as JSON.
 */

import { CodedError } from '../lib/coded-error.ts'
import { resourceVersion, type ResourceVersion } from './resource-version.ts'
import { ApiStatusError, type Status } from './status.ts'

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/** The annotation of the bookmark that ends the initial events of a streaming list (KEP-3157). */
export const initialEventsEndAnnotation = 'k8s.io/initial-events-end'

/** One event of a watch. `object` is the UTF-8 text of its object. */
export interface WatchFrame {
  readonly type: WatchEventType
  readonly object: Uint8Array
}

export class MalformedFrameError extends CodedError {
  constructor(frame: Uint8Array, problem: string) {
    const start = new TextDecoder().decode(frame.subarray(0, 80))
    super('MALFORMED_FRAME', `${problem} in a watch stream: ${JSON.stringify(start)}`, {
      value: start,
    })
  }
}

const encoder = new TextEncoder()
const types: readonly WatchEventType[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']
const heads = types.map((type) => ({ type, head: Buffer.from(`{"type":"${type}","object":`) }))

/** Reads one frame of a watch. Throws {@link MalformedFrameError}. */
export function readWatchFrame(frame: Uint8Array): WatchFrame {
  const closing = frame.at(-1)
  if (closing === 0x7d) {
    for (const { type, head } of heads) {
      if (frame.length > head.length && head.equals(frame.subarray(0, head.length))) {
        return { type, object: frame.subarray(head.length, -1) }
      }
    }
  }
  let event: { type?: unknown; object?: unknown }
  try {
    event = parseText(frame) as typeof event
  } catch {
    throw new MalformedFrameError(frame, 'invalid JSON')
  }
  const type = types.find((known) => known === event?.type)
  if (type === undefined) throw new MalformedFrameError(frame, 'an unknown event type')
  return { type, object: encoder.encode(JSON.stringify(event.object ?? null)) }
}

export interface Bookmark {
  /** The kind that it names; absent members are missing. */
  readonly type: { readonly apiVersion?: unknown; readonly kind?: unknown }
  /** `undefined` if missing. */
  readonly resourceVersion: ResourceVersion | undefined
  readonly endsInitialEvents: boolean
}

/** Reads the object of a BOOKMARK event. Throws {@link MalformedFrameError} unless the text is one object. */
export function readBookmark(object: Uint8Array): Bookmark {
  const { metadata, ...type } = readObject(object) as Bookmark['type'] & {
    metadata?: { resourceVersion?: unknown; annotations?: Readonly<Record<string, string>> } | null
  }
  const at = metadata?.resourceVersion
  return {
    type,
    resourceVersion: typeof at === 'string' && at !== '' ? resourceVersion(at) : undefined,
    endsInitialEvents: metadata?.annotations?.[initialEventsEndAnnotation] === 'true',
  }
}

/** The failure in an ERROR event. Throws {@link MalformedFrameError}. */
export function readErrorEvent(resourceName: string, object: Uint8Array): ApiStatusError {
  const status = readObject(object) as Status
  const code = typeof status.code === 'number' ? status.code : 0
  return new ApiStatusError(`watch ${resourceName}`, code, status)
}

function readObject(object: Uint8Array): object {
  try {
    const value = parseText(object)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Reported below, with the text.
  }
  throw new MalformedFrameError(object, 'an invalid object')
}

function parseText(text: Uint8Array): unknown {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text))
}

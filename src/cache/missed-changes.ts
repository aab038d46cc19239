import { Backoff, sleep } from '../lib/backoff.ts'
import { createObjectCodec, type ObjectCodec } from '../informer/codec/object-codec.ts'
import { Change } from '../informer/store/change.ts'
import { isBrokenConnection, isRetriedInPlace } from '../informer/reflector/reflector-errors.ts'
import type { ListerWatcher } from '../informer/reflector/lister-watcher.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { objectKey } from '../kubernetes/object.ts'
import {
  compareResourceVersions,
  resourceVersion,
  type ResourceVersion,
} from '../kubernetes/resource-version.ts'
import type { RecentStep } from './recent-changes.ts'

export interface MissedChangesOptions {
  readonly resource: ApiResource
  readonly metadataOnly: boolean
  readonly source: ListerWatcher
  /** The changes after `from`, up to and including `until`, are read. */
  readonly from: ResourceVersion
  readonly until: ResourceVersion
  readonly maxChanges: number
}

/**
 * A server sends the last bookmark two seconds before this timeout. It confirms that everything before it was sent.
 */
const timeoutSeconds = 3
const deadlineMs = 8_000
const pauses = { initialMs: 50, maxMs: 500 }

/**
 * Reads the changes between two positions by a watch of its own, such as those that happened before the process
 * started. Reopens a watch that ends early. Resolves with `tooOld` if the server has forgotten the changes (410) or
 * there are more than `maxChanges`; with `undefined` if `until` is not reached in time. Never rejects.
 */
export async function missedChanges(
  options: MissedChangesOptions,
): Promise<readonly RecentStep[] | 'tooOld' | undefined> {
  const { resource, metadataOnly } = options
  const leaving = new AbortController()
  const timer = setTimeout(() => leaving.abort(), deadlineMs)
  const reading: Reading = {
    ...options,
    codec: createObjectCodec({ resource, metadataOnly }),
    steps: [],
    signal: leaving.signal,
  }
  const backoff = new Backoff(pauses)
  try {
    while (!leaving.signal.aborted) {
      const end = await endOf(reading)
      if (end === 'reached') return reading.steps
      if (end === 'in vain') return leaving.signal.aborted ? undefined : 'tooOld'
      await sleep(backoff.nextMs(), leaving.signal)
    }
    return undefined
  } finally {
    clearTimeout(timer)
    leaving.abort()
  }
}

interface Reading extends MissedChangesOptions {
  readonly codec: ObjectCodec
  readonly steps: RecentStep[]
  readonly signal: AbortSignal
}

/** Continues after the last step. After `open`, the caller may try again. */
async function endOf(reading: Reading): Promise<'reached' | 'in vain' | 'open'> {
  const { source, from, until, steps, codec, maxChanges, signal } = reading
  const last = steps.at(-1)?.position ?? from
  const watch = { resourceVersion: last, allowWatchBookmarks: true, timeoutSeconds }
  try {
    for await (const frames of await source.watch(watch, signal)) {
      for (const frame of frames) {
        const step = stepOf(frame, codec)
        const order = step && compareResourceVersions(step.position, until)
        if (step === undefined || order === undefined) return 'in vain'
        if (order <= 0) steps.push(step)
        if (order >= 0) return 'reached'
        if (steps.length > maxChanges) return 'in vain'
      }
    }
    return 'open'
  } catch (error) {
    return isRetriedInPlace(error) || isBrokenConnection(error) ? 'open' : 'in vain'
  }
}

interface WatchEvent {
  readonly type?: unknown
  readonly object?: { readonly metadata?: { readonly resourceVersion?: unknown } }
}

function stepOf(frame: Uint8Array, codec: ObjectCodec): RecentStep | undefined {
  const { type, object } = JSON.parse(Buffer.from(frame).toString()) as WatchEvent
  const version = object?.metadata?.resourceVersion
  if (typeof version !== 'string') return undefined
  const position = resourceVersion(version)
  if (type === 'BOOKMARK') return { position, changes: [] }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return undefined
  const encoded = codec.encode(Buffer.from(JSON.stringify(object)))
  const { metadata } = encoded.object
  const change = { type, key: objectKey(metadata), uid: metadata.uid ?? '', ...encoded } as const
  return { position, changes: [new Change(codec, change)] }
}

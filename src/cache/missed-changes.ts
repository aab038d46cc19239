import { createObjectCodec, type ObjectCodec } from '../informer/codec/object-codec.ts'
import { Change } from '../informer/store/change.ts'
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
  /** Where to begin, and where to end: what led to `until` is known. */
  readonly from: ResourceVersion
  readonly until: ResourceVersion
  readonly maxChanges: number
}

/** A server sends the last bookmark two seconds before this, and so says that all that came before it has been sent. */
const timeoutSeconds = 3
const deadlineMs = 8_000

/**
 * What happened between two positions, as a watch of its own says: what a process missed that was not there yet. `undefined` where
 * the server cannot tell any more (410), is not reached in time, or has more to tell than wanted. Never rejects.
 */
export async function missedChanges(
  options: MissedChangesOptions,
): Promise<readonly RecentStep[] | undefined> {
  const { source, from, resource, metadataOnly } = options
  const leaving = new AbortController()
  const timer = setTimeout(() => leaving.abort(), deadlineMs)
  const codec = createObjectCodec({ resource, metadataOnly })
  const steps: RecentStep[] = []
  try {
    const watch = { resourceVersion: from, allowWatchBookmarks: true, timeoutSeconds }
    for await (const frames of await source.watch(watch, leaving.signal)) {
      for (const frame of frames) {
        const step = stepOf(frame, codec)
        if (step === undefined) return undefined
        const order = compareResourceVersions(step.position, options.until)
        if (order === undefined) return undefined
        if (order <= 0) steps.push(step)
        if (order >= 0) return steps
        if (steps.length > options.maxChanges) return undefined
      }
    }
    return undefined
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
    leaving.abort()
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

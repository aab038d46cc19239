import { sleep } from '../../lib/backoff.ts'
import { interruptible } from '../../lib/interruptible.ts'
import type { Change } from '../../informer/store/change.ts'
import type { Listener } from '../../informer/delivery/listener.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'
import type { Condition } from '../../query/condition/condition.ts'
import { type LiveChange, LiveSet } from '../../query/live-set.ts'
import { WorkBudget, type WorkLimits } from '../../query/condition/work-budget.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import type { Kind } from '../model/kind.ts'
import { encodeObjectId } from '../model/object-id.ts'
import type { Frame, FrameChange } from '../schema/read-context.ts'
import type { KindPart } from './kind-part.ts'
import { encodeResumeToken } from './resume-token.ts'

export interface LiveFramesOptions extends KindPart {
  /** What writes the part's store. */
  readonly informer: SharedInformer
  readonly condition: Condition
  /** What the list is known by, and what of it the viewer may see: for the resume tokens. */
  readonly list: string
  readonly access: string
  /** How long changes are gathered before they are sent. */
  readonly coalesceMs: number
  readonly maxFrameObjects: number
  /** What the snapshot, and each frame, may cost. */
  readonly work: Partial<WorkLimits>
}

/**
 * What one subscription is sent: a snapshot in frames of bounded size, then the changes of the informer's listener,
 * one per object and frame. The listener buffers the latest change per object, so a subscriber that is slow gets fewer
 * frames, never a wrong picture. Ends when the iteration is left or the informer stops. Throws `QueryTooCostlyError`.
 */
export function liveFrames(options: LiveFramesOptions): AsyncGenerator<Frame, void, void> {
  const leaving = new AbortController()
  return interruptible(frames(options, leaving.signal), () => leaving.abort())
}

async function* frames(
  options: LiveFramesOptions,
  leaving: AbortSignal,
): AsyncGenerator<Frame, void, void> {
  const { informer, condition, scope, maxFrameObjects, work } = options
  const { store } = informer
  const held = new LiveSet({ condition, scope })
  // In one tick: from here on, whatever is not in the snapshot reaches the listener.
  const listener = informer.listen({
    bufferLimit: 0,
    overflow: 'coalesce',
    replay: false,
    // A frame shows what the store holds when it is made, which may be ahead of what has been taken from the listener.
    readsStore: true,
  })
  leaving.addEventListener('abort', () => listener.close(), { once: true })
  try {
    // What is sent later than now is at this position or behind it, and what has happened since waits in the listener.
    const position = store.resourceVersion
    const keys = held.matching(store, new WorkBudget(work))
    for (let start = 0; start === 0 || start < keys.length; start += maxFrameObjects) {
      const isLast = start + maxFrameObjects >= keys.length
      const part = keys.slice(start, start + maxFrameObjects)
      const changes = held
        .changes(store, part, new WorkBudget(work))
        .map((change) => changeOf(options, change, []))
      if (start > 0 && !isLast && changes.length === 0) continue
      const at = isLast ? position : undefined
      yield frame(options, at, { reset: start === 0, synced: isLast, changes })
    }
    yield* changeFrames(options, held, listener, position, leaving)
  } finally {
    listener.close()
  }
}

async function* changeFrames(
  options: LiveFramesOptions,
  held: LiveSet,
  listener: Listener,
  from: ResourceVersion,
  leaving: AbortSignal,
): AsyncGenerator<Frame, void, void> {
  const { coalesceMs, maxFrameObjects, work, informer } = options
  const { store } = informer
  let position = from
  for await (const batch of listener.gathered(() => sleep(coalesceMs, leaving))) {
    const byKey = Map.groupBy(batch.changes, ({ key }) => key)
    const keys = [...byKey.keys()]
    for (let start = 0; start < keys.length; start += maxFrameObjects) {
      const part = keys.slice(start, start + maxFrameObjects)
      const changes = held
        .changes(store, part, new WorkBudget(work))
        .map((change) => changeOf(options, change, byKey.get(change.key) ?? []))
      // Only with its last frame has all of the batch been sent.
      if (start + maxFrameObjects >= keys.length) ({ position } = batch)
      if (changes.length > 0)
        yield frame(options, position, { reset: false, synced: true, changes })
    }
  }
}

/** `position`: who has applied all frames up to this one misses nothing that happened until then; `undefined`: it does. */
function frame(
  { cluster, kind, list, access }: LiveFramesOptions,
  position: ResourceVersion | undefined,
  rest: Pick<Frame, 'reset' | 'synced' | 'changes'>,
): Frame {
  const positions = position === undefined ? {} : { [kind.typeName]: position }
  return {
    ...rest,
    resourceVersion: position ?? '',
    resumeToken: encodeResumeToken({ cluster, list, access, positions }),
  }
}

function changeOf(
  { informer, kind, cluster }: LiveFramesOptions,
  change: LiveChange,
  seen: readonly Change[],
): FrameChange {
  const { key, uid } = change
  const objectId = objectIdOf(kind, cluster, key, uid)
  const last = seen.findLast((one) => one.uid === uid)
  if (change.type !== 'DELETED') {
    return {
      type: change.type,
      removal: null,
      objectId,
      object: { kind, cluster, object: informer.store.object(change.id) },
      previous: last?.previous ?? null,
      finalStateKnown: true,
    }
  }
  const object = change.cause === 'hidden' ? undefined : last?.object
  return {
    type: 'REMOVED',
    removal: removals[change.cause],
    objectId,
    object: object === undefined ? null : { kind, cluster, object },
    previous: (change.cause === 'unmatched' ? last?.previous : undefined) ?? null,
    finalStateKnown: last?.finalStateKnown ?? true,
  }
}

const removals = { gone: 'DELETED', unmatched: 'UNMATCHED', hidden: 'HIDDEN' } as const

function objectIdOf({ resource }: Kind, cluster: string, key: string, uid: string): string {
  const { group, kind } = resource
  return encodeObjectId({
    cluster,
    group,
    kind,
    object: uid === '' ? splitObjectKey(key) : { uid },
  })
}

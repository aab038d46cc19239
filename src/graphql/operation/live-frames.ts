import { sleep } from '../../lib/backoff.ts'
import { interruptible } from '../../lib/interruptible.ts'
import type { Change } from '../../informer/store/change.ts'
import type { Listener } from '../../informer/delivery/listener.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'
import type { Condition } from '../../query/condition/condition.ts'
import { type LiveChange, LiveSet } from '../../query/live-set.ts'
import { WorkBudget, type WorkLimits } from '../../query/condition/work-budget.ts'
import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { Frame, FrameChange } from '../schema/read-context.ts'
import { accessFingerprint } from '../prepare/access-fingerprint.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { FilterEndedError, type LiveFilter } from './live-filter.ts'
import { isSameScope, type LiveScope } from './live-scope.ts'
import { removals } from './removals.ts'
import { subscriptionListener } from './subscription-listener.ts'
import { encodeResumeToken } from '../reads/resume-token.ts'

export interface LiveFramesOptions extends KindView {
  /** What writes the part's store. */
  readonly informer: SharedInformer
  readonly condition: Condition
  /** What the list is known by, and what of it the viewer may see: for the resume tokens. */
  readonly list: string
  readonly access: string
  /** What the viewer may see from now on; absent: always everything. */
  readonly live?: LiveScope | undefined
  /** What follows the related objects that the condition rests on; absent where it is about the objects alone. */
  readonly filter?: LiveFilter | undefined
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
  const { informer, filter } = options
  // In one tick: from here on, whatever is not in the snapshot reaches the listeners.
  const listener = subscriptionListener(informer)
  filter?.listen()
  leaving.addEventListener('abort', () => listener.close(), { once: true })
  try {
    const subscriber = new Subscriber(options)
    while (yield* snapshotFrames(subscriber, leaving));
    yield* changeFrames(subscriber, listener, leaving)
  } catch (error) {
    if (!leaving.aborted && !(error instanceof FilterEndedError)) throw error
  } finally {
    filter?.close()
    listener.close()
  }
}

/** What a subscription has come to. */
class Subscriber {
  /** With what may be seen now. */
  options: LiveFramesOptions
  held: LiveSet
  position: ResourceVersion

  constructor(options: LiveFramesOptions) {
    this.options = options
    this.held = heldBy(options)
    this.position = options.informer.store.resourceVersion
  }

  /** Whether what may be seen is another thing now. Rejects as `LiveScope.now` does. */
  async hasChanged(leaving: AbortSignal): Promise<boolean> {
    const scope = await this.options.live?.now(leaving)
    if (scope === undefined || isSameScope(scope, this.options.scope)) return false
    const access = accessFingerprint([{ ...this.options, scope }])
    this.options = { ...this.options, scope, access }
    return true
  }

  /** The keys that matter, as something else may be seen now: what is to be told of them comes first. */
  async affected(leaving: AbortSignal): Promise<readonly string[]> {
    const hasChanged = await this.hasChanged(leaving)
    const { informer, scope, work, filter } = this.options
    const { store } = informer
    const turned = (await filter?.turned(this.held, store, leaving)) ?? []
    if (!hasChanged) return turned
    return [...this.held.affectedBy(store, scope, new WorkBudget(work)), ...turned]
  }
}

function heldBy(options: LiveFramesOptions): LiveSet {
  const { condition, scope, filter } = options
  if (filter === undefined) return new LiveSet({ condition, scope })
  return new LiveSet({ condition, scope, related: () => filter.related() })
}

/** Whether it has to begin anew, as something else may be seen than when it began. */
async function* snapshotFrames(
  subscriber: Subscriber,
  leaving: AbortSignal,
): AsyncGenerator<Frame, boolean, void> {
  const { options } = subscriber
  const { maxFrameObjects, work } = options
  const { store } = options.informer
  const held = (subscriber.held = heldBy(options))
  // What is sent later than now is at this position or behind it, and what has happened since waits in the listener.
  const position = (subscriber.position = store.resourceVersion)
  const keys = held.matching(store, new WorkBudget(work))
  for (let start = 0; start === 0 || start < keys.length; start += maxFrameObjects) {
    if (start > 0 && (await subscriber.hasChanged(leaving))) return true
    const isLast = start + maxFrameObjects >= keys.length
    const part = keys.slice(start, start + maxFrameObjects)
    const changes = held
      .changes(store, part, new WorkBudget(work))
      .map((change) => changeOf(options, change, []))
    if (start > 0 && !isLast && changes.length === 0) continue
    const at = isLast ? position : undefined
    yield frame(options, at, { reset: start === 0, synced: isLast, changes })
  }
  return false
}

async function* changeFrames(
  subscriber: Subscriber,
  listener: Listener,
  leaving: AbortSignal,
): AsyncGenerator<Frame, void, void> {
  const { coalesceMs, live, filter } = subscriber.options
  const batches = listener.gathered(() => sleep(coalesceMs, leaving))
  let next = batches.next()
  let other = live?.changed(leaving)
  let turned = filter?.gathered(coalesceMs, leaving)
  yield* partFrames(subscriber, await subscriber.affected(leaving), none, leaving)
  while (true) {
    const first = await Promise.race([next, ...present(other), ...present(turned)])
    if (first === undefined) other = live?.changed(leaving)
    if (first === 'filtered') turned = filter?.gathered(coalesceMs, leaving)
    // Before anything is sent, whatever it is that has come.
    yield* partFrames(subscriber, await subscriber.affected(leaving), none, leaving)
    if (first === undefined || first === 'filtered') continue
    if (first.done === true) return
    const { changes, position } = first.value
    const byKey = Map.groupBy(changes, ({ key }) => key)
    yield* partFrames(subscriber, [...byKey.keys()], { byKey, position }, leaving)
    next = batches.next()
  }
}

function present<T>(one: T | undefined): readonly T[] {
  return one === undefined ? [] : [one]
}

/** What a listener has seen. */
interface SeenChanges {
  readonly byKey: ReadonlyMap<string, readonly Change[]>
  /** Where whoever has been sent all of them is. */
  readonly position: ResourceVersion | undefined
}

const none: SeenChanges = { byKey: new Map(), position: undefined }

/** What is to be told of some keys, each part by what may be seen when it is sent. */
async function* partFrames(
  subscriber: Subscriber,
  keys: readonly string[],
  { byKey, position }: SeenChanges,
  leaving: AbortSignal,
): AsyncGenerator<Frame, void, void> {
  const { maxFrameObjects, work, informer } = subscriber.options
  let rest = keys
  let isFirst = true
  while (rest.length > 0) {
    if (!isFirst) rest = [...new Set([...(await subscriber.affected(leaving)), ...rest])]
    isFirst = false
    const part = rest.slice(0, maxFrameObjects)
    rest = rest.slice(maxFrameObjects)
    const { options, held } = subscriber
    const changes = held
      .changes(informer.store, part, new WorkBudget(work))
      .map((change) => changeOf(options, change, byKey.get(change.key) ?? []))
    // Only with its last frame has all of the batch been sent.
    if (rest.length === 0) subscriber.position = position ?? subscriber.position
    if (changes.length > 0) {
      yield frame(options, subscriber.position, { reset: false, synced: true, changes })
    }
  }
}

/** `position`: who has applied all frames up to this one misses nothing that happened until then; `undefined`: it does. */
function frame(
  { cluster, kind, list, access, incarnation }: LiveFramesOptions,
  position: ResourceVersion | undefined,
  rest: Pick<Frame, 'reset' | 'synced' | 'changes'>,
): Frame {
  const positions = position === undefined ? {} : { [kind.typeName]: position }
  return {
    ...rest,
    resourceVersion: position ?? '',
    resumeToken: encodeResumeToken({
      cluster,
      incarnation,
      list,
      access,
      positions,
      // Nobody keeps account of it here.
      isAhead: true,
    }),
  }
}

function changeOf(
  { informer, kind, cluster }: LiveFramesOptions,
  change: LiveChange,
  seen: readonly Change[],
): FrameChange {
  const { uid } = change
  const objectId = objectIdOf({ kind, cluster }, change)
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

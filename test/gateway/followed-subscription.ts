import type { Client } from 'graphql-ws'
import { type Frame, FrameFold } from 'informerql/client'
import { Waits } from '../support/waits.ts'
import type { Fields } from './test-cluster.ts'

/** A subscription that is folded as its frames come, and held to what frames promise. */
export interface FollowedSubscription {
  readonly fold: FrameFold<Fields>
  readonly frames: readonly Frame<Fields>[]
  /** Broken promises, in words; empty as long as all is well. */
  readonly problems: readonly string[]
  readonly ended: () => boolean
  /** Resolves after the first frame behind which `holds` says true. Rejects at its deadline, and when the subscription ends. */
  readonly until: (
    what: string,
    holds: (objects: ReadonlyMap<string, Fields>) => boolean,
  ) => Promise<void>
  readonly complete: () => void
}

const deadlineMs = 40_000

/** What one frame breaks of the promises, given what was held before it. */
const problemsOf = (
  frame: Frame<Fields>,
  position: number,
  isSynced: boolean,
  before: ReadonlyMap<string, Fields>,
  mayBeginAnew: boolean,
): readonly string[] => {
  const problems: string[] = []
  const say = (problem: string): void => void problems.push(`frame ${position}: ${problem}`)
  const isAnew = mayBeginAnew && frame.reset
  const wasSynced = isSynced && !isAnew
  if (frame.reset !== (position === 0) && !isAnew) say(`reset is ${frame.reset}`)
  if (!frame.synced && wasSynced) say('no longer synced')
  if (wasSynced && frame.changes.length === 0) say('no changes')
  const held = new Set(frame.reset ? [] : before.keys())
  for (const { type, objectId, object } of frame.changes) {
    if (!wasSynced && type !== 'ADDED') say(`${type} in the snapshot`)
    if (type === 'ADDED' && held.has(objectId)) say(`ADDED twice: ${objectId}`)
    if (type === 'MODIFIED' && !held.has(objectId)) say(`MODIFIED before ADDED: ${objectId}`)
    if (object?.id !== objectId) say(`${type} without its object: ${objectId}`)
    if (type === 'REMOVED') held.delete(objectId)
    else held.add(objectId)
  }
  return problems
}

/** Errors of the operation, or how the WebSocket was closed. */
const describeError = (error: unknown): string => {
  if (typeof error !== 'object' || error === null || !('code' in error && 'reason' in error))
    return JSON.stringify(error)
  return `closed with ${String(error.code)} ${String(error.reason)}`
}

/**
 * `selection`: what is asked for of each object, besides its id. `mayBeginAnew`: whether it may be reset, as when it goes on in another
 * group.
 */
export const follow = (
  client: Client,
  field: string,
  selection: string,
  mayBeginAnew = false,
): FollowedSubscription => {
  const fold = new FrameFold<Fields>()
  const frames: Frame<Fields>[] = []
  const problems: string[] = []
  const waits = new Waits(deadlineMs)
  let ended: string | undefined
  const end = (why: string): void => {
    ended ??= why
    waits.changed()
  }
  const query = `subscription {
    frame: ${field} {
      reset synced resumeToken resourceVersion
      changes { type removal objectId finalStateKnown object { id ${selection} } }
    }
  }`
  const complete = client.subscribe<{ frame: Frame<Fields> }>(
    { query },
    {
      next: ({ data, errors }) => {
        const frame = data?.frame
        if (frame === undefined) {
          problems.push(JSON.stringify(errors))
          return
        }
        const { synced, objects } = fold
        problems.push(...problemsOf(frame, frames.length, synced, objects, mayBeginAnew))
        frames.push(frame)
        fold.apply(frame)
        waits.changed()
      },
      error: (error) => end(`error: ${describeError(error)}`),
      complete: () => end('completed'),
    },
  )
  return {
    fold,
    frames,
    problems,
    complete,
    ended: () => ended !== undefined,
    until: (what, holds) =>
      waits.until(
        () => {
          if (frames.length > 0 && holds(fold.objects)) return true
          if (ended !== undefined) throw new Error(`${field}: ${ended} before ${what}`)
          return false
        },
        () => `${field}: no ${what}`,
      ),
  }
}

/** The same, once all that there is has come. */
export const followSynced = async (
  client: Client,
  field: string,
  selection: string,
  mayBeginAnew = false,
): Promise<FollowedSubscription> => {
  const live = follow(client, field, selection, mayBeginAnew)
  await live.until('snapshot', () => live.fold.synced)
  return live
}

import type { Viewer } from '../../access/viewer.ts'
import { type Lane, Turns } from '../../lib/event-loop.ts'

/** The turns of all operations of this process, which has one event loop. */
export const turns: Turns = new Turns()

/** The lane of a user's queries. They wait for each other, so that other users need not wait for all of them. */
export function queryLane(viewer: Viewer | undefined): Lane {
  return viewer === undefined ? 'queries' : `queries of ${viewer.username}`
}

/** Does long work for a user's operation, in turns with all other operations. The work yields where it may pause. */
export async function inTurns<T>(work: Iterator<void, T>, viewer: Viewer | undefined): Promise<T> {
  const lane = queryLane(viewer)
  while (true) {
    // oxlint-disable-next-line no-await-in-loop -- gives way
    await turns.enter(lane)
    const step = turns.run(() => work.next(), lane)
    if (step.done === true) return step.value
  }
}

/** The lane of all subscriptions. */
export const liveLane: Lane = 'subscriptions'

/**
 * Resolves when work for the subscriptions of some users may begin; `undefined` if it may begin now. All subscriptions
 * together share the time with the queries like one more user. Among subscriptions the users take turns, and work for
 * several users takes the turn of the first of them. No users: the server does not authenticate callers.
 */
export function enterLive(users: Iterable<string>): Promise<void> | undefined {
  return turns.enter(liveLane, users)
}

/** Runs work for subscriptions that {@link enterLive} let begin. */
export function runLive<T>(work: () => T): T {
  return turns.run(work, liveLane)
}

import type { Viewer } from '../../access/viewer.ts'
import { type Lane, Turns } from '../../lib/event-loop.ts'

/** The turns of all operations of this process, which has one event loop. */
export const turns: Turns = new Turns()

/** Where queries wait: those of one user behind each other, so that nobody waits for all that somebody else asks. */
export function queryLane(viewer: Viewer | undefined): Lane {
  return viewer === undefined ? 'queries' : `queries of ${viewer.username}`
}

const liveLane: Lane = 'subscriptions'

/**
 * Resolves when something may be done for the subscriptions of some users; `undefined` where that is now. However much there is to do
 * for subscriptions, queries get every other turn, and each user gets a turn after one of each other user; what several users
 * wait for is done with the first of them. No users: nobody is asked who they are.
 */
export function enterLive(users: Iterable<string>): Promise<void> | undefined {
  return turns.enter(liveLane, users)
}

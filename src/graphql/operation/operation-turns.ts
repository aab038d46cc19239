import type { Viewer } from '../../access/viewer.ts'
import { type Lane, Turns } from '../../lib/turns.ts'

/** The turns of all operations of this process, which has one event loop. */
export const turns: Turns = new Turns()

/** Where queries wait: those of one user behind each other, so that nobody waits for all that somebody else asks. */
export function queryLane(viewer: Viewer | undefined): Lane {
  return viewer === undefined ? 'queries' : `queries of ${viewer.username}`
}

/** Where what subscriptions have to be told waits: however much that is, queries get every other turn. */
export const liveLane: Lane = 'subscriptions'

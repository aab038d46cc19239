/*
 * The rounds of an operation. It prepares its kinds and runs over a snapshot. A run may lack something that only data
 * name: kinds, indexes, permissions, direct reads. The operation then prepares all of that and runs again, over a new
 * snapshot. The rounds are bounded: three for kinds and indexes, a deadline for permissions, and the bounds of direct
 * reads.
 */

import type { Lane } from '../../lib/event-loop.ts'
import type { ClusterKind } from './kind-view.ts'
import { KindLeases } from './kind-leases.ts'
import { type OperationTrace, type PartDetails, within } from './operation-trace.ts'
import { turns } from './operation-turns.ts'
import type { DirectFetch, FurtherRuns, ReadSnapshot } from './read-snapshot.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import type { ViewerAccess } from './viewer-access.ts'

/** The number of runs that may find missing kinds or indexes. */
export const maxRounds = 3

/** Answers over several clusters leave out a cluster that answers no access review for this long. */
const reviewSilenceMs = 1_000

/** How to run an operation after the preparation. */
export interface RunOptions<T> {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  /** Absent: the viewer may see everything. */
  readonly access: ViewerAccess | undefined
  readonly direct: DirectFetch
  /** The lane where each run waits for its turn. */
  readonly lane: Lane
  readonly trace?: OperationTrace | undefined
  readonly run: (snapshot: ReadSnapshot) => T | Promise<T>
}

/**
 * Prepares kinds and runs an operation, again while a run lacks something. After three runs for kinds and indexes, a
 * missing one is an error of its field. Permissions are asked until the sync deadline, since they may be dropped at any
 * moment. {@link DirectFetch} counts its own rounds. Releases all leases at the end. Returns a promise only if there is
 * something to wait for.
 */
export function prepareAndRun<T>(
  kinds: readonly ClusterKind[],
  options: RunOptions<T>,
): T | Promise<T> {
  const { served, access, limits, trace } = options
  const { syncDeadlineMs } = limits
  const prepared = new KindLeases({ served, syncDeadlineMs, access, reviewSilenceMs, trace })
  const release = (): void => prepared[Symbol.dispose]()
  let result: T | Promise<T> | undefined
  try {
    const rounds = new Rounds(prepared, options)
    const run = (): T | Promise<T> => {
      access?.begin()
      return rounds.run()
    }
    const wait = prepared.prepareNamed(kinds)
    result = wait === undefined ? run() : wait.then(run)
    return result instanceof Promise ? result.finally(release) : result
  } finally {
    if (!(result instanceof Promise)) release()
  }
}

const noDetails: PartDetails = {}

class Rounds<T> {
  readonly #prepared: KindLeases
  readonly #options: RunOptions<T>
  readonly #permissions: PermissionWait
  #round = 1
  #further: FurtherRuns = 'any'

  constructor(prepared: KindLeases, options: RunOptions<T>) {
    this.#prepared = prepared
    this.#options = options
    this.#permissions = new PermissionWait(options.limits.syncDeadlineMs)
  }

  run(): T | Promise<T> {
    const turn = turns.enter(this.#options.lane)
    return turn === undefined ? this.#runNow() : turn.then(() => this.#runNow())
  }

  #runNow(): T | Promise<T> {
    const { run, direct, lane, trace } = this.#options
    const snapshot = this.#prepared.settle({ further: this.#further, direct })
    const result = turns.run(() => within(trace, 'run', noDetails, () => run(snapshot)), lane)
    return result instanceof Promise
      ? result.then((one) => this.#ended(snapshot, one))
      : this.#ended(snapshot, result)
  }

  #ended(snapshot: ReadSnapshot, result: T): T | Promise<T> {
    if (!snapshot.isLacking) return result
    const read = this.#options.direct.fetch()
    const wait = joined([read, this.#prepare(snapshot)])
    return wait === undefined ? this.run() : wait.then(() => this.run())
  }

  /** Prepares the kinds, indexes and permissions that a run lacked; `undefined` if there is nothing to wait for. */
  #prepare(snapshot: ReadSnapshot): Promise<unknown> | undefined {
    if (!snapshot.isLackingKinds) return undefined
    const { needed, neededIndexes } = snapshot
    const isPermission =
      neededIndexes.length === 0 && needed.every((need) => this.#prepared.isExpected(need))
    if (isPermission && this.#permissions.isOver()) {
      this.#further = 'none'
      return undefined
    }
    const wait = joined([
      this.#prepared.prepare(needed),
      neededIndexes.length === 0 ? undefined : this.#prepared.makeIndexes(neededIndexes),
      this.#prepared.ask(snapshot),
    ])
    // A round without a wait counts: another one like it would not help.
    if (!isPermission || wait === undefined) this.#round += 1
    if (this.#round >= maxRounds) this.#further = this.#round > maxRounds ? 'none' : 'permissions'
    return wait
  }
}

/**
 * How long an operation asks again for the viewer's access. Known permissions may be dropped at any moment, even while
 * the server asks for others, so one round may not be enough. The wait has the same bound as the wait for a kind.
 */
export class PermissionWait {
  readonly #deadlineMs: number
  #endMs: number | undefined

  /** `deadlineMs`: counted from the first call of {@link isOver}. */
  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs
  }

  /** Whether the wait is over. Call it before each further round. */
  isOver(): boolean {
    const nowMs = performance.now()
    this.#endMs ??= nowMs + this.#deadlineMs
    return nowMs >= this.#endMs
  }
}

function joined(waits: readonly (Promise<unknown> | undefined)[]): Promise<unknown> | undefined {
  const [first, ...others] = waits.filter((wait) => wait !== undefined)
  return others.length === 0 ? first : Promise.all([first, ...others])
}

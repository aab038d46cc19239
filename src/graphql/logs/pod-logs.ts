import type { Caller } from '../prepare/caller-server.ts'
import { HeldBytes } from '../prepare/held-bytes.ts'
import type { PodLogsArguments } from '../schema/read-arguments.ts'
import type { PodLogsSource } from '../schema/read-context.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import type { Subscribe } from './followed-pods.ts'
import { FollowedLogs, type FollowedLogsOptions } from './followed-logs.ts'
import { type LogCounts, type LogLimits, LogPlaces } from './log-limits.ts'
import { type LoggedObjects, logRequest } from './log-request.ts'

export interface PodLogsOptions {
  readonly served: () => ServedSchema
  readonly limits: OperationLimits
  readonly logs: LogLimits
  /** Subscribes to the pods as the caller. */
  readonly subscribe: Subscribe
}

/** Reads and follows the logs of pods as their callers. Keeps nothing of a log beyond the lines that wait for a reader. */
export class PodLogs {
  readonly #options: PodLogsOptions
  readonly #places: LogPlaces
  readonly #held: HeldBytes
  readonly #counts = { read: 0, lines: 0, skipped: 0, reopened: 0 }

  constructor(options: PodLogsOptions) {
    this.#options = options
    this.#places = new LogPlaces(options.logs)
    const hint = 'read fewer logs at once, read them faster, or ask again later'
    this.#held = new HeldBytes(options.logs, { name: 'logs', hint })
  }

  get counts(): LogCounts {
    return { ...this.#counts, streams: this.#places.taken, heldBytes: this.#held.bytes }
  }

  /** Follows the logs. `write` writes a frame; `logged` receives what is read. Rejects with the error that prevents it. */
  async follow(
    args: PodLogsArguments,
    caller: Caller,
    { write, logged }: Pick<FollowedLogsOptions, 'write' | 'logged'>,
  ): Promise<FollowedLogs> {
    return await this.#open(args, caller, { follows: true, write, logged })
  }

  /**
   * Reads the logs as they are now, as far as that is done in time. They count as held until `held` is disposed. Rejects
   * with the error that prevents it.
   */
  async read(
    args: PodLogsArguments,
    caller: Caller,
    {
      deadlineMs,
      held,
      logged,
    }: {
      readonly deadlineMs: number
      readonly held: DisposableStack
      readonly logged: LoggedObjects
    },
  ): Promise<PodLogsSource> {
    const limits = { ...this.#options.limits, liveDeadlineMs: deadlineMs }
    const how = { follows: false, write: () => Buffer.alloc(0), limits, logged, held }
    const logs = await this.#open(args, caller, how)
    const page = logs.page()
    logs.close()
    return page
  }

  async #open(
    args: PodLogsArguments,
    caller: Caller,
    how: Pick<FollowedLogsOptions, 'follows' | 'write' | 'logged'> & {
      readonly limits?: OperationLimits
      readonly held?: DisposableStack
    },
  ): Promise<FollowedLogs> {
    const { logs: limits } = this.#options
    const request = logRequest(args, limits)
    const means = { ...this.#options, ...how, args, caller, request, counts: this.#counts }
    const logs = new FollowedLogs({ ...means, places: this.#places, held: this.#held })
    // Before anything is read: the answer may be over first, by an error elsewhere in it.
    how.held?.use(logs)
    try {
      await logs.begin()
      if (logs.end?.form === 'failed') throw logs.end.errors[0]
    } catch (error) {
      logs[Symbol.dispose]()
      throw error
    }
    return logs
  }
}

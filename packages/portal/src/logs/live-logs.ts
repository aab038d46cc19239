import type { LiveTransport } from '@informerql/client'
import {
  FollowLogsDocument,
  type FollowLogsSubscription,
  type FollowLogsSubscriptionVariables,
} from '../gateway/documents.ts'
import { type AnswerError, errorsOf } from '../gateway/gateway.ts'

type Logs = NonNullable<FollowLogsSubscription['podLogs']>
export type LogStream = NonNullable<Logs['streams']>[number]

/** A line as it is shown. */
export type LogRow = Logs['lines'][number] & {
  /** Another one for each line. */
  readonly key: number
}

/** The logs at one moment. */
export interface LogsSnapshot {
  readonly rows: readonly LogRow[]
  readonly streams: readonly LogStream[]
  /** The lines that the gateway has left out, because the page was too slow. */
  readonly skipped: number
  /** The containers that are not followed, because there are too many. */
  readonly notFollowed: number
  /** The lines that have come since the view is held. */
  readonly waiting: number
  /** Whether earlier lines were dropped, to bound the memory of the page. */
  readonly isCut: boolean
  readonly status: 'loading' | 'live' | 'ended' | 'failed'
  readonly errors: readonly AnswerError[]
}

/** The lines that the page holds. */
export const mostRows = 10_000
const tailLines = 200

/** What is shown of some logs. */
export interface LogsFilter {
  readonly container: string | undefined
  readonly previous: boolean
  readonly contains: string
}

/**
 * Follows the logs of an object, while it has subscribers. Holds the newest lines. While it is held, the lines that come
 * wait. After a lost connection it goes on after the last line of each container.
 */
export class LiveLogs {
  readonly #transport: LiveTransport
  readonly #variables: FollowLogsSubscriptionVariables
  readonly #listeners = new Set<() => void>()
  /** The time of the last line of each container. */
  readonly #last = new Map<string, string>()
  #leave: () => void = () => {}
  #waiting: LogRow[] = []
  #isHeld = false
  #keys = 0
  #snapshot: LogsSnapshot = {
    rows: [],
    streams: [],
    skipped: 0,
    notFollowed: 0,
    waiting: 0,
    isCut: false,
    status: 'loading',
    errors: [],
  }

  constructor(transport: LiveTransport, id: string, filter: LogsFilter) {
    const { container, previous, contains } = filter
    this.#transport = transport
    this.#variables = {
      ids: [id],
      previous,
      tailLines,
      container: container ?? null,
      contains: contains === '' ? null : contains,
    }
  }

  readonly getSnapshot = (): LogsSnapshot => this.#snapshot

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#follow()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#leave()
    }
  }

  /** Holds the lines that are shown, or goes on with those that have come. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (!isHeld && this.#waiting.length > 0) this.#show([])
  }

  clear(): void {
    this.#waiting = []
    this.#set({ rows: [], waiting: 0, isCut: false, skipped: 0 })
  }

  #follow(): void {
    const variables: Record<string, unknown> = { ...this.#variables }
    this.#leave = this.#transport.subscribe(
      { query: FollowLogsDocument.toString(), variables },
      {
        next: ({ data, errors }) => {
          const logs = (data as FollowLogsSubscription | null | undefined)?.podLogs
          if (logs == null) this.#failed({ cause: errors } as unknown as Error)
          else this.#next(logs)
          // A connection that is lost begins again here.
          const times = [...this.#last.values()].toSorted()
          const [first] = times
          if (first !== undefined && !this.#variables.previous) {
            variables['since'] = first
            variables['tailLines'] = null
          }
        },
        error: (error) => this.#failed(error as Error),
        complete: () => {
          if (this.#snapshot.status !== 'failed') this.#set({ status: 'ended' })
        },
      },
    )
  }

  #next({ lines, streams, skipped, notFollowed }: Logs): void {
    const rows: LogRow[] = []
    for (const line of lines) {
      const { pod, container, time } = line
      if (time != null) {
        const place = `${pod}/${container}`
        const last = this.#last.get(place)
        // Comes a second time, after a lost connection.
        if (last !== undefined && time <= last) continue
        this.#last.set(place, time)
      }
      rows.push({ ...line, key: this.#keys++ })
    }
    const before = this.#snapshot
    this.#snapshot = {
      ...before,
      streams: streams ?? before.streams,
      skipped: before.skipped + skipped,
      notFollowed,
      status: 'live',
    }
    this.#show(rows)
  }

  #show(rows: readonly LogRow[]): void {
    this.#waiting.push(...rows)
    if (this.#isHeld) {
      const isCut = this.#waiting.length > mostRows
      if (isCut) this.#waiting = this.#waiting.slice(-mostRows)
      this.#set({ waiting: this.#waiting.length })
      return
    }
    const all = [...this.#snapshot.rows, ...inOrder(this.#waiting)]
    this.#waiting = []
    const isCut = this.#snapshot.isCut || all.length > mostRows
    this.#set({ rows: all.slice(-mostRows), waiting: 0, isCut })
  }

  #failed(error: Error): void {
    this.#set({ status: 'failed', errors: errorsOf(error) })
  }

  #set(change: Partial<LogsSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change }
    for (const listener of this.#listeners) listener()
  }
}

/** New lines in the order of their times. What is shown does not move. */
function inOrder(rows: readonly LogRow[]): readonly LogRow[] {
  return rows.toSorted((a, b) => {
    if (a.time == null || b.time == null || a.time === b.time) return a.key - b.key
    return a.time < b.time ? -1 : 1
  })
}

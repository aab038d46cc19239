import type { LiveTransport } from '@informerql/client'
import {
  FollowLogsDocument,
  type FollowLogsSubscription,
  type FollowLogsSubscriptionVariables,
} from '../gateway/documents.ts'
import { type AnswerError, errorsOf } from '../gateway/gateway.ts'
import { isContinuation, isOfLevel, type Level, levelOf } from './log-line.ts'

type Logs = NonNullable<FollowLogsSubscription['podLogs']>
export type LogStream = NonNullable<Logs['streams']>[number]

/** A line as it is shown. */
export type LogRow = Logs['lines'][number] & {
  /** Another one for each line. */
  readonly key: number
  /** That of the line before it for a line of a stack trace. */
  readonly level: Level | undefined
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
  /** The lines that have come and are not of the level that is wanted. */
  readonly hidden: number
  /** Whether earlier lines were dropped, to bound the memory of the page. */
  readonly isCut: boolean
  readonly status: 'loading' | 'live' | 'ended' | 'failed'
  readonly errors: readonly AnswerError[]
}

/** The lines that the page holds. */
export const mostRows = 10_000

/** How many lines a view begins with, and how many it holds. */
interface LogsBounds {
  readonly tailLines: number
  readonly mostRows: number
}

/** What is shown of some logs. */
export interface LogsFilter {
  /** Empty: all. */
  readonly container: string
  readonly previous: boolean
  readonly contains: string
  /** A span before now; empty: the last lines. */
  readonly since: string
  /** Only lines of this level or worse; empty: all. */
  readonly level: Level | ''
}

/**
 * Follows the logs of an object, while it has subscribers. Holds the newest lines. While it is held, the lines that come
 * wait. After a lost connection it goes on after the last line of each container.
 */
export class LiveLogs {
  readonly #transport: LiveTransport
  readonly #variables: FollowLogsSubscriptionVariables
  readonly #mostRows: number
  readonly #level: Level | ''
  readonly #listeners = new Set<() => void>()
  /** The time of the last line of each container. */
  readonly #last = new Map<string, string>()
  /** The level of the last line of each container. */
  readonly #levels = new Map<string, Level | undefined>()
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
    hidden: 0,
    isCut: false,
    status: 'loading',
    errors: [],
  }

  constructor(
    transport: LiveTransport,
    id: string,
    filter: LogsFilter,
    { tailLines, mostRows: most }: LogsBounds = { tailLines: 200, mostRows },
  ) {
    const { container, previous, contains, since } = filter
    this.#mostRows = most
    this.#level = filter.level
    this.#transport = transport
    this.#variables = {
      ids: [id],
      previous,
      ...(since === '' ? { tailLines } : { since }),
      container: container === '' ? null : container,
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
    this.#set({ rows: [], waiting: 0, isCut: false, skipped: 0, hidden: 0 })
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
    let hidden = 0
    for (const line of lines) {
      const { pod, container, time, text } = line
      const place = `${pod}/${container}`
      if (time != null) {
        const last = this.#last.get(place)
        // Comes a second time, after a lost connection.
        if (last !== undefined && time <= last) continue
        this.#last.set(place, time)
      }
      const level = levelOf(text) ?? (isContinuation(text) ? this.#levels.get(place) : undefined)
      this.#levels.set(place, level)
      if (isOfLevel(level, this.#level)) rows.push({ ...line, level, key: this.#keys++ })
      else hidden++
    }
    const before = this.#snapshot
    this.#snapshot = {
      ...before,
      streams: streams ?? before.streams,
      skipped: before.skipped + skipped,
      hidden: before.hidden + hidden,
      notFollowed,
      status: 'live',
    }
    this.#show(rows)
  }

  #show(rows: readonly LogRow[]): void {
    this.#waiting.push(...rows)
    if (this.#isHeld) {
      const isCut = this.#waiting.length > this.#mostRows
      if (isCut) this.#waiting = this.#waiting.slice(-this.#mostRows)
      this.#set({ waiting: this.#waiting.length })
      return
    }
    const all = [...this.#snapshot.rows, ...inOrder(this.#waiting)]
    this.#waiting = []
    const isCut = this.#snapshot.isCut || all.length > this.#mostRows
    this.#set({ rows: all.slice(-this.#mostRows), waiting: 0, isCut })
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

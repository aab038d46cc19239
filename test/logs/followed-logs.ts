import type { Client } from 'graphql-ws'
import type { AnsweredError } from '../support/gateway.ts'
import { Waits } from '../support/waits.ts'

export interface LogLine {
  readonly cluster: string
  readonly pod: string
  readonly container: string
  readonly time: string
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>> | null
}

export interface LogStream {
  readonly pod: string
  readonly container: string
  readonly state: 'WAITING' | 'STREAMING' | 'ENDED' | 'FAILED'
  readonly reason: string | null
  readonly message: string | null
}

export interface Logs {
  readonly lines: readonly LogLine[]
  readonly streams: readonly LogStream[] | null
  readonly skipped: number
  readonly notFollowed: number
  readonly incomplete: readonly { readonly cluster: string; readonly code: string }[]
}

export const logFields = `lines { cluster pod container time text fields }
  streams { pod container state reason message } skipped notFollowed incomplete { cluster code }`

/** A subscription to logs, with all that has come of it. */
export interface FollowedLogs {
  readonly lines: LogLine[]
  readonly frames: readonly Logs[]
  readonly streams: () => readonly LogStream[]
  readonly skipped: () => number
  readonly notFollowed: () => number
  readonly errors: () => readonly AnsweredError[]
  readonly isCompleted: () => boolean
  readonly until: (what: string, holds: () => boolean) => Promise<void>
  readonly close: () => void
}

const deadlineMs = 40_000

export const followLogs = (client: Client, args: string): FollowedLogs => {
  const lines: LogLine[] = []
  const frames: Logs[] = []
  let streams: readonly LogStream[] = []
  let skipped = 0
  let notFollowed = 0
  let errors: readonly AnsweredError[] = []
  let isCompleted = false
  const waits = new Waits(deadlineMs)
  const close = client.subscribe<{ podLogs: Logs }>(
    { query: `subscription { podLogs(${args}) { ${logFields} } }` },
    {
      next({ data, errors: told }) {
        const logs = data?.podLogs
        if (logs === undefined) {
          errors = (told ?? []) as unknown as readonly AnsweredError[]
          waits.changed()
          return
        }
        frames.push(logs)
        lines.push(...logs.lines)
        streams = logs.streams ?? streams
        skipped += logs.skipped
        ;({ notFollowed } = logs)
        waits.changed()
      },
      error(error) {
        errors = Array.isArray(error)
          ? (error as AnsweredError[])
          : [{ message: String(error), extensions: { code: 'CLOSED' } }]
        waits.changed()
      },
      complete() {
        isCompleted = true
        waits.changed()
      },
    },
  )
  return {
    lines,
    frames,
    streams: () => streams,
    skipped: () => skipped,
    notFollowed: () => notFollowed,
    errors: () => errors,
    isCompleted: () => isCompleted,
    until: (what, holds) =>
      waits.until(
        holds,
        () => `no ${what}: ${JSON.stringify([streams.slice(0, 5), lines.length, errors])}`,
      ),
    close,
  }
}

/** Whether a container's stream is in a state. */
export const isIn = (
  logs: FollowedLogs,
  pod: string,
  state: LogStream['state'],
  container?: string,
): boolean =>
  logs
    .streams()
    .some(
      (one) =>
        one.pod === pod &&
        one.state === state &&
        (container === undefined || one.container === container),
    )

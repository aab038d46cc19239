/*
 * The log of the gateway, and functions that combine several observers into one. Failures may repeat many times a second,
 * so {@link FailureLog} writes the same failure once per interval, with the number of repetitions.
 */

import { LRUCache } from 'lru-cache'
import type { OperationObserver } from '../graphql/answer/operation-observer.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { ServerObserver } from '../server/operation-options.ts'

/**
 * The log of the gateway. Common details: `cluster`, `kind`, `code` and `hint` of a refusal, `requestId`, and `error`, a
 * thrown value (docs/observability.md).
 */
export interface GatewayLog {
  info(message: string, details?: object): void
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}

/** The code and the hint of a `CodedError`, as details of a log line; none for other errors. */
export function codeOf(error: unknown): { readonly code?: string; readonly hint?: string } {
  if (!(error instanceof CodedError)) return {}
  const { code, hint } = error
  return hint === undefined ? { code } : { code, hint }
}

/** The first and the longest pause before a repeated failure is written again. Each pause is four times the one before. */
const firstIntervalMs = 60_000
const longestIntervalMs = 3_600_000
/** A failure that has not occurred for this time counts as new. */
const forgottenMs = 300_000
const maxFailures = 1_000

/**
 * Logs failures that one cause may repeat a thousand times a second. Writes a new line at once, and then once per interval
 * with the number of repetitions as `times`. Give it no stack, and no details that differ each time.
 */
export class FailureLog implements Pick<GatewayLog, 'warn' | 'error'>, Disposable {
  readonly #log: GatewayLog
  readonly #known = new LRUCache<string, RepeatedLine>({
    max: maxFailures,
    dispose: ({ timer }) => clearTimeout(timer),
  })

  constructor(log: GatewayLog) {
    this.#log = log
  }

  warn(message: string, details: object = {}): void {
    this.#count('warn', message, details)
  }

  error(message: string, details: object = {}): void {
    this.#count('error', message, details)
  }

  [Symbol.dispose](): void {
    this.#known.clear()
  }

  #count(level: 'warn' | 'error', message: string, details: object): void {
    const cause = JSON.stringify([message, details])
    const line = this.#known.get(cause)
    const nowMs = performance.now()
    if (line === undefined || nowMs - line.lastMs > forgottenMs) {
      // Adds the repetitions that were not written yet.
      const times = (line?.times ?? 0) + 1
      this.#known.set(cause, { lastMs: nowMs, intervalMs: firstIntervalMs, times: 0 })
      this.#log[level](message, times === 1 ? details : { ...details, times })
      return
    }
    line.lastMs = nowMs
    line.times += 1
    line.timer ??= setTimeout(() => {
      this.#log[level](message, { ...details, times: line.times })
      line.timer = undefined
      line.times = 0
      line.intervalMs = Math.min(4 * line.intervalMs, longestIntervalMs)
    }, line.intervalMs).unref()
  }
}

interface RepeatedLine {
  lastMs: number
  intervalMs: number
  /** The number of repetitions since the line was last written. */
  times: number
  timer?: NodeJS.Timeout | undefined
}

export const silentLog: GatewayLog = { info() {}, warn() {}, error() {} }

/** Combines the observers of operations into one; `undefined` without any. */
export function observersOf(
  observers: readonly (OperationObserver | undefined)[],
): OperationObserver | undefined {
  return combined(observers, ['answered', 'wrote', 'rejected', 'ended'])
}

export function serverObserverOf(
  observers: readonly (ServerObserver | undefined)[],
): ServerObserver | undefined {
  const names = [
    'refused',
    'rejected',
    'socketOpened',
    'socketClosed',
    'cutOff',
    'unsent',
    'execBegan',
    'execEnded',
    'execRefused',
    'certificate',
  ] as const
  return combined(observers, names)
}

/** An observer whose methods call those of all observers that have them. */
function combined<Observer extends object>(
  observers: readonly (Observer | undefined)[],
  names: readonly (keyof Observer & string)[],
): Observer | undefined {
  const all = observers.filter((one) => one !== undefined)
  const [first] = all
  if (all.length <= 1) return first
  const methods = names.map((name) => [
    name,
    (...details: readonly unknown[]) => {
      for (const one of all) {
        ;(one as Record<string, ((...each: readonly unknown[]) => void) | undefined>)[name]?.(
          ...details,
        )
      }
    },
  ])
  return Object.fromEntries(methods) as Observer
}

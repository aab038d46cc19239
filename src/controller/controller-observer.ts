/*
 * What a run of controllers reports while it works, for metrics, traces and logs. `observerOf` lets several observers hear
 * each report: the run's own metrics and the caller's observer.
 */

import type { ReconcileStuckError } from '../informer/work-queue/workers.ts'
import type { EventDrop } from './event-recorder.ts'

/** How a reconcile ended. `requeue`: it asked for a later one. `terminal`: it threw a `TerminalError`. */
export type ReconcileOutcome = 'error' | 'requeue' | 'success' | 'terminal'

/** A reconcile that has ended. */
export interface ReconcileReport {
  readonly controller: string
  readonly key: string
  readonly outcome: ReconcileOutcome
  readonly durationMs: number
  /** 1, and one more after each failure in a row. */
  readonly attempt: number
  /** What it threw. */
  readonly error?: unknown
}

/**
 * Reports of a run, for metrics and traces. Every method is optional and must not throw. `createControllerMetrics` is
 * one that counts.
 */
export interface ControllerObserver {
  /** The server of health and metrics listens. */
  listening?(port: number): void
  /** The caches are filled, and the controllers work; or they wait for the lease, if `isLeading` is false. */
  ready?(isLeading: boolean): void
  /** This process leads, or does not any more. Only with a leader election. */
  leading?(isLeading: boolean): void
  /** The leader had to read its lease before it could renew it, because another client had changed it. */
  slowRenewal?(): void
  /** A key needs a reconcile that did not before. */
  added?(controller: string, key: string): void
  /** A reconcile begins, `latencyMs` after its key was added. */
  started?(controller: string, key: string, latencyMs: number): void
  reconciled?(report: ReconcileReport): void
  /** A key was queued with a delay: after a failure, or as the reconcile asked. */
  retried?(controller: string, key: string, delayMs: number): void
  /** A reconcile goes on although its signal has aborted. */
  stuck?(controller: string, error: ReconcileStuckError<string>): void
  /** An Event of a reconcile was not written. */
  eventDropped?(controller: string, reason: EventDrop): void
}

/** An observer that forwards each report to several. */
export function observerOf(observers: readonly ControllerObserver[]): Required<ControllerObserver> {
  const all =
    <Name extends keyof ControllerObserver>(name: Name) =>
    (...args: Parameters<Required<ControllerObserver>[Name]>): void => {
      for (const one of observers) {
        const tell = one[name] as ((...given: unknown[]) => void) | undefined
        tell?.apply(one, args)
      }
    }
  return {
    listening: all('listening'),
    ready: all('ready'),
    leading: all('leading'),
    slowRenewal: all('slowRenewal'),
    added: all('added'),
    started: all('started'),
    reconciled: all('reconciled'),
    retried: all('retried'),
    stuck: all('stuck'),
    eventDropped: all('eventDropped'),
  }
}

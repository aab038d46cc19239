import type { OperationObserver } from '../graphql/answer/operation-observer.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { ServerObserver } from '../server/operation-options.ts'

/**
 * The log of the gateway. Details that many lines have: `cluster`, `kind`, `code` and `hint` of a refusal, `requestId`,
 * and `error`, a thrown value (docs/observability.md).
 */
export interface GatewayLog {
  info(message: string, details?: object): void
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}

/** The code and the way out of an error, as details of a log line; none for other errors. */
export function codeOf(error: unknown): { readonly code?: string; readonly hint?: string } {
  if (!(error instanceof CodedError)) return {}
  const { code, hint } = error
  return hint === undefined ? { code } : { code, hint }
}

export const silentLog: GatewayLog = { info() {}, warn() {}, error() {} }

/** Combines the observers of operations into one; `undefined` without any. */
export function observersOf(
  observers: readonly (OperationObserver | undefined)[],
): OperationObserver | undefined {
  return combined(observers, ['answered', 'wrote', 'rejected', 'ended'])
}

/** Combines the observers of a server. */
export function serverObserverOf(
  observers: readonly (ServerObserver | undefined)[],
): ServerObserver | undefined {
  const names = ['refused', 'rejected', 'socketOpened', 'socketClosed', 'cutOff', 'unsent'] as const
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

import type { OperationObserver } from '../graphql/answer/operation-observer.ts'
import type { ServerObserver } from '../server/operation-options.ts'

/** The log of the gateway. */
export interface GatewayLog {
  info(message: string, details?: object): void
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}

/** Discards all messages. */
export const silentLog: GatewayLog = { info() {}, warn() {}, error() {} }

/** Combines observers into one; `undefined` without any. */
export function observersOf(
  observers: readonly (OperationObserver | undefined)[],
): OperationObserver | undefined {
  const all = observers.filter((one) => one !== undefined)
  const [first] = all
  if (all.length <= 1) return first
  return {
    answered: (report) => {
      for (const one of all) one.answered(report)
    },
    rejected: (document) => {
      for (const one of all) one.rejected?.(document)
    },
    ended: (report) => {
      for (const one of all) one.ended?.(report)
    },
  }
}

/** Combines the observers of a server. */
export function serverObserverOf(
  observers: readonly (ServerObserver | undefined)[],
): ServerObserver | undefined {
  const all = observers.filter((one) => one !== undefined)
  const [first] = all
  if (all.length <= 1) return first
  return {
    refused: (refusal) => {
      for (const one of all) one.refused(refusal)
    },
    rejected: (document) => {
      for (const one of all) one.rejected?.(document)
    },
    socketOpened: () => {
      for (const one of all) one.socketOpened?.()
    },
    socketClosed: () => {
      for (const one of all) one.socketClosed?.()
    },
    cutOff: (transport) => {
      for (const one of all) one.cutOff?.(transport)
    },
    unsent: (bytes) => {
      for (const one of all) one.unsent?.(bytes)
    },
  }
}

import type { OperationObserver } from '../graphql/answer/operation-observer.ts'
import type { ServerObserver } from '../server/server-observer.ts'

/** One observer for all that are there; `undefined` where there is none. */
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
    framed: () => {
      for (const one of all) one.framed?.()
    },
    rejected: (document) => {
      for (const one of all) one.rejected?.(document)
    },
    ended: (report) => {
      for (const one of all) one.ended?.(report)
    },
  }
}

/** The same of what happens at the door. */
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

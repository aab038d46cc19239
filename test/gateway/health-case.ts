import type { Fields } from './test-cluster.ts'

/** What an object says, its `spec` and its `status`, how it is, why, and a part of the message. */
export type HealthCase = readonly [
  says: string,
  spec: Fields,
  status: Fields,
  /** `''` for an object without a state. */
  health: string,
  reason?: string,
  message?: string,
]

export const condition = (type: string, status: string, reason = '', message = ''): Fields => ({
  type,
  status,
  reason,
  message,
})

export const ready: readonly Fields[] = [condition('Ready', 'True')]
export const notReady: readonly Fields[] = [condition('Ready', 'False', 'ContainersNotReady')]

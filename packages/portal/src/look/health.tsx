import { words } from '../words.ts'
import styles from './health.module.css'

/** The health of an object, the worst first. */
export const healthStatuses = [
  'DEGRADED',
  'UNKNOWN',
  'PROGRESSING',
  'TERMINATING',
  'SUSPENDED',
  'HEALTHY',
] as const

export type HealthStatus = (typeof healthStatuses)[number]

/** The place of a health in an order with the worst first. Objects without a state come last. */
export function severityOf(status: HealthStatus | undefined): number {
  return status === undefined ? healthStatuses.length : healthStatuses.indexOf(status)
}

const shapes: Readonly<Record<HealthStatus, string>> = {
  DEGRADED: '▲',
  UNKNOWN: '◌',
  PROGRESSING: '◐',
  TERMINATING: '✕',
  SUSPENDED: '❚❚',
  HEALTHY: '●',
}

/**
 * A health as shape, colour and word; nothing for an object without a state. Without its word, the word is its label for
 * screen readers.
 */
export function Health({
  status,
  bare = false,
  word: own,
}: {
  readonly status: HealthStatus | undefined
  readonly bare?: boolean
  /** In place of its own word, if it says more. */
  readonly word?: string | undefined
}) {
  if (status === undefined) return null
  const word = own ?? words.health[status]
  return (
    <span className={styles['health']} data-status={status} title={bare ? word : undefined}>
      <span aria-hidden="true" className={styles['shape']}>
        {shapes[status]}
      </span>
      <span className={bare ? 'visually-hidden' : undefined}>{word}</span>
    </span>
  )
}

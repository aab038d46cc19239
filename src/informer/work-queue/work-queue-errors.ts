import { CodedError } from '../../lib/coded-error.ts'

/** A number given to a work queue, a rate limiter or to workers that makes no sense there. */
export class WorkQueueOptionError extends CodedError {
  constructor(option: string, value: number, expected: string) {
    super('WORK_QUEUE_OPTION', `${option} is ${value}`, { value, hint: `give ${expected}` })
  }
}

/** A reconcile that threw, or rejected; `cause` is what it threw. */
export class ReconcileError extends CodedError {
  readonly key: string
  /** How many times in a row it has failed for this key, this one included. */
  readonly failures: number
  /** Whether the key is tried again. Not after `maxRetries`, nor once the queue is shutting down. */
  readonly retried: boolean

  constructor(
    key: string,
    cause: unknown,
    outcome: { readonly failures: number; readonly retried: boolean },
  ) {
    const { failures, retried } = outcome
    const next = retried ? 'will be tried again' : 'given up'
    super(
      'RECONCILE',
      `reconcile of ${JSON.stringify(key)} failed (${failures} in a row, ${next}): ${String(cause)}`,
      { value: key, cause },
    )
    this.key = key
    this.failures = failures
    this.retried = retried
  }
}

/** Reconciles that went on although their signal had been aborted. Their keys are its `value`. */
export class ReconcileStuckError extends CodedError {
  readonly keys: readonly string[]

  constructor(keys: readonly string[], deadlineMs: number) {
    const names = keys.map((key) => JSON.stringify(key)).join(', ')
    super('RECONCILE_STUCK', `still running ${deadlineMs} ms after their abort: ${names}`, {
      value: keys,
      hint: 'let reconcile end when its signal is aborted, or allow it a longer stopDeadlineMs',
    })
    this.keys = keys
  }
}

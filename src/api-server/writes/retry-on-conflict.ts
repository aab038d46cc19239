import { isConflict } from '../../kubernetes/status.ts'
import { Backoff, sleep } from '../../lib/backoff.ts'
import {
  aDuration,
  anObject,
  aNumber,
  checkedOptions,
  type OptionChecks,
  withDefaults,
} from '../../lib/options.ts'

/** The number and pauses of retries. Times are in milliseconds. */
export interface RetryOptions {
  /** The total number of attempts. */
  readonly attempts?: number
  /** The first pause. Each further pause doubles; jitter at most doubles it again. */
  readonly initialMs?: number
  readonly maxMs?: number
  readonly signal?: AbortSignal
}

const retryChecks: OptionChecks<RetryOptions> = {
  attempts: aNumber(1),
  initialMs: aDuration,
  maxMs: aDuration,
  signal: anObject,
}

/** The defaults of {@link RetryOptions}. */
export const retryDefaults = { attempts: 5, initialMs: 10, maxMs: 1000 } as const

/**
 * Repeats `attempt` while it rejects with a conflict. Each attempt must read the object again, change it and write it
 * (client-go's `retry.RetryOnConflict`). Rejects at once with any other error, with the last conflict after `attempts`
 * attempts, or with the signal's reason. Throws `InvalidOptionError`.
 */
export async function retryOnConflict<R>(
  attempt: () => Promise<R>,
  options: RetryOptions = {},
): Promise<R> {
  const { attempts, initialMs, maxMs } = withDefaults<
    Record<'attempts' | 'initialMs' | 'maxMs', number>
  >(retryDefaults, checkedOptions('retryOnConflict', options, retryChecks))
  const backoff = new Backoff({ initialMs, maxMs, factor: 2 })
  const signal = options.signal ?? new AbortController().signal
  for (let made = 1; ; made += 1) {
    signal.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      if (!isConflict(error) || made >= attempts) throw error
    }
    await sleep(backoff.nextMs(), signal)
  }
}

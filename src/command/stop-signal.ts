import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM'] as const

/**
 * Aborts on the first SIGINT or SIGTERM. The second one ends the process at once, with 128 plus the signal's number.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of signals) {
    process.on(signal, () => {
      // oxlint-disable-next-line node/no-process-exit -- the way out of a stop that does not end
      if (stop.signal.aborted) process.exit(128 + constants.signals[signal])
      stop.abort(signal)
    })
  }
  return stop.signal
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

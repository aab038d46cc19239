import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM'] as const

/** Aborted by the first SIGINT or SIGTERM; the second one ends the process at once, with 128 and the signal's number. */
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

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

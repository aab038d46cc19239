/** So long may work hold the event loop before others get their turn. */
export const sliceMs = 8

/**
 * Does a long work in slices of {@link sliceMs}, between which the event loop runs. The work says, by a `yield`, where it
 * may pause; it should do so at least every millisecond. Resolves with what it returns, or with `undefined` once
 * `isOver` says after a pause that nobody wants the result any more.
 */
export async function inSlices<T>(
  work: Iterator<void, T>,
  isOver: () => boolean,
): Promise<T | undefined> {
  let sliceStart = performance.now()
  while (true) {
    const step = work.next()
    if (step.done === true) return step.value
    if (performance.now() - sliceStart < sliceMs) continue
    // oxlint-disable-next-line no-await-in-loop -- gives way
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (isOver()) return undefined
    sliceStart = performance.now()
  }
}

/** Does the same work at once. */
export function atOnce<T>(work: Iterator<void, T>): T {
  while (true) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

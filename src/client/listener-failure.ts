/** Tells what a listener has thrown; where nobody wants to know it, as an uncaught error. */
export function reportFailure(
  error: unknown,
  failed: ((error: unknown) => void) | undefined,
): void {
  if (failed !== undefined) failed(error)
  else {
    queueMicrotask(() => {
      throw error
    })
  }
}

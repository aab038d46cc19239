/**
 * An async generator whose `return()` also ends a `next()` that is still waiting: by itself a generator would first wait
 * for that, which may be for ever. `interrupt` must make the wait end; it may be called more than once.
 */
export function interruptible<T>(
  generator: AsyncGenerator<T, void, void>,
  interrupt: () => void,
): AsyncGenerator<T, void, void> {
  return {
    next: () => generator.next(),
    return: (value) => {
      interrupt()
      return generator.return(value)
    },
    throw: (error) => {
      interrupt()
      return generator.throw(error)
    },
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      interrupt()
      await generator.return()
    },
  }
}

/**
 * Wraps an async generator so that `return()` and `throw()` end a pending `next()`. A plain generator first waits for
 * that `next()` to settle, which may never happen. `interrupt` must make the wait end; it may be called more than once.
 */
export function interruptible<T>(
  generator: AsyncGenerator<T, void, void>,
  interrupt: () => void,
): AsyncGenerator<T, void, void> {
  return generatorOf({
    next: () => generator.next(),
    return: (value) => {
      interrupt()
      return generator.return(value)
    },
    throw: (error) => {
      interrupt()
      return generator.throw(error)
    },
  })
}

/**
 * Wraps an async generator. Calls `ended` once: when it is exhausted, has failed, or its consumer has ended it.
 */
export function observedGenerator<T>(
  generator: AsyncGenerator<T, void, void>,
  ended: () => void,
): AsyncGenerator<T, void, void> {
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    ended()
  }
  const settled = async (
    step: Promise<IteratorResult<T, void>>,
  ): Promise<IteratorResult<T, void>> => {
    try {
      const result = await step
      if (result.done === true) end()
      return result
    } catch (error) {
      end()
      throw error
    }
  }
  return generatorOf({
    next: () => settled(generator.next()),
    return: (value) => settled(generator.return(value)),
    throw: (error) => settled(generator.throw(error)),
  })
}

function generatorOf<T>(
  steps: Pick<AsyncGenerator<T, void, void>, 'next' | 'return' | 'throw'>,
): AsyncGenerator<T, void, void> {
  return {
    ...steps,
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await this.return()
    },
  }
}

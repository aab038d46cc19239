/** What is told of an async generator. */
export interface GeneratorFollower {
  /** A value is about to be handed over. */
  yielded?(): void
  /** It has ended: all was taken, it failed, or nobody wants more. */
  ended(): void
}

/** The same generator, with calls that tell how far it is. `ended` may be called more than once. */
export function followedGenerator<T>(
  generator: AsyncGenerator<T, void, void>,
  follower: GeneratorFollower,
): AsyncGenerator<T, void, void> {
  const settled = async (
    step: Promise<IteratorResult<T, void>>,
  ): Promise<IteratorResult<T, void>> => {
    try {
      const result = await step
      if (result.done === true) follower.ended()
      else follower.yielded?.()
      return result
    } catch (error) {
      follower.ended()
      throw error
    }
  }
  return {
    next: () => settled(generator.next()),
    return: (value) => settled(generator.return(value)),
    throw: (error) => settled(generator.throw(error)),
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await this.return()
    },
  }
}

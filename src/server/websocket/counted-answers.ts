/** The same answers, with a call when they have ended: all were taken, one failed, or nobody wants them any more. */
export function countedAnswers<T>(
  answers: AsyncGenerator<T, void, void>,
  ended: () => void,
): AsyncGenerator<T, void, void> {
  const settled = async (
    step: Promise<IteratorResult<T, void>>,
  ): Promise<IteratorResult<T, void>> => {
    try {
      const result = await step
      if (result.done === true) ended()
      return result
    } catch (error) {
      ended()
      throw error
    }
  }
  return {
    next: () => settled(answers.next()),
    return: (value) => settled(answers.return(value)),
    throw: (error) => settled(answers.throw(error)),
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await this.return()
    },
  }
}

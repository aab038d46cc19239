import type { ExecutionResult } from 'graphql'
import { clientErrorOf } from '../graphql/operation/client-error.ts'
import { interruptible } from '../lib/generators.ts'

/** The end of a subscription's frames. */
export type StreamEnd =
  | { readonly form: 'complete' }
  /** The subscriber gets the error as the last result. */
  | { readonly form: 'failed'; readonly error: Error }
  /** The pipeline has to answer from the beginning. */
  | { readonly form: 'refused' }

/** The frames of one subscription. The transport takes them when it has room. */
export interface PlannedStream {
  /** The payload of the next frame, UTF-8; `undefined` if there is none now. */
  take(): Buffer | undefined
  /** Whether the next frame is in memory for this reader alone, so that waiting for room would save nothing. */
  readonly isHeld?: boolean
  /** The end, if it has ended. */
  readonly end: StreamEnd | undefined
  /** Whether it is closed. Remaining frames are dropped. */
  readonly isClosed: boolean
  /** Calls `ready` when there may be frames, and at the end. */
  onReady(ready: () => void): void
  /** Ends it. Idempotent. */
  close(): void
}

/** The answer to a query as a stream of one frame. */
export function oneFrame(text: string): PlannedStream {
  let frame: Buffer | undefined = Buffer.from(text)
  let isClosed = false
  return {
    take() {
      const taken = frame
      frame = undefined
      return taken
    },
    get isHeld() {
      return frame !== undefined
    },
    end: { form: 'complete' },
    get isClosed() {
      return isClosed
    },
    onReady() {},
    close() {
      isClosed = true
      frame = undefined
    },
  }
}

export interface PlannedResultsOptions {
  readonly stream: PlannedStream
  /** Sends the frames of the stream until its end. */
  readonly send: (stream: PlannedStream) => Promise<StreamEnd>
  /** Answers in place of a refused stream. */
  readonly answer: () => Promise<AsyncIterable<ExecutionResult> | ExecutionResult>
}

/**
 * The results besides the frames of a stream: the error that ended it, or the pipeline's answer in its place. Leaving
 * the generator closes the stream.
 */
export function plannedResults({
  stream,
  send,
  answer,
}: PlannedResultsOptions): AsyncGenerator<ExecutionResult, void, void> {
  let answered: AsyncIterator<ExecutionResult> | undefined
  let isLeft = false
  async function* results(): AsyncGenerator<ExecutionResult, void, void> {
    const end = await send(stream)
    stream.close()
    if (end.form === 'failed') yield { errors: [clientErrorOf(end.error)] }
    if (end.form !== 'refused') return
    const result = await answer()
    if (!(Symbol.asyncIterator in result)) {
      yield result
      return
    }
    const iterator = result[Symbol.asyncIterator]()
    answered = iterator
    if (isLeft) await iterator.return?.()
    else yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return interruptible(results(), () => {
    isLeft = true
    stream.close()
    void answered?.return?.()
  })
}

import type { ExecutionResult } from 'graphql'
import { clientErrorOf } from '../graphql/errors/client-error.ts'
import { interruptible } from '../lib/interruptible.ts'

/** How the frames of a subscription have ended. */
export type StreamEnd =
  | { readonly form: 'complete' }
  /** The error is the last that the subscriber is told. */
  | { readonly form: 'failed'; readonly error: Error }
  /** The pipeline is to go on, from the beginning. */
  | { readonly form: 'refused' }

/** The frames of one subscription, taken by its transport when that has room. */
export interface PlannedStream {
  /** The payload of the next frame, UTF-8; `undefined` where there is none now. */
  take(): Buffer | undefined
  /** Whether the next frame is in memory for this reader alone: to wait for room with it would not spare any. */
  readonly isHeld?: boolean
  /** How it has ended, where it has. */
  readonly end: StreamEnd | undefined
  /** Whether it has been closed: what it still had is not wanted any more. */
  readonly isClosed: boolean
  /** Calls this whenever there may be something to take, and when it has ended. */
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
  /** Sends what the stream has, until it has ended. */
  readonly send: (stream: PlannedStream) => Promise<StreamEnd>
  /** Answers in place of the stream, where that is refused. */
  readonly answer: () => Promise<AsyncIterable<ExecutionResult> | ExecutionResult>
}

/**
 * What is left to be sent as results while a stream is sent as it is: the error that it ended with, or all that the pipeline
 * answers in its place. Leaving it ends the stream.
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

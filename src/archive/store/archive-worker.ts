/*
 * The worker thread of the archive: opens the database, and answers the calls that come as messages. The objects of a kind
 * are fetched chunk by chunk (`objects`, then `next` until the last one), so that the reader sets the pace.
 */

import { parentPort, workerData } from 'node:worker_threads'
import { CodedError } from '../../lib/coded-error.ts'
import type { ArchiveCalls, ObjectChunk, Topic } from '../archive-calls.ts'
import type { ArchiveOptions } from '../archive-options.ts'
import { openStore } from './archive-store.ts'

/** A call of `ArchiveCalls`, or of the iterator that `objects` began. */
export interface WorkerCall {
  readonly call: number
  readonly method: Exclude<keyof ArchiveCalls, 'objects'> | 'open' | 'objects' | 'next' | 'return'
  readonly parameters: readonly unknown[]
}

export type WorkerMessage =
  | { readonly call: number; readonly result: unknown }
  | {
      readonly call: number
      readonly code: string
      readonly message: string
      readonly hint: string | undefined
    }
  /** What the operator should know. */
  | { readonly warning: string }
  /** Why nothing can be written; `undefined`: it can. */
  | { readonly failing: string | undefined }
  | { readonly wrote: { readonly rows: number; readonly gaps: number } }
  | { readonly bytes: number }
  | { readonly othersWrote: Topic | undefined }

const port = parentPort
if (port === null) throw new Error('archive-worker.ts runs as a worker thread only')

const send = (message: WorkerMessage, transfer: readonly ArrayBuffer[] = []) =>
  port.postMessage(message, transfer)
const opening = openStore(workerData as ArchiveOptions, {
  warn: (warning) => send({ warning }),
  failing: (failing) => send({ failing }),
  wrote: ({ rows, gaps }) => send({ wrote: { rows, gaps } }),
  bytes: (bytes) => send({ bytes }),
  othersWrote: (othersWrote) => send({ othersWrote }),
})
// The call `open` answers with it.
opening.catch(() => undefined)
const iterators = new Map<number, AsyncIterator<ObjectChunk>>()

port.on('message', ({ call, method, parameters }: WorkerCall) => {
  answer(call, method, parameters).catch((error: unknown) => {
    const { message, code, hint } = coded(error)
    send({ call, code, message, hint })
  })
})

async function answer(
  call: number,
  method: WorkerCall['method'],
  parameters: readonly unknown[],
): Promise<void> {
  const store = await opening
  if (method === 'open') return send({ call, result: undefined })
  if (method === 'objects') {
    iterators.set(call, store.objects(Number(parameters[0]))[Symbol.asyncIterator]())
    return sendChunk(call, call)
  }
  if (method === 'next') return sendChunk(call, Number(parameters[0]))
  if (method === 'return') {
    await iterators.get(Number(parameters[0]))?.return?.()
    iterators.delete(Number(parameters[0]))
    return send({ call, result: undefined })
  }
  const work: (...all: readonly never[]) => Promise<unknown> = store[method]
  const result = await Reflect.apply(work, store, parameters)
  // Values of fields may be numbers that only a text can hold.
  send({ call, result: asText.has(method) ? JSON.stringify(result) : result })
}

async function sendChunk(call: number, of: number): Promise<void> {
  const iterator = iterators.get(of)
  const chunk: ObjectChunk | undefined = (await iterator?.next())?.value
  if (chunk?.isLast !== false) {
    iterators.delete(of)
    // It has nothing more, and ends.
    iterator?.next().catch(() => undefined)
  }
  const transfer = chunk === undefined ? [] : [chunk.bytes.buffer, chunk.ends.buffer]
  send({ call, result: chunk }, transfer as readonly ArrayBuffer[])
}

/** Calls that are answered with JSON. */
const asText: ReadonlySet<WorkerCall['method']> = new Set(['changes', 'differences'])

function coded(error: unknown): {
  readonly code: string
  readonly message: string
  readonly hint: string | undefined
} {
  if (error instanceof CodedError) return error
  const { message } = error instanceof Error ? error : new Error(String(error))
  return { code: 'ARCHIVE_UNREACHABLE', message, hint: undefined }
}

/*
 * Answers the subresource `log` of pods as an API server and a kubelet do together: checks the options, finds the run
 * of the container, and sends its lines as they are due.
 */

import { fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'
import { objectKey, type Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import {
  badRequest,
  forbiddenAt,
  type Found,
  invalidAt,
  notFound,
  Refusal,
  refuseInvalid,
} from '../api/status-refusal.ts'
import {
  ContainerLog,
  containerOf,
  type ContainerRun,
  endOf,
  runOf,
} from '../logs/container-log.ts'
import { readObject, type StoredObject } from '../storage/storage.ts'
import { flag, gathered, integer, sendStream } from './exchange.ts'
import type { ResourceRequest } from './resource-request.ts'

/** The parameters of a request for a log: `PodLogOptions`. */
interface LogQuery {
  readonly container: string
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  readonly tailLines: number | undefined
  readonly limitBytes: number | undefined
  readonly sinceMs: number | undefined
}

/**
 * Sends the log of a container, as the subresource `log` does. What a kubelet would answer is made here. Throws
 * refusals.
 */
export async function serveLog(request: ResourceRequest): Promise<void> {
  const { exchange, storage, name } = request
  const query = logQuery(exchange.params, name)
  const { served, namespace } = request
  const stored = storage.store(served.stored).get(objectKey({ namespace, name }))
  if (stored === undefined) throw notFound({ group: '', resource: 'pods', name })
  const pod = readObject(stored, served.stored)
  const container = containerOf(pod, query.container)
  const nodeName = textOf(fieldsOf(pod['spec'])['nodeName'])
  if (nodeName === undefined) {
    exchange.response.writeHead(204)
    exchange.response.end()
    return
  }
  const node = storage.get(resources.nodes, '', nodeName)
  // The message names the resource of the request.
  if (node === undefined) throw notFound({ group: '', resource: 'pods', name: nodeName })
  const { addresses, conditions } = fieldsOf(node['status'])
  if (itemsOf(conditions).find(({ type }) => type === 'Ready')?.['status'] !== 'True') {
    // What an API server answers that does not reach the kubelet of a node.
    const internal = itemsOf(addresses).find(({ type }) => type === 'InternalIP')
    const host = `${textOf(internal?.['address']) ?? nodeName}:10250`
    const url = `https://${host}/containerLogs/${namespace}/${name}/${container}`
    throw new Refusal(500, `Get "${url}": dial tcp ${host}: connect: connection refused`)
  }
  const run = runOf(pod, container, query.previous)
  exchange.response.writeHead(200, {
    'cache-control': 'no-cache, private',
    'content-type': 'text/plain',
  })
  exchange.response.flushHeaders()
  await sendStream(exchange, request.effects, logChunks(request, pod, container, run, query))
}

const least = (field: string, value: number | undefined, bound: number): Found =>
  value !== undefined && value < bound && invalidAt(field, value, `must be at least ${bound}`)

/** Source of the checks: `pkg/apis/core/validation`, `ValidatePodLogOptions`. */
function logQuery(params: URLSearchParams, name: string): LogQuery {
  const tailLines = integer(params, 'tailLines')
  const limitBytes = integer(params, 'limitBytes')
  const sinceSeconds = integer(params, 'sinceSeconds')
  const sinceTime = params.get('sinceTime') ?? ''
  const at = Date.parse(sinceTime)
  if (sinceTime !== '' && Number.isNaN(at)) {
    throw badRequest(`sinceTime: ${JSON.stringify(sinceTime)} is not a time of RFC 3339`)
  }
  refuseInvalid({ group: '', kind: 'PodLogOptions', name }, [
    least('tailLines', tailLines, 0),
    least('limitBytes', limitBytes, 1),
    least('sinceSeconds', sinceSeconds, 1),
    sinceTime !== '' &&
      sinceSeconds !== undefined &&
      forbiddenAt('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'),
  ])
  const past = sinceSeconds === undefined ? undefined : Date.now() - sinceSeconds * 1_000
  return {
    container: params.get('container') ?? '',
    follow: flag(params, 'follow'),
    previous: flag(params, 'previous'),
    timestamps: flag(params, 'timestamps'),
    tailLines,
    limitBytes,
    sinceMs: sinceTime === '' ? past : at,
  }
}

/** What is written, and while it is followed, each line when it is due. Holds one chunk of lines. */
async function* logChunks(
  { storage, served, namespace, name, exchange }: ResourceRequest,
  pod: Unstructured,
  container: string,
  run: ContainerRun,
  query: LogQuery,
): AsyncGenerator<Buffer, undefined, undefined> {
  const log = new ContainerLog(pod, container, run)
  const { tailLines, sinceMs, timestamps } = query
  const nowMs = Date.now()
  let next = log.first(nowMs)
  if (sinceMs !== undefined) next = log.from(sinceMs, nowMs)
  if (tailLines !== undefined) next = Math.max(next, log.count(nowMs) - tailLines)
  let bytes = query.limitBytes ?? Infinity
  function* due(): Generator<Buffer> {
    for (const end = log.count(Date.now()); next < end && bytes > 0; next++) {
      const { atMs, nanos, text } = log.line(next)
      const at = timestamps ? new Date(atMs).toISOString().slice(0, -1) : ''
      const time = timestamps ? `${at}${String(nanos).padStart(6, '0')}Z ` : ''
      const sent = Buffer.from(`${time}${text}\n`).subarray(0, bytes)
      bytes -= sent.length
      yield sent
    }
  }
  yield* gathered(due(), 16 * 1024)
  if (!query.follow || run.finishedAtMs !== undefined) return
  // Wakes at changes of the pods, and when the connection closes.
  const store = storage.store(served.stored)
  let seen: StoredObject | undefined
  let wake: (() => void) | undefined
  const unsubscribe = store.subscribe(() => wake?.())
  exchange.response.once('close', () => wake?.())
  try {
    while (bytes > 0 && !exchange.response.destroyed) {
      const now = store.get(objectKey({ namespace, name }))
      if (now === undefined || now !== seen) {
        seen = now
        const read = now && readObject(now, served.stored)
        const same = read?.metadata.uid === pod.metadata.uid ? read : undefined
        const end = endOf(same, container, run)
        if (end !== undefined) {
          log.finish(Math.max(end.finishedAtMs ?? 0, Date.now()), end.exitCode)
          yield* gathered(due())
          return
        }
      }
      const forMs = log.nextMs(next) - Date.now()
      if (forMs > 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, Math.min(forMs, 2 ** 31 - 1))
        // oxlint-disable-next-line no-await-in-loop -- one line after the other
        await promise
        clearTimeout(timer)
      }
      yield* gathered(due(), 16 * 1024)
    }
  } finally {
    unsubscribe()
  }
}

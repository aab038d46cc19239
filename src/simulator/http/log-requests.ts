/*
 * Answers the subresource `log` of pods as an API server and a kubelet do together: checks the options, finds the run
 * of the container, and sends its lines as they are due.
 */

import { fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'
import { objectKey, type Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import {
  badRequest,
  type FieldProblem,
  forbiddenAt,
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
import { readObject, type StoredObject } from '../storage/resource-store.ts'
import { faultySink } from './collection-requests.ts'
import { ChunkedWriter, flag, integer } from './exchange.ts'
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
  const stored = storedPod(request)
  if (stored === undefined) throw notFound({ group: '', resource: 'pods', name })
  const pod = readObject(stored, request.served.stored)
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
    const url = `https://${host}/containerLogs/${request.namespace}/${name}/${container}`
    throw new Refusal(500, `Get "${url}": dial tcp ${host}: connect: connection refused`)
  }
  const run = runOf(pod, container, query.previous)
  exchange.response.writeHead(200, {
    'cache-control': 'no-cache, private',
    'content-type': 'text/plain',
  })
  exchange.response.flushHeaders()
  await sendLog(request, pod, container, run, query)
}

function storedPod({
  storage,
  served,
  namespace,
  name,
}: ResourceRequest): StoredObject | undefined {
  return storage.store(served.stored).get(objectKey({ namespace, name }))
}

/** Source of the checks: `pkg/apis/core/validation`, `ValidatePodLogOptions`. */
function logQuery(params: URLSearchParams, name: string): LogQuery {
  const problems: FieldProblem[] = []
  const number = (parameter: string, least: number): number | undefined => {
    const value = integer(params, parameter)
    if (value === undefined || value >= least) return value
    const message = least === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0'
    problems.push(invalidAt(parameter, value, message))
    return value
  }
  const tailLines = number('tailLines', 0)
  const limitBytes = number('limitBytes', 1)
  const sinceSeconds = number('sinceSeconds', 1)
  const sinceTime = params.get('sinceTime') ?? ''
  const at = Date.parse(sinceTime)
  if (sinceTime !== '' && Number.isNaN(at)) {
    throw badRequest(
      `parsing time ${JSON.stringify(sinceTime)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(sinceTime)} as "2006"`,
    )
  }
  if (sinceTime !== '' && sinceSeconds !== undefined) {
    problems.push(
      forbiddenAt('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'),
    )
  }
  refuseInvalid({ group: '', kind: 'PodLogOptions', name }, problems)
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

/** Sends what is written, and while it is followed, each line when it is due. Holds one chunk of lines. */
async function sendLog(
  request: ResourceRequest,
  pod: Unstructured,
  container: string,
  run: ContainerRun,
  query: LogQuery,
): Promise<void> {
  const sink = faultySink(request)
  const writer = new ChunkedWriter(sink, 16 * 1_024)
  const log = new ContainerLog(pod, container, run)
  const { tailLines, sinceMs, timestamps } = query
  const nowMs = Date.now()
  let next = log.first(nowMs)
  if (sinceMs !== undefined) next = log.from(sinceMs, nowMs)
  if (tailLines !== undefined) next = Math.max(next, log.count(nowMs) - tailLines)
  let bytes = query.limitBytes ?? Infinity
  const send = async (): Promise<boolean> => {
    for (const end = log.count(Date.now()); next < end && bytes > 0; next++) {
      const { atMs, nanos, text } = log.line(next)
      const at = timestamps ? new Date(atMs).toISOString().slice(0, -1) : ''
      const time = timestamps ? `${at}${String(nanos).padStart(6, '0')}Z ` : ''
      const sent = Buffer.from(`${time}${text}\n`).subarray(0, bytes)
      bytes -= sent.length
      if (writer.add(sent) && !(await writer.flush())) return false
    }
    return (await writer.flush()) && bytes > 0
  }
  let isOpen = await send()
  const changes = new PodChanges(request)
  try {
    while (isOpen && query.follow && run.finishedAtMs === undefined && !changes.isClosed) {
      const end = changes.isSame() ? undefined : endOf(changes.samePod(pod), container, run)
      if (end === undefined) {
        // oxlint-disable-next-line no-await-in-loop -- one line after the other
        await changes.wait(log.nextMs(next) - Date.now())
        // oxlint-disable-next-line no-await-in-loop -- as above
        isOpen = await send()
        continue
      }
      log.finish(Math.max(end.finishedAtMs ?? 0, Date.now()), end.exitCode)
      // oxlint-disable-next-line no-await-in-loop -- the last lines
      await send()
      break
    }
  } finally {
    changes.stop()
  }
  sink.end()
}

/** Wakes at changes of the pods, and when the connection closes. */
class PodChanges {
  readonly #request: ResourceRequest
  readonly #unsubscribe: () => void
  #wake: () => void = () => {}
  #seen: StoredObject | undefined
  isClosed = false

  constructor(request: ResourceRequest) {
    this.#request = request
    const { storage, served, exchange } = request
    this.#unsubscribe = storage.store(served.stored).subscribe(() => this.#wake())
    exchange.response.once('close', () => {
      this.isClosed = true
      this.#wake()
    })
  }

  /** Whether the pod has not changed since {@link samePod} has read it. */
  isSame(): boolean {
    return this.#seen !== undefined && storedPod(this.#request) === this.#seen
  }

  /** The pod as it is now; `undefined` if it is gone. */
  samePod({ metadata: { uid } }: Unstructured): Unstructured | undefined {
    this.#seen = storedPod(this.#request)
    const now = this.#seen && readObject(this.#seen, this.#request.served.stored)
    return now?.metadata.uid === uid ? now : undefined
  }

  /** Waits for a time, or for a change. */
  async wait(forMs: number): Promise<void> {
    if (this.isClosed || forMs <= 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, Math.min(forMs, 2 ** 31 - 1))
    await promise
    clearTimeout(timer)
  }

  stop(): void {
    this.#unsubscribe()
  }
}

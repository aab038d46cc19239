import { cp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import {
  ControlPlaneError,
  freePort,
  type ServerProcess,
  startServerProcess,
} from './control-plane-process.ts'

/** The etcd of one control plane, spoken to through its JSON gateway. */
export interface Etcd {
  readonly url: string
  /** Undefined before the first start. */
  readonly process: () => ServerProcess | undefined
  /** Starts etcd on its data folder, at the same address as before, and waits until it is healthy. */
  readonly start: () => Promise<void>
  /** Writes an object as JSON and answers with the revision, which is its resourceVersion. */
  readonly put: (key: string, object: object) => Promise<string>
  /** Writes many objects, {@link concurrency} at a time, in no particular order. */
  readonly putMany: (objects: Iterable<readonly [key: string, object: object]>) => Promise<void>
  /** Forgets all history before the current revision, which it answers with. */
  readonly compact: () => Promise<string>
  /** Copies the data folder; etcd must not be running. */
  readonly copyDataTo: (dir: string) => Promise<void>
  readonly replaceDataBy: (dir: string) => Promise<void>
}

export interface EtcdOptions {
  readonly binDir: string
  readonly dir: string
  readonly startTimeoutMs: number
}

interface GatewayAnswer {
  readonly header?: { readonly revision?: string }
  readonly message?: string
}

/** Requests in flight at a time, over as many connections. */
const concurrency = 32
const requestTimeoutMs = 30_000

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const revisionOf = (answer: GatewayAnswer): string => {
  if (answer.header?.revision === undefined) throw new ControlPlaneError('etcd named no revision')
  return answer.header.revision
}

/** Lays out an etcd below `dir`; nothing runs before `start`. */
export const createEtcd = async ({ binDir, dir, startTimeoutMs }: EtcdOptions): Promise<Etcd> => {
  const dataDir = join(dir, 'etcd')
  const url = `http://127.0.0.1:${await freePort()}`
  const peerUrl = `http://127.0.0.1:${await freePort()}`
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  let running: ServerProcess | undefined

  const call = async (path: string, body: object): Promise<GatewayAnswer> => {
    const message = request(new URL(path, url), {
      method: 'POST',
      agent,
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
    const answered = once(message, 'response')
    message.end(JSON.stringify(body))
    const [response] = (await answered) as [IncomingMessage]
    const answer = (await json(response)) as GatewayAnswer
    if (response.statusCode === 200) return answer
    throw new ControlPlaneError(`etcd ${path}: ${response.statusCode} ${answer.message ?? ''}`)
  }

  const healthy = async (): Promise<boolean> => {
    await call('/v3/kv/range', { key: base64('health') })
    return true
  }

  const put = async (key: string, object: object): Promise<string> =>
    revisionOf(
      await call('/v3/kv/put', { key: base64(key), value: base64(JSON.stringify(object)) }),
    )

  const putAll = async (rest: Iterator<readonly [string, object]>): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await put(...next.value)
  }

  return {
    url,
    process: () => running,
    start: async () => {
      running = await startServerProcess(
        join(binDir, 'etcd'),
        [
          '--unsafe-no-fsync',
          `--data-dir=${dataDir}`,
          `--listen-client-urls=${url}`,
          `--advertise-client-urls=${url}`,
          `--listen-peer-urls=${peerUrl}`,
          `--initial-advertise-peer-urls=${peerUrl}`,
          `--initial-cluster=default=${peerUrl}`,
          '--log-level=warn',
        ],
        join(dir, 'etcd.log'),
      )
      await running.ready(healthy, startTimeoutMs)
    },
    put,
    putMany: async (objects) => {
      const rest = objects[Symbol.iterator]()
      await Promise.all(Array.from({ length: concurrency }, async () => putAll(rest)))
    },
    compact: async () => {
      const revision = revisionOf(await call('/v3/kv/range', { key: base64('health') }))
      await call('/v3/kv/compaction', { revision, physical: true }).catch((error: unknown) => {
        // Nothing was written since the last compaction, so there is no older history left to forget.
        if (!String(error).includes('required revision has been compacted')) throw error
      })
      return revision
    },
    copyDataTo: async (to) => cp(dataDir, to, { recursive: true }),
    replaceDataBy: async (from) => {
      await rm(dataDir, { recursive: true, force: true })
      await cp(from, dataDir, { recursive: true })
    },
  }
}

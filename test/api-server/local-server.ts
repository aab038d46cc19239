import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import {
  type ApiServer,
  type ApiServerOptions,
  createApiServer,
  loadClusterConfig,
} from 'informerql/cluster'
import type { ApiResource } from 'informerql/kubernetes'

/** A server of a test's own that answers as the test says. */
export interface LocalServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** All connections that were ever opened. */
  readonly sockets: readonly Socket[]
}

/** What `https` needs; `http` is served without it. */
export interface LocalTls {
  readonly key: string
  readonly cert: string
  readonly ca?: string
  readonly requestCert?: boolean
  readonly rejectUnauthorized?: boolean
}

/** Answers one request; may take its time. */
export type Answer = (...exchange: Parameters<RequestListener>) => unknown

export const startLocalServer = async (answer: Answer, tls?: LocalTls): Promise<LocalServer> => {
  const listener: RequestListener = (...exchange) => void answer(...exchange)
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  server.keepAliveTimeout = 60_000
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    sockets,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Nothing of the machine that the tests run on. */
export const bareEnvironment = {
  variables: {},
  homeDir: '/nonexistent',
  serviceAccountDir: '/nonexistent',
}

/** A connection to a server without credentials. */
export const connectTo = (
  server: string,
  limits: Partial<Omit<ApiServerOptions, 'name' | 'config'>> = {},
): ApiServer =>
  createApiServer({
    name: 'test',
    config: loadClusterConfig({ server }, bareEnvironment),
    ...limits,
  })

export const pods: ApiResource = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  singular: 'pod',
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  shortNames: ['po'],
  subresources: [],
}

/** All batches of frames, as strings. */
export const readFrames = async (
  stream: AsyncIterable<readonly Uint8Array[]>,
): Promise<string[]> => {
  const frames: string[] = []
  for await (const batch of stream) {
    for (const frame of batch) frames.push(Buffer.from(frame).toString('utf8'))
  }
  return frames
}

/** What a promise rejects with. */
export const failureOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('it should have failed')
    },
    (error: unknown) => error,
  )

export const neverAborted = (): AbortSignal => new AbortController().signal

/*
 * The subresource `exec` of pods over WebSocket, as an API server and a kubelet answer it together: `v5.channel.k8s.io`, or
 * version 4 (KEP-4006). The first byte of each binary message is its channel. When the process has exited, a Status on the
 * error channel says how.
 */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { badRequest, notFound, Refusal } from '../api/status-refusal.ts'
import { startProcess } from '../exec/toy-shell.ts'
import { containerOf } from '../logs/container-log.ts'
import type { Storage } from '../storage/storage.ts'
import { type Exchange, flag, type RequestTarget } from './exchange.ts'

const newest = 'v5.channel.k8s.io'
const protocols = [newest, 'v4.channel.k8s.io'] as const

/** Whether the target is a process in a container, which a WebSocket starts. */
export function isExec(target: RequestTarget | undefined): target is RequestTarget {
  return target?.group === '' && target.resource === 'pods' && target.subresource === 'exec'
}

/** Answers the upgrade request. Throws refusals, also without the package `ws`. */
export async function serveExec(
  { version, resource, namespace, name }: RequestTarget,
  { request, params }: Exchange,
  storage: Storage,
  upgrade: { readonly stream: Duplex; readonly head: Buffer },
): Promise<void> {
  const server = await webSocketServer()
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((one) => one.trim())
  const protocol = protocols.find((one) => offered?.includes(one))
  if (protocol === undefined) throw badRequest('no supported subprotocol was requested')
  const { pod, container } = runningContainer(storage, { namespace, name }, params)
  const command = params.getAll('command')
  if (command.length === 0) throw badRequest('you must specify at least 1 command')
  const isGone = (): boolean => {
    const now = storage.get(resources.pods, namespace, name)
    return now?.metadata.uid !== pod.metadata.uid || !isRunning(now, container)
  }
  server.handleUpgrade(request, upgrade.stream, upgrade.head, (socket) => {
    const pods = storage.registry.find('', version, resource)
    const unsubscribe =
      pods && storage.store(pods.stored).subscribe(() => isGone() && process.kill())
    const tty = flag(params, 'tty')
    const process = serveProcess(socket, { pod, container, command, tty })
    socket.once('close', () => {
      unsubscribe?.()
      process.kill()
    })
  })
}

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const

function serveProcess(
  socket: WebSocket,
  options: {
    readonly pod: Unstructured
    readonly container: string
    readonly command: readonly string[]
    readonly tty: boolean
  },
): ReturnType<typeof startProcess> {
  const send = (channel: number, text: string): Promise<void> =>
    new Promise((resolve) => {
      const message = Buffer.concat([Buffer.of(channel), Buffer.from(text)])
      // A gone client takes no more: the process waits until it is killed.
      socket.send(message, (error) => {
        if (error === undefined || error === null) resolve()
      })
    })
  // Tells the client that the connection stands, as a kube-apiserver does.
  void send(channels.stdout, '')
  const process = startProcess({
    ...options,
    write: (stream, text) => send(channels[stream], text),
  })
  socket.on('message', (data, isBinary) => {
    // A Buffer, as binaryType is nodebuffer.
    const message = data as Buffer
    if (!isBinary || message.length === 0) return
    const rest = message.subarray(1)
    if (message[0] === channels.stdin) process.input(rest)
    else if (message[0] === channels.close && rest[0] === channels.stdin) process.endInput()
    else if (message[0] === channels.resize) {
      const { Width, Height } = fieldsOf(JSON.parse(rest.toString()))
      process.resize(Number(Width), Number(Height))
    }
  })
  socket.on('error', () => {})
  void process.exited.then(async (code) => {
    await send(channels.error, JSON.stringify(statusOf(code, options.command)))
    socket.close(1000)
  })
  return process
}

/** The Status of an exit. Source: `k8s.io/apimachinery`, `pkg/util/remotecommand`, and `k8s.io/client-go/tools/remotecommand`. */
function statusOf(code: number | undefined, [program = '']: readonly string[]): object {
  if (code === 0) return { metadata: {}, status: 'Success' }
  if (code === undefined) {
    const problem = `exec: ${JSON.stringify(program)}: executable file not found in $PATH`
    const message = `Internal error occurred: error executing command in container: ${problem}`
    return { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 }
  }
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
}

/** The pod and the container that a request means, if a kubelet could run a process there. Throws refusals. */
function runningContainer(
  storage: Storage,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  params: URLSearchParams,
): { readonly pod: Unstructured; readonly container: string } {
  const pod = storage.get(resources.pods, namespace, name)
  if (pod === undefined) throw notFound({ group: '', resource: 'pods', name })
  const container = containerOf(pod, params.get('container') ?? '')
  const nodeName = textOf(fieldsOf(pod['spec'])['nodeName'])
  if (nodeName === undefined) throw badRequest(`pod ${name} does not have a host assigned`)
  requireKubelet(storage, nodeName, () => 'error dialing backend')
  if (!isRunning(pod, container)) {
    throw new Refusal(500, `unable to upgrade connection: container not found ("${container}")`)
  }
  return { pod, container }
}

/** Throws what an API server answers that does not reach the kubelet of a node; `doing` says it first. */
export function requireKubelet(
  storage: Storage,
  nodeName: string,
  doing: (at: string) => string,
): void {
  const node = storage.get(resources.nodes, '', nodeName)
  // The message names the resource of the request.
  if (node === undefined) throw notFound({ group: '', resource: 'pods', name: nodeName })
  const { addresses, conditions } = fieldsOf(node['status'])
  if (itemsOf(conditions).find(({ type }) => type === 'Ready')?.['status'] === 'True') return
  const internal = itemsOf(addresses).find(({ type }) => type === 'InternalIP')
  const host = `${textOf(internal?.['address']) ?? nodeName}:10250`
  throw new Refusal(500, `${doing(host)}: dial tcp ${host}: connect: connection refused`)
}

const statusLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']

function isRunning(pod: Unstructured | undefined, container: string): boolean {
  const status = fieldsOf(pod?.['status'])
  const own = statusLists
    .flatMap((list) => [...itemsOf(status[list])])
    .find(({ name }) => name === container)
  return fieldsOf(own?.['state'])['running'] !== undefined
}

let made: Promise<WebSocketServer> | undefined

/** Loads `ws` with the first WebSocket: who needs none need not install it. */
function webSocketServer(): Promise<WebSocketServer> {
  made ??= import('ws').then(
    ({ WebSocketServer: Server }) =>
      new Server({
        noServer: true,
        perMessageDeflate: false,
        handleProtocols: (offered) => protocols.find((one) => offered.has(one)) ?? false,
      }),
    () => {
      throw new Refusal(501, 'the simulator serves exec only with the package ws: npm install ws')
    },
  )
  return made
}

/** Whether a request asks for a WebSocket. */
export function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

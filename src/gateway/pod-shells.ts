/*
 * Starts processes in containers for `/exec`, as their callers. The caller's permission is reviewed first, and again while
 * the process runs: after each change of RBAC, and at an interval. The API server gets a WebSocket with the caller's own
 * credentials by the rule of writes (`callerServer`), and its own subprotocol: version 5, or 4 of an older server. A debug
 * container is added to the pod before that, and awaited.
 *
 * A shell in a cluster that another gateway holds is a WebSocket of that gateway's `/exec`, with what the caller has sent. It
 * goes one hop: what another gateway has passed on is opened here or not at all.
 */

import { randomBytes } from 'node:crypto'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { questionOf } from '../access/access-question.ts'
import type { ApiServer } from '../api-server/api-server.ts'
import { ClientError } from '../graphql/errors/client-error.ts'
import { unnamed } from '../graphql/over-gateways/over-gateways.ts'
import { PeerError } from '../graphql/over-gateways/peers.ts'
import { callerServer, refusedByServer } from '../graphql/prepare/caller-server.ts'
import { clustersNamed } from '../graphql/prepare/kind-view.ts'
import { ViewerAccess } from '../graphql/prepare/viewer-access.ts'
import type { ServedSchema } from '../graphql/served/served-schema.ts'
import { fieldsOf, itemsOf, textOf } from '../kubernetes/fields.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import { sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { shortened } from '../lib/text.ts'
import {
  type ExecCaller,
  type ExecOpening,
  execPath,
  execProtocol,
  type ExecTarget,
  type PodShell,
  type PodShells,
} from '../server/exec/exec-options.ts'
import type { HttpPeers } from './peers.ts'

/** How often permissions are reviewed again without a reported change. */
const reviewMs = 30_000
/** How often a starting debug container is looked at. */
const lookMs = 500
/** The maximum size of a message of an API server, or of another gateway. Kubelets send at most 32 KiB. */
const maxPayload = 1 << 20

const protocols = { closing: 'v5.channel.k8s.io', older: 'v4.channel.k8s.io' } as const
/** The statuses with which servers and proxies refuse an upgrade whose subprotocol they do not know. */
const unknownProtocol: ReadonlySet<number> = new Set([400, 403, 426, 500, 501])

const pods = { group: '', resource: 'pods' }

/** Makes what opens shells, of the clusters that are served at present. `peers`: absent, they are all held here. */
export function podShells(
  served: () => ServedSchema,
  peers: () => Pick<HttpPeers, 'dial'> | undefined,
): PodShells {
  return {
    async open(target, caller, { openDeadlineMs, adds = () => {} }, signal) {
      const [cluster = ''] = clustersNamed(served(), { cluster: target.cluster ?? null })
      const holder = served().members.get(cluster)?.holder
      if (typeof holder === 'string') {
        const asked = { holder, target: { ...target, cluster }, caller }
        return await shellElsewhere(peers(), asked, openDeadlineMs, signal)
      }
      const access = caller.viewer && new ViewerAccess(served(), caller.viewer)
      await review(cluster, access, target)
      const late = new ClientError(
        'DEADLINE_EXCEEDED',
        `the container has not answered within ${openDeadlineMs} ms (exec.openDeadlineMs)`,
        { cluster, hint: 'look at the events of the pod, and try again' },
      )
      const closing = new AbortController()
      const timer = setTimeout(() => closing.abort(late), openDeadlineMs)
      const either = AbortSignal.any([signal, closing.signal])
      const to = callerServer(served(), cluster, caller)
      try {
        const container =
          target.debug === undefined
            ? (target.container ?? '')
            : await debugContainer(to.server, target, target.debug.image, adds, either)
        const socket = await openSocket(to.server, target, container, openDeadlineMs, either)
        return {
          socket,
          cluster,
          container,
          closesInput: socket.protocol === protocols.closing,
          isElsewhere: false,
          follow: (lost, until) => followAccess({ served, cluster, access, target, lost, until }),
          [Symbol.asyncDispose]: () => to[Symbol.asyncDispose](),
        } satisfies PodShell
      } catch (error) {
        await to[Symbol.asyncDispose]()
        throw either.aborted ? either.reason : failedShell(cluster, target, error)
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

interface AskedElsewhere {
  readonly holder: string
  readonly target: ExecTarget
  readonly caller: ExecCaller
}

/** Opens a shell at the gateway that holds its cluster, which reviews, bounds and records it. Rejects with `ClientError`. */
async function shellElsewhere(
  peers: Pick<HttpPeers, 'dial'> | undefined,
  { holder, target, caller }: AskedElsewhere,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<PodShell> {
  const { viewer, sent, requestId, isPassedOn } = caller
  const { cluster = '' } = target
  if (isPassedOn || peers === undefined) {
    const message = `this gateway does not hold cluster ${cluster}`
    throw new PeerError(message, { mayHaveBegun: false, isMisdirected: true })
  }
  if (viewer !== undefined && sent === undefined) throw unnamed()
  const asked = { viewer, sent, trace: { requestId } }
  const socket = await peers.dial(holder, execPath, asked, ({ refusal, ...dialing }) => {
    const either = AbortSignal.any([signal, dialing.signal])
    const refused = async ({ statusCode = 0 }: IncomingMessage): Promise<Error> => {
      if (statusCode !== 404) return refusal(statusCode)
      const message = `the gateway at ${holder}, which holds cluster ${cluster}, opens no shells`
      const hint = 'the operator allows them at all gateways: --allow-exec'
      return new ClientError('UNSUPPORTED', message, { cluster, hint })
    }
    return connected({ ...dialing, refusal: refused }, [execProtocol], deadlineMs, either)
  })
  socket.send(JSON.stringify({ type: 'start', ...target }))
  return {
    socket,
    cluster,
    container: '',
    closesInput: true,
    isElsewhere: true,
    follow: () => {},
    [Symbol.asyncDispose]: async () => {},
  }
}

/** Rejects with `ClientError` FORBIDDEN unless the caller may start the process. Without authentication, no access is reviewed. */
async function review(
  cluster: string,
  access: ViewerAccess | undefined,
  { namespace, pod: name, debug }: ExecTarget,
): Promise<void> {
  if (access === undefined) return
  const needs = [
    ['create', 'exec'],
    ...(debug === undefined ? [] : [['patch', 'ephemeralcontainers']]),
  ] as const
  access.begin()
  for (const [verb = '', subresource = ''] of needs) {
    const question = questionOf(verb, pods, { namespace, name, subresource })
    if (await access.may(cluster, question)) continue
    const message = `you may not ${verb} pods/${subresource} in the namespace ${namespace} of cluster ${cluster}`
    const hint = `ask for the verb ${verb} on pods/${subresource}`
    throw new ClientError('FORBIDDEN', message, { cluster, type: 'Pod', hint })
  }
}

interface FollowedAccess {
  readonly served: () => ServedSchema
  readonly cluster: string
  readonly access: ViewerAccess | undefined
  readonly target: ExecTarget
  readonly lost: (error: Error) => void
  readonly until: AbortSignal
}

/** Reviews the permission again until the signal aborts. A review that fails decides nothing. */
function followAccess({ served, cluster, access, target, lost, until }: FollowedAccess): void {
  const isHeld = (): boolean => {
    const member = served().members.get(cluster)
    return member !== undefined && member.holder === undefined
  }
  const look = async (): Promise<void> => {
    const why = isHeld() ? await refused() : undefined
    if (until.aborted) return
    if (why !== undefined) lost(why)
    else if (!isHeld()) {
      const message = `cluster ${cluster} is no longer held by this gateway, which can review no access to it`
      const hint = 'open the shell again'
      lost(new ClientError('CLUSTER_UNREACHABLE', message, { cluster, hint, retryAfterMs: 1_000 }))
    }
  }
  const refused = async (): Promise<ClientError | undefined> => {
    try {
      await review(cluster, access && new ViewerAccess(served(), access.viewer), target)
      return undefined
    } catch (error) {
      return error instanceof ClientError && error.code === 'FORBIDDEN' ? error : undefined
    }
  }
  const timer = setInterval(() => void look(), reviewMs)
  const stop = access?.in(cluster).onChange(access.viewer, () => void look())
  until.addEventListener('abort', () => {
    clearInterval(timer)
    stop?.()
  })
}

function podPath({ namespace, pod }: ExecTarget): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`
}

async function openSocket(
  server: ApiServer,
  target: ExecTarget,
  container: string,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<WebSocket> {
  const { command, tty } = target
  const query = new URLSearchParams([
    ['stdin', 'true'],
    ['stdout', 'true'],
    ['stderr', String(!tty)],
    ['tty', String(tty)],
    ...(container === '' ? [] : [['container', container]]),
    ...command.map((part) => ['command', part]),
  ])
  const path = `${podPath(target)}/exec?${query.toString()}`
  const dial = (offered: readonly string[]): Promise<WebSocket> =>
    server.dial(path, (dialing) => connected(dialing, offered, deadlineMs, signal), signal)
  try {
    return await dial([protocols.closing, protocols.older])
  } catch (error) {
    if (!(error instanceof ApiStatusError) || !unknownProtocol.has(error.httpStatus)) throw error
    // Whether it was the protocol shows by the older one.
    return await dial([protocols.older]).catch(() => {
      throw error
    })
  }
}

/** What a WebSocket is opened with, at an API server or another gateway. */
interface Dialed {
  readonly url: URL
  readonly request: object
  readonly refusal: (response: IncomingMessage) => Promise<Error>
  readonly failure: (error: unknown) => Error
}

function connected(
  { url, request, refusal, failure }: Dialed,
  offered: readonly string[],
  handshakeTimeout: number,
  signal: AbortSignal,
): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const options = { handshakeTimeout, maxPayload, perMessageDeflate: false }
    const socket = new WebSocket(url, [...offered], { ...request, ...options })
    const abort = (): void => {
      reject(signal.reason as Error)
      socket.terminate()
    }
    signal.addEventListener('abort', abort, { once: true })
    const settle = (): void => signal.removeEventListener('abort', abort)
    // Stays for good. After the handshake, the close of the socket tells its failure.
    socket.on('error', (error) => {
      settle()
      reject(failure(error))
    })
    socket.once('unexpected-response', (asked: ClientRequest, response) => {
      settle()
      refusal(response)
        .then(reject, reject)
        .finally(() => asked.destroy())
    })
    socket.once('open', () => {
      settle()
      // Nothing that is printed before the session listens may be lost: it resumes the socket.
      socket.pause()
      resolve(socket)
    })
  })
}

/** Adds a debug container to the pod and waits until it runs. Resolves with its name. */
async function debugContainer(
  server: ApiServer,
  target: ExecTarget,
  image: string,
  adds: NonNullable<ExecOpening['adds']>,
  signal: AbortSignal,
): Promise<string> {
  const name = `debugger-${randomBytes(3).toString('hex')}`
  const { container: targetContainerName } = target
  // With an open input, the shell of an image waits.
  const added = { name, image, stdin: true, tty: true, targetContainerName }
  // Without an answer, it may have been added.
  adds(name)
  try {
    await server.request('PATCH', `${podPath(target)}/ephemeralcontainers`, {
      body: { spec: { ephemeralContainers: [added] } },
      contentType: 'application/strategic-merge-patch+json',
      signal,
    })
  } catch (error) {
    if (error instanceof ApiStatusError && error.httpStatus < 500) adds(undefined)
    throw error
  }
  for (;;) {
    const pod = fieldsOf(await server.request('GET', podPath(target), { signal }))
    const statuses = itemsOf(fieldsOf(pod['status'])['ephemeralContainerStatuses'])
    const state = fieldsOf(statuses.find((one) => one['name'] === name)?.['state'])
    if (state['running'] !== undefined) return name
    const { reason, message } = fieldsOf(state['waiting'] ?? state['terminated'])
    const why = textOf(reason) ?? ''
    if (state['terminated'] !== undefined || /^(Err|ImagePull|InvalidImage|Create)/.test(why)) {
      const said = shortened(textOf(message) ?? '', 500)
      const text = `the debug container ${name} does not run: ${[why, said].filter(Boolean).join(': ')}`
      const hint = 'name an image that the node can pull and that waits for input, such as busybox'
      throw new ClientError('BAD_USER_INPUT', text, { argument: 'debug.image', value: image, hint })
    }
    await sleep(lookMs, signal)
    signal.throwIfAborted()
  }
}

/** What the API server refused, or a failed connection, as the caller sees it. */
function failedShell(cluster: string, { namespace, pod }: ExecTarget, cause: unknown): unknown {
  if (cause instanceof ClientError) return cause
  const details = { cluster, type: 'Pod', cause }
  if (!(cause instanceof ApiStatusError)) {
    if (!(cause instanceof CodedError)) return cause
    const message = `cluster ${cluster} cannot be reached`
    const hint = 'try again in a moment'
    return new ClientError('CLUSTER_UNREACHABLE', message, {
      ...details,
      hint,
      retryAfterMs: 1_000,
    })
  }
  const { httpStatus, status } = cause
  const said = shortened(textOf(status.message) ?? `HTTP ${httpStatus}`, 1_000)
  const message = `Pod ${namespace}/${pod}: ${said}`
  switch (httpStatus) {
    case 401:
      return refusedByServer(cluster)
    case 403:
      return new ClientError('FORBIDDEN', message, {
        ...details,
        hint: 'ask for the verbs get and create on pods/exec',
      })
    case 404:
      return new ClientError('NOT_FOUND', message, {
        ...details,
        hint: 'it was deleted, or is another one',
      })
    case 429:
      return new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs: 1_000 })
    default:
      if (httpStatus < 500) return new ClientError('BAD_USER_INPUT', message, details)
      return new ClientError('NODE_UNREACHABLE', message, {
        ...details,
        hint: 'look at the node of the pod: its kubelet does not answer the API server',
        retryAfterMs: 5_000,
      })
  }
}

/*
 * What shells in containers are, for a server: the target that a caller names, what opens it (`PodShells`, which the
 * gateway implements), the bounds, and what an audit log and metrics receive of a session.
 */

import type { CallerToken, Credentials } from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import { defaultsOf, type NumberOptions } from '../../lib/options.ts'

export const execPath = '/exec'

/** The subprotocol of `/exec` (docs/exec.md). A client that does not offer it gets no WebSocket. */
export const execProtocol = 'informerql.exec.v1'

/** The channels of binary messages, their first byte. Source: `v5.channel.k8s.io` of Kubernetes (KEP-4006). */
export const execChannel = {
  stdin: 0,
  stdout: 1,
  stderr: 2,
  status: 3,
  resize: 4,
  close: 255,
} as const

/** Bounds of shells in containers. */
export interface ExecLimits {
  /** The sessions of all users together: each is a connection to an API server and a kubelet, and a process. */
  readonly maxSessions: number
  /** The sessions of one user. */
  readonly maxSessionsPerUser: number
  /** How long nothing may be typed or printed. Then the session ends. */
  readonly idleMs: number
  /** How long a session may last. */
  readonly maxSessionMs: number
  /** How long the container may take to answer, and a debug container to start. */
  readonly openDeadlineMs: number
  /** The maximum size of a message of the client. */
  readonly maxMessageBytes: number
  /** The bytes that wait in one direction, from which on no more are read from the other side. */
  readonly maxBufferedBytes: number
}

/** Options of shells in containers. */
export interface ExecOptions extends ExecLimits {
  /** Origins of web pages that may open shells, besides the gateway's own. `server.allowedOrigins` do not count here. */
  readonly allowedOrigins: readonly string[]
}

/** Every default and bound of {@link ExecLimits}. */
export const execLimits: NumberOptions<ExecLimits> = {
  maxSessions: { byDefault: 100, least: 0, most: 10_000 },
  maxSessionsPerUser: { byDefault: 10, least: 0, most: 10_000 },
  idleMs: { byDefault: 900_000, least: 1_000, most: 86_400_000 },
  maxSessionMs: { byDefault: 14_400_000, least: 1_000, most: 604_800_000 },
  openDeadlineMs: { byDefault: 60_000, least: 100, most: 600_000 },
  maxMessageBytes: { byDefault: 65_536, least: 1_024, most: 1_048_576 },
  maxBufferedBytes: { byDefault: 262_144, least: 4_096, most: 16_777_216 },
}

export const defaultExecOptions: ExecOptions = { ...defaultsOf(execLimits), allowedOrigins: [] }

/** The process that a caller wants to start, and where. */
export interface ExecTarget {
  /** Absent: the default cluster. */
  readonly cluster?: string | undefined
  readonly namespace: string
  readonly pod: string
  /** Absent: the only container. With `debug`, the one whose processes the debug container sees. */
  readonly container?: string | undefined
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** Whether it has a terminal. Its standard error then comes with its output. */
  readonly tty: boolean
  /** Runs it in a new debug container of this image. */
  readonly debug?: { readonly image: string } | undefined
}

/** Who opens a shell. */
export interface ExecCaller {
  readonly viewer: Viewer | undefined
  readonly callerToken: CallerToken | undefined
  /** What the caller has sent to be known as the viewer. Absent: the program has named the viewer. */
  readonly sent: Credentials | undefined
  readonly requestId: string
  /** Whether another gateway has passed the shell on to this one. It goes no further. */
  readonly isPassedOn: boolean
}

/** The part of a WebSocket to an API server, or to another gateway, that a session uses. */
export interface ProcessSocket {
  readonly isPaused: boolean
  readonly bufferedAmount: number
  /** A text is sent as one. */
  send(message: Buffer | string, sent?: () => void): void
  pause(): void
  resume(): void
  terminate(): void
  on(event: 'message', listener: (message: unknown, isBinary: boolean) => void): unknown
  once(event: 'close', listener: () => void): unknown
}

/** A started process: a WebSocket to its API server, with Kubernetes' channels. Dispose it at the end. */
export interface PodShell extends AsyncDisposable {
  /** Paused until the session listens. */
  readonly socket: ProcessSocket
  readonly cluster: string
  /** The container that runs it; `''`: the only one. */
  readonly container: string
  /** Whether the protocol can say that there is no more input. */
  readonly closesInput: boolean
  /**
   * Whether the socket is one of another gateway's `/exec`. That gateway then bounds and records the session, and its messages
   * and those of the client are passed on as they are.
   */
  readonly isElsewhere: boolean
  /** Calls `lost` with a `ClientError` once the caller may no longer do this. Ends with the signal. */
  follow(lost: (error: Error) => void, signal: AbortSignal): void
}

/** How a process is started. */
export interface ExecOpening extends Pick<ExecLimits, 'openDeadlineMs'> {
  /** Called before a debug container is added to the pod; without a name if the API server has refused it. */
  readonly adds?: (container: string | undefined) => void
}

/** Starts processes in containers, with the credentials of their callers. */
export interface PodShells {
  /** Rejects with `ClientError`, or with the reason of the signal. */
  open(
    target: ExecTarget,
    caller: ExecCaller,
    opening: ExecOpening,
    signal: AbortSignal,
  ): Promise<PodShell>
}

/** The shells of a server: what opens them, and their bounds. */
export interface ExecServing extends Partial<ExecOptions> {
  readonly shells: PodShells
}

/** A session, for audit logs and metrics. Has nothing of what was typed and printed. */
export interface ExecReport {
  readonly viewer: Viewer | undefined
  readonly requestId: string
  readonly address: string | undefined
  readonly target: ExecTarget
  /** The container that runs it, or the debug container that was to, once it is known. */
  readonly container?: string | undefined
  readonly cluster?: string | undefined
}

/** A session that has ended, or was refused. */
export interface ExecEndReport extends ExecReport {
  /** EXITED, CLOSED, IDLE, TOO_LONG, SLOW_READER, STOPPING, FAILED, or the code of an error. */
  readonly outcome: string
  readonly exitCode: number | undefined
  readonly durationMs: number
  /** The bytes that were typed, and printed. */
  readonly bytesIn: number
  readonly bytesOut: number
}

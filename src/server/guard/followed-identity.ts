/*
 * The caller of a WebSocket or an event stream, authenticated again at an interval. The caller is lost when the token
 * expires, is refused, or belongs to another user. If the authenticator cannot decide, the next attempts follow, up to
 * five times or until the token expires.
 */

import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import {
  type Admitted,
  type Authenticator,
  type ClientCertificate,
  type Credentials,
  IdentityUnavailableError,
  UnauthenticatedError,
} from '../../access/authentication/authenticator.ts'
import { maxTimerMs } from '../../lib/deadline.ts'
import type { OriginCheck } from './request-guard.ts'

export interface FollowedIdentityOptions {
  readonly authenticator: Authenticator
  readonly credentials: Credentials
  readonly known: Admitted
  readonly reauthenticateMs: number
  /** Called once, with the reason, when authentication no longer succeeds. */
  readonly lost: (error: unknown) => void
}

/** The number of consecutive failures of the authenticator to decide. */
const maxUnconfirmed = 5
/** Timers may fire a little early. The token must have expired by then. */
const timerSlackMs = 50

export class FollowedIdentity implements Disposable {
  readonly #options: FollowedIdentityOptions
  readonly #stopFollowing: (() => void) | undefined
  #credentials: Credentials
  #known: Admitted
  #timer: NodeJS.Timeout | undefined
  #unconfirmed = 0
  #ended = false

  constructor(options: FollowedIdentityOptions) {
    this.#options = options
    this.#known = options.known
    const { authenticator, credentials } = options
    this.#credentials = credentials
    this.#stopFollowing = authenticator.follow?.(credentials, () => void this.#check())
    this.#plan()
  }

  /**
   * Authenticates now. Rejects with the authenticator's errors. An error by which the authenticator refuses the caller also
   * makes the caller lost; a failure to decide does not.
   */
  async confirm(): Promise<void> {
    const { authenticator } = this.#options
    try {
      const asked = authenticator.authenticate(this.#credentials)
      this.#confirmed(asked instanceof Promise ? await asked : asked)
    } catch (error) {
      if (!(error instanceof IdentityUnavailableError)) this.#lose(error)
      throw error
    }
  }

  /** The credentials in use. */
  get credentials(): Credentials {
    return this.#credentials
  }

  /**
   * Replaces the credentials by newer ones of the same user. If they are not accepted, rejects with the authenticator's
   * errors and keeps the previous ones.
   */
  async renew(credentials: Credentials): Promise<void> {
    const asked = this.#options.authenticator.authenticate(credentials)
    const now = asked instanceof Promise ? await asked : asked
    if (this.#ended) return
    this.#confirmed(now)
    this.#credentials = credentials
    clearTimeout(this.#timer)
    this.#plan()
  }

  [Symbol.dispose](): void {
    this.#ended = true
    this.#stopFollowing?.()
    clearTimeout(this.#timer)
  }

  /** Compares user and groups with the previous ones: open operations would still use the old ones. */
  #confirmed(now: Admitted): void {
    const { viewer } = this.#known
    this.#unconfirmed = 0
    if (!isDeepStrictEqual(viewer, now.viewer)) {
      throw new UnauthenticatedError('refused', 'the caller has changed', 'connect again')
    }
    this.#known = { ...now, viewer }
  }

  #plan(): void {
    if (this.#ended) return
    const { reauthenticateMs } = this.#options
    const leftMs = this.#leftMs()
    const delayMs =
      leftMs > 0 ? Math.min(reauthenticateMs, leftMs + timerSlackMs) : reauthenticateMs
    this.#timer = setTimeout(() => void this.#check(), Math.min(delayMs, maxTimerMs))
  }

  #leftMs(): number {
    return (this.#known.expiresAtMs ?? Number.POSITIVE_INFINITY) - Date.now()
  }

  async #check(): Promise<void> {
    try {
      await this.confirm()
    } catch (error) {
      this.#unconfirmed += 1
      if (this.#unconfirmed >= maxUnconfirmed || this.#leftMs() <= 0) this.#lose(error)
    }
    clearTimeout(this.#timer)
    this.#plan()
  }

  #lose(error: unknown): void {
    if (this.#ended) return
    this[Symbol.dispose]()
    this.#options.lost(error)
  }
}

/** The credentials of a request. `authorization` replaces its header. Only the gateway's own pages have cookies. */
export function credentialsOf(
  request: IncomingMessage,
  origins: OriginCheck,
  authorization: string | undefined = request.headers.authorization,
): Credentials {
  const { socket } = request
  const clientCertificate = socket instanceof TLSSocket ? certificateOf(socket) : undefined
  const { remoteAddress: address } = socket
  return {
    authorization,
    headers: () => request.headersDistinct,
    cookie: origins.isByOwnPage(request) ? request.headers.cookie : undefined,
    address,
    clientCertificate,
  }
}

/** The certificate of each connection. */
const known = new WeakMap<TLSSocket, ClientCertificate>()

function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  // Without a client CA the server requests and verifies no certificates.
  if (!socket.authorized) return undefined
  const before = known.get(socket)
  if (before !== undefined) return before
  const { subject, valid_to: notAfter } = socket.getPeerCertificate()
  // The client sent no certificate, which the types do not express.
  if ((subject as typeof subject | undefined) === undefined) return undefined
  const certificate = { commonName: String(subject.CN), notAfterMs: Date.parse(notAfter) }
  known.set(socket, certificate)
  return certificate
}

import type { IncomingMessage } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import {
  type Authenticated,
  type Authenticator,
  type Credentials,
  IdentityUnavailableError,
  UnauthenticatedError,
} from '../../access/authentication/authenticator.ts'
import type { CallerToken } from '../../access/authentication/caller-token.ts'
import type { Viewer } from '../../access/viewer.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { maxTimerMs } from '../../lib/deadline.ts'
import { ClientError } from '../../graphql/operation/client-error.ts'
import { credentialsOf } from '../guard/caller.ts'
import type { UserQuotas } from '../guard/user-quotas.ts'

/** Close codes of graphql-transport-ws. A client connects again after 4403 and 1013, with new credentials if it has any. */
const unauthorizedCode = 4401
const forbiddenCode = 4403
const tryAgainLaterCode = 1013
/** As in HTTP, 429. */
const tooManySocketsCode = 4429

/** So many times in a row may nobody be there who could say that the caller is still known. */
const maxUnconfirmed = 5
/** Timers may be early by a little; a token must have expired when it is asked for again. */
const timerSlackMs = 50

export interface SocketIdentityOptions {
  /** The request that was upgraded. */
  readonly request: IncomingMessage
  /** `undefined`: nobody is asked. */
  readonly authenticator: Authenticator | undefined
  readonly quotas: UserQuotas
  /** How often it is asked whether the caller is still known. */
  readonly reauthenticateMs: number
  readonly close: (code: number, reason: string) => void
  /** Told of the code of the error by which it was closed. */
  readonly refused: (code: string, viewer: Viewer | undefined) => void
  /** Told of what is no answer of an authenticator. */
  readonly failed: (error: unknown) => void
}

/**
 * Who has opened a WebSocket, for as long as that holds: when the token expires, is revoked, or is somebody else's, the
 * WebSocket is closed, and its client may come back with another one.
 */
export class SocketIdentity implements Disposable {
  readonly #options: SocketIdentityOptions
  #credentials: Credentials | undefined
  #known: Authenticated | undefined
  #timer: NodeJS.Timeout | undefined
  #giveBack: () => void = () => {}
  #unconfirmed = 0
  #ended = false

  constructor(options: SocketIdentityOptions) {
    this.#options = options
  }

  /** Who it is, once it has {@link begin}. */
  get viewer(): Viewer | undefined {
    return this.#known?.viewer
  }

  /** The token that they have shown, if any. */
  get callerToken(): CallerToken | undefined {
    if (this.#known === undefined || this.#credentials === undefined) return undefined
    return this.#options.authenticator?.tokenOf?.(this.#credentials)
  }

  /**
   * Finds out who it is, by the payload of `connection_init` or, where that has no `authorization`, by the request's headers.
   * Resolves with whether they are known; where not, the WebSocket is closed.
   */
  async begin(payload: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
    const { authenticator, request } = this.#options
    if (authenticator === undefined) return true
    const given = payload?.['authorization'] ?? payload?.['Authorization']
    // What is no text is malformed credentials, not none.
    const text = given === undefined ? undefined : typeof given === 'string' ? given : '?'
    this.#credentials = credentialsOf(request, text)
    try {
      this.#known = await authenticator.authenticate(this.#credentials)
      // It may have been closed meanwhile.
      if (this.#ended) return false
      this.#giveBack = this.#options.quotas.take('WebSockets', this.#known.viewer)
    } catch (error) {
      this.#close(error)
      return false
    }
    this.#plan()
    return true
  }

  /**
   * Makes sure of who it is before an operation. Rejects with `IdentityUnavailableError`, and with `UnauthenticatedError` after
   * it has closed the WebSocket.
   */
  async confirm(): Promise<Viewer | undefined> {
    const { authenticator } = this.#options
    if (authenticator === undefined || this.#credentials === undefined) return undefined
    try {
      const asked = authenticator.authenticate(this.#credentials)
      this.#confirmed(asked instanceof Promise ? await asked : asked)
      return this.#known?.viewer
    } catch (error) {
      if (!(error instanceof IdentityUnavailableError)) this.#close(error)
      throw error
    }
  }

  [Symbol.dispose](): void {
    this.#ended = true
    clearTimeout(this.#timer)
    this.#giveBack()
  }

  /** The same token may come to mean somebody else, with other groups: what is open would still be answered as before. */
  #confirmed(now: Authenticated): void {
    const before = this.#known
    this.#unconfirmed = 0
    if (before !== undefined && !isDeepStrictEqual(before.viewer, now.viewer)) {
      throw new UnauthenticatedError('refused', 'the caller is somebody else now', 'connect again')
    }
    this.#known = before === undefined ? now : { ...now, viewer: before.viewer }
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
    return (this.#known?.expiresAtMs ?? Number.POSITIVE_INFINITY) - Date.now()
  }

  async #check(): Promise<void> {
    try {
      await this.confirm()
    } catch (error) {
      if (!(error instanceof IdentityUnavailableError)) return
      this.#unconfirmed += 1
      if (this.#unconfirmed >= maxUnconfirmed || this.#leftMs() <= 0) this.#close(error)
    }
    this.#plan()
  }

  #close(error: unknown): void {
    const { close, refused, failed } = this.#options
    if (this.#ended) return
    this[Symbol.dispose]()
    const [code, reason] = closingOf(error)
    if (error instanceof CodedError) refused(error.code, this.viewer)
    else failed(error)
    close(code, reason)
  }
}

function closingOf(error: unknown): readonly [code: number, reason: string] {
  if (error instanceof UnauthenticatedError) {
    const mends = error.problem === 'refused'
    return mends ? [forbiddenCode, 'Forbidden'] : [unauthorizedCode, 'Unauthorized']
  }
  if (error instanceof ClientError) return [tooManySocketsCode, 'Too many WebSockets']
  return [tryAgainLaterCode, 'Try again later']
}

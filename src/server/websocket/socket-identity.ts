import type { IncomingMessage } from 'node:http'
import {
  type Authenticator,
  type Credentials,
  UnauthenticatedError,
} from '../../access/authentication/authenticator.ts'
import type { CallerToken } from '../../access/authentication/caller-token.ts'
import type { Viewer } from '../../access/viewer.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { ClientError } from '../../graphql/errors/client-error.ts'
import { credentialsOf } from '../guard/caller.ts'
import { FollowedIdentity } from '../guard/followed-identity.ts'
import type { UserQuotas } from '../guard/user-quotas.ts'

/** Close codes of graphql-transport-ws. A client connects again after 4403 and 1013, with new credentials if it has any. */
const unauthorizedCode = 4401
const forbiddenCode = 4403
const tryAgainLaterCode = 1013
/** As in HTTP, 429. */
const tooManySocketsCode = 4429

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
  #viewer: Viewer | undefined
  #followed: FollowedIdentity | undefined
  #giveBack: () => void = () => {}
  #ended = false

  constructor(options: SocketIdentityOptions) {
    this.#options = options
  }

  /** Who it is, once it has {@link begin}. */
  get viewer(): Viewer | undefined {
    return this.#viewer
  }

  /** The token that they have shown, if any. */
  get callerToken(): CallerToken | undefined {
    if (this.#viewer === undefined || this.#credentials === undefined) return undefined
    return this.#options.authenticator?.tokenOf?.(this.#credentials)
  }

  /**
   * Finds out who it is, by the payload of `connection_init` or, where that has no `authorization`, by the request's headers.
   * Resolves with whether they are known; where not, the WebSocket is closed.
   */
  async begin(payload: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
    const { authenticator, request, quotas, reauthenticateMs } = this.#options
    if (authenticator === undefined) return true
    const given = payload?.['authorization'] ?? payload?.['Authorization']
    // What is no text is malformed credentials, not none.
    const text = given === undefined ? undefined : typeof given === 'string' ? given : '?'
    const credentials = (this.#credentials = credentialsOf(request, text))
    try {
      const known = await authenticator.authenticate(credentials)
      // It may have been closed meanwhile.
      if (this.#ended) return false
      this.#viewer = known.viewer
      this.#giveBack = quotas.take('WebSockets', known.viewer)
      const lost = (error: unknown): void => this.#close(error)
      const following = { authenticator, credentials, known, reauthenticateMs, lost }
      this.#followed = new FollowedIdentity(following)
    } catch (error) {
      this.#close(error)
      return false
    }
    return true
  }

  /**
   * Makes sure of who it is before an operation. Rejects with `IdentityUnavailableError`, and with `UnauthenticatedError` after
   * it has closed the WebSocket.
   */
  async confirm(): Promise<Viewer | undefined> {
    await this.#followed?.confirm()
    return this.#viewer
  }

  [Symbol.dispose](): void {
    this.#ended = true
    this.#followed?.[Symbol.dispose]()
    this.#giveBack()
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

import type { IncomingMessage } from 'node:http'
import {
  type Authenticator,
  type CallerToken,
  type Credentials,
  UnauthenticatedError,
} from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import { ClientError } from '../../graphql/errors/client-error.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { credentialsOf, FollowedIdentity } from '../guard/followed-identity.ts'
import type { UserQuotas } from '../guard/user-quotas.ts'

/**
 * Close codes of graphql-transport-ws. Clients reconnect after 4403 and 1013, with new credentials if they have any.
 */
const unauthorizedCode = 4401
const forbiddenCode = 4403
const tryAgainLaterCode = 1013
/** The close code for too many WebSockets, after HTTP's 429. */
const tooManySocketsCode = 4429

export interface SocketIdentityOptions {
  /** The upgraded request. */
  readonly request: IncomingMessage
  /** `undefined` for no authentication. */
  readonly authenticator: Authenticator | undefined
  readonly quotas: UserQuotas
  /** How often the caller is authenticated again. */
  readonly reauthenticateMs: number
  readonly close: (code: number, reason: string) => void
  /** Receives the code of the error that closed the WebSocket. */
  readonly refused: (code: string, viewer: Viewer | undefined) => void
  /** Receives unexpected errors. */
  readonly failed: (error: unknown) => void
}

/**
 * The caller of a WebSocket. When the token expires, is revoked, or belongs to another user, the WebSocket is closed,
 * and its client may reconnect with another token.
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

  /** The viewer, after {@link begin}. */
  get viewer(): Viewer | undefined {
    return this.#viewer
  }

  /** The caller's token, if any. */
  get callerToken(): CallerToken | undefined {
    if (this.#viewer === undefined || this.#credentials === undefined) return undefined
    return this.#options.authenticator?.tokenOf?.(this.#credentials)
  }

  /**
   * Authenticates the caller by the payload of `connection_init` or, if that has no `authorization`, by the request's
   * headers. Resolves with whether that succeeded; if not, the WebSocket is closed.
   */
  async begin(payload: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
    const { authenticator, request, quotas, reauthenticateMs } = this.#options
    if (authenticator === undefined) return true
    const given = payload?.['authorization'] ?? payload?.['Authorization']
    // A value that is not a text counts as malformed credentials.
    const text = given === undefined ? undefined : typeof given === 'string' ? given : '?'
    const credentials = (this.#credentials = credentialsOf(request, text))
    try {
      const known = await authenticator.authenticate(credentials)
      // The WebSocket may have closed meanwhile.
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
   * Authenticates again before an operation. Rejects with `IdentityUnavailableError`, or closes the WebSocket and
   * rejects with `UnauthenticatedError`.
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

/*
 * The caller of a WebSocket. `begin` authenticates by `connection_init`, `confirm` again before operations, and `renew`
 * takes newer credentials from a `ping`. If the token expires, is revoked, or belongs to another user, the WebSocket
 * closes, and the client may reconnect with another token.
 */

import type { IncomingMessage } from 'node:http'
import type { WebSocket } from 'ws'
import {
  CallerToken,
  type Credentials,
  UnauthenticatedError,
} from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import { ClientError } from '../../graphql/errors/client-error.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { credentialsOf, FollowedIdentity } from '../guard/followed-identity.ts'
import type { ServerParts } from '../operation-pipeline.ts'

/**
 * Close codes of graphql-transport-ws. Clients reconnect after 4403 and 1013, with new credentials if they have any.
 */
const unauthorizedCode = 4401
const forbiddenCode = 4403
const tryAgainLaterCode = 1013
/** The close code for too many WebSockets, after HTTP's 429. */
const tooManySocketsCode = 4429

export class SocketIdentity implements Disposable {
  readonly #parts: ServerParts
  readonly #request: IncomingMessage
  readonly #requestId: string
  readonly #socket: Pick<WebSocket, 'close'>
  #credentials: Credentials | undefined
  #viewer: Viewer | undefined
  #followed: FollowedIdentity | undefined
  #giveBack: () => void = () => {}
  #ended = false

  /** `request`: the request that opened the WebSocket. */
  constructor(
    parts: ServerParts,
    { request, requestId }: { readonly request: IncomingMessage; readonly requestId: string },
    socket: Pick<WebSocket, 'close'>,
  ) {
    this.#parts = parts
    this.#request = request
    this.#requestId = requestId
    this.#socket = socket
  }

  get viewer(): Viewer | undefined {
    return this.#viewer
  }

  /** The caller's token. It always reveals the newest token, for subscriptions that outlive an older one. */
  get callerToken(): CallerToken | undefined {
    const first = this.#tokenNow()
    if (first === undefined) return undefined
    const { cluster, furtherClusters } = first
    return new CallerToken(() => (this.#tokenNow() ?? first).reveal(), cluster, furtherClusters)
  }

  /** What the caller has sent last to be known. */
  get credentials(): Credentials | undefined {
    return this.#followed?.credentials ?? this.#credentials
  }

  #tokenNow(): CallerToken | undefined {
    const { credentials } = this
    if (this.#viewer === undefined || credentials === undefined) return undefined
    return this.#parts.authenticator?.tokenOf?.(credentials)
  }

  /**
   * Authenticates the caller by the payload of `connection_init` or, if it has no `authorization`, by the request's headers.
   * Resolves with true if that succeeds; otherwise closes the WebSocket.
   */
  async begin(payload: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
    const { authenticator, quotas, limits, origins } = this.#parts
    const credentials = credentialsOf(this.#request, origins, authorizationIn(payload))
    this.#credentials = credentials
    if (authenticator === undefined) return true
    try {
      const known = await authenticator.authenticate(credentials)
      // The WebSocket may have closed meanwhile.
      if (this.#ended) return false
      this.#viewer = known.viewer
      this.#giveBack = quotas.take('WebSockets', known.viewer)
      const { reauthenticateMs } = limits
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

  /**
   * Replaces the credentials by newer ones of the same user from a `ping`. Ignores credentials that are not accepted: the
   * previous ones stay in use.
   */
  async renew(payload: Readonly<Record<string, unknown>> | undefined): Promise<void> {
    const authorization = authorizationIn(payload)
    if (authorization === undefined) return
    const credentials = credentialsOf(this.#request, this.#parts.origins, authorization)
    await this.#followed?.renew(credentials).catch((error: unknown) => {
      if (!(error instanceof CodedError)) throw error
    })
  }

  [Symbol.dispose](): void {
    this.#ended = true
    this.#followed?.[Symbol.dispose]()
    this.#giveBack()
  }

  #close(error: unknown): void {
    const { observer, log } = this.#parts
    if (this.#ended) return
    this[Symbol.dispose]()
    const [code, reason] = closingOf(error, this.#followed !== undefined)
    const requestId = this.#requestId
    if (error instanceof CodedError) {
      const address = this.#request.socket.remoteAddress
      const { viewer } = this
      const { code: refusal } = error
      observer?.refused({ transport: 'websocket', code: refusal, viewer, address, requestId })
    } else log.error('the caller could not be authenticated', { requestId, error })
    this.#socket.close(code, reason)
  }
}

/** The credentials in a payload. A value that is not a text counts as malformed credentials. */
function authorizationIn(
  payload: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const given = payload?.['authorization'] ?? payload?.['Authorization']
  return given === undefined ? undefined : typeof given === 'string' ? given : '?'
}

/** `wasAccepted`: the credentials were accepted when the connection began. */
function closingOf(error: unknown, wasAccepted: boolean): readonly [code: number, reason: string] {
  if (error instanceof UnauthenticatedError) {
    if (error.problem !== 'refused') return [unauthorizedCode, 'Unauthorized']
    const problem = wasAccepted ? 'have expired or are no longer accepted' : 'are not accepted'
    return [forbiddenCode, `Forbidden: the credentials ${problem}`]
  }
  if (error instanceof ClientError) return [tooManySocketsCode, 'Too many WebSockets']
  return [tryAgainLaterCode, 'Try again later']
}

import { isDeepStrictEqual } from 'node:util'
import {
  type Authenticated,
  type Authenticator,
  type Credentials,
  IdentityUnavailableError,
  UnauthenticatedError,
} from '../../access/authentication/authenticator.ts'
import { maxTimerMs } from '../../lib/deadline.ts'

export interface FollowedIdentityOptions {
  readonly authenticator: Authenticator
  /** What the caller has shown. */
  readonly credentials: Credentials
  /** What the authenticator has made of it. */
  readonly known: Authenticated
  /** How often the authenticator is asked whether the caller is still known. */
  readonly reauthenticateMs: number
  /** Called once, with the reason, when the caller is not known any more. */
  readonly lost: (error: unknown) => void
}

/** How many times in a row the authenticator may fail to say whether the caller is still known. */
const maxUnconfirmed = 5
/** Timers may be early by a little; a token must have expired when it is asked for again. */
const timerSlackMs = 50

/**
 * The caller of a WebSocket or a stream of events, for as long as they are known: until their token expires, is refused, or becomes
 * somebody else's. An authenticator that cannot say is asked again, until it has failed five times or the token has expired.
 */
export class FollowedIdentity implements Disposable {
  readonly #options: FollowedIdentityOptions
  #known: Authenticated
  #timer: NodeJS.Timeout | undefined
  #unconfirmed = 0
  #ended = false

  constructor(options: FollowedIdentityOptions) {
    this.#options = options
    this.#known = options.known
    this.#plan()
  }

  /** Asks the authenticator now. Rejects with its errors; unless it only could not say, the caller is lost first. */
  async confirm(): Promise<void> {
    const { authenticator, credentials } = this.#options
    try {
      const asked = authenticator.authenticate(credentials)
      this.#confirmed(asked instanceof Promise ? await asked : asked)
    } catch (error) {
      if (!(error instanceof IdentityUnavailableError)) this.#lose(error)
      throw error
    }
  }

  [Symbol.dispose](): void {
    this.#ended = true
    clearTimeout(this.#timer)
  }

  /** The same token may come to mean somebody else, with other groups: what is open would still be answered as before. */
  #confirmed(now: Authenticated): void {
    const { viewer } = this.#known
    this.#unconfirmed = 0
    if (!isDeepStrictEqual(viewer, now.viewer)) {
      throw new UnauthenticatedError('refused', 'the caller is somebody else now', 'connect again')
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
    this.#plan()
  }

  #lose(error: unknown): void {
    if (this.#ended) return
    this[Symbol.dispose]()
    this.#options.lost(error)
  }
}

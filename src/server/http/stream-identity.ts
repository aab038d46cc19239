import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Authenticated, Authenticator } from '../../access/authentication/authenticator.ts'
import { maxTimerMs } from '../../lib/deadline.ts'
import { credentialsOf } from '../guard/caller.ts'

export interface StreamIdentityOptions {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly authenticator: Authenticator
  /** Who has opened it. */
  readonly known: Authenticated
  /** How often it is asked whether they are still known. */
  readonly reauthenticateMs: number
}

/** Timers may be early by a little; a token must have expired when it is asked for again. */
const timerSlackMs = 50

/**
 * Cuts a stream of events off when the token that it was opened with has expired, is refused, or is somebody else's, or nobody can
 * tell; its reader comes back with a new one.
 */
export function endWithCredentials(options: StreamIdentityOptions): void {
  const { request, response, authenticator, reauthenticateMs } = options
  let { known } = options
  let timer: NodeJS.Timeout | undefined
  const check = async (): Promise<void> => {
    try {
      const now = await authenticator.authenticate(credentialsOf(request))
      if (!isDeepStrictEqual(now.viewer, known.viewer)) throw new Error('somebody else')
      known = now
      if (!response.destroyed) plan()
    } catch {
      response.destroy()
    }
  }
  const plan = (): void => {
    const leftMs = (known.expiresAtMs ?? Number.POSITIVE_INFINITY) - Date.now()
    const delayMs =
      leftMs > 0 ? Math.min(reauthenticateMs, leftMs + timerSlackMs) : reauthenticateMs
    timer = setTimeout(() => void check(), Math.min(delayMs, maxTimerMs))
  }
  plan()
  response.once('close', () => clearTimeout(timer))
}

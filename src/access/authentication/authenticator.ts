import { CodedError } from '../../lib/coded-error.ts'
import type { Viewer } from '../viewer.ts'
import type { CallerToken } from './caller-token.ts'

/** What a caller shows of itself: with a request, or with the messages that begin a WebSocket. */
export interface Credentials {
  /** As in the header `Authorization`: `Bearer …`. */
  readonly authorization: string | undefined
  /**
   * Of the request, or of the one that was upgraded: every value of each, by their names in lower case. Only an authenticator of
   * trusted proxies believes them.
   */
  readonly headers: () => Readonly<Record<string, readonly string[] | undefined>>
  /** Of the connection: where the request comes from, or the proxy that has sent it on. */
  readonly address?: string | undefined
  /** The certificate that the connection was opened with, where it was verified against the CA of clients. */
  readonly clientCertificate?: ClientCertificate | undefined
}

/** As much of a verified client certificate as decides whom to trust. */
export interface ClientCertificate {
  /** The common name of its subject. */
  readonly commonName: string
  /** When it ends, in milliseconds of the wall clock. */
  readonly notAfterMs: number
}

/** Somebody who is known, for a time. */
export interface Authenticated {
  readonly viewer: Viewer
  /** When the credentials end, in milliseconds of the wall clock; `undefined` where they do not say so. */
  readonly expiresAtMs: number | undefined
}

/** Finds out who asks. */
export interface Authenticator {
  /**
   * Who shows these credentials; a promise only where somebody has to be asked. Throws, or rejects with, {@link UnauthenticatedError}
   * and {@link IdentityUnavailableError}, within a deadline.
   */
  authenticate(credentials: Credentials): Authenticated | Promise<Authenticated>
  /**
   * The token of credentials that have been accepted, where an API server may be asked with it; it is handed on from operation to
   * operation, and kept nowhere.
   */
  tokenOf?(credentials: Credentials): CallerToken | undefined
}

/**
 * What is wrong with credentials: there are `none`, they are `malformed`, or they are `refused` by whoever issues them; of
 * these only the last is mended by newer ones.
 */
export type CredentialProblem = 'none' | 'malformed' | 'refused'

/** Nobody knows who asks. Never holds the credentials themselves. */
export class UnauthenticatedError extends CodedError {
  readonly problem: CredentialProblem

  constructor(problem: CredentialProblem, message: string, hint: string) {
    super('UNAUTHENTICATED', message, { hint })
    this.problem = problem
  }
}

/** Of an operation that has to have a viewer, and has none. */
export function noViewer(): UnauthenticatedError {
  const hint = 'its context has to have one: { viewer: { username, uid, groups, extra } }'
  return new UnauthenticatedError('none', 'the operation has no viewer', hint)
}

/** It cannot be found out at present who asks: whoever knows does not answer. */
export class IdentityUnavailableError extends CodedError {
  readonly retryAfterMs: number = 1_000

  constructor(cause: unknown) {
    super('IDENTITY_UNAVAILABLE', 'it cannot be found out at present who asks', {
      hint: 'ask again in a moment; the log of the gateway says why',
      cause,
    })
  }
}

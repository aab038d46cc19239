/*
 * The interface of authenticators. An authenticator turns the credentials of a request into a viewer. Its errors tell
 * whether the caller has no credentials, has wrong ones, or cannot be checked now. {@link CallerToken} carries a token to
 * the clusters that may receive it, and keeps it out of logs and JSON.
 */

import { isUnauthorized } from '../../api-server/transport/reachability.ts'
import type { Viewer } from '../viewer.ts'
import { CodedError } from '../../lib/coded-error.ts'

/** The credentials of a caller, from a request or from the first message of a WebSocket. */
export interface Credentials {
  /** The value of the header `Authorization`: `Bearer …`. */
  readonly authorization: string | undefined
  /**
   * The headers of the request, or of the upgraded request: all values of each, by lower-case name. Only an
   * authenticator for trusted proxies may trust them.
   */
  readonly headers: () => Readonly<Record<string, readonly string[] | undefined>>
  /** The cookies, if a page of the gateway's own origin sends them; absent for any other request. */
  readonly cookie?: string | undefined
  /** The address of the peer: the caller or a proxy. */
  readonly address?: string | undefined
  /** The client certificate of the connection, if the client CA has verified it. */
  readonly clientCertificate?: ClientCertificate | undefined
}

/** A client certificate that the connection's CA has verified. */
export interface ClientCertificate {
  readonly commonName: string
  /** Its expiry, in Unix milliseconds. */
  readonly notAfterMs: number
}

/** A caller who may send operations. */
export interface Admitted {
  /** `undefined`: a caller without an identity, who sees everything if sign-in is optional. */
  readonly viewer: Viewer | undefined
  /** The expiry of the credentials, in Unix milliseconds; `undefined` if they have none. */
  readonly expiresAtMs: number | undefined
}

/** A caller with accepted credentials. */
export interface Authenticated extends Admitted {
  readonly viewer: Viewer
}

/** Identifies the sender of a request: one of the modes of `auth`, or a program's own. */
export interface Authenticator {
  /**
   * Authenticates a caller. Returns a promise only if it has to ask a server. Throws or rejects with {@link
   * UnauthenticatedError} and {@link IdentityUnavailableError}, within a deadline.
   */
  authenticate(credentials: Credentials): Admitted | Promise<Admitted>
  /**
   * The token of accepted credentials, if an API server also accepts it. It accompanies an operation and is never stored.
   */
  tokenOf?(credentials: Credentials): CallerToken | undefined
  /**
   * Calls `changed` when accepted credentials may have ended before their expiry. The listener should authenticate again.
   * Returns a function that removes it.
   */
  follow?(credentials: Credentials, changed: () => void): () => void
}

/**
 * The problem of credentials: there are `none`, they are `malformed`, or their issuer has `refused` them. Newer
 * credentials help only after `refused`.
 */
export type CredentialProblem = 'none' | 'malformed' | 'refused'

/** The caller is not authenticated. Never contains the credentials. */
export class UnauthenticatedError extends CodedError {
  readonly problem: CredentialProblem
  /** The path where a browser can sign in, if any: `/auth/login`. */
  readonly login: string | undefined

  constructor(problem: CredentialProblem, message: string, hint: string, login?: string) {
    super('UNAUTHENTICATED', message, { hint })
    this.problem = problem
    this.login = login
  }
}

/** The error of an operation without the required viewer. */
export function noViewer(): UnauthenticatedError {
  const hint = 'put one into its context: { viewer: { username, uid, groups, extra } }'
  return new UnauthenticatedError('none', 'the operation has no viewer', hint)
}

/** The caller cannot be authenticated now: the authority does not answer. */
export class IdentityUnavailableError extends CodedError {
  readonly retryAfterMs: number = 1_000

  constructor(cause: unknown) {
    super('IDENTITY_UNAVAILABLE', 'the caller cannot be authenticated now', {
      hint: isUnauthorized(cause)
        ? "the cluster that reviews tokens does not accept the gateway's own credentials: tell its operator"
        : "try again in a moment; the gateway's log says why",
      cause,
    })
  }
}

/** Whether an error means that the caller is not authenticated, or cannot be authenticated now. */
export function isOfCaller(error: unknown): boolean {
  return error instanceof UnauthenticatedError || error instanceof IdentityUnavailableError
}

/**
 * A caller's bearer token for an API server, held during one operation. A private field keeps it out of logs and JSON.
 */
export class CallerToken {
  readonly #token: () => string
  /** The cluster that accepts the token; absent: the default cluster. */
  readonly cluster: string | undefined
  /** Further clusters that accept it; `*` for all configured ones. */
  readonly furtherClusters: readonly string[]

  /** A function as `token` returns the current token: a session may be renewed during an operation. */
  constructor(
    token: string | (() => string),
    cluster: string | undefined,
    furtherClusters: readonly string[] | undefined = [],
  ) {
    this.#token = typeof token === 'string' ? () => token : token
    this.cluster = cluster
    this.furtherClusters = furtherClusters
  }

  /** The token. Send it only to its clusters: see `callerServer`. */
  reveal(): string {
    return this.#token()
  }
}

export interface AuthenticationObserver {
  /** A token that was not cached was verified. */
  verified(outcome: 'accepted' | 'refused' | 'unavailable'): void
  /** Tokens cannot be verified now. */
  unavailable(error: unknown): void
  /** A browser has signed in or out, or failed to. */
  signedIn?(report: SignInReport): void
}

/** A step of a browser's session, for audit logs and metrics. Never holds tokens. */
export interface SignInReport {
  /**
   * `sign-in`: the browser has returned from the provider. `renewal`: the session got new tokens. `sign-out`: the user has
   * ended the session. `provider-sign-out`: the provider has ended the sessions that its logout token names.
   */
  readonly event: 'sign-in' | 'renewal' | 'sign-out' | 'provider-sign-out'
  /** The code of the failure; `''` if the step has succeeded. */
  readonly code: string
  /** The user, if known. */
  readonly viewer?: Viewer | undefined
  /** The claims `sub` and `sid` of the provider's verified token. A logout token identifies its user only by these. */
  readonly subject?: string | undefined
  readonly providerSession?: string | undefined
  /** The address of the peer, possibly a proxy. */
  readonly address?: string | undefined
  readonly requestId?: string | undefined
}

/**
 * The reason why a sign-in fails. `RETURN_ADDRESS`: the address to return to is foreign. `SIGN_IN_EXPIRED`: the browser
 * has no pending sign-in for the answer. `SIGN_IN_REFUSED`: the provider refuses, or its answer belongs to another sign-in.
 * `TOKEN_REFUSED`: the gateway does not accept the provider's token. `SESSION_TOO_LARGE`: the tokens do not fit into
 * cookies. `PROVIDER_UNAVAILABLE`: the provider does not answer.
 */
export type SignInProblem =
  | 'RETURN_ADDRESS'
  | 'SIGN_IN_EXPIRED'
  | 'SIGN_IN_REFUSED'
  | 'TOKEN_REFUSED'
  | 'SESSION_TOO_LARGE'
  | 'PROVIDER_UNAVAILABLE'

/** A sign-in that fails, for the page that the user sees. Never contains tokens or codes. */
export class SignInError extends CodedError {
  readonly problem: SignInProblem

  constructor(
    problem: SignInProblem,
    message: string,
    details: { readonly value?: unknown; readonly hint: string; readonly cause?: unknown },
  ) {
    super(problem, message, details)
    this.problem = problem
  }
}

/*
 * Authenticates callers by bearer token. It caches the callers of tokens that `verify` accepts, by an HMAC of each token
 * under a key of this process, so that no token is stored. Concurrent requests with one token share a verification. Known
 * tokens are verified in slots where users take turns, new tokens in other slots where addresses take turns. So invented
 * tokens never delay known callers, and delay new callers of other addresses only briefly.
 */

import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { expiryOf } from '../../api-server/kubeconfig/client-certificate.ts'
import { FairSlots, NoSlotError } from '../../lib/concurrency.ts'
import { KeyedHash } from '../../lib/keyed-hash.ts'
import type { Viewer } from '../viewer.ts'
import {
  type Authenticated,
  type AuthenticationObserver,
  type Authenticator,
  CallerToken,
  type Credentials,
  IdentityUnavailableError,
  UnauthenticatedError,
} from './authenticator.ts'

/** The options of all authenticators by bearer token. */
export interface BearerOptions {
  /** The accepted audiences; a part of the cache key. */
  readonly audiences: readonly string[]
  /** How long a verified token is trusted, in milliseconds; at most until its expiry. */
  readonly knownMs: number
  readonly observer: AuthenticationObserver | undefined
  /** The cluster that also accepts the tokens; absent: the default cluster. */
  readonly cluster: string | undefined
  /** Further clusters that accept the tokens. */
  readonly tokenClusters?: readonly string[] | undefined
  /** See `Viewer`. */
  readonly systemIdentityClusters: readonly string[] | undefined
}

/** The maximum length of a token. node:http limits headers to about the same; a WebSocket message may be longer. */
const maxTokenLength = 16_384
const bearer = /^bearer +([\x21-\x7e]+)$/i
const howTo =
  'send Authorization: Bearer TOKEN, by WebSocket also as { "authorization": "Bearer TOKEN" } in connection_init'

/** How long a refused token is refused again without verification. It is short, since the token may become valid. */
const refusedMs = 2_000
/** The maximum numbers of accepted and of refused tokens. The least recently used are dropped first. */
const maxTokens = 10_000
/** The bounds of running and waiting verifications, separate for known and new tokens. */
const slots = { most: 64, mostWaiting: 1_000, maxWaitMs: 10_000 }

interface Known {
  readonly authenticated: Authenticated
  /** By `performance.now()`: a clock that is set back must not extend the time. */
  readonly untilMs: number
}

export class BearerAuthenticator implements Authenticator {
  readonly #options: BearerOptions
  /** Verifies a token. Rejects as an authenticator does, within a deadline. */
  readonly #verify: (token: string) => Promise<Authenticated>
  readonly #hash = new KeyedHash(randomBytes(32))
  readonly #audiences: string
  readonly #known = new LRUCache<string, Known>({ max: maxTokens })
  readonly #refused = new LRUCache<string, UnauthenticatedError>({ max: maxTokens, ttl: refusedMs })
  readonly #underWay = new Map<string, Promise<Authenticated>>()
  readonly #renewals = new FairSlots({ ...slots, mostWaiting: maxTokens })
  readonly #newcomers = new FairSlots(slots)

  constructor(options: BearerOptions, verify: (token: string) => Promise<Authenticated>) {
    this.#options = options
    this.#verify = verify
    this.#audiences = options.audiences.map((audience) => `${audience}\0`).join('')
  }

  tokenOf({ authorization }: Credentials): CallerToken {
    const { cluster, tokenClusters } = this.#options
    return new CallerToken(bearerTokenOf(authorization), cluster, tokenClusters)
  }

  authenticate({
    authorization,
    address = '',
  }: Credentials): Authenticated | Promise<Authenticated> {
    const token = bearerTokenOf(authorization)
    const hash = this.#hash.of(this.#audiences + token)
    const known = this.#known.get(hash)
    if (known !== undefined) {
      const { authenticated, untilMs } = known
      const { expiresAtMs = Number.POSITIVE_INFINITY } = authenticated
      if (performance.now() < untilMs && Date.now() < expiresAtMs) return authenticated
    }
    const refused = this.#refused.get(hash)
    if (refused !== undefined) throw refused
    return this.#underWay.get(hash) ?? this.#ask(hash, token, known, address)
  }

  #ask(
    hash: string,
    token: string,
    known: Known | undefined,
    address: string,
  ): Promise<Authenticated> {
    const { knownMs, observer } = this.#options
    const ask = async (): Promise<Authenticated> => {
      try {
        const authenticated = await this.#verify(token)
        this.#known.set(hash, { authenticated, untilMs: performance.now() + knownMs })
        observer?.verified('accepted')
        return authenticated
      } catch (error) {
        const isRefused = error instanceof UnauthenticatedError
        if (isRefused) {
          this.#known.delete(hash)
          this.#refused.set(hash, error)
        }
        observer?.verified(isRefused ? 'refused' : 'unavailable')
        throw error
      }
    }
    const slot =
      known === undefined
        ? this.#newcomers.run(address, ask)
        : this.#renewals.run(known.authenticated.viewer.username, ask)
    const verified = slot
      .catch((error: unknown) => {
        throw error instanceof NoSlotError ? new IdentityUnavailableError(error) : error
      })
      .finally(() => this.#underWay.delete(hash))
    this.#underWay.set(hash, verified)
    return verified
  }
}

/** The token of an `Authorization` header (RFC 6750). Throws {@link UnauthenticatedError} without one. */
function bearerTokenOf(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '') {
    throw new UnauthenticatedError('none', 'this gateway requires authentication', howTo)
  }
  const [, token] = bearer.exec(authorization) ?? []
  if (token === undefined || token.length > maxTokenLength) {
    throw new UnauthenticatedError('malformed', 'the credentials are not a bearer token', howTo)
  }
  return token
}

/** The error for a well-formed token that is not accepted. */
export function refusedToken(): UnauthenticatedError {
  const hint = 'get a new token; this one has expired, is not for this gateway, or is unknown'
  return new UnauthenticatedError('refused', 'the bearer token is not accepted', hint)
}

/** Sends a TokenReview to an API server and resolves with the result. Rejects on failure, within a deadline. */
export type ReviewToken = (spec: {
  readonly token: string
  readonly audiences?: readonly string[]
}) => Promise<unknown>

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean
    readonly audiences?: readonly string[]
    readonly user?: Partial<Viewer>
  }
}

/**
 * Authenticates callers by bearer tokens that an API server reviews (authentication.k8s.io/v1, TokenReview). Without
 * `audiences`, tokens are for the API server itself.
 */
export function tokenReviewAuthenticator(
  options: BearerOptions,
  review: ReviewToken,
): Authenticator {
  const { audiences, observer, systemIdentityClusters } = options
  return new BearerAuthenticator(options, async (token) => {
    let answer: TokenReview | undefined
    try {
      const wanted = audiences.length === 0 ? {} : { audiences }
      answer = (await review({ token, ...wanted })) as TokenReview | undefined
    } catch (error) {
      observer?.unavailable(error)
      throw new IdentityUnavailableError(error)
    }
    const { authenticated, user, audiences: found = [] } = answer?.status ?? {}
    // A server without support for audiences names none. Its tokens are only for itself.
    const isForUs = audiences.length === 0 || audiences.some((one) => found.includes(one))
    const { username = '', uid = '', groups = [], extra = {} } = user ?? {}
    if (authenticated !== true || username === '' || !isForUs) throw refusedToken()
    const viewer = { username, uid, groups, extra, systemIdentityClusters }
    return { viewer, expiresAtMs: expiryOf(token) }
  })
}

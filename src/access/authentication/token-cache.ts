import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { FairSlots, NoSlotError } from '../../lib/concurrency.ts'
import { KeyedHash } from '../../lib/keyed-hash.ts'
import {
  type Authenticated,
  type AuthenticationObserver,
  IdentityUnavailableError,
  UnauthenticatedError,
} from './authenticator.ts'

/** Verifies a token. Rejects as an authenticator does, within a deadline. */
export type VerifyToken = (token: string) => Promise<Authenticated>

export interface TokenCacheOptions {
  /** The accepted audiences; a part of the cache key. */
  readonly audiences: readonly string[]
  /** How long a verified token is trusted, in milliseconds; at most until its expiry. */
  readonly knownMs: number
  readonly observer: AuthenticationObserver | undefined
}

/** How long a refused token is refused without verification. It may soon become valid. */
const refusedMs = 2_000
/** The maximum number of accepted and of refused tokens. The least recently used are dropped first. */
const maxTokens = 10_000
/** Concurrent and waiting verifications: of known tokens, and of new ones. */
const slots = { most: 64, mostWaiting: 1_000, maxWaitMs: 10_000 }

interface Known {
  readonly authenticated: Authenticated
  /** `performance.now()`: a clock that is set back must not extend the time. */
  readonly untilMs: number
}

/**
 * Caches the callers of tokens by an HMAC of each token under a key of this process, so that no token is stored.
 * Concurrent requests with one token share a verification. Known tokens are verified in slots where users take turns,
 * new tokens in other slots where addresses take turns. Invented tokens thus delay no known caller, and delay new
 * callers of other addresses only shortly.
 */
export class TokenCache {
  readonly #options: TokenCacheOptions
  readonly #verifyToken: VerifyToken
  readonly #hash = new KeyedHash(randomBytes(32))
  readonly #audiences: string
  readonly #known = new LRUCache<string, Known>({ max: maxTokens })
  readonly #refused = new LRUCache<string, UnauthenticatedError>({ max: maxTokens, ttl: refusedMs })
  readonly #underWay = new Map<string, Promise<Authenticated>>()
  readonly #renewals = new FairSlots({ ...slots, mostWaiting: maxTokens })
  readonly #newcomers = new FairSlots(slots)

  constructor(options: TokenCacheOptions, verify: VerifyToken) {
    this.#options = options
    this.#verifyToken = verify
    this.#audiences = options.audiences.map((audience) => `${audience}\0`).join('')
  }

  /** The caller of a token; a promise if it has to be verified. `address` is the address of the caller. */
  authenticate(token: string, address = ''): Authenticated | Promise<Authenticated> {
    const hash = this.#hash.of(this.#audiences + token)
    const known = this.#known.get(hash)
    if (known !== undefined && isValid(known)) return known.authenticated
    const refused = this.#refused.get(hash)
    if (refused !== undefined) throw refused
    return this.#underWay.get(hash) ?? this.#verify(hash, token, known, address)
  }

  #verify(
    hash: string,
    token: string,
    known: Known | undefined,
    address: string,
  ): Promise<Authenticated> {
    const ask = (): Promise<Authenticated> => this.#ask(hash, token)
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

  async #ask(hash: string, token: string): Promise<Authenticated> {
    const { knownMs, observer } = this.#options
    try {
      const authenticated = await this.#verifyToken(token)
      this.#known.set(hash, { authenticated, untilMs: performance.now() + knownMs })
      observer?.verified('accepted')
      return authenticated
    } catch (error) {
      if (error instanceof UnauthenticatedError) {
        this.#known.delete(hash)
        this.#refused.set(hash, error)
      }
      observer?.verified(error instanceof UnauthenticatedError ? 'refused' : 'unavailable')
      throw error
    }
  }
}

function isValid({ authenticated, untilMs }: Known): boolean {
  const { expiresAtMs = Number.POSITIVE_INFINITY } = authenticated
  return performance.now() < untilMs && Date.now() < expiresAtMs
}

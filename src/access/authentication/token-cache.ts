import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import {
  type Authenticated,
  IdentityUnavailableError,
  UnauthenticatedError,
} from './authenticator.ts'
import type { AuthenticationObserver } from './authentication-observer.ts'
import { KeyedHash } from './keyed-hash.ts'

export interface TokenCacheOptions {
  /** Finds out whose a token is. Rejects as an authenticator does, within a deadline. */
  readonly verify: (token: string) => Promise<Authenticated>
  /** What tokens have to be for; part of what they are remembered by. */
  readonly audiences: readonly string[]
  /** How long a token is known, milliseconds; no longer than it is valid. */
  readonly knownMs: number
  readonly observer: AuthenticationObserver | undefined
}

/** How long a token that was refused is refused unasked: it may be about to become valid. */
const refusedMs = 2_000
/** Of either kind; those that were shown longest ago are forgotten first. */
const maxTokens = 10_000
/** Tokens that are being verified at the same time; a further one is told to come again. */
const maxUnderWay = 256

interface Known {
  readonly authenticated: Authenticated
  /** `performance.now()`: a clock that is set back must not make it known for longer. */
  readonly untilMs: number
}

/**
 * Remembers whose tokens are, by an HMAC of each under a key that lives as long as the process, so that no token is kept. One that is
 * shown by many at once is verified once.
 */
export class TokenCache {
  readonly #options: TokenCacheOptions
  readonly #hash = new KeyedHash(randomBytes(32))
  readonly #audiences: string
  readonly #known = new LRUCache<string, Known>({ max: maxTokens })
  readonly #refused = new LRUCache<string, UnauthenticatedError>({ max: maxTokens, ttl: refusedMs })
  readonly #underWay = new Map<string, Promise<Authenticated>>()

  constructor(options: TokenCacheOptions) {
    this.#options = options
    this.#audiences = options.audiences.map((audience) => `${audience}\0`).join('')
  }

  /** Whose token it is; a promise where it has to be verified. */
  authenticate(token: string): Authenticated | Promise<Authenticated> {
    const hash = this.#hash.of(this.#audiences + token)
    const known = this.#known.get(hash)
    if (known !== undefined && isValid(known)) return known.authenticated
    const refused = this.#refused.get(hash)
    if (refused !== undefined) throw refused
    return this.#underWay.get(hash) ?? this.#verify(hash, token)
  }

  #verify(hash: string, token: string): Promise<Authenticated> {
    if (this.#underWay.size >= maxUnderWay) {
      throw new IdentityUnavailableError(`${maxUnderWay} tokens are being verified`)
    }
    const verified = this.#ask(hash, token).finally(() => this.#underWay.delete(hash))
    this.#underWay.set(hash, verified)
    return verified
  }

  async #ask(hash: string, token: string): Promise<Authenticated> {
    const { verify, knownMs, observer } = this.#options
    try {
      const authenticated = await verify(token)
      this.#known.set(hash, { authenticated, untilMs: performance.now() + knownMs })
      observer?.verified('accepted')
      return authenticated
    } catch (error) {
      this.#known.delete(hash)
      if (error instanceof UnauthenticatedError) this.#refused.set(hash, error)
      observer?.verified(error instanceof UnauthenticatedError ? 'refused' : 'unavailable')
      throw error
    }
  }
}

function isValid({ authenticated, untilMs }: Known): boolean {
  const { expiresAtMs = Number.POSITIVE_INFINITY } = authenticated
  return performance.now() < untilMs && Date.now() < expiresAtMs
}

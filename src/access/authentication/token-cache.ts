import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import {
  type Authenticated,
  IdentityUnavailableError,
  UnauthenticatedError,
} from './authenticator.ts'
import type { AuthenticationObserver } from './authentication-observer.ts'
import { FairSlots, NoSlotError } from '../../lib/concurrency.ts'
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
/** Tokens that are verified at the same time, and wait for that: of those that were known before, and of the others. */
const slots = { most: 64, mostWaiting: 1_000, maxWaitMs: 10_000 }

interface Known {
  readonly authenticated: Authenticated
  /** `performance.now()`: a clock that is set back must not make it known for longer. */
  readonly untilMs: number
}

/**
 * Remembers whose tokens are, by an HMAC of each under a key that lives as long as the process, so that no token is kept. One that is
 * shown by many at once is verified once. Tokens that were known before are verified in slots of their own, in which users take turns; all
 * others in slots in which addresses take turns. So made-up tokens delay no known caller, and no newcomer of another address for long.
 */
export class TokenCache {
  readonly #options: TokenCacheOptions
  readonly #hash = new KeyedHash(randomBytes(32))
  readonly #audiences: string
  readonly #known = new LRUCache<string, Known>({ max: maxTokens })
  readonly #refused = new LRUCache<string, UnauthenticatedError>({ max: maxTokens, ttl: refusedMs })
  readonly #underWay = new Map<string, Promise<Authenticated>>()
  readonly #renewals = new FairSlots({ ...slots, mostWaiting: maxTokens })
  readonly #newcomers = new FairSlots(slots)

  constructor(options: TokenCacheOptions) {
    this.#options = options
    this.#audiences = options.audiences.map((audience) => `${audience}\0`).join('')
  }

  /** Whose token it is; a promise where it has to be verified. `address`: who shows it. */
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
    const { verify, knownMs, observer } = this.#options
    try {
      const authenticated = await verify(token)
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

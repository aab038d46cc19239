/*
 * Seals sessions into cookies: JWE (RFC 7516), `dir` with A256GCM, under a key derived from the first of several secrets.
 * Any of the secrets opens, so that an operator can replace a secret while sessions last. The header's `typ` names the use
 * of a sealed text, so that a text sealed for one use is refused for another.
 */

import { createHash, hkdfSync } from 'node:crypto'
import { CompactEncrypt, compactDecrypt, errors } from 'jose'
import { SignInError } from '../authentication/authenticator.ts'

/** The session of a signed-in browser. Only the browser's cookie holds it, encrypted. The gateway stores none. */
export interface Session {
  /** A random id, kept through renewals. */
  readonly id: string
  /** The claim `sub` of the ID token. */
  readonly subject: string
  /** The claim `sid`: the provider's own session, for back-channel logout. */
  readonly providerSession?: string | undefined
  /** The user's name, for pages. */
  readonly name: string
  /** When the provider issued the first token, by the provider's clock. */
  readonly startedAtMs: number
  /** The latest end, however often it is renewed. */
  readonly endsAtMs: number
  /** When the token was issued to the gateway. */
  readonly renewedAtMs: number
  /** The token that identifies the user, and that API servers get. */
  readonly token: string
  readonly expiresAtMs: number
  readonly refreshToken?: string | undefined
}

/** A sign-in between the redirect to the provider and the provider's answer. */
export interface PendingSignIn {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
  /** The path to return to. */
  readonly returnTo: string
  readonly expiresAtMs: number
}

/** A newer token for a WebSocket that the session has opened. It is worth nothing elsewhere. */
export type SocketRenewal = Pick<Session, 'id' | 'token' | 'renewedAtMs' | 'expiresAtMs'>

interface Contents {
  readonly session: Session
  readonly login: PendingSignIn
  readonly socket: SocketRenewal
}

const sessionCookie = '__Host-informerql-session'
const loginCookie = '__Host-informerql-login'
const endedCookie = '__Host-informerql-ended'
/** Browsers accept 4,096 bytes of name, value and attributes. */
const maxChunk = 3_800
/** With the rest of a request's headers, more would exceed the 16 KiB that the server reads. */
const maxChunks = 3
/** The pending sign-ins of one browser, in several tabs. They fit into the headers next to the largest session. */
const loginSlots = 2

/** How long a sign-in at the provider may take. */
export const pendingMs = 600_000

export class SealedCookies {
  readonly #keys: ReadonlyMap<string, Uint8Array>
  readonly #sealing: SealingKey

  constructor(secrets: readonly [string, ...string[]]) {
    const [first, ...others] = secrets
    this.#sealing = keyOf(first)
    this.#keys = new Map([this.#sealing, ...others.map(keyOf)].map(({ kid, key }) => [kid, key]))
  }

  async seal<Use extends keyof Contents>(use: Use, content: Contents[Use]): Promise<string> {
    const { kid, key } = this.#sealing
    return new CompactEncrypt(new TextEncoder().encode(JSON.stringify(content)))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid, typ: use })
      .encrypt(key)
  }

  /** The content of a sealed text; `undefined` if it has another use or an unknown secret. */
  async open<Use extends keyof Contents>(
    use: Use,
    text: string,
  ): Promise<Contents[Use] | undefined> {
    try {
      const { plaintext, protectedHeader } = await compactDecrypt(
        text,
        ({ kid = '' }) => {
          const key = this.#keys.get(kid)
          if (key === undefined) throw new errors.JWKSNoMatchingKey()
          return key
        },
        { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
      )
      if (protectedHeader.typ !== use) return undefined
      return JSON.parse(new TextDecoder().decode(plaintext)) as Contents[Use]
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined
      throw error
    }
  }

  /** Whether a `Cookie` header holds a session or parts of one, even if it cannot be opened. */
  holdsSession(cookie: string | undefined): boolean {
    return [...cookiesOf(cookie).keys()].some(isOfSession)
  }

  /** The session of a `Cookie` header; `undefined` if none can be opened. */
  async session(cookie: string | undefined): Promise<Session | undefined> {
    const all = cookiesOf(cookie)
    const [, count, first] = /^([1-9])~(.+)$/.exec(all.get(sessionCookie) ?? '') ?? []
    if (first === undefined) return undefined
    const rest = chunkNames(Number(count)).slice(1)
    return this.open('session', [first, ...rest.map((name) => all.get(name) ?? '')].join(''))
  }

  /** `Set-Cookie` values for a session, in place of the cookies that the browser has. Throws {@link SignInError}. */
  async setSession(session: Session, cookie: string | undefined): Promise<readonly string[]> {
    const sealed = await this.seal('session', session)
    const chunks = sealed.match(new RegExp(`.{1,${maxChunk}}`, 'g')) ?? []
    if (chunks.length > maxChunks) throw tooLargeSession(sealed.length)
    const names = chunkNames(chunks.length)
    const seconds = Math.max(0, Math.floor((session.endsAtMs - Date.now()) / 1_000))
    const set = names.map((name, at) => {
      const value = at === 0 ? `${chunks.length}~${chunks[at] ?? ''}` : (chunks[at] ?? '')
      return cookieText(name, value, seconds)
    })
    return [...set, ...removal(cookie, (name) => isOfSession(name) && !names.includes(name))]
  }

  /** `Set-Cookie` values that end the browser's session. */
  removeSession(cookie: string | undefined): readonly string[] {
    return removal(cookie, isOfSession)
  }

  /**
   * A `Set-Cookie` value by which the browser reports that its user has ended the session. It outlasts the session's cookie,
   * since a renewal at another replica may set that cookie once more after its removal.
   */
  setEnded({ id, endsAtMs }: Session): string {
    return cookieText(endedCookie, id, Math.ceil(Math.max(0, endsAtMs - Date.now()) / 1_000))
  }

  /** Whether the browser reports that its user has ended the session. */
  isEnded({ id }: Session, cookie: string | undefined): boolean {
    return cookiesOf(cookie).get(endedCookie) === id
  }

  /** A `Set-Cookie` value for a pending sign-in, in a free slot if there is one. */
  async setPending(pending: PendingSignIn, cookie: string | undefined): Promise<string> {
    const all = cookiesOf(cookie)
    const free = loginNames.find((name) => !all.has(name))
    const name = free ?? loginNames[Date.now() % loginSlots] ?? loginCookie
    return cookieText(name, await this.seal('login', pending), pendingMs / 1_000)
  }

  /** The pending sign-in of a state, and the `Set-Cookie` value that removes it. */
  async pending(
    state: string,
    cookie: string | undefined,
  ): Promise<{ readonly pending: PendingSignIn; readonly removed: string } | undefined> {
    const all = cookiesOf(cookie)
    for (const name of loginNames) {
      const sealed = all.get(name)
      const pending = sealed === undefined ? undefined : await this.open('login', sealed)
      if (pending !== undefined && pending.state === state && Date.now() < pending.expiresAtMs) {
        return { pending, removed: cookieText(name, '', 0) }
      }
    }
    return undefined
  }
}

export const maxSessionToken: number = (maxChunk * maxChunks * 3) / 4

/** The error of tokens that need this many bytes. */
export function tooLargeSession(bytes: number): SignInError {
  const most = maxChunk * maxChunks
  const problem = `the tokens of this user need ${bytes} bytes of cookies; at most ${most} fit`
  const hint = 'have the provider put fewer claims and groups into the tokens of this client'
  return new SignInError('SESSION_TOO_LARGE', problem, { value: bytes, hint })
}

interface SealingKey {
  readonly kid: string
  readonly key: Uint8Array
}

function keyOf(secret: string): SealingKey {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'informerql sessions', 32))
  return { key, kid: createHash('sha256').update(key).digest('base64url').slice(0, 12) }
}

const loginNames = Array.from({ length: loginSlots }, (_, at) => `${loginCookie}-${at}`)

function chunkNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) =>
    at === 0 ? sessionCookie : `${sessionCookie}-${at}`,
  )
}

function isOfSession(name: string): boolean {
  return name.startsWith(sessionCookie)
}

function cookieText(name: string, value: string, seconds: number): string {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`
}

function removal(
  cookie: string | undefined,
  concerns: (name: string) => boolean,
): readonly string[] {
  return [...cookiesOf(cookie).keys()].filter(concerns).map((name) => cookieText(name, '', 0))
}

function cookiesOf(header = ''): ReadonlyMap<string, string> {
  return new Map(
    header.split(';').flatMap((pair): [string, string][] => {
      const at = pair.indexOf('=')
      return at === -1 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]]
    }),
  )
}

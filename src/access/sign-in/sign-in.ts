/*
 * Browser sign-in by OpenID Connect, and its sessions. `begin` sends a browser to the provider, and `complete` makes a
 * session from the provider's answer. Only the browser's cookie holds the session, so that any replica can serve it.
 * A process keeps, for a limited time, only the ends of sessions, the last renewals, and the newest tokens of the sessions
 * whose WebSockets and event streams it serves. A session is renewed before its token expires, and ends by its user, by
 * the provider, or by age.
 */

import { randomUUID } from 'node:crypto'
import { errors, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { FairSlots, NoSlotError } from '../../lib/concurrency.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isRecord } from '../../lib/json.ts'
import {
  type Admitted,
  type Authenticated,
  type Authenticator,
  CallerToken,
  type Credentials,
  IdentityUnavailableError,
  type SignInReport,
  UnauthenticatedError,
  SignInError,
} from '../authentication/authenticator.ts'
import type { IssuerKeys } from '../authentication/issuer.ts'
import type { Viewer } from '../viewer.ts'
import type { IdentityProvider, IssuedTokens } from './identity-provider.ts'
import {
  maxSessionToken,
  pendingMs,
  type SealedCookies,
  type Session,
  tooLargeSession,
} from './sealed-cookies.ts'
import type { SignInOptions } from '../authentication/authentication-options.ts'

export const signInPaths = {
  login: '/auth/login',
  callback: '/auth/callback',
  logout: '/auth/logout',
  me: '/auth/me',
  backChannelLogout: '/auth/backchannel-logout',
} as const

export interface SignInParts extends Pick<
  SignInOptions,
  'clientId' | 'apiServerToken' | 'sessionMaxMs' | 'required'
> {
  readonly issuer: string
  readonly algorithms: readonly string[]
  /** The clusters that accept the tokens: see `CallerToken`. */
  readonly cluster: string | undefined
  readonly tokenClusters: readonly string[] | undefined
  readonly provider: IdentityProvider
  readonly keys: IssuerKeys
  readonly cookies: SealedCookies
  /** Maps the provider's tokens to viewers, as the API server does. */
  readonly tokens: Authenticator
  /** Authenticates callers with an `Authorization` header. */
  readonly bearers: Authenticator
  readonly proxies: Authenticator
  readonly failed: (error: unknown) => void
  readonly report: (step: SignInReport) => void
}

export interface SignInVisit {
  readonly address: string | undefined
  readonly requestId: string
}

export interface Redirection {
  readonly location: string
  readonly setCookies: readonly string[]
}

/** The body of `/auth/me`. */
export interface Me {
  readonly signedIn: boolean
  /** Whether the API refuses callers who are not signed in. */
  readonly required: boolean
  readonly login: string
  readonly logout: string
  readonly user?: {
    /** The name to show. */
    readonly name: string
    /** The user's name at API servers. */
    readonly username: string
    readonly groups: readonly string[]
  }
  /** When the page should request this again to renew the session; absent if the session cannot be renewed. */
  readonly renewInMs?: number
  /** When the session ends unless it is renewed. */
  readonly expiresInMs?: number
  /** When the user must sign in again, however often the session is renewed. */
  readonly endsInMs?: number
  /** Extends an open WebSocket of this session, which sends it as `{ "authorization": … }` in a `ping`. */
  readonly socketAuthorization?: string
}

const socketScheme = 'Session '
/** How long the result of a renewal serves requests that still have the previous cookie. */
const renewedMs = 60_000
const maxRenewed = 10_000
/** The pause before a page retries a failed renewal. */
const renewAgainMs = 10_000
/** The maximum number of remembered ends of sessions. The oldest are forgotten first. */
const maxEnds = 100_000
/** The bounds of running and waiting requests to the provider. Addresses and users take turns. */
const providerSlots = { most: 32, mostWaiting: 1_000, maxWaitMs: 10_000 }
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
const maxLogoutTokenAgeMs = 300_000

interface Followed {
  readonly session: Session
  /** The newest token that this process has seen of the session. */
  latest: Session
  readonly changed: Set<() => void>
}

export class SignIn implements Authenticator {
  readonly #parts: SignInParts
  /** The sessions of accepted credentials, for as long as a transport holds the credentials. */
  readonly #accepted = new WeakMap<Credentials, Session>()
  readonly #followed = new Map<string, Followed>()
  readonly #renewals = new Map<string, Promise<Session>>()
  readonly #renewed = new LRUCache<string, Session>({ max: maxRenewed, ttl: renewedMs })
  /**
   * The times of ends, kept until the sessions would have ended by age. Keys begin with `id:`, `sid:`, `sub:`, or
   * `unnamed:` for a user's sessions without a known `sid`. An end by the provider has the time when the provider issued
   * the logout token, by its clock. It ends no session that began later.
   */
  readonly #ends: LRUCache<string, number>
  /** The used logout tokens, by `jti`, kept until they are too old to be accepted. */
  readonly #logouts = new LRUCache<string, true>({ max: maxEnds, ttl: maxLogoutTokenAgeMs })
  readonly #slots = new FairSlots(providerSlots)

  constructor(parts: SignInParts) {
    this.#parts = parts
    this.#ends = new LRUCache({ max: maxEnds, ttl: parts.sessionMaxMs })
  }

  /** Whether the gateway refuses callers without credentials. Otherwise they see everything. */
  get isRequired(): boolean {
    return this.#parts.required
  }

  authenticate(credentials: Credentials): Admitted | Promise<Admitted> {
    const { authorization, clientCertificate } = credentials
    if (authorization?.startsWith(socketScheme) === true) return this.#bySocket(credentials)
    if (authorization !== undefined && authorization !== '') {
      return this.#parts.bearers.authenticate(credentials)
    }
    if (clientCertificate !== undefined) return this.#parts.proxies.authenticate(credentials)
    return this.#byCookie(credentials)
  }

  tokenOf(credentials: Credentials): CallerToken | undefined {
    const { cluster, tokenClusters, bearers } = this.#parts
    const session = this.#accepted.get(credentials)
    if (session !== undefined) {
      return new CallerToken(() => this.#latest(session).token, cluster, tokenClusters)
    }
    const { authorization = '' } = credentials
    return authorization === '' ? undefined : bearers.tokenOf?.(credentials)
  }

  follow(credentials: Credentials, changed: () => void): () => void {
    const session = this.#accepted.get(credentials)
    if (session === undefined) return () => {}
    const { id } = session
    const followed = getOrInsert(this.#followed, id, () => ({
      session,
      latest: session,
      changed: new Set<() => void>(),
    }))
    followed.changed.add(changed)
    return () => {
      followed.changed.delete(changed)
      if (followed.changed.size === 0) this.#followed.delete(id)
    }
  }

  /** Sends a browser to the provider. Rejects with {@link SignInError}. */
  async begin(visit: {
    readonly origin: string
    /** The path of this gateway to return to. */
    readonly returnTo: string
    /** Whether the provider asks for the user even if it already knows one. */
    readonly asksAgain: boolean
    readonly cookie: string | undefined
    readonly address: string | undefined
  }): Promise<Redirection> {
    const { returnTo } = visit
    const redirectUri = `${visit.origin}${signInPaths.callback}`
    const { location, ...checks } = await this.#ask(visit.address, (provider) =>
      provider.begin(redirectUri, visit.asksAgain),
    )
    const pending = { ...checks, returnTo, expiresAtMs: Date.now() + pendingMs }
    return { location, setCookies: [await this.#parts.cookies.setPending(pending, visit.cookie)] }
  }

  /** Makes a session from the provider's answer. `callback`: the address that the browser requested. */
  complete(
    visit: SignInVisit & { readonly callback: URL; readonly cookie: string | undefined },
  ): Promise<Redirection> {
    const { cookies, sessionMaxMs } = this.#parts
    const { callback, cookie, address } = visit
    return this.#reported('sign-in', visit, async (known) => {
      const found = await cookies.pending(callback.searchParams.get('state') ?? '', cookie)
      if (found === undefined) {
        throw new SignInError('SIGN_IN_EXPIRED', 'this sign-in was not started in this browser', {
          hint: 'sign in again: an answer is valid once, for ten minutes, in the browser that started the sign-in',
        })
      }
      const { pending, removed } = found
      const tokens = await this.#ask(address, (provider) => provider.redeem(callback, pending))
      const now = Date.now()
      const { sub = '', iat = now / 1_000 } = tokens.claims ?? {}
      const { viewer, held } = await this.#tokenOf(tokens)
      const {
        name,
        preferred_username: short,
        email,
      }: Readonly<Record<string, unknown>> = tokens.claims ?? {}
      const names = [name, short, email, viewer.username]
      const session: Session = {
        id: randomUUID(),
        subject: sub,
        providerSession: sidOf(tokens),
        name: (names.find((one) => typeof one === 'string' && one !== '') as string).slice(0, 200),
        startedAtMs: iat * 1_000,
        endsAtMs: now + sessionMaxMs,
        ...held,
        refreshToken: tokens.refreshToken,
      }
      known({ viewer, ...namesOf(session) })
      const setCookies = await cookies.setSession(session, cookie)
      return { location: pending.returnTo, setCookies: [removed, ...setCookies] }
    })
  }

  /** Returns the browser's user, and renews the session if that is due. */
  async me(credentials: Credentials): Promise<{ me: Me; setCookies: readonly string[] }> {
    const { cookies, required } = this.#parts
    const { cookie } = credentials
    const { login, logout } = signInPaths
    const session = await this.#sessionOf(cookie)
    const current = session === undefined ? undefined : await this.#kept(session)
    let viewer: Viewer | undefined
    try {
      viewer = current && (await this.#viewerOf(current, credentials))
    } catch (error) {
      if (!(error instanceof UnauthenticatedError)) throw error
    }
    const signedOut = { me: { signedIn: false, required, login, logout } }
    if (current === undefined || viewer === undefined) {
      return { ...signedOut, setCookies: cookies.removeSession(cookie) }
    }
    const now = Date.now()
    const { id, name, token, renewedAtMs, expiresAtMs, endsAtMs, refreshToken } = current
    const dueInMs = renewalAtMs(current) - now
    // After a failed renewal, later.
    const againInMs = Math.max(0, Math.min(renewAgainMs, expiresAtMs - now))
    const renewal = await cookies.seal('socket', { id, token, renewedAtMs, expiresAtMs })
    const setCookies = current === session ? [] : await cookies.setSession(current, cookie)
    if (this.#hasEnded(current)) {
      // The session has ended in the meantime.
      await this.#revoke(current.refreshToken, id)
      return { ...signedOut, setCookies: cookies.removeSession(cookie) }
    }
    const me: Me = {
      signedIn: true,
      required,
      login,
      logout,
      user: { name, username: viewer.username, groups: viewer.groups },
      ...(refreshToken === undefined ? {} : { renewInMs: dueInMs > 0 ? dueInMs : againInMs }),
      expiresInMs: Math.max(0, Math.min(expiresAtMs, endsAtMs) - now),
      endsInMs: Math.max(0, endsAtMs - now),
      socketAuthorization: socketScheme + renewal,
    }
    return { me, setCookies }
  }

  end(credentials: Credentials, origin: string, visit: SignInVisit): Promise<Redirection> {
    const { cookies, apiServerToken } = this.#parts
    const { cookie, address } = credentials
    return this.#reported('sign-out', visit, async (known) => {
      const removed = cookies.removeSession(cookie)
      const session = await this.#sessionOf(cookie)
      if (session === undefined) return { location: '/', setCookies: removed }
      const viewer = await this.#viewerOf(session, credentials).catch(() => undefined)
      known({ viewer, ...namesOf(session) })
      this.#markEnded(`id:${session.id}`)
      const { token, refreshToken } = this.#renewed.get(session.id) ?? session
      const idToken = apiServerToken === 'id' ? token : undefined
      // The user is signed out here even if the provider fails.
      const [location] = await Promise.all([
        this.#ask(address, (provider) => provider.signOutAddress(`${origin}/`, idToken)).catch(
          () => undefined,
        ),
        this.#revoke(refreshToken, address),
      ])
      return { location: location ?? '/', setCookies: [...removed, cookies.setEnded(session)] }
    })
  }

  async #revoke(refreshToken: string | undefined, lane: string | undefined): Promise<void> {
    if (refreshToken === undefined) return
    await this.#ask(lane, (provider) => provider.revoke(refreshToken)).catch(() => undefined)
  }

  /**
   * The session of a cookie. If the browser reports that its user has ended the session at another replica, it also ends
   * here: a running renewal has set this cookie late. Its refresh token is withdrawn.
   */
  async #sessionOf(cookie: string | undefined): Promise<Session | undefined> {
    const { cookies } = this.#parts
    const session = await cookies.session(cookie)
    if (session === undefined || !cookies.isEnded(session, cookie)) return session
    if (!this.#ends.has(`id:${session.id}`)) {
      this.#markEnded(`id:${session.id}`)
      void this.#revoke(session.refreshToken, session.id)
    }
    return session
  }

  /**
   * Ends the sessions that a logout token of the provider names (OpenID Connect Back-Channel Logout 1.0). Rejects with
   * {@link SignInError} if the text is no logout token.
   */
  endByProvider(logoutToken: string, visit: SignInVisit): Promise<void> {
    const { issuer, clientId, algorithms, keys } = this.#parts
    return this.#reported('provider-sign-out', visit, async (known) => {
      try {
        const { payload } = await jwtVerify(logoutToken, await keys.find(), {
          issuer,
          audience: clientId,
          algorithms: [...algorithms],
          requiredClaims: ['iat', 'jti', 'events'],
          maxTokenAge: maxLogoutTokenAgeMs / 1_000,
        })
        const { sub, sid, events, nonce, iat = 0, jti } = payload
        if (!isRecord(events) || !isRecord(events[logoutEvent]) || nonce !== undefined) {
          throw new errors.JWTClaimValidationFailed('no logout event', payload, 'events')
        }
        const isOfSession = typeof sid === 'string'
        if (!isOfSession && sub === undefined) {
          throw new errors.JWTClaimValidationFailed('no subject', payload, 'sub')
        }
        known({ subject: sub, providerSession: isOfSession ? sid : undefined })
        if (typeof jti !== 'string' || this.#logouts.has(jti)) {
          throw new errors.JWTClaimValidationFailed('it was used before', payload, 'jti')
        }
        this.#logouts.set(jti, true)
        const atMs = iat * 1_000
        if (isOfSession) this.#markEnded(`sid:${sid}`, atMs)
        if (sub !== undefined) this.#markEnded(`${isOfSession ? 'unnamed' : 'sub'}:${sub}`, atMs)
      } catch (error) {
        if (error instanceof errors.JOSEError) {
          throw new SignInError('TOKEN_REFUSED', 'this is not a logout token for this gateway', {
            hint: 'see OpenID Connect Back-Channel Logout 1.0, section 2.6',
            cause: error,
          })
        }
        this.#parts.failed(error)
        throw unavailable(error)
      }
    })
  }

  /** Reports the end of a step. The step calls `known` once it knows the user. */
  async #reported<T>(
    event: SignInReport['event'],
    { address, requestId }: Partial<SignInVisit>,
    step: (known: Known) => Promise<T>,
  ): Promise<T> {
    let whose: Parameters<Known>[0] = {}
    let code = ''
    try {
      return await step((one) => (whose = one))
    } catch (error) {
      code = error instanceof CodedError ? error.code : 'INTERNAL'
      throw error
    } finally {
      this.#parts.report({ event, code, ...whose, address, requestId })
    }
  }

  async #byCookie(credentials: Credentials): Promise<Admitted> {
    const { cookie } = credentials
    const before = this.#accepted.get(credentials)
    const session = before ?? (await this.#sessionOf(cookie))
    if (session === undefined) {
      if (this.#parts.cookies.holdsSession(cookie)) {
        throw unauthenticated('refused', 'the session of this browser cannot be read')
      }
      if (!this.isRequired) return { viewer: undefined, expiresAtMs: undefined }
      throw unauthenticated('none', 'this gateway requires a sign-in')
    }
    // A new request must bring a valid cookie. An open WebSocket or stream continues with the renewed session.
    return this.#accept(credentials, before === undefined ? session : this.#latest(session))
  }

  /** Authenticates a WebSocket by a newer token of the session that opened it. */
  async #bySocket(credentials: Credentials): Promise<Admitted> {
    const { cookies } = this.#parts
    const { authorization = '', cookie } = credentials
    const [session, renewal] = await Promise.all([
      this.#sessionOf(cookie),
      cookies.open('socket', authorization.slice(socketScheme.length)),
    ])
    if (session === undefined || renewal?.id !== session.id) {
      throw unauthenticated(
        'refused',
        'this WebSocket does not belong to the session that was renewed',
      )
    }
    return this.#accept(credentials, this.#latest({ ...session, ...renewal }))
  }

  async #accept(credentials: Credentials, session: Session): Promise<Authenticated> {
    const viewer = await this.#viewerOf(session, credentials)
    // Only the browser renews sessions.
    this.#accepted.set(credentials, { ...session, refreshToken: undefined })
    const followed = this.#followed.get(session.id)
    if (followed !== undefined && followed.latest.renewedAtMs < session.renewedAtMs) {
      followed.latest = { ...session, refreshToken: undefined }
    }
    return { viewer, expiresAtMs: Math.min(session.expiresAtMs, session.endsAtMs) }
  }

  async #viewerOf(session: Session, credentials: Credentials): Promise<Viewer> {
    if (this.#hasEnded(session) || isOver(session)) {
      throw unauthenticated('refused', 'the session has ended')
    }
    const authorization = `Bearer ${session.token}`
    const { viewer } = await this.#parts.tokens.authenticate({ ...credentials, authorization })
    if (viewer === undefined) throw unauthenticated('refused', 'the session has ended')
    return viewer
  }

  #latest(session: Session): Session {
    const latest = this.#followed.get(session.id)?.latest
    return latest !== undefined && latest.renewedAtMs > session.renewedAtMs ? latest : session
  }

  /** The session, renewed if that is due; `undefined` if it is over. */
  async #kept(session: Session): Promise<Session | undefined> {
    if (this.#hasEnded(session) || Date.now() >= session.endsAtMs) return undefined
    const renewed = this.#renewed.get(session.id)
    if (renewed !== undefined && renewed.renewedAtMs > session.renewedAtMs) return renewed
    if (session.refreshToken === undefined || Date.now() < renewalAtMs(session)) {
      return isOver(session) ? undefined : session
    }
    try {
      // Requests of one session share a renewal: a provider may accept each refresh token only once.
      const { id, refreshToken } = session
      const renewing = getOrInsert(this.#renewals, id, () =>
        this.#reported('renewal', {}, (known) => this.#renew(session, refreshToken, known)).finally(
          () => this.#renewals.delete(id),
        ),
      )
      return await renewing
    } catch (error) {
      if (!isOver(session)) return session
      if (error instanceof SignInError && error.problem === 'PROVIDER_UNAVAILABLE') {
        throw new IdentityUnavailableError(error)
      }
      if (error instanceof SignInError || error instanceof UnauthenticatedError) return undefined
      throw error
    }
  }

  async #renew(session: Session, refreshToken: string, known: Known): Promise<Session> {
    known(namesOf(session))
    const tokens = await this.#ask(session.id, (provider) => provider.refresh(refreshToken))
    const named = {
      ...session,
      providerSession: sidOf(tokens) ?? session.providerSession,
      refreshToken: tokens.refreshToken ?? refreshToken,
    }
    try {
      if (tokens.claims !== undefined && tokens.claims.sub !== session.subject) {
        throw new SignInError('SIGN_IN_REFUSED', 'the renewed token belongs to another user', {
          hint: 'sign in again',
        })
      }
      const { viewer, held } = await this.#tokenOf(tokens)
      known({ viewer, ...namesOf(named) })
      if (this.#hasEnded(named)) throw unauthenticated('refused', 'the session has ended')
      const renewed = { ...named, ...held }
      this.#renewed.set(session.id, renewed)
      const followed = this.#followed.get(session.id)
      if (followed !== undefined) followed.latest = renewed
      return renewed
    } catch (error) {
      // The sign-out has withdrawn only an older token.
      if (this.#hasEnded(named)) await this.#revoke(named.refreshToken, session.id)
      throw error
    }
  }

  /** The issued token that goes to API servers, and its user. */
  async #tokenOf({ idToken, accessToken }: IssuedTokens): Promise<{
    readonly viewer: Viewer
    readonly held: Pick<Session, 'token' | 'renewedAtMs' | 'expiresAtMs'>
  }> {
    const { apiServerToken, tokens } = this.#parts
    const token = apiServerToken === 'id' ? idToken : accessToken
    if (token === undefined) {
      throw new SignInError('TOKEN_REFUSED', 'the identity provider has issued no new ID token', {
        hint: 'sign in again; the operator may set auth.login.apiServerToken to access',
      })
    }
    if (token.length > maxSessionToken) throw tooLargeSession(Math.ceil((token.length * 4) / 3))
    try {
      const authorization = `Bearer ${token}`
      const known = await tokens.authenticate({ authorization, headers: noHeaders })
      const { viewer, expiresAtMs = 0 } = known
      if (viewer === undefined) throw unauthenticated('refused', 'the token names no user')
      return { viewer, held: { token, renewedAtMs: Date.now(), expiresAtMs } }
    } catch (error) {
      if (!(error instanceof UnauthenticatedError)) throw unavailable(error)
      throw new SignInError(
        'TOKEN_REFUSED',
        `the gateway does not accept the ${apiServerToken} token of the identity provider`,
        {
          hint: 'its issuer, audience (auth.audiences), algorithm and claims must match auth.oidc; ask the operator',
          cause: error,
        },
      )
    }
  }

  async #ask<T>(lane = '', ask: (provider: IdentityProvider) => Promise<T>): Promise<T> {
    const { provider, failed } = this.#parts
    try {
      return await this.#slots.run(lane, () => ask(provider))
    } catch (error) {
      if (error instanceof NoSlotError) throw unavailable(error)
      if (error instanceof SignInError && error.problem === 'PROVIDER_UNAVAILABLE') {
        failed(error.cause)
      }
      throw error
    }
  }

  #markEnded(key: string, atMs: number = Infinity): void {
    this.#ends.set(key, Math.max(atMs, this.#ends.get(key) ?? 0))
    for (const { session, changed } of this.#followed.values()) {
      if (this.#hasEnded(session)) for (const tell of changed) tell()
    }
  }

  #hasEnded({ id, providerSession, subject, startedAtMs }: Session): boolean {
    const isSince = (key: string): boolean => (this.#ends.get(key) ?? 0) >= startedAtMs
    if (isSince(`id:${id}`) || isSince(`sub:${subject}`)) return true
    // A session without a known `sid` may be the one that the provider has ended.
    return isSince(providerSession === undefined ? `unnamed:${subject}` : `sid:${providerSession}`)
  }
}

type Known = (whose: Pick<SignInReport, 'viewer' | 'subject' | 'providerSession'>) => void

function namesOf({ subject, providerSession }: Session): Parameters<Known>[0] {
  return { subject, providerSession }
}

/** The `sid` of the provider's own session, if its tokens name it. */
function sidOf({ claims }: IssuedTokens): string | undefined {
  const sid = claims?.['sid']
  return typeof sid === 'string' ? sid : undefined
}

const noHeaders: Credentials['headers'] = () => ({})

/** When a session is renewed: a fifth of the token's lifetime before its end; a minute, if that is longer and fits. */
function renewalAtMs({ renewedAtMs, expiresAtMs }: Session): number {
  const lifetimeMs = expiresAtMs - renewedAtMs
  return expiresAtMs - Math.min(lifetimeMs / 2, Math.max(60_000, lifetimeMs / 5))
}

function isOver({ expiresAtMs, endsAtMs }: Session): boolean {
  return Date.now() >= Math.min(expiresAtMs, endsAtMs)
}

function unauthenticated(problem: 'none' | 'refused', message: string): UnauthenticatedError {
  const hint = `sign in at ${signInPaths.login}, or send Authorization: Bearer TOKEN`
  return new UnauthenticatedError(problem, message, hint, signInPaths.login)
}

function unavailable(cause: unknown): SignInError {
  return new SignInError('PROVIDER_UNAVAILABLE', 'the sign-in cannot be completed now', {
    hint: "try again in a moment; the gateway's log says why",
    cause,
  })
}

import { pageState } from '../page-state.ts'
import { credentialsRefused, hasToken, signIn } from './credentials.ts'

/** The user of the browser's session, as `/auth/me` says. */
export interface SessionUser {
  /** For people. */
  readonly name: string
  readonly username: string
  readonly groups: readonly string[]
}

/** The browser's session at the gateway, as `/auth/me` tells it (docs/sign-in.md). */
export type Session =
  /** The gateway signs no browsers in, or the user gave a token, which counts instead. */
  | { readonly state: 'none' }
  /** The first answer is on its way. */
  | { readonly state: 'asking' }
  /** Nobody is signed in. `isRequired`: the gateway shows nothing then. */
  | { readonly state: 'out'; readonly isRequired: boolean }
  | { readonly state: 'in'; readonly user: SessionUser }
  /** It has ended while the page was open. */
  | { readonly state: 'ended' }

/** The body of `/auth/me`. */
interface Me {
  readonly signedIn: boolean
  readonly required: boolean
  /** Absent: this gateway has no sign-in. */
  readonly login?: string
  readonly logout?: string
  readonly user?: SessionUser
  readonly renewInMs?: number
  readonly expiresInMs?: number
  readonly socketAuthorization?: string
}

/** How soon it asks again if it gets no answer. */
const againMs = 5_000

/** Where to sign in and out; `undefined`: the gateway has no sign-in. */
let paths: { readonly login: string; readonly logout: string } | undefined
const state = pageState()
const renewals = new Set<(authorization: string) => void>()
// A token counts instead of a session, and nothing has to wait.
let session: Session = { state: hasToken() ? 'none' : 'asking' }
let asking: Promise<void> | undefined
let askedAtMs = 0
let next: ReturnType<typeof setTimeout> | undefined
let isLeaving = false

/** Asks who the user is, and keeps the session alive from now on. */
export function followSession(): void {
  void askSession()
  // Another tab may have signed out, in again, or in as another person.
  document.addEventListener('visibilitychange', () => {
    const isDue = Date.now() - askedAtMs > againMs && session.state !== 'none'
    if (document.visibilityState === 'visible' && isDue) void askSession()
  })
}

/** Calls `listener` with what prolongs an open WebSocket, each time that the session is known to go on. */
export function onRenewal(listener: (authorization: string) => void): void {
  renewals.add(listener)
}

/** The gateway does not take the credentials any more: the session may have been renewed elsewhere, or has ended. */
export async function refused(): Promise<void> {
  if (!hasToken()) await askSession()
  if (session.state === 'none') credentialsRefused()
}

/** The longest address that a sign-in comes back to. */
const longest = 1_000

/**
 * The address that signs in and comes back to this place; `undefined` if the gateway has no sign-in. `again`: the provider
 * asks who it is, even if it knows.
 */
export function signInAddress({ again = false } = {}): string | undefined {
  if (paths === undefined) return undefined
  const { pathname, search, hash } = location
  const whole = pathname + search + hash
  const parameters = new URLSearchParams({ return: whole.length > longest ? pathname : whole })
  if (again) parameters.set('prompt', 'login')
  return `${paths.login}?${parameters}`
}

/** Ends the session, here and at the provider; or forgets the token. */
export async function signOut(): Promise<void> {
  if (hasToken() || paths === undefined) {
    signIn(null)
    return
  }
  // The end of its WebSocket is no surprise.
  isLeaving = true
  clearTimeout(next)
  sessionStorage.clear()
  try {
    const headers = { accept: 'application/json' }
    const response = await fetch(paths.logout, { method: 'POST', headers })
    const { location: left } = (await response.json()) as { readonly location: string }
    location.assign(left)
  } catch {
    // The gateway cannot be reached, as the line says: nothing has ended.
    isLeaving = false
    void askSession()
  }
}

/** The browser's session. */
export function useSession(): Session {
  return state.useState(() => session)
}

/** Asks once at a time, and one tab after the other: the first one renews for all. */
function askSession(): Promise<void> {
  asking ??= (
    'locks' in navigator ? navigator.locks.request('informerql.session', ask) : ask()
  ).finally(() => (asking = undefined))
  return asking
}

async function ask(): Promise<void> {
  if (isLeaving) return
  clearTimeout(next)
  askedAtMs = Date.now()
  let me: Me
  try {
    const response = await fetch('/auth/me', { headers: { accept: 'application/json' } })
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    me = (await response.json()) as Me
  } catch {
    // Neither the gateway nor its provider says that the session is over.
    if (session.state === 'asking') conclude({ state: 'none' })
    next = setTimeout(() => void askSession(), againMs)
    return
  }
  const { login, logout, user, required, renewInMs, expiresInMs = 0, socketAuthorization } = me
  paths = login === undefined || logout === undefined ? undefined : { login, logout }
  if (paths === undefined || hasToken()) {
    conclude({ state: 'none' })
    return
  }
  if (!me.signedIn || user === undefined) {
    const wasIn = session.state === 'in' || session.state === 'ended'
    conclude(wasIn ? { state: 'ended' } : { state: 'out', isRequired: required })
    return
  }
  const isOther = session.state === 'in' && session.user.username !== user.username
  if (isOther || session.state === 'ended' || session.state === 'out') {
    // Another tab has signed in, perhaps as another person: what is shown here is not theirs.
    location.reload()
    return
  }
  conclude({ state: 'in', user })
  if (socketAuthorization !== undefined) for (const tell of renewals) tell(socketAuthorization)
  const waitMs = Math.min(renewInMs ?? expiresInMs, expiresInMs)
  next = setTimeout(() => void askSession(), waitMs + 50)
}

function conclude(now: Session): void {
  if (JSON.stringify(now) === JSON.stringify(session)) return
  session = now
  state.changed()
}

import type { WebSocketClient } from '@informerql/client'
import { useSyncExternalStore } from 'react'
import { credentialsRefused, hasToken } from './credentials.ts'

/** The session of the page's user, as `/auth/me` of the gateway tells it (docs/sign-in.md). */
export interface Session {
  readonly signedIn: boolean
  /** Whether the gateway answers nobody else. */
  readonly required: boolean
  /** Absent: this gateway signs nobody in. */
  readonly login?: string
  readonly logout?: string
  readonly user?: {
    readonly name: string
    readonly username: string
    readonly groups: readonly string[]
  }
  readonly renewInMs?: number
  readonly expiresInMs?: number
  readonly socketAuthorization?: string
}

const lock = 'informerql.session'
const leftAt = 'informerql.signing-in'
/** A page that comes back from signing in without a session does not lead there again within this time. */
const patienceMs = 30_000
/** When to ask again while the gateway cannot be reached, and at the earliest. */
const againMs = 30_000
const earliestMs = 1_000

const listeners = new Set<() => void>()
let current: Session | undefined
let asking: Promise<Session | undefined> | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let dueMs = Number.POSITIVE_INFINITY
let socket: WebSocketClient | undefined
let isLeaving = false

/** Asks for the session of the page's user, and again whenever it has to be renewed. Leads to the sign-in if there has to be one. */
export function keepSession(live: WebSocketClient): void {
  socket = live
  // Timers of a hidden page are late.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && Date.now() >= dueMs) void ask()
  })
  void ask()
}

/** The gateway wants other credentials: renews the session, leads to the sign-in, or has the page ask for a token. */
export async function sessionRefused(): Promise<void> {
  const session = hasToken() ? undefined : await ask()
  if (session === undefined || (!session.signedIn && !leadsToSignIn(session))) credentialsRefused()
}

/** The session of the page's user; `undefined` until the gateway has told it. */
export function useSession(): Session | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
}

/** Where the user signs in, and comes back from to this page. */
export function signInAddress(login: string): string {
  const { pathname, search, hash } = location
  return `${login}?return=${encodeURIComponent(pathname + search + hash)}`
}

/** Ends the session, and leaves the page for where the provider ends its own. */
export async function endSession(logout: string): Promise<void> {
  const answer = await fetch(logout, { method: 'POST', headers: { accept: 'application/json' } })
  const { location: next } = (await answer.json()) as { readonly location: string }
  location.assign(next)
}

function ask(): Promise<Session | undefined> {
  asking ??= asked().finally(() => (asking = undefined))
  return asking
}

async function asked(): Promise<Session | undefined> {
  // One tab after the other: a provider may take a refresh token once.
  const session = await alone(fetchSession).catch(() => undefined)
  clearTimeout(timer)
  const isWaiting = session === undefined && current?.signedIn === true
  const waitMs = isWaiting ? againMs : session?.renewInMs
  dueMs = Number.POSITIVE_INFINITY
  if (waitMs !== undefined) {
    const delayMs = Math.max(earliestMs, waitMs)
    dueMs = Date.now() + delayMs
    timer = setTimeout(() => void ask(), delayMs)
  }
  if (session === undefined) return undefined
  current = session
  for (const listener of listeners) listener()
  const { socketAuthorization: authorization } = session
  if (authorization !== undefined) socket?.prolong({ authorization })
  leadsToSignIn(session)
  return session
}

async function fetchSession(): Promise<Session | undefined> {
  const answer = await fetch('/auth/me', { headers: { accept: 'application/json' } })
  return answer.ok ? ((await answer.json()) as Session) : undefined
}

/** Browsers have locks for https and this machine, as they keep sessions. */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  return 'locks' in navigator ? navigator.locks.request(lock, work) : work()
}

/** Leads to the sign-in if there has to be one. `false` if there is none, or if the page has just been there. */
function leadsToSignIn({ signedIn, required, login }: Session): boolean {
  if (isLeaving) return true
  if (signedIn || !required || login === undefined || hasToken()) return false
  if (Date.now() - Number(sessionStorage.getItem(leftAt) ?? 0) < patienceMs) return false
  isLeaving = true
  sessionStorage.setItem(leftAt, String(Date.now()))
  location.assign(signInAddress(login))
  return true
}

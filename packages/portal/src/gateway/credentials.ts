import { pageState } from '../page-state.ts'

const kept = 'informerql.token'
const state = pageState()
let areRefused = false

/** The token that the user gave, for this tab only. */
function token(): string | null {
  return sessionStorage.getItem(kept)
}

/** Whether the user gave a token. */
export function hasToken(): boolean {
  return token() !== null
}

/** The token that the user gave, for views that ask by themselves. */
export function tokenGiven(): string | undefined {
  return token() ?? undefined
}

/** The headers, and the parameters of the WebSocket, that say who the user is. */
export function credentials(): { readonly authorization?: string } {
  const given = token()
  return given === null ? {} : { authorization: `Bearer ${given}` }
}

/** Notes that the gateway wants other credentials. */
export function credentialsRefused(): void {
  if (areRefused) return
  areRefused = true
  state.changed()
}

/** Forgets the token: the browser's session counts from the next page on. */
export function forgetToken(): void {
  sessionStorage.removeItem(kept)
}

/** Keeps a token, or forgets it, and starts the page again with it. */
export function signIn(given: string | null): void {
  if (given === null) forgetToken()
  else sessionStorage.setItem(kept, given)
  location.reload()
}

/** Whether the gateway wants credentials that the page does not have. */
export function useRefused(): boolean {
  return state.useState(() => areRefused)
}

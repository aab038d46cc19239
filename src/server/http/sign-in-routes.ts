/*
 * The paths of browser sign-in. Redirects lead browsers to `/auth/login` and `/auth/callback`. Pages read `/auth/me`, and
 * sign out by a `POST` to `/auth/logout`. The provider may post to `/auth/backchannel-logout`. While the server has a
 * `refusal`, it refuses sign-ins, and still ends sessions.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { SignInError, type SignInProblem } from '../../access/authentication/authenticator.ts'
import {
  type Me,
  type Redirection,
  type SignIn,
  type SignInVisit,
  signInPaths,
} from '../../access/sign-in/sign-in.ts'
import { readUpTo } from '../../lib/read-body.ts'
import { credentialsOf } from '../guard/followed-identity.ts'
import {
  acceptsHtml,
  answeredRequestId,
  type OriginCheck,
  refuseOperation,
  refuseRequest,
} from '../guard/request-guard.ts'
import type { Routes } from '../operation-options.ts'
import { escaped, plainPage, plainPagePolicy } from './plain-page.ts'

export function signInRoutes(
  signIn: SignIn,
  origins: OriginCheck,
  refusal: () => Error | undefined,
): Routes {
  const unlessRefused =
    (answer: Routes[string]): Routes[string] =>
    async (request, response) => {
      const refused = refusal()
      if (refused !== undefined) throw refused
      await answer(request, response)
    }
  const login: Routes[string] = async (request, response) => {
    const { searchParams } = addressOf(request, origins)
    const visit = {
      origin: origins.ownOrigin(request),
      returnTo: returnPathOf(searchParams.get('return')),
      asksAgain: searchParams.get('prompt') === 'login',
      cookie: request.headers.cookie,
      address: request.socket.remoteAddress,
    }
    redirect(response, await signIn.begin(visit))
  }
  const callback: Routes[string] = async (request, response) => {
    const visit = {
      callback: addressOf(request, origins),
      cookie: request.headers.cookie,
      ...visitOf(request, response),
    }
    redirect(response, await signIn.complete(visit))
  }
  const me: Routes[string] = async (request, response) => {
    const { me: answer, setCookies } = await signIn.me(credentialsOf(request, origins))
    sendJson(response, answer, setCookies)
  }
  const logout: Routes[string] = async (request, response) => {
    const isOwn = origins.isByOwnPage(request)
    if (!isOwn && request.method === 'GET') {
      // Only a page of the gateway may sign its user out. Another page, or a typed address, gets a question.
      sendSignInPage(response, 200, signOutQuestion)
      return
    }
    if (!isOwn) {
      const reason = 'Only a page of the gateway itself can sign its user out.'
      refuseRequest(response, { status: 403, reason, hint: 'post from a page of its origin' })
      return
    }
    const credentials = credentialsOf(request, origins)
    const ended = await signIn.end(
      credentials,
      origins.ownOrigin(request),
      visitOf(request, response),
    )
    if (acceptsHtml(request)) redirect(response, ended)
    else sendJson(response, { location: ended.location }, ended.setCookies)
  }
  const backChannelLogout: Routes[string] = async (request, response) => {
    const body = await readUpTo(maxBodyBytes, request)
    if (body.length > maxBodyBytes) {
      const hint = 'send logout_token=TOKEN as a form'
      const details = { value: body.length, hint }
      throw new SignInError(
        'TOKEN_REFUSED',
        `the body has more than ${maxBodyBytes} bytes`,
        details,
      )
    }
    const form = new URLSearchParams(body.toString())
    await signIn.endByProvider(form.get('logout_token') ?? '', visitOf(request, response))
    response.writeHead(200, { 'content-length': 0 }).end()
  }
  return {
    [signInPaths.login]: route(['GET'], unlessRefused(login)),
    [signInPaths.callback]: route(['GET'], unlessRefused(callback)),
    [signInPaths.me]: route(['GET'], me),
    [signInPaths.logout]: route(['GET', 'POST'], logout),
    [signInPaths.backChannelLogout]: route(['POST'], backChannelLogout),
  }
}

/** `/auth/me` of a gateway without sign-in, so that a page can read it on any gateway. */
export function withoutSignIn(required: boolean): Routes {
  const answer: Omit<Me, 'login' | 'logout'> = { signedIn: false, required }
  return { [signInPaths.me]: route(['GET'], (_, response) => sendJson(response, answer, [])) }
}

const failures: Readonly<
  Record<SignInProblem, { readonly status: number; readonly title: string }>
> = {
  RETURN_ADDRESS: { status: 400, title: 'This link leads elsewhere' },
  SIGN_IN_EXPIRED: { status: 400, title: 'This sign-in has expired' },
  SIGN_IN_REFUSED: { status: 403, title: 'The sign-in was refused' },
  TOKEN_REFUSED: { status: 403, title: 'The gateway does not accept this identity' },
  SESSION_TOO_LARGE: { status: 403, title: 'This identity is too large for a session' },
  PROVIDER_UNAVAILABLE: { status: 503, title: 'Signing in is not possible now' },
}

/** Adds the answers of failures: a page for people, an error in GraphQL's form for programs. */
function route(methods: readonly string[], answer: Routes[string]): Routes[string] {
  return async (request, response) => {
    const { method = '' } = request
    if (!methods.includes(method)) {
      const hint = `send ${methods.join(' or ')}`
      const headers = { allow: methods.join(', ') }
      refuseRequest(response, { status: 405, reason: `${method} is refused here.`, hint, headers })
      return
    }
    try {
      await answer(request, response)
    } catch (error) {
      if (!(error instanceof SignInError)) {
        refuseOperation(response, error)
      } else if (acceptsHtml(request)) {
        const { problem, message, hint } = error
        const said = [message, ...(hint === undefined ? [] : [hint])]
        const html = [
          ...said.map(
            (text) => `<p>${escaped(`${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`)}</p>`,
          ),
          `<p><a href="${signInPaths.login}">Sign in again</a></p>`,
          `<p class="code">${problem}</p>`,
        ].join('\n')
        sendSignInPage(response, failures[problem].status, { title: failures[problem].title, html })
      } else {
        const { code, message, value, hint } = error
        const body = { errors: [{ message, extensions: { code, value, hint } }] }
        sendJson(response, body, [], failures[error.problem].status)
      }
    }
  }
}

/** The longest path to return to: a cookie holds it, and the headers of a request hold all cookies. */
const maxReturnPath = 1_000

/**
 * The path to return to after a sign-in; default: `/`. Throws {@link SignInError} unless it is a path of this gateway:
 * browsers read `//host` and `/\host` as addresses of other hosts, and proxies may decode a path before they pass it on.
 */
function returnPathOf(given: string | null): string {
  if (given === null || given === '') return '/'
  const own = new URL('http://gateway.invalid')
  const isPath = /^\/(?![/\\])[\x21-\x7e]*$/.test(given) && !given.includes('\\')
  const parsed = isPath && URL.canParse(given, own) ? new URL(given, own) : undefined
  const path = parsed === undefined ? '' : parsed.pathname + parsed.search + parsed.hash
  if (path.length > maxReturnPath) {
    throw new SignInError(
      'RETURN_ADDRESS',
      `the address to return to has ${path.length} characters, and at most ${maxReturnPath} are kept`,
      { value: path.length, hint: 'give the path without its query' },
    )
  }
  if (parsed?.origin !== own.origin || !isHarmless(parsed.pathname)) {
    throw new SignInError(
      'RETURN_ADDRESS',
      `${JSON.stringify(given.slice(0, 200))} is not a path of this gateway`,
      {
        value: given.slice(0, 200),
        hint: 'give a path that begins with one slash: /auth/login?return=/pods',
      },
    )
  }
  return path
}

/** Whether a path remains a local path after one or two rounds of decoding. */
function isHarmless(path: string): boolean {
  let text = path
  for (let times = 0; times < 2; times += 1) {
    try {
      text = decodeURIComponent(text)
    } catch {
      return false
    }
    if (/^\/[/\\]/.test(text) || /[\\\p{Cc}]/u.test(text)) return false
  }
  return !path.startsWith('//')
}

function visitOf(request: IncomingMessage, response: ServerResponse): SignInVisit {
  return { address: request.socket.remoteAddress, requestId: answeredRequestId(response) }
}

function redirect(response: ServerResponse, { location, setCookies }: Redirection): void {
  // After 303, the browser follows a posted form with a GET.
  response.writeHead(303, { location, 'set-cookie': [...setCookies], 'content-length': 0 }).end()
}

function sendJson(
  response: ServerResponse,
  body: object,
  setCookies: readonly string[],
  status = 200,
): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    ...(setCookies.length === 0 ? {} : { 'set-cookie': [...setCookies] }),
  })
  response.end(text)
}

function addressOf(request: IncomingMessage, origins: OriginCheck): URL {
  const origin = origins.ownOrigin(request)
  const address = `${origin}${request.url ?? '/'}`
  return URL.canParse(address) ? new URL(address) : new URL(origin)
}

/** The size bound of a form with a logout token. The server's deadline for requests bounds the wait for it. */
const maxBodyBytes = 65_536

interface SignInPage {
  readonly title: string
  readonly html: string
}

/** Asks a person who comes from elsewhere whether they want to sign out. */
const signOutQuestion: SignInPage = {
  title: 'Sign out?',
  html: `<form method="post" action="${signInPaths.logout}"><button>Sign out</button></form>
<p><a href="/">Stay signed in</a></p>`,
}

const pageStyle =
  '.code { color: light-dark(#57606c, #98a2ae); font: 0.8rem ui-monospace, monospace }'

function sendSignInPage(
  response: ServerResponse,
  status: number,
  { title, html }: SignInPage,
): void {
  const body = Buffer.from(plainPage(title, html, pageStyle))
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': body.length,
    'content-security-policy': plainPagePolicy,
    // The form of this page must name its origin.
    'referrer-policy': 'same-origin',
  })
  response.end(body)
}

import type { ServerResponse } from 'node:http'
import type { SignInError } from '../../access/authentication/authenticator.ts'
import { signInPaths } from '../../access/sign-in/sign-in.ts'

/** A page of a few words: its title, and its body as HTML. */
interface SignInPage {
  readonly title: string
  readonly html: string
}

const titles: Readonly<Record<SignInError['problem'], string>> = {
  RETURN_ADDRESS: 'This link leads elsewhere',
  SIGN_IN_EXPIRED: 'This sign-in has expired',
  SIGN_IN_REFUSED: 'The sign-in was refused',
  TOKEN_REFUSED: 'The gateway does not accept this identity',
  SESSION_TOO_LARGE: 'This identity is too large for a session',
  PROVIDER_UNAVAILABLE: 'Signing in is not possible now',
}

/** The page for a sign-in that has failed. */
export function signInFailure({ problem, message, hint }: SignInError): SignInPage {
  return {
    title: titles[problem],
    html: [
      `<p>${escaped(sentence(message))}</p>`,
      hint === undefined ? '' : `<p>${escaped(sentence(hint))}</p>`,
      `<p><a href="${signInPaths.login}">Sign in again</a></p>`,
      `<p class="code">${problem}</p>`,
    ].join('\n'),
  }
}

/** Asks a person who comes from elsewhere whether they want to sign out. */
export const signOutQuestion: SignInPage = {
  title: 'Sign out?',
  html: `<form method="post" action="${signInPaths.logout}"><button>Sign out</button></form>
<p><a href="/">Stay signed in</a></p>`,
}

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

export function sendSignInPage(
  response: ServerResponse,
  status: number,
  { title, html }: SignInPage,
): void {
  const body = Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto 0; padding: 0 1rem }
h1 { font-size: 1.4rem }
.code { font: 0.8rem ui-monospace, monospace; opacity: 0.7 }
</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${html}
</body>
</html>
`)
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': body.length,
    'content-security-policy': policy,
    // The form of this page has to name its origin.
    'referrer-policy': 'same-origin',
  })
  response.end(body)
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (one) => entities[one] ?? one)
}

import { UnauthenticatedError } from './authenticator.ts'

/** Of a token; node:http bounds headers to about the same, but a message of a WebSocket may be longer. */
const maxTokenLength = 16_384

const bearer = /^bearer +([\x21-\x7e]+)$/i

const howTo =
  'send Authorization: Bearer TOKEN, by WebSocket also as { "authorization": "Bearer TOKEN" } in connection_init'

/** The token of an `Authorization` header (RFC 6750). Throws {@link UnauthenticatedError} where there is none. */
export function bearerTokenOf(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '') {
    throw new UnauthenticatedError('none', 'this gateway wants to know who asks', howTo)
  }
  const [, token] = bearer.exec(authorization) ?? []
  if (token === undefined || token.length > maxTokenLength) {
    throw new UnauthenticatedError('malformed', 'the credentials are no bearer token', howTo)
  }
  return token
}

/** A token that was understood, and that nobody vouches for (any more). */
export function refusedToken(): UnauthenticatedError {
  const hint = 'get a new token; this one has expired, is not for this gateway, or is nobody’s'
  return new UnauthenticatedError('refused', 'the bearer token is not accepted', hint)
}

/** When a JWT says that it expires, milliseconds; `undefined` where the token is none. It is believed of verified ones only. */
export function expiryOf(token: string): number | undefined {
  const [, payload, signature] = token.split('.')
  if (payload === undefined || signature === undefined) return undefined
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp?: unknown }
    return typeof claims.exp === 'number' ? claims.exp * 1_000 : undefined
  } catch {
    return undefined
  }
}

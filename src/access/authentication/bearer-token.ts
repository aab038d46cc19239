import { type Authenticator, CallerToken, UnauthenticatedError } from './authenticator.ts'
import { TokenCache, type TokenCacheOptions, type VerifyToken } from './token-cache.ts'

/** The options of all authenticators by bearer token. */
export interface BearerOptions extends TokenCacheOptions {
  /** The cluster that also accepts the tokens; absent: the default cluster. */
  readonly cluster: string | undefined
  /** Further clusters that accept them. */
  readonly tokenClusters?: readonly string[] | undefined
  /** See `Viewer`. */
  readonly systemIdentityClusters: readonly string[] | undefined
}

/** Authenticates callers by bearer token. Caches each token that `verify` accepts. */
export function bearerAuthenticator(options: BearerOptions, verify: VerifyToken): Authenticator {
  const cache = new TokenCache(options, verify)
  return {
    authenticate: ({ authorization, address }) =>
      cache.authenticate(bearerTokenOf(authorization), address),
    tokenOf({ authorization }) {
      const { cluster, tokenClusters } = options
      return new CallerToken(bearerTokenOf(authorization), cluster, tokenClusters)
    },
  }
}

/** The maximum length of a token. node:http limits headers to about the same; a WebSocket message may be longer. */
const maxTokenLength = 16_384

const bearer = /^bearer +([\x21-\x7e]+)$/i

const howTo =
  'send Authorization: Bearer TOKEN, by WebSocket also as { "authorization": "Bearer TOKEN" } in connection_init'

/** The token of an `Authorization` header (RFC 6750). Throws {@link UnauthenticatedError} without one. */
function bearerTokenOf(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '') {
    throw new UnauthenticatedError('none', 'this gateway requires authentication', howTo)
  }
  const [, token] = bearer.exec(authorization) ?? []
  if (token === undefined || token.length > maxTokenLength) {
    throw new UnauthenticatedError('malformed', 'the credentials are not a bearer token', howTo)
  }
  return token
}

/** The error for a well-formed token that is not accepted. */
export function refusedToken(): UnauthenticatedError {
  const hint = 'get a new token; this one has expired, is not for this gateway, or is unknown'
  return new UnauthenticatedError('refused', 'the bearer token is not accepted', hint)
}

import type { Authenticated, Authenticator, Credentials } from './authenticator.ts'
import { bearerTokenOf } from './bearer-token.ts'
import { CallerToken } from './caller-token.ts'
import { TokenCache, type TokenCacheOptions } from './token-cache.ts'

export interface BearerAuthenticatorOptions extends TokenCacheOptions {
  /** The cluster that tokens are for, besides the gateway; absent: the default one. */
  readonly cluster: string | undefined
}

/** Knows callers by their bearer tokens, each verified once for as long as the answer is relied upon. */
export function bearerAuthenticator({
  cluster,
  ...options
}: BearerAuthenticatorOptions): Authenticator {
  const cache = new TokenCache(options)
  return {
    authenticate: ({
      authorization,
      address,
    }: Credentials): Authenticated | Promise<Authenticated> =>
      cache.authenticate(bearerTokenOf(authorization), address),
    tokenOf: ({ authorization }: Credentials): CallerToken =>
      new CallerToken(bearerTokenOf(authorization), cluster),
  }
}

import { readFileSync } from 'node:fs'
import { CodedError } from '../../lib/coded-error.ts'
import type { AuthenticationOptions } from './authentication-options.ts'
import type { AuthenticationObserver, Authenticator } from './authenticator.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { oidcAuthenticator } from './oidc.ts'
import { RequestHeaderAuthenticator } from './request-header.ts'
import { type ReviewToken, tokenReviewAuthenticator } from './token-review.ts'

interface AuthenticatorSources {
  /** Makes a reviewer that sends tokens to the API server of a cluster; default: the default cluster. */
  readonly reviewToken: (cluster: string | undefined, deadlineMs: number) => ReviewToken
  readonly observer?: AuthenticationObserver
}

class AuthenticationOptionsError extends CodedError {
  constructor(option: string, problem: string, hint: string) {
    super('AUTH_OPTIONS', `${option} ${problem}`, { value: option, hint })
  }
}

/**
 * Makes the configured authenticator; `undefined` for mode `none`. Throws a `CodedError` if options are missing or a
 * file cannot be read.
 */
export function createAuthenticator(
  options: AuthenticationOptions,
  { reviewToken, observer }: AuthenticatorSources,
): Authenticator | undefined {
  const { audiences, knownMs, cluster, tokenClusters, deadlineMs, oidc } = options
  const { systemIdentityClusters = cluster === undefined ? undefined : [cluster] } = options
  const bearer = { cluster, tokenClusters, systemIdentityClusters, audiences, knownMs, observer }
  switch (options.mode) {
    case 'none':
      return undefined
    case 'token-review':
      return tokenReviewAuthenticator(bearer, reviewToken(cluster, deadlineMs))
    case 'oidc': {
      if (oidc === undefined) {
        const hint = 'give auth.oidc.issuer, and how its claims are read'
        throw new AuthenticationOptionsError('auth.oidc', 'is missing', hint)
      }
      if (audiences.length === 0) {
        const hint =
          'name the client that tokens are issued for: the API server calls it --oidc-client-id'
        throw new AuthenticationOptionsError('auth.audiences', 'is empty', hint)
      }
      const { issuer, caFile } = oidc
      const ca = caFile === undefined ? undefined : certificatesIn(caFile)
      return oidcAuthenticator(bearer, oidc, new IssuerKeys({ issuer, ca, deadlineMs }))
    }
    case 'request-header':
      return new RequestHeaderAuthenticator(options.requestHeader, systemIdentityClusters)
  }
}

function certificatesIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const hint = 'name a file of certificates, PEM'
    throw new AuthenticationOptionsError('auth.oidc.caFile', (error as Error).message, hint)
  }
}

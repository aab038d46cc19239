import { readFileSync } from 'node:fs'
import { CodedError } from '../../lib/coded-error.ts'
import type { AuthenticationObserver } from './authentication-observer.ts'
import type { AuthenticationOptions } from './authentication-options.ts'
import type { Authenticator } from './authenticator.ts'
import { oidcAuthenticator } from './oidc.ts'
import { RequestHeaderAuthenticator } from './request-header.ts'
import { type ReviewToken, tokenReviewAuthenticator } from './token-review.ts'

/** What authenticators ask, and report to. */
export interface AuthenticatorSources {
  /** Has the API server of a cluster review a token, the default one's unless it is named. */
  readonly reviewToken: (cluster: string | undefined, deadlineMs: number) => ReviewToken
  readonly observer?: AuthenticationObserver
}

/** Authentication that is configured in part only. */
class AuthenticationOptionsError extends CodedError {
  constructor(option: string, problem: string, hint: string) {
    super('AUTH_OPTIONS', `${option} ${problem}`, { value: option, hint })
  }
}

/**
 * What finds out who asks, as it is configured; `undefined`: nobody is asked. Throws a `CodedError` where something is missing, or
 * cannot be read.
 */
export function createAuthenticator(
  options: AuthenticationOptions,
  { reviewToken, observer }: AuthenticatorSources,
): Authenticator | undefined {
  const { audiences, knownMs, cluster, deadlineMs } = options
  const { systemIdentityClusters = cluster === undefined ? undefined : [cluster] } = options
  const belongs = { cluster, systemIdentityClusters }
  switch (options.mode) {
    case 'none':
      return undefined
    case 'token-review': {
      const review = reviewToken(cluster, deadlineMs)
      return tokenReviewAuthenticator({ review, ...belongs, audiences, knownMs, observer })
    }
    case 'oidc':
      return configuredOidc({ ...options, systemIdentityClusters }, observer)
    case 'request-header':
      return new RequestHeaderAuthenticator(options.requestHeader, systemIdentityClusters)
  }
}

function configuredOidc(
  { oidc, audiences, knownMs, deadlineMs, cluster, systemIdentityClusters }: AuthenticationOptions,
  observer: AuthenticationObserver | undefined,
): Authenticator {
  if (oidc === undefined) {
    const hint = 'give auth.oidc.issuer, and how its claims are read'
    throw new AuthenticationOptionsError('auth.oidc', 'is missing', hint)
  }
  if (audiences.length === 0) {
    const hint =
      'name the client that tokens are issued for: the API server calls it --oidc-client-id'
    throw new AuthenticationOptionsError('auth.audiences', 'is empty', hint)
  }
  const { caFile } = oidc
  const ca = caFile === undefined ? undefined : certificatesIn(caFile)
  const belongs = { cluster, systemIdentityClusters }
  return oidcAuthenticator({ oidc, audiences, ...belongs, ca, knownMs, deadlineMs, observer })
}

function certificatesIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const hint = 'name a file of certificates, PEM'
    throw new AuthenticationOptionsError('auth.oidc.caFile', (error as Error).message, hint)
  }
}

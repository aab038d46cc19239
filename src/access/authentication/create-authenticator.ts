import type { AuthenticationObserver } from './authentication-observer.ts'
import type { AuthenticationOptions } from './authentication-options.ts'
import type { Authenticator } from './authenticator.ts'
import { type ReviewToken, TokenReviewAuthenticator } from './token-review.ts'

/** What authenticators ask, and report to. */
export interface AuthenticatorSources {
  /** Has the API server of a cluster review a token, the default one's unless it is named. */
  readonly reviewToken: (cluster: string | undefined, deadlineMs: number) => ReviewToken
  readonly observer?: AuthenticationObserver
}

/** What finds out who asks, as it is configured; `undefined`: nobody is asked. */
export function createAuthenticator(
  options: AuthenticationOptions,
  { reviewToken, observer }: AuthenticatorSources,
): Authenticator | undefined {
  const { audiences, knownMs, cluster, deadlineMs } = options
  switch (options.mode) {
    case 'none':
      return undefined
    case 'token-review': {
      const review = reviewToken(cluster, deadlineMs)
      return new TokenReviewAuthenticator({ review, audiences, knownMs, observer })
    }
  }
}

import type { Viewer } from '../viewer.ts'
import {
  type Authenticated,
  type Authenticator,
  IdentityUnavailableError,
} from './authenticator.ts'
import type { AuthenticationObserver } from './authentication-observer.ts'
import { bearerAuthenticator } from './bearer-authenticator.ts'
import { expiryOf, refusedToken } from './bearer-token.ts'

/** The `spec` of a TokenReview. */
export interface TokenReviewSpec {
  readonly token: string
  readonly audiences?: readonly string[]
}

/** Has an API server review a token; resolves with the whole TokenReview. Rejects where it cannot, within a deadline. */
export type ReviewToken = (spec: TokenReviewSpec) => Promise<unknown>

export interface TokenReviewOptions {
  /** The cluster that tokens are for, besides the gateway; absent: the default one. */
  readonly cluster?: string | undefined
  /** As `Viewer` has them. */
  readonly systemIdentityClusters?: readonly string[] | undefined
  readonly review: ReviewToken
  /** What tokens have to be for, one of these; none: for the API server itself. */
  readonly audiences: readonly string[]
  /** How long an answer is relied upon, milliseconds. */
  readonly knownMs: number
  readonly observer?: AuthenticationObserver | undefined
}

/** As much of a TokenReview's status as is read here. */
interface TokenReviewStatus {
  readonly authenticated?: boolean
  readonly audiences?: readonly string[]
  readonly user?: Partial<Viewer>
}

/** Bearer tokens, whose owners an API server knows (authentication.k8s.io/v1, TokenReview). */
export function tokenReviewAuthenticator(options: TokenReviewOptions): Authenticator {
  const { audiences, knownMs, observer, cluster } = options
  const verify = (token: string): Promise<Authenticated> => reviewed(token, options)
  return bearerAuthenticator({ verify, audiences, knownMs, observer, cluster })
}

async function reviewed(
  token: string,
  { review, audiences, observer, systemIdentityClusters }: TokenReviewOptions,
): Promise<Authenticated> {
  let answer: { readonly status?: TokenReviewStatus } | undefined
  try {
    const wanted = audiences.length === 0 ? {} : { audiences }
    answer = (await review({ token, ...wanted })) as typeof answer
  } catch (error) {
    observer?.unavailable(error)
    throw new IdentityUnavailableError(error)
  }
  const { authenticated, user, audiences: found = [] } = answer?.status ?? {}
  // A server that does not know audiences names none: its tokens are for itself alone.
  const isForUs = audiences.length === 0 || audiences.some((one) => found.includes(one))
  const { username = '', uid = '', groups = [], extra = {} } = user ?? {}
  if (authenticated !== true || username === '' || !isForUs) throw refusedToken()
  const viewer = { username, uid, groups, extra, systemIdentityClusters }
  return { viewer, expiresAtMs: expiryOf(token) }
}

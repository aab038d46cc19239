import type { Viewer } from '../viewer.ts'
import {
  type Authenticated,
  type AuthenticationObserver,
  type Authenticator,
  IdentityUnavailableError,
} from './authenticator.ts'
import { bearerAuthenticator, expiryOf, refusedToken } from './bearer-token.ts'

/** The `spec` of a TokenReview. */
export interface TokenReviewSpec {
  readonly token: string
  readonly audiences?: readonly string[]
}

/** Sends a TokenReview to an API server and resolves with the result. Rejects on failure, within a deadline. */
export type ReviewToken = (spec: TokenReviewSpec) => Promise<unknown>

export interface TokenReviewOptions {
  /** The cluster that also accepts the tokens; absent: the default cluster. */
  readonly cluster?: string | undefined
  /** See `Viewer`. */
  readonly systemIdentityClusters?: readonly string[] | undefined
  readonly review: ReviewToken
  /** The accepted audiences; empty: that of the API server itself. */
  readonly audiences: readonly string[]
  /** How long an answer is trusted, in milliseconds. */
  readonly knownMs: number
  readonly observer?: AuthenticationObserver | undefined
}

/** The parts of a TokenReview's status that are read. */
interface TokenReviewStatus {
  readonly authenticated?: boolean
  readonly audiences?: readonly string[]
  readonly user?: Partial<Viewer>
}

/** Authenticates callers by bearer tokens that an API server reviews (authentication.k8s.io/v1, TokenReview). */
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
  // A server without support for audiences names none: its tokens are for itself alone.
  const isForUs = audiences.length === 0 || audiences.some((one) => found.includes(one))
  const { username = '', uid = '', groups = [], extra = {} } = user ?? {}
  if (authenticated !== true || username === '' || !isForUs) throw refusedToken()
  const viewer = { username, uid, groups, extra, systemIdentityClusters }
  return { viewer, expiresAtMs: expiryOf(token) }
}

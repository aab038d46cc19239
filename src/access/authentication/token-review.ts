import { expiryOf } from '../../api-server/kubeconfig/client-certificate.ts'
import type { Viewer } from '../viewer.ts'
import {
  type Authenticated,
  type Authenticator,
  IdentityUnavailableError,
} from './authenticator.ts'
import { bearerAuthenticator, type BearerOptions, refusedToken } from './bearer-token.ts'

interface TokenReviewSpec {
  readonly token: string
  readonly audiences?: readonly string[]
}

/** Sends a TokenReview to an API server and resolves with the result. Rejects on failure, within a deadline. */
export type ReviewToken = (spec: TokenReviewSpec) => Promise<unknown>

interface TokenReviewStatus {
  readonly authenticated?: boolean
  readonly audiences?: readonly string[]
  readonly user?: Partial<Viewer>
}

/**
 * Authenticates callers by bearer tokens that an API server reviews (authentication.k8s.io/v1, TokenReview). Without
 * `audiences`, tokens are for the API server itself.
 */
export function tokenReviewAuthenticator(
  options: BearerOptions,
  review: ReviewToken,
): Authenticator {
  return bearerAuthenticator(options, (token) => reviewed(token, review, options))
}

async function reviewed(
  token: string,
  review: ReviewToken,
  { audiences, observer, systemIdentityClusters }: BearerOptions,
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

import type { ReviewToken } from '../access/authentication/token-review.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { Cluster } from './connected-cluster.ts'

/** The cluster that should review tokens does not exist. */
export class NoReviewerError extends CodedError {
  constructor(cluster: string, known: readonly string[]) {
    super(
      'NO_REVIEWER',
      `auth.cluster is ${JSON.stringify(cluster)}, and there is no such cluster`,
      {
        value: cluster,
        hint: `name one of these: ${known.join(', ')}`,
      },
    )
  }
}

const apiVersion = 'authentication.k8s.io/v1'

/**
 * Makes a reviewer that sends tokens to the API server of a cluster, by default the first. Throws {@link
 * NoReviewerError}. The reviewer rejects while the cluster cannot be reached, and after the deadline.
 */
export function tokenReviewer(
  clusters: () => readonly Cluster[],
  named: string | undefined,
  deadlineMs: number,
): ReviewToken {
  const find = (): Cluster | undefined => {
    const all = clusters()
    return named === undefined ? all[0] : all.find(({ name }) => name === named)
  }
  if (named !== undefined && find() === undefined) {
    const known = clusters().map(({ name }) => name)
    throw new NoReviewerError(named, known)
  }
  return async (spec) => {
    const cluster = find()
    if (cluster?.state !== 'connected') {
      throw cluster?.error ?? new CodedError('NO_REVIEWER', 'the cluster is no longer served')
    }
    return await cluster.api.apiServer.request('POST', `/apis/${apiVersion}/tokenreviews`, {
      body: { apiVersion, kind: 'TokenReview', spec },
      deadlineMs,
    })
  }
}

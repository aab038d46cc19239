import type { ReviewToken } from '../access/authentication/token-review.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { Cluster } from './connected-cluster.ts'

/** No cluster has the name that was configured to review tokens. */
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
 * Has tokens reviewed by the API server of a cluster, the first one's unless it is named. Throws {@link NoReviewerError}. What it
 * returns rejects while the cluster cannot be reached, and no later than the deadline.
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
      throw cluster?.error ?? new CodedError('NO_REVIEWER', 'the cluster is served no more')
    }
    return await cluster.api.apiServer.request('POST', `/apis/${apiVersion}/tokenreviews`, {
      body: { apiVersion, kind: 'TokenReview', spec },
      deadlineMs,
    })
  }
}

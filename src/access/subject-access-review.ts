import { CodedError } from '../lib/coded-error.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import type { AccessQuestion } from './access-question.ts'
import { type ReviewGrounds, reviewGrounds, type ReviewStatus } from './review-grounds.ts'
import type { Viewer } from './viewer.ts'

/** What reviews ask of the connection to a cluster. */
export interface ReviewRequests {
  request(
    method: 'POST',
    path: string,
    options: { readonly body: unknown; readonly deadlineMs: number },
  ): Promise<unknown>
}

/** A cluster that does not say what somebody may do. */
export class AccessReviewError extends CodedError {
  /** Whether it is the gateway itself that may not ask. */
  readonly isRefused: boolean

  constructor(cluster: string, cause: unknown) {
    const isRefused =
      cause instanceof ApiStatusError && (cause.httpStatus === 403 || cause.httpStatus === 401)
    const message = isRefused
      ? `cluster ${cluster} does not let the gateway ask what its callers may see`
      : `cluster ${cluster} does not say what its callers may see`
    super('ACCESS_REVIEW', message, {
      value: cluster,
      cause,
      hint: isRefused
        ? 'let the gateway create subjectaccessreviews, as the ClusterRole system:auth-delegator does'
        : 'ask again in a moment',
    })
    this.isRefused = isRefused
  }
}

const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

/** What an API server says of a question, and by what of RBAC. */
export interface ReviewAnswer {
  readonly allowed: boolean
  readonly grounds: ReviewGrounds | undefined
}

/** Asks the API server whether a viewer may do something. An answer that cannot be read is a refusal. Rejects as `request` does. */
export async function reviewAccess(
  server: ReviewRequests,
  viewer: Viewer,
  question: AccessQuestion,
  deadlineMs: number,
): Promise<ReviewAnswer> {
  const { username, uid, groups, extra } = viewer
  const answer = await server.request('POST', path, {
    deadlineMs,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: username,
        uid,
        groups,
        extra,
        resourceAttributes: question,
      },
    },
  })
  const { status } = (answer ?? {}) as { readonly status?: ReviewStatus }
  return { allowed: status?.allowed === true, grounds: reviewGrounds(status ?? {}) }
}

/*
 * Sends a SubjectAccessReview. The API server alone decides, so that webhooks and other authorizers count like RBAC. The
 * reason of an answer may name the binding and the role that allow it. These tell which later changes of RBAC can affect
 * the answer.
 */

import { isUnauthorized } from '../api-server/transport/reachability.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { AccessQuestion } from './access-question.ts'
import { textOf } from '../kubernetes/fields.ts'
import { jsonIn } from '../lib/json.ts'
import { bindingSubject, type ReviewGrounds, roleSubject } from './rbac-changes.ts'
import type { Viewer } from './viewer.ts'

export interface ReviewRequests {
  request(
    method: 'POST',
    path: string,
    options: { readonly body: unknown; readonly deadlineMs: number },
  ): Promise<unknown>
}

export class AccessReviewError extends CodedError {
  /** Whether the gateway lacks permission to create reviews. */
  readonly isRefused: boolean
  /** Whether the cluster does not accept the gateway's credentials. */
  readonly isUnauthorized: boolean

  constructor(cluster: string, cause: unknown) {
    const isRefused = cause instanceof ApiStatusError && cause.httpStatus === 403
    const message = isRefused
      ? `cluster ${cluster} does not allow the gateway to review the access of its callers`
      : `cluster ${cluster} failed to review the access of its callers`
    super('ACCESS_REVIEW', message, {
      value: cluster,
      cause,
      hint: isRefused
        ? 'let the gateway create subjectaccessreviews, as the ClusterRole system:auth-delegator does'
        : 'try again in a moment',
    })
    this.isRefused = isRefused
    this.isUnauthorized = isUnauthorized(cause)
  }
}

const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

interface ReviewAnswer {
  readonly allowed: boolean
  readonly grounds: ReviewGrounds | undefined
}

/** Sends a SubjectAccessReview. An unreadable answer counts as a refusal. Rejects as `request` does. */
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

interface ReviewStatus {
  readonly allowed?: unknown
  readonly denied?: unknown
  readonly reason?: unknown
  readonly evaluationError?: unknown
}

/**
 * The grounds of an answer; `undefined` if another authorizer than RBAC has or may have decided, so that any change may
 * affect it. Source: kube-apiserver's `rbac.RBACAuthorizer`, whose reasons begin with `RBAC: `, and the union of
 * authorizers, which puts the reasons of authorizers without an opinion on their own lines.
 */
function reviewGrounds(status: ReviewStatus): ReviewGrounds | undefined {
  const { allowed, denied, reason = '', evaluationError = '' } = status
  if (typeof reason !== 'string' || evaluationError !== '') return undefined
  if (allowed !== true) {
    const isRbac = reason === '' || (reason.startsWith('RBAC: ') && !reason.includes('\n'))
    return isRbac && denied !== true ? [] : undefined
  }
  const { binding, boundKind, role, roleKind } = allowedBy.exec(reason)?.groups ?? {}
  if (binding === undefined || role === undefined || roleKind === undefined) return undefined
  // Go's `%q` is JSON except for rare characters.
  const [bindingName, roleName] = [textOf(jsonIn(binding)), textOf(jsonIn(role))]
  if (bindingName === undefined || roleName === undefined) return undefined
  if (boundKind === 'ClusterRoleBinding') {
    return [bindingSubject('', bindingName), roleSubject(roleKind, '', roleName)]
  }
  // The form is `name/namespace`. Neither contains a slash.
  const [name = '', namespace = ''] = bindingName.split('/')
  return [bindingSubject(namespace, name), roleSubject(roleKind, namespace, roleName)]
}

const quoted = String.raw`"(?:[^"\\]|\\.)*"`
const allowedBy = new RegExp(
  String.raw`^RBAC: allowed by (?<boundKind>ClusterRoleBinding|RoleBinding) (?<binding>${quoted}) of (?<roleKind>ClusterRole|Role) (?<role>${quoted}) to `,
)

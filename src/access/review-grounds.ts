import { bindingSubject, roleSubject } from './rbac-change.ts'

/**
 * By what of RBAC an API server has decided: for a permission the binding and the role that it names, for a refusal nothing, as
 * all of RBAC has nothing that allows it. As texts of `RbacChange`.
 */
export type ReviewGrounds = readonly string[]

/** The status of a SubjectAccessReview. */
export interface ReviewStatus {
  readonly allowed?: unknown
  readonly denied?: unknown
  readonly reason?: unknown
  readonly evaluationError?: unknown
}

/**
 * The grounds of an answer; `undefined` where anything but RBAC has or may have decided: then nobody can tell which change
 * concerns it. Source: kube-apiserver's `rbac.RBACAuthorizer`, whose reasons begin with `RBAC: `, and the union of authorizers, which
 * puts reasons of those that have no opinion on lines of their own.
 */
export function reviewGrounds(status: ReviewStatus): ReviewGrounds | undefined {
  const { allowed, denied, reason = '', evaluationError = '' } = status
  if (typeof reason !== 'string' || evaluationError !== '') return undefined
  if (allowed !== true) {
    const isRbac = reason === '' || (reason.startsWith('RBAC: ') && !reason.includes('\n'))
    return isRbac && denied !== true ? [] : undefined
  }
  const { binding, boundKind, role, roleKind } = allowedBy.exec(reason)?.groups ?? {}
  if (binding === undefined || role === undefined || roleKind === undefined) return undefined
  const [bindingName, roleName] = [unquoted(binding), unquoted(role)]
  if (bindingName === undefined || roleName === undefined) return undefined
  if (boundKind === 'ClusterRoleBinding') {
    return [bindingSubject('', bindingName), roleSubject(roleKind, '', roleName)]
  }
  // `name/namespace`; neither has a slash.
  const [name = '', namespace = ''] = bindingName.split('/')
  return [bindingSubject(namespace, name), roleSubject(roleKind, namespace, roleName)]
}

const quoted = String.raw`"(?:[^"\\]|\\.)*"`
const allowedBy = new RegExp(
  String.raw`^RBAC: allowed by (?<boundKind>ClusterRoleBinding|RoleBinding) (?<binding>${quoted}) of (?<roleKind>ClusterRole|Role) (?<role>${quoted}) to `,
)

/** Go's `%q`, which is JSON but for characters that names hardly have: those are not understood. */
function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}

/*
 * How RBAC reads rules and subjects. Source: the RBAC documentation, and `pkg/registry/rbac/validation` of Kubernetes.
 */

import type { PolicyRule } from './wire/rbac-v1.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

/** What a rule is asked about. An absent member is not asked about. */
export interface AskedAccess {
  readonly verb?: string | undefined
  readonly at?:
    | {
        /** `''` for the core group. */
        readonly group: string
        readonly resource: string
        /** `''` for the object itself. */
        readonly subresource: string
      }
    | undefined
  /** `''` for a collection, and for any object: rules for single names do not grant it. */
  readonly name?: string | undefined
}

/** Whether a rule grants access to resources. Rules for paths outside of resources grant none. */
export function allowsResource(
  { verbs, apiGroups, resources, resourceNames = [] }: PolicyRule,
  { verb, at, name }: AskedAccess,
): boolean {
  if (verb !== undefined && !hasOrAll(verbs, verb)) return false
  if (name !== undefined && resourceNames.length > 0 && !resourceNames.includes(name)) return false
  if (at === undefined) return true
  const { group, resource, subresource } = at
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const isNamed =
    hasOrAll(resources, what) ||
    (subresource !== '' && resources?.includes(`*/${subresource}`) === true)
  return isNamed && hasOrAll(apiGroups, group)
}

/** Whether a list of a rule has a value, or `*`. */
export function hasOrAll(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(value))
}

/** A subject of a binding. `namespace` is that of a ServiceAccount; `''` for users and groups. */
export interface RbacSubject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly namespace: string
  readonly name: string
}

const accountUser = /^system:serviceaccount:([^:]+):([^:]+)$/

/** The user as RBAC knows it: a ServiceAccount, if the name is that of one. */
export function userSubject(name: string): RbacSubject {
  const [, namespace, account] = accountUser.exec(name) ?? []
  return namespace === undefined || account === undefined
    ? { kind: 'User', namespace: '', name }
    : { kind: 'ServiceAccount', namespace, name: account }
}

/** The valid subjects of a binding. `namespace`: that of the binding; `''` for a ClusterRoleBinding. */
export function subjectsBound(subjects: unknown, namespace: string): readonly RbacSubject[] {
  if (!Array.isArray(subjects)) return []
  return (subjects as readonly unknown[]).flatMap((subject): readonly RbacSubject[] => {
    const { kind, name, namespace: own } = (subject ?? {}) as Readonly<Record<string, unknown>>
    if (typeof name !== 'string' || name === '') return []
    if (kind === 'User') return [userSubject(name)]
    if (kind === 'Group') return [{ kind, namespace: '', name }]
    const of = typeof own === 'string' && own !== '' ? own : namespace
    return kind === 'ServiceAccount' && of !== '' ? [{ kind, namespace: of, name }] : []
  })
}

/** The groups that everyone of a kind is in, besides those that only an authenticator knows. */
export function groupsOf({ kind, namespace, name }: RbacSubject): readonly string[] {
  if (kind === 'ServiceAccount') {
    return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']
  }
  if (kind === 'User') {
    return [name === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated']
  }
  if (name === 'system:unauthenticated') return [name]
  const ofAccounts = name.startsWith('system:serviceaccounts:') ? ['system:serviceaccounts'] : []
  return [...new Set([name, ...ofAccounts, 'system:authenticated'])]
}

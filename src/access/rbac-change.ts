import type { Viewer } from './viewer.ts'

/** Whom a change of RBAC may give or take something, and where. */
export interface RbacChange {
  /** `''`: everywhere. */
  readonly namespace: string
  /** Texts of {@link subjectsOf} and `ReviewGrounds`. */
  readonly subjects: readonly string[] | 'everybody'
}

/** A change of which nothing is known but where it is, `''`: everywhere. */
export function changeForAll(namespace: string): RbacChange {
  return { namespace, subjects: 'everybody' }
}

/** How a binding names a viewer: a ServiceAccount by its user name, as an authorizer knows it. */
export function subjectsOf({ username, groups }: Viewer): readonly string[] {
  return [userSubject(username), ...groups.map(groupSubject)]
}

const userSubject = (name: string): string => `User ${name}`
const groupSubject = (name: string): string => `Group ${name}`

/** A role as bindings refer to it; `namespace`: of a Role, or of the binding. */
export function roleSubject(kind: string, namespace: string, name: string): string {
  return kind === 'Role' ? `Role ${namespace}/${name}` : `${kind} ${name}`
}

/** A binding itself; `''` as the namespace of a ClusterRoleBinding. */
export function bindingSubject(namespace: string, name: string): string {
  return namespace === '' ? `ClusterRoleBinding ${name}` : `RoleBinding ${namespace}/${name}`
}

/** Whom a binding is about. `undefined` where that cannot be read: then it may be anybody. */
export function boundSubjects(
  subjects: unknown,
  bindingNamespace: string,
): readonly string[] | undefined {
  if (subjects === undefined || subjects === null) return []
  if (!Array.isArray(subjects)) return undefined
  const bound: string[] = []
  for (const subject of subjects as readonly unknown[]) {
    const { kind, name, namespace } = (subject ?? {}) as Readonly<Record<string, unknown>>
    if (typeof name !== 'string') return undefined
    switch (kind) {
      case 'User':
        bound.push(userSubject(name))
        break
      case 'Group':
        bound.push(groupSubject(name))
        break
      case 'ServiceAccount': {
        const isPlaced = typeof namespace === 'string' && namespace !== ''
        const place = isPlaced ? namespace : bindingNamespace
        bound.push(userSubject(`system:serviceaccount:${place}:${name}`))
        break
      }
      default:
        return undefined
    }
  }
  return bound
}

import type { Viewer } from './viewer.ts'

/** The subjects and the namespace that a change of RBAC may affect. */
export interface RbacChange {
  /** `''` for all namespaces. */
  readonly namespace: string
  /** Texts of {@link subjectsOf} and `ReviewGrounds`. */
  readonly subjects: readonly string[] | 'everybody'
}

/** A change with unknown subjects in a namespace; `''` for all. */
export function changeForAll(namespace: string): RbacChange {
  return { namespace, subjects: 'everybody' }
}

/** The subjects by which bindings name a viewer. A ServiceAccount is named by its user name, as in an authorizer. */
export function subjectsOf({ username, groups }: Viewer): readonly string[] {
  return [userSubject(username), ...groups.map(groupSubject)]
}

const userSubject = (name: string): string => `User ${name}`
const groupSubject = (name: string): string => `Group ${name}`

/** A role as bindings refer to it. `namespace` is that of a Role, or of the binding. */
export function roleSubject(kind: string, namespace: string, name: string): string {
  return kind === 'Role' ? `Role ${namespace}/${name}` : `${kind} ${name}`
}

/** A binding; its namespace is `''` for a ClusterRoleBinding. */
export function bindingSubject(namespace: string, name: string): string {
  return namespace === '' ? `ClusterRoleBinding ${name}` : `RoleBinding ${namespace}/${name}`
}

/** The subjects of a binding; `undefined` if they cannot be read, so that any viewer may be affected. */
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

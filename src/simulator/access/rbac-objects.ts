import type { Unstructured } from '../../kubernetes/object.ts'
import type { Storage } from '../storage/storage.ts'
import type { AccessRule } from './authorization.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

interface RbacResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

const resource = (name: string): RbacResource => ({
  group: rbacGroup,
  version: 'v1',
  resource: name,
})

/** The four kinds of RBAC. */
export const rbacResources: Readonly<
  Record<'roles' | 'clusterRoles' | 'roleBindings' | 'clusterRoleBindings', RbacResource>
> = {
  roles: resource('roles'),
  clusterRoles: resource('clusterroles'),
  roleBindings: resource('rolebindings'),
  clusterRoleBindings: resource('clusterrolebindings'),
}

/** Calls `listener` after each change of an object of the four kinds, or of `resources`. */
export function onRbacChange(
  storage: Storage,
  listener: () => void,
  resources: readonly { readonly resource: string }[] = Object.values(rbacResources),
): void {
  for (const { resource: name } of resources) {
    const served = storage.registry.find(rbacGroup, 'v1', name)
    if (served !== undefined) storage.store(served.stored).subscribe(listener)
  }
}

export interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

export interface RoleReference {
  readonly kind: string
  readonly name: string
}

/** A binding of one subject to one role. */
export interface Binding {
  readonly name: string
  /** `''` for a ClusterRoleBinding. */
  readonly namespace: string
  readonly subject: Subject
  readonly role: RoleReference
}

/** The bindings of a binding object: one for each subject. */
export function bindingsOf(object: Unstructured): readonly Binding[] {
  const { subjects, roleRef } = object as Unstructured & {
    readonly subjects?: readonly Subject[] | null
    readonly roleRef?: RoleReference
  }
  const { name, namespace = '' } = object.metadata
  if (roleRef === undefined) return []
  return (subjects ?? []).map((subject) => ({ name, namespace, subject, role: roleRef }))
}

/** The rules of a role object. */
export function rulesOf(object: Unstructured): readonly AccessRule[] {
  const { rules } = object as Unstructured & { readonly rules?: readonly AccessRule[] | null }
  return rules ?? []
}

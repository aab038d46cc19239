import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import type { PolicyRule } from '../../kubernetes/wire/rbac-v1.ts'
import type { Storage } from '../storage/storage.ts'
import type { Identity } from './authentication.ts'
import {
  type AccessAttributes,
  type Authorizer,
  type Decision,
  everything,
} from './authorization.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

interface Binding {
  readonly name: string
  /** `''` for a ClusterRoleBinding. */
  readonly namespace: string
  readonly subject: { readonly kind: string; readonly name: string; readonly namespace?: string }
  readonly role: { readonly kind: string; readonly name: string }
}

/** The bindings of a binding object: one for each subject. */
function bindingsOf(object: Unstructured): readonly Binding[] {
  const { subjects, roleRef } = object as Unstructured & {
    readonly subjects?: readonly Binding['subject'][] | null
    readonly roleRef?: Binding['role']
  }
  const { name, namespace = '' } = object.metadata
  if (roleRef === undefined) return []
  return (subjects ?? []).map((subject) => ({ name, namespace, subject, role: roleRef }))
}

export function rulesOf(object: Unstructured): readonly PolicyRule[] {
  const { rules } = object as Unstructured & { readonly rules?: readonly PolicyRule[] | null }
  return rules ?? []
}

/**
 * Decides by the roles and bindings that the storage holds at the moment of the request. Source: the RBAC
 * documentation; reasons are those of a kube-apiserver.
 */
export class Rbac implements Authorizer {
  readonly #storage: Storage
  #bindings: ReadonlyMap<string, readonly Binding[]> | undefined
  readonly #rules = new Map<string, readonly PolicyRule[] | undefined>()

  constructor(storage: Storage) {
    this.#storage = storage
    storage.follow(({ group }) => {
      if (group !== rbacGroup) return
      this.#bindings = undefined
      this.#rules.clear()
    })
  }

  decide(identity: Identity, attributes: AccessAttributes): Decision {
    if (identity.groups.includes('system:masters')) return { allowed: true, reason: '' }
    const missing: string[] = []
    const namespace = attributes.kind === 'path' ? '' : attributes.namespace
    for (const binding of this.#bindingsOf(identity, namespace)) {
      const rules = this.#rulesOf(binding)
      if (rules === undefined) missing.push(notFound(binding.role))
      else if (rules.some((rule) => allows(rule, attributes))) {
        return { allowed: true, reason: `RBAC: allowed by ${reasonOf(binding)}` }
      }
    }
    const [first] = missing
    if (first === undefined) return { allowed: false, reason: '' }
    const problems = [...new Set(missing)]
    const text = problems.length === 1 ? first : `[${problems.join(', ')}]`
    return { allowed: false, reason: `RBAC: ${text}` }
  }

  rules(identity: Identity, namespace: string): readonly PolicyRule[] {
    const own = this.#bindingsOf(identity, namespace).flatMap((binding) => {
      const rules = this.#rulesOf(binding) ?? []
      // Only ClusterRoleBindings grant paths.
      return binding.namespace === ''
        ? rules
        : rules.filter(({ nonResourceURLs }) => nonResourceURLs === undefined)
    })
    return identity.groups.includes('system:masters') ? [...everything, ...own] : own
  }

  /** The bindings of a user: cluster-wide bindings first, then those of the namespace. */
  #bindingsOf({ name: user, groups }: Identity, namespace: string): readonly Binding[] {
    this.#bindings ??= Map.groupBy(
      [resources.clusterRoleBindings, resources.roleBindings].flatMap((resource) =>
        Array.from(this.#storage.list(resource)).flatMap(bindingsOf),
      ),
      ({ namespace: scope, subject: { kind, name, namespace: of = scope } }) =>
        kind === 'ServiceAccount'
          ? `${scope}/ServiceAccount ${of}:${name}`
          : `${scope}/${kind} ${name}`,
    )
    const bindings = this.#bindings
    const [system, kind, of = '', account = ''] = user.split(':')
    const isAccount = system === 'system' && kind === 'serviceaccount'
    const keys = [
      `User ${user}`,
      ...(isAccount ? [`ServiceAccount ${of}:${account}`] : []),
      ...groups.map((group) => `Group ${group}`),
    ]
    const scopes = namespace === '' ? [''] : ['', namespace]
    return scopes.flatMap((scope) => keys.flatMap((key) => bindings.get(`${scope}/${key}`) ?? []))
  }

  /** The rules of a binding's role; `undefined` if the role does not exist. */
  #rulesOf({ namespace, role }: Binding): readonly PolicyRule[] | undefined {
    const isLocal = role.kind === 'Role'
    const key = isLocal ? `${namespace}/${role.name}` : role.name
    if (!this.#rules.has(key)) {
      const resource = isLocal ? resources.roles : resources.clusterRoles
      const found = this.#storage.get(resource, isLocal ? namespace : '', role.name)
      this.#rules.set(key, found === undefined ? undefined : rulesOf(found))
    }
    return this.#rules.get(key)
  }
}

function reasonOf({ name, namespace, subject, role }: Binding): string {
  const place = namespace === '' ? name : `${name}/${namespace}`
  const binding = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'
  const account =
    subject.kind === 'ServiceAccount'
      ? `${subject.name}/${subject.namespace ?? namespace}`
      : subject.name
  return `${binding} "${place}" of ${role.kind} "${role.name}" to ${subject.kind} "${account}"`
}

const notFound = ({ kind, name }: Binding['role']): string =>
  `${kind.toLowerCase()}.${rbacGroup} ${JSON.stringify(name)} not found`

const has = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && (list.includes('*') || list.includes(value))

function allows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false
  if (attributes.kind === 'path') {
    const { path } = attributes
    return (rule.nonResourceURLs ?? []).some(
      (url) => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))),
    )
  }
  const { group, resource, subresource, name } = attributes
  const { resources: own = [], resourceNames = [] } = rule
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const named = has(own, what) || (subresource !== '' && own.includes(`*/${subresource}`))
  return (
    named &&
    has(rule.apiGroups, group) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  )
}

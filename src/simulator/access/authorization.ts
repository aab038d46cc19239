/*
 * What a user may do. Either everything but what the user's `denied` lists, or what the roles and bindings in the
 * storage allow at the moment of the request. The default roles of a cluster are added at the start, and aggregated
 * roles follow the roles that they select, as in a real cluster.
 */

import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { labelSelectorOf, matchesLabels } from '../../kubernetes/label-selector.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { allowsResource, hasOrAll, rbacGroup } from '../../kubernetes/rbac.ts'
import { resources } from '../../kubernetes/resources.ts'
import type { PolicyRule } from '../../kubernetes/wire/rbac-v1.ts'
import { isJsonObject } from '../../lib/json.ts'
import { equalJson } from '../api/json.ts'
import type { ServedResource } from '../api/served-resource.ts'
import { detailsOf, Refusal } from '../api/status-refusal.ts'
import { inPasses, type Storage } from '../storage/storage.ts'
import type { Identity, SimulatorUser } from './authentication.ts'

export interface ResourceAttributes {
  /** The RBAC verb. */
  readonly verb: string
  /** `''` for the core group. */
  readonly group: string
  readonly resource: string
  /** `''` for the object itself. */
  readonly subresource: string
  /** `''` for cluster-scoped resources, and for all namespaces. */
  readonly namespace: string
  /** `''` for a collection. */
  readonly name: string
}

/** A request for resources, or for a path outside of resources. */
export type AccessAttributes = ResourceAttributes | { readonly verb: string; readonly path: string }

interface Decision {
  readonly allowed: boolean
  /** `''` for no reason. */
  readonly reason: string
}

export interface Authorizer {
  decide(identity: Identity, attributes: AccessAttributes): Decision
  /** The rules of a user in a namespace. */
  rules(identity: Identity, namespace: string): readonly PolicyRule[]
}

export const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** Allows everything except the resources in a user's `denied`. */
export function denyingAuthorizer(users: readonly SimulatorUser[]): Authorizer {
  const denied = new Map(users.map(({ user, denied: names = [] }) => [user, names]))
  return {
    decide: ({ name }, attributes) => ({
      allowed:
        'path' in attributes || denied.get(name)?.includes(groupResourceOf(attributes)) !== true,
      reason: '',
    }),
    rules: () => everything,
  }
}

/** A 403 in the words of a kube-apiserver. */
export function forbidden(
  { name: user }: Identity,
  attributes: AccessAttributes,
  reason: string,
): Refusal {
  const because = reason === '' ? '' : `: ${reason}`
  const { verb } = attributes
  if ('path' in attributes) {
    const message = `forbidden: User ${JSON.stringify(user)} cannot ${verb} path ${JSON.stringify(attributes.path)}${because}`
    return new Refusal(403, message, { details: {} })
  }
  const { group, resource, subresource, namespace, name } = attributes
  const groupResource = groupResourceOf(attributes)
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const subject = name === '' ? groupResource : `${groupResource} "${name}"`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const message = `${subject} is forbidden: User "${user}" cannot ${verb} resource "${what}" in API group "${group}" ${where}${because}`
  return new Refusal(403, message, {
    details: detailsOf(attributes),
  })
}

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

function rulesOf(object: Unstructured): readonly PolicyRule[] {
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
    const namespace = 'path' in attributes ? '' : attributes.namespace
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

function allows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  if (!('path' in attributes)) {
    const { verb, name } = attributes
    return allowsResource(rule, { verb, at: attributes, name })
  }
  const { verb, path } = attributes
  return (
    hasOrAll(rule.verbs, verb) &&
    (rule.nonResourceURLs ?? []).some(
      (url) => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))),
    )
  )
}

const reading = ['get', 'list', 'watch']
const writing = ['create', 'delete', 'deletecollection', 'patch', 'update']
const information = ['/healthz', '/livez', '/readyz', '/version', '/version/']
const discovery = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', ...information]

/**
 * Adds the default ClusterRoles that users of a cluster meet, and their bindings. Keeps those that exist. `view`,
 * `edit` and `admin` aggregate rules for the namespaced resources of the server, as in a real cluster.
 */
export function addDefaultRoles(storage: Storage): void {
  const namespaced = storage.registry.builtIn().filter((served) => served.namespaced)
  const ofRbac = namespaced.filter(({ group }) => group === rbacGroup)
  const secrets = namespaced.filter(({ resource }) => resource === 'secrets')
  const plain = namespaced.filter((one) => !ofRbac.includes(one) && !secrets.includes(one))
  const all = [...reading, ...writing]
  const view = rulesFor(plain, reading)
  const edit = [...rulesFor(plain, writing), ...rulesFor(secrets, all)]
  const admin = rulesFor(ofRbac, all)
  addRole(storage, 'cluster-admin', everything)
  addRole(storage, 'system:discovery', [{ nonResourceURLs: discovery, verbs: ['get'] }])
  addRole(storage, 'system:public-info-viewer', [{ nonResourceURLs: information, verbs: ['get'] }])
  addRole(storage, 'system:basic-user', [
    {
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      verbs: ['create'],
    },
    { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
  ])
  addRole(storage, 'system:auth-delegator', [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ])
  addRole(storage, 'system:aggregate-to-view', view, { to: ['view'] })
  addRole(storage, 'system:aggregate-to-edit', edit, { to: ['edit'] })
  addRole(storage, 'system:aggregate-to-admin', admin, { to: ['admin'] })
  addRole(storage, 'view', [], { from: 'view', to: ['edit'] })
  addRole(storage, 'edit', [], { from: 'edit', to: ['admin'] })
  addRole(storage, 'admin', [], { from: 'admin', to: [] })
  addBinding(storage, 'cluster-admin', ['system:masters'])
  addBinding(storage, 'system:discovery', ['system:authenticated'])
  addBinding(storage, 'system:basic-user', ['system:authenticated'])
  addBinding(storage, 'system:public-info-viewer', [
    'system:authenticated',
    'system:unauthenticated',
  ])
}

/** The role that metrics-server adds to those of readers. */
export function addMetricsReader(storage: Storage): void {
  const rule = { apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: reading }
  const to = ['view', 'edit', 'admin']
  addRole(storage, 'system:aggregated-metrics-reader', [rule], { to })
}

function rulesFor(kinds: readonly ServedResource[], verbs: readonly string[]): PolicyRule[] {
  return [...Map.groupBy(kinds, ({ group }) => group)].map(([group, own]) => {
    const names = own.flatMap(({ resource, subresources }) => [
      resource,
      ...Array.from(subresources.keys(), (part) => `${resource}/${part}`),
    ])
    return { apiGroups: [group], resources: [...new Set(names)], verbs }
  })
}

/** The label of a role that `role` aggregates. */
const aggregateTo = (role: string): Record<string, string> => ({
  [`${rbacGroup}/aggregate-to-${role}`]: 'true',
})

function addRole(
  storage: Storage,
  name: string,
  rules: readonly PolicyRule[],
  { from, to = [] }: { readonly from?: string; readonly to?: readonly string[] } = {},
): void {
  const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: aggregateTo(from ?? '') }] }
  if (storage.get(resources.clusterRoles, '', name) !== undefined) return
  storage.create(resources.clusterRoles, {
    apiVersion: `${rbacGroup}/v1`,
    kind: 'ClusterRole',
    metadata: { name, labels: Object.assign({}, labels, ...to.map(aggregateTo)) },
    rules,
    ...(from === undefined ? {} : { aggregationRule }),
  })
}

function addBinding(storage: Storage, name: string, groups: readonly string[]): void {
  if (storage.get(resources.clusterRoleBindings, '', name) !== undefined) return
  storage.create(resources.clusterRoleBindings, {
    apiVersion: `${rbacGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name },
    subjects: groups.map((group) => ({ apiGroup: rbacGroup, kind: 'Group', name: group })),
  })
}

type Selector = Parameters<typeof labelSelectorOf>[0]

/**
 * Gives each aggregated ClusterRole the rules of the roles that its selectors select, now and after each change, as the
 * controller manager of a real cluster does.
 */
export function aggregateRoles(storage: Storage): void {
  const sync = inPasses(() => {
    const roles = Array.from(storage.list(resources.clusterRoles)).toSorted((a, b) =>
      a.metadata.name < b.metadata.name ? -1 : 1,
    )
    // Writes the first role whose rules are out of date. The write asks for another pass.
    for (const role of roles) {
      const { aggregationRule: aggregation } = role
      if (!isJsonObject(aggregation)) continue
      const given = (aggregation['clusterRoleSelectors'] ?? []) as readonly Selector[]
      const selectors = given.map(labelSelectorOf)
      const rules = roles
        .filter(({ metadata }) => selectors.some((one) => matchesLabels(one, metadata.labels)))
        .flatMap((other) => (other === role ? [] : rulesOf(other)))
      const unique = rules.filter(
        (rule, at) => rules.findIndex((other) => equalJson(rule, other)) === at,
      )
      if (equalJson(unique, rulesOf(role))) continue
      storage.update(resources.clusterRoles, { ...role, rules: unique })
      return
    }
  })
  storage.follow(({ group, resource }) => {
    if (group === rbacGroup && resource === 'clusterroles') sync()
  })
  sync()
}

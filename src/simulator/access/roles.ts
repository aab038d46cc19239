import { labelSelectorOf, matchesLabels } from '../../kubernetes/label-selector.ts'
import { resources } from '../../kubernetes/resources.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { PolicyRule } from '../../kubernetes/wire/rbac-v1.ts'
import { equalJson } from '../api/json.ts'
import type { ServedResource } from '../api/served-resource.ts'
import { inPasses, type Storage } from '../storage/storage.ts'
import { everything } from './authorization.ts'
import { rbacGroup, rulesOf } from './rbac.ts'

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

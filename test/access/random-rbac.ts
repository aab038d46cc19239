import type { Fields } from '../gateway/test-cluster.ts'
import { type AccessCluster, rbac, users } from './access-cluster.ts'

const group = 'rbac.authorization.k8s.io'
const resources = [
  'pods',
  'services',
  'configmaps',
  'events',
  'nodes',
  'namespaces',
  'replicasets',
  '*',
]
const names = ['first', 'second', 'shop', 'big', 'red', 'of-first']
const verbs = ['get', 'list', 'watch', 'delete', '*']
/** What rules often grant: to follow, to list without a watch, to watch without a list, and to get alone. */
const usualVerbs = [
  ['get', 'list', 'watch'],
  ['list', 'watch'],
  ['get', 'list'],
  ['get', 'watch'],
  ['get'],
]
const places = ['red', 'green', 'blue']

/** How far each resource of RBAC has got, by `roles.rbac.authorization.k8s.io`: what is to be heard of. */
export type Heard = ReadonlyMap<string, string>

/** Random roles and bindings, one world after the other, in the same cluster. */
export class RandomRbac {
  readonly #cluster: AccessCluster
  readonly #random: () => number
  readonly #groups: readonly string[]
  readonly #resources: readonly string[]
  readonly #subjects: readonly Fields[]
  #made: string[] = []
  #count = 0

  /** `further`: what rules and bindings name besides the usual. */
  constructor(
    cluster: AccessCluster,
    random: () => number,
    further: {
      readonly groups: readonly string[]
      readonly resources: readonly string[]
      readonly subjects?: readonly Fields[]
    } = { groups: [], resources: [] },
  ) {
    this.#cluster = cluster
    this.#random = random
    this.#groups = ['', 'apps', ...further.groups]
    this.#resources = [...resources, ...further.resources]
    this.#subjects = further.subjects ?? []
  }

  /** Another world in place of the last one. */
  async replace(): Promise<Heard> {
    for (const path of this.#made) await this.#remove(path)
    this.#made = []
    for (let at = 0; at < 3 + this.#below(4); at += 1) await this.#grant()
    return this.#mark()
  }

  /** Some of it changes. */
  async change(): Promise<Heard> {
    for (let at = 0; at < 1 + this.#below(3); at += 1) {
      const [path] = this.#made.splice(this.#below(this.#made.length), 1)
      if (path !== undefined && this.#random() < 0.6) await this.#remove(path)
      else await this.#grant()
    }
    return this.#mark()
  }

  /** One more change of each resource: whoever has heard of it has heard of all before it. */
  async #mark(): Promise<Heard> {
    const heard = new Map<string, string>()
    const role = { apiGroup: group, name: 'mark' }
    const marks = {
      roles: { rules: [] },
      clusterroles: { rules: [] },
      rolebindings: { roleRef: { ...role, kind: 'Role' } },
      clusterrolebindings: { roleRef: { ...role, kind: 'ClusterRole' } },
    }
    const annotations = { count: String((this.#count += 1)) }
    for (const [resource, rest] of Object.entries(marks)) {
      const path = pathOf(resource, 'red')
      const body = { metadata: { name: 'mark', annotations }, ...rest }
      let answer = await this.#cluster.ask(path, { method: 'POST', body })
      if (answer.status === 409) {
        const patch = { metadata: { annotations } }
        answer = await this.#cluster.ask(`${path}/mark`, { method: 'PATCH', body: patch })
      }
      heard.set(`${resource}.${group}`, answer.json.metadata.resourceVersion)
    }
    return heard
  }

  async #grant(): Promise<void> {
    const namespace = this.#one(places)
    if (this.#random() < 0.3) {
      await this.#grantApart(namespace)
      return
    }
    const isClusterRole = this.#random() < 0.5
    const rules = Array.from({ length: 1 + this.#below(3) }, () => this.#rule(isClusterRole))
    const isEverywhere = isClusterRole && this.#random() < 0.4
    const subjects = Array.from({ length: 1 + this.#below(2) }, () => this.#subject())
    await this.#bind(rules, { isClusterRole, namespace: isEverywhere ? '' : namespace, subjects })
  }

  /** Lists everywhere and watches in one namespace, or the other way round, of one kind and by the same subject. */
  async #grantApart(namespace: string): Promise<void> {
    const resource = this.#random() < 0.6 ? 'pods' : this.#one(this.#resources)
    const subjects = [this.#subject()]
    const [wide, narrow] = this.#random() < 0.7 ? ['list', 'watch'] : ['watch', 'list']
    for (const [verb, where] of [
      [wide, ''],
      [narrow, namespace],
    ] as const) {
      const rule = { apiGroups: this.#groups, resources: [resource], verbs: [verb] }
      await this.#bind([rule], { isClusterRole: true, namespace: where, subjects })
    }
  }

  /** A role, and a binding of it; namespace `''`: in all of them. */
  async #bind(
    rules: readonly Fields[],
    {
      isClusterRole,
      namespace,
      subjects,
    }: {
      readonly isClusterRole: boolean
      readonly namespace: string
      readonly subjects: readonly Fields[]
    },
  ): Promise<void> {
    const name = `random-${(this.#count += 1)}`
    await this.#make(isClusterRole ? 'clusterroles' : 'roles', namespace, {
      metadata: { name, labels: { aggregate: String(this.#below(2)) } },
      rules,
      ...(isClusterRole && this.#random() < 0.2
        ? { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { aggregate: '1' } }] } }
        : {}),
    })
    await this.#make(namespace === '' ? 'clusterrolebindings' : 'rolebindings', namespace, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: isClusterRole ? 'ClusterRole' : 'Role', name },
      subjects,
    })
  }

  #subject(): Fields {
    if (this.#subjects.length > 0 && this.#random() < 0.4) return this.#one(this.#subjects)
    const user = this.#one(users)
    const kind = this.#random() < 0.7 ? 'User' : 'Group'
    const named = [...user.groups.filter((one) => this.#random() < 0.9 || one !== 'ops'), 'nobody']
    return { apiGroup: group, kind, name: kind === 'User' ? user.username : this.#one(named) }
  }

  #rule(isClusterRole: boolean): Fields {
    const roll = this.#random()
    if (isClusterRole && roll < 0.1) {
      return { nonResourceURLs: ['/healthz', '/metrics'], verbs: ['get'] }
    }
    const some = <T>(all: readonly T[], most: number): T[] =>
      Array.from({ length: 1 + this.#below(most) }, () => this.#one(all))
    return {
      apiGroups: this.#random() < 0.15 ? ['*'] : some(this.#groups, 2),
      resources: some(this.#resources, 3),
      verbs: this.#random() < 0.7 ? this.#one(usualVerbs) : some(verbs, 3),
      ...(this.#random() < 0.3 ? { resourceNames: some(names, 2) } : {}),
    }
  }

  async #make(resource: string, namespace: string, body: Fields): Promise<void> {
    const path = pathOf(resource, namespace)
    const { metadata } = await this.#cluster.must(path, { method: 'POST', body })
    this.#made.push(`${path}/${metadata.name}`)
  }

  async #remove(path: string): Promise<void> {
    const { status } = await this.#cluster.ask(path, { method: 'DELETE' })
    if (status >= 300 && status !== 404) throw new Error(`${path}: ${status}`)
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #one<T>(all: readonly T[]): T {
    return all[this.#below(all.length)] as T
  }
}

const pathOf = (resource: string, namespace: string): string =>
  resource.startsWith('cluster')
    ? `${rbac}/${resource}`
    : `${rbac}/namespaces/${namespace}/${resource}`

import type { Caller } from '../support/viewed-gateway.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type AccessCluster, rbac } from './access-cluster.ts'
import type { Heard } from './random-rbac.ts'

const group = 'rbac.authorization.k8s.io'
const places = ['red', 'green'] as const
const names = ['first', 'second', 'third'] as const
const kinds = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'] as const

type Resource = (typeof kinds)[number]

/**
 * A few roles and bindings, each of which is made, edited in its place and removed again at random, so that bindings lead to
 * roles that are not there, roles come back with other rules, and subjects come and go.
 */
export class EditedRbac {
  /** What was done last. */
  last = ''
  readonly #cluster: AccessCluster
  readonly #random: () => number
  readonly #viewers: readonly Caller[]
  readonly #present = new Set<string>()

  constructor(cluster: AccessCluster, random: () => number, viewers: readonly Caller[]) {
    this.#cluster = cluster
    this.#random = random
    this.#viewers = viewers
  }

  async begin(): Promise<Heard> {
    const heard = new Map<string, string>()
    for (let at = 0; at < 12; at += 1) {
      for (const [resource, version] of await this.edit()) heard.set(resource, version)
    }
    return heard
  }

  /** One edit, or a few at once. */
  async edit(): Promise<Heard> {
    const heard = new Map<string, string>()
    const done: string[] = []
    for (let at = 0; at < 1 + this.#below(2); at += 1) {
      const resource = this.#one(kinds)
      const { what, resourceVersion } = await this.#edit(resource)
      done.push(what)
      heard.set(`${resource}.${group}`, resourceVersion)
    }
    this.last = done.join('; ')
    return heard
  }

  async #edit(resource: Resource): Promise<{ what: string; resourceVersion: string }> {
    const place = resource.startsWith('cluster') ? '' : `/namespaces/${this.#one(places)}`
    const name = this.#one(names)
    const path = `${rbac}${place}/${resource}`
    const at = `${path}/${name}`
    const isRole = resource.endsWith('roles')
    const content = isRole ? { rules: this.#rules() } : { subjects: this.#subjects() }
    const { must } = this.#cluster
    if (this.#present.has(at) && this.#random() < 0.35) {
      // A deletion is answered by no version: what is made after it has one.
      await must(at, { method: 'DELETE' })
      this.#present.delete(at)
      const mark = { metadata: { name: `mark-${this.#below(1e9)}` }, ...this.#emptied(resource) }
      const { metadata } = await must(path, { method: 'POST', body: mark })
      return { what: `DELETE ${at}`, resourceVersion: metadata.resourceVersion }
    }
    const { metadata } = this.#present.has(at)
      ? await must(at, { method: 'PATCH', body: content })
      : await must(path, {
          method: 'POST',
          body: { ...this.#emptied(resource), ...content, metadata: { name } },
        })
    const what = `${this.#present.has(at) ? 'PATCH' : 'POST'} ${at} ${JSON.stringify(content)}`
    this.#present.add(at)
    return { what, resourceVersion: metadata.resourceVersion }
  }

  #emptied(resource: Resource): Fields {
    if (resource.endsWith('roles')) return { rules: [] }
    const isLocal = resource === 'rolebindings' && this.#random() < 0.5
    const kind = isLocal ? 'Role' : 'ClusterRole'
    return { roleRef: { apiGroup: group, kind, name: this.#one(names) }, subjects: [] }
  }

  #rules(): readonly Fields[] {
    return Array.from({ length: this.#below(3) }, () => ({
      apiGroups: [''],
      resources: [this.#one(['pods', 'configmaps', 'nodes', '*'])],
      verbs: [this.#one(['get', 'list', 'delete', '*'])],
      ...(this.#random() < 0.2 ? { resourceNames: [this.#one(names)] } : {}),
    }))
  }

  #subjects(): readonly Fields[] {
    return Array.from({ length: this.#below(3) }, () => {
      const { username, groups } = this.#one(this.#viewers)
      const [, , namespace, account] = username.split(':')
      if (account !== undefined && this.#random() < 0.8) {
        return { kind: 'ServiceAccount', name: account, namespace }
      }
      return this.#random() < 0.4
        ? { apiGroup: group, kind: 'Group', name: this.#one(groups) }
        : { apiGroup: group, kind: 'User', name: username }
    })
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #one<T>(all: readonly T[]): T {
    return all[this.#below(all.length)] as T
  }
}

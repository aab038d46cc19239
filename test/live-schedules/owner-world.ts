import type { Simulator } from 'informerql/simulator'
import { created, sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'

const template = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'x', image: 'example/x' }] },
}
const workload = { spec: { selector: { matchLabels: { app: 'x' } }, template } }
const names = ['a', 'b', 'c', 'd'] as const

/** A kind whose objects own each other. */
interface OwnerKind {
  readonly kind: string
  readonly apiVersion: string
  readonly path: string
  readonly body: (random: () => number) => Fields
}

const kinds: readonly OwnerKind[] = [
  {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    path: '/apis/apps/v1/namespaces/default/deployments',
    body: () => workload,
  },
  {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    path: '/apis/apps/v1/namespaces/default/replicasets',
    body: () => workload,
  },
  {
    kind: 'Pod',
    apiVersion: 'v1',
    path: '/api/v1/namespaces/default/pods',
    body: (random) => ({
      spec: {
        nodeName: 'node-1',
        containers: [{ name: 'main', image: 'nginx:1' }],
        volumes: [{ name: 'settings', configMap: { name: oneOf(names, random) } }],
      },
    }),
  },
  {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    path: '/api/v1/namespaces/default/configmaps',
    body: () => ({}),
  },
  {
    kind: 'Secret',
    apiVersion: 'v1',
    path: '/api/v1/namespaces/default/secrets',
    body: () => ({}),
  },
]

export const oneOf = <T>(values: readonly T[], random: () => number): T =>
  values[Math.floor(random() * values.length)] as T

/** Objects of some kinds that come, go, and are owned by one another, or by nobody who is there. */
export class OwnerWorld {
  readonly #cluster: Simulator
  readonly #random: () => number
  readonly #present = new Map<string, Fields>()

  constructor(cluster: Simulator, random: () => number) {
    this.#cluster = cluster
    this.#random = random
  }

  /** Writes something to one object. */
  async write(): Promise<void> {
    const random = this.#random
    const kind = oneOf(kinds, random)
    const name = oneOf(names, random)
    const place = `${kind.path}/${name}`
    const dice = random()
    if (!this.#present.has(place)) {
      const metadata = { name, ...this.#labels(), ...this.#owners(place) }
      const body = { metadata, ...kind.body(random) }
      this.#present.set(place, {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        ...(await created(this.#cluster, kind.path, body)),
      })
    } else if (dice < 0.25) {
      this.#present.delete(place)
      await sent(this.#cluster, 'DELETE', `${place}?gracePeriodSeconds=0&propagationPolicy=Orphan`)
    } else {
      const annotations = { touch: String(Math.floor(random() * 100)) }
      const metadata =
        dice < 0.5 ? this.#owners(place) : dice < 0.75 ? this.#labels() : { annotations }
      await sent(this.#cluster, 'PATCH', place, { metadata })
    }
  }

  #labels(): Fields {
    const random = this.#random
    const labels = { tier: oneOf(['x', 'y'], random) }
    return {
      labels: { ...labels, 'app.kubernetes.io/instance': oneOf(['one', 'two'], random) },
    }
  }

  #owners(place: string): Fields {
    const others = [...this.#present].filter(([path]) => path !== place)
    const count = Math.min(others.length, Math.floor(this.#random() * 3))
    const owners = new Map(Array.from({ length: count }, () => oneOf(others, this.#random)))
    const ownerReferences = Array.from(
      owners.values(),
      ({ apiVersion, kind, metadata: { name, uid } }, at) => ({
        apiVersion,
        kind,
        name,
        uid,
        controller: at === 0,
      }),
    )
    return { ownerReferences }
  }
}

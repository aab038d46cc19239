import type { ResourceName, Storage } from 'informerql/simulator'

/** Any JSON object of an API server, as tests read it. */
// oxlint-disable-next-line typescript/no-explicit-any -- objects are read by the names that the API gives them
export type Fields = any

const core = (resource: string): ResourceName => ({ group: '', version: 'v1', resource })
const apps = (resource: string): ResourceName => ({ group: 'apps', version: 'v1', resource })

/** The kinds of the cluster. */
export type Type =
  | 'Namespace'
  | 'Node'
  | 'Pod'
  | 'ConfigMap'
  | 'Secret'
  | 'PersistentVolumeClaim'
  | 'ServiceAccount'
  | 'Service'
  | 'Event'
  | 'ReplicaSet'
  | 'Deployment'
  | 'Ingress'

/** As the API has them. */
export const resources: Readonly<Record<Type, ResourceName>> = {
  Namespace: core('namespaces'),
  Node: core('nodes'),
  Pod: core('pods'),
  ConfigMap: core('configmaps'),
  Secret: core('secrets'),
  PersistentVolumeClaim: core('persistentvolumeclaims'),
  ServiceAccount: core('serviceaccounts'),
  Service: core('services'),
  Event: core('events'),
  ReplicaSet: apps('replicasets'),
  Deployment: apps('deployments'),
  Ingress: { group: 'networking.k8s.io', version: 'v1', resource: 'ingresses' },
}

/** All of them. */
export const types: readonly Type[] = Object.keys(resources) as Type[]

const clusterScoped: ReadonlySet<Type> = new Set(['Namespace', 'Node'])
const namespaces = ['a', 'b'] as const
const apps3 = ['web', 'db', 'cache'] as const
const phases = ['Pending', 'Running', 'Succeeded', 'Failed'] as const

/**
 * A cluster of some hundred objects that name each other at random, out of so few names that they often meet: also objects
 * that are not there, or no more, and namesakes in the other namespace.
 */
export class RandomCluster {
  readonly #storage: Storage
  readonly #random: () => number
  /** The revision of the last write of each kind. */
  readonly written: Map<Type, number> = new Map()
  #made = 0

  constructor(storage: Storage, random: () => number) {
    this.#storage = storage
    this.#random = random
  }

  below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  chance(part: number): boolean {
    return this.#random() < part
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T
  }

  /** The objects of a kind as the server has them. */
  objects(type: Type): readonly Fields[] {
    return [...this.#storage.list(resources[type])]
  }

  /** Makes, changes and deletes objects. */
  edit(times: number): void {
    for (let at = 0; at < times; at += 1) {
      const type = this.chance(0.4) ? 'Pod' : this.pick(types)
      const name = this.#name(type)
      const namespace = clusterScoped.has(type) ? '' : this.pick(namespaces)
      const known = this.#storage.get(resources[type], namespace, name)
      if (known === undefined) this.#create(type, name, namespace)
      else if (this.chance(0.3)) this.#storage.delete(resources[type], namespace, name)
      else this.#change(type, known)
      this.written.set(type, this.#storage.revision)
    }
  }

  #create(type: Type, name: string, namespace: string): void {
    this.#made += 1
    const place = namespace === '' ? {} : { namespace }
    const metadata = {
      name,
      ...place,
      uid: `uid-${this.#made}`,
      ...this.#metadata(type, namespace),
    }
    this.#storage.create(resources[type], { metadata, ...this.#content(type, namespace) })
  }

  #change(type: Type, known: Fields): void {
    const { name, namespace = '', uid, creationTimestamp } = known.metadata
    const identity = { name, uid, creationTimestamp, ...(namespace === '' ? {} : { namespace }) }
    const metadata = { ...identity, ...this.#metadata(type, namespace) }
    this.#storage.update(resources[type], { metadata, ...this.#content(type, namespace) })
  }

  #name(type: Type): string {
    if (type === 'Namespace') return this.pick([...namespaces, 'c'])
    return `${type.toLowerCase()}-${this.below(type === 'Pod' ? 40 : type === 'Event' ? 30 : 6)}`
  }

  #named(type: Type): string {
    return `${type.toLowerCase()}-${this.below(7)}`
  }

  #metadata(type: Type, namespace: string): Fields {
    const owner = { Pod: 'ReplicaSet', ReplicaSet: 'Deployment' }[type as string] as
      | Type
      | undefined
    const labels = this.chance(0.8) ? { labels: this.#labels() } : {}
    if (owner === undefined || this.chance(0.3)) return labels
    const owners = this.objects(owner).filter((one) => one.metadata.namespace === namespace)
    const found = owners.length === 0 ? undefined : this.pick(owners)
    const name = this.#named(owner)
    // By UID: sometimes that of an owner which is no more, or never was.
    const uid =
      this.chance(0.15) || found === undefined ? `gone-${this.below(3)}` : found.metadata.uid
    const reference = {
      apiVersion: 'apps/v1',
      kind: owner,
      name: found?.metadata.name ?? name,
      uid,
    }
    return { ...labels, ownerReferences: [{ ...reference, controller: true }] }
  }

  #labels(): Fields {
    return {
      ...(this.chance(0.7) ? { app: this.pick(apps3) } : {}),
      ...(this.chance(0.5) ? { tier: this.pick(['front', 'back']) } : {}),
    }
  }

  #content(type: Type, namespace: string): Fields {
    switch (type) {
      case 'Pod':
        return { spec: this.#podSpec(), status: { phase: this.pick(phases) } }
      case 'Service':
        return { spec: this.chance(0.2) ? {} : { selector: this.#labels() } }
      case 'Deployment':
        return { spec: { replicas: this.below(4), template: this.#template() } }
      case 'ReplicaSet':
        return { spec: { replicas: this.below(4), template: { metadata: this.#podMetadata() } } }
      case 'Ingress':
        return { spec: this.#ingressSpec() }
      case 'Event':
        return { ...this.#involved(namespace), type: this.pick(['Normal', 'Warning']) }
      case 'Namespace':
      case 'Node':
      case 'ConfigMap':
      case 'Secret':
      case 'ServiceAccount':
      case 'PersistentVolumeClaim':
        return {}
    }
  }

  #template(): Fields {
    return { metadata: this.#podMetadata(), spec: this.#podSpec() }
  }

  #podMetadata(): Fields {
    return this.chance(0.9) ? { labels: this.#labels() } : {}
  }

  #podSpec(): Fields {
    const some = (part: number, value: () => Fields): Fields => (this.chance(part) ? value() : {})
    const container = (name: string): Fields => ({
      name,
      image: this.pick(['nginx:1', 'redis:7']),
      ...some(0.3, () => ({
        env: [
          {
            name: 'X',
            valueFrom: { configMapKeyRef: { name: this.#named('ConfigMap'), key: 'x' } },
          },
        ],
      })),
      ...some(0.3, () => ({
        envFrom: [
          { secretRef: { name: this.#named('Secret') } },
          { configMapRef: { name: this.#named('ConfigMap') } },
        ],
      })),
    })
    const volumes = [
      ...(this.chance(0.2) ? [{ name: 'c', configMap: { name: this.#named('ConfigMap') } }] : []),
      ...(this.chance(0.2) ? [{ name: 's', secret: { secretName: this.#named('Secret') } }] : []),
      ...(this.chance(0.2)
        ? [
            {
              name: 'p',
              persistentVolumeClaim: { claimName: this.#named('PersistentVolumeClaim') },
            },
          ]
        : []),
      ...(this.chance(0.2)
        ? [
            {
              name: 'j',
              projected: {
                sources: [
                  { configMap: { name: this.#named('ConfigMap') } },
                  { secret: { name: this.#named('Secret') } },
                ],
              },
            },
          ]
        : []),
    ]
    return {
      ...some(0.8, () => ({ nodeName: this.#named('Node') })),
      ...some(0.6, () => ({ serviceAccountName: this.#named('ServiceAccount') })),
      ...some(0.2, () => ({ imagePullSecrets: [{ name: this.#named('Secret') }] })),
      ...some(0.2, () => ({ initContainers: [container('init')] })),
      containers: [container('main'), ...(this.chance(0.3) ? [container('side')] : [])],
      volumes,
    }
  }

  #ingressSpec(): Fields {
    const service = { name: this.#named('Service'), port: { number: 80 } }
    const path = { path: '/', pathType: 'Prefix', backend: { service } }
    return {
      ...(this.chance(0.5) ? { tls: [{ secretName: this.#named('Secret') }] } : {}),
      rules: [{ host: 'x', http: { paths: [path] } }],
    }
  }

  #involved(namespace: string): Fields {
    const type = this.pick(['Pod', 'Deployment'] as const)
    const name = this.#name(type)
    const objects = this.objects(type).filter((one) => one.metadata.namespace === namespace)
    const found = objects.length === 0 ? undefined : this.pick(objects)
    const apiVersion = type === 'Pod' ? 'v1' : 'apps/v1'
    const byName = { involvedObject: { apiVersion, kind: type, namespace, name } }
    if (found === undefined || this.chance(0.3)) return byName
    const { uid } = found.metadata
    return { involvedObject: { apiVersion, kind: type, namespace, name: found.metadata.name, uid } }
  }
}

import type { Fields, RandomCluster, Type } from './random-cluster.ts'

/** A relation as the raw objects tell it, by looking at all of them. */
export interface RecomputedRelation {
  readonly to: Type
  readonly many: boolean
  readonly holds: (from: Fields, to: Fields, world: World) => boolean
}

/** The raw objects of one moment. */
export class World {
  readonly #objects = new Map<Type, readonly Fields[]>()
  readonly #cluster: Pick<RandomCluster, 'objects'>

  constructor(cluster: Pick<RandomCluster, 'objects'>) {
    this.#cluster = cluster
  }

  objects(type: Type): readonly Fields[] {
    let objects = this.#objects.get(type)
    if (objects === undefined) this.#objects.set(type, (objects = this.#cluster.objects(type)))
    return objects
  }
}

const sameNamespace = (a: Fields, b: Fields): boolean =>
  a.metadata.namespace === b.metadata.namespace

const owns = (owner: Fields, owned: Fields): boolean =>
  (owned.metadata.ownerReferences ?? []).some(({ uid }: Fields) => uid === owner.metadata.uid)

const containersOf = (spec: Fields): readonly Fields[] => [
  ...(spec.containers ?? []),
  ...(spec.initContainers ?? []),
]

/** The names by which the spec of a pod means ConfigMaps, Secrets, claims. */
export const namedIn = (spec: Fields): Readonly<Record<string, readonly string[]>> => {
  const containers = containersOf(spec)
  const volumes: readonly Fields[] = spec.volumes ?? []
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? [])
  const env = containers.flatMap((one) => one.env ?? [])
  const envFrom = containers.flatMap((one) => one.envFrom ?? [])
  const names = (all: readonly (string | undefined)[]) => all.filter((one) => one !== undefined)
  return {
    ConfigMap: names([
      ...volumes.map(({ configMap }) => configMap?.name),
      ...sources.map(({ configMap }) => configMap?.name),
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
    ]),
    Secret: names([
      ...volumes.map(({ secret }) => secret?.secretName),
      ...sources.map(({ secret }) => secret?.name),
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
      ...envFrom.map(({ secretRef }) => secretRef?.name),
      ...(spec.imagePullSecrets ?? []).map(({ name }: Fields) => name),
    ]),
    PersistentVolumeClaim: names(volumes.map((one) => one.persistentVolumeClaim?.claimName)),
    ServiceAccount: names([spec.serviceAccountName]),
  }
}

const selectsLabels = (service: Fields, { metadata: { labels = {} } = {} }: Fields): boolean => {
  const selector = Object.entries(service.spec?.selector ?? {})
  return selector.length > 0 && selector.every(([key, value]) => labels[key] === value)
}

const selects = (service: Fields, pod: Fields): boolean =>
  sameNamespace(service, pod) && selectsLabels(service, pod)

const selectsTemplate = (service: Fields, workload: Fields): boolean =>
  sameNamespace(service, workload) && selectsLabels(service, workload.spec.template)

const isAbout = (event: Fields, object: Fields, apiVersion: string, kind: string): boolean => {
  const { uid, name, namespace, kind: involved, apiVersion: version } = event.involvedObject
  if (uid !== undefined) return uid === object.metadata.uid
  const { metadata } = object
  return (
    involved === kind &&
    version === apiVersion &&
    name === metadata.name &&
    namespace === metadata.namespace
  )
}

const named =
  (type: string) =>
  (pod: Fields, object: Fields): boolean =>
    sameNamespace(pod, object) && (namedIn(pod.spec)[type]?.includes(object.metadata.name) ?? false)

const backwards =
  (holds: RecomputedRelation['holds']): RecomputedRelation['holds'] =>
  (from, to, world) =>
    holds(to, from, world)

const onNode = (pod: Fields, node: Fields): boolean => pod.spec.nodeName === node.metadata.name

const inNamespace = (object: Fields, namespace: Fields): boolean =>
  object.metadata.namespace === namespace.metadata.name

const routes = (ingress: Fields, service: Fields): boolean =>
  sameNamespace(ingress, service) &&
  ingress.spec.rules.some(({ http }: Fields) =>
    http.paths.some(({ backend }: Fields) => backend.service.name === service.metadata.name),
  )

const certified = (ingress: Fields, secret: Fields): boolean =>
  sameNamespace(ingress, secret) &&
  (ingress.spec.tls ?? []).some(({ secretName }: Fields) => secretName === secret.metadata.name)

const isDeployed = (deployment: Fields, pod: Fields, world: World): boolean =>
  world.objects('ReplicaSet').some((set) => owns(deployment, set) && owns(set, pod))

const isAboutPodOf =
  (isOf: RecomputedRelation['holds']): RecomputedRelation['holds'] =>
  (workload, event, world) =>
    world
      .objects('Pod')
      .some((pod) => isOf(workload, pod, world) && isAbout(event, pod, 'v1', 'Pod'))

const isRouted = (ingress: Fields, pod: Fields, world: World): boolean =>
  world.objects('Service').some((service) => selects(service, pod) && routes(ingress, service))

const toMany = (to: Type, holds: RecomputedRelation['holds']): RecomputedRelation => ({
  to,
  many: true,
  holds,
})
const toOne = (to: Type, holds: RecomputedRelation['holds']): RecomputedRelation => ({
  to,
  many: false,
  holds,
})

/** Relations of the schema, as `schema/*.graphql` declares them. */
export const relations: Readonly<Partial<Record<Type, Record<string, RecomputedRelation>>>> = {
  Pod: {
    node: toOne('Node', onNode),
    serviceAccount: toOne('ServiceAccount', named('ServiceAccount')),
    configMaps: toMany('ConfigMap', named('ConfigMap')),
    secrets: toMany('Secret', named('Secret')),
    persistentVolumeClaims: toMany('PersistentVolumeClaim', named('PersistentVolumeClaim')),
    services: toMany('Service', backwards(selects)),
    ingresses: toMany('Ingress', backwards(isRouted)),
    replicaSet: toOne('ReplicaSet', backwards(owns)),
    deployment: toOne('Deployment', backwards(isDeployed)),
    events: toMany('Event', (pod, event) => isAbout(event, pod, 'v1', 'Pod')),
  },
  Node: { pods: toMany('Pod', backwards(onNode)) },
  Namespace: { pods: toMany('Pod', backwards(inNamespace)) },
  ConfigMap: { pods: toMany('Pod', backwards(named('ConfigMap'))) },
  Secret: {
    pods: toMany('Pod', backwards(named('Secret'))),
    ingresses: toMany('Ingress', backwards(certified)),
  },
  ServiceAccount: { pods: toMany('Pod', backwards(named('ServiceAccount'))) },
  PersistentVolumeClaim: { pods: toMany('Pod', backwards(named('PersistentVolumeClaim'))) },
  Service: {
    pods: toMany('Pod', selects),
    deployments: toMany('Deployment', selectsTemplate),
    replicaSets: toMany('ReplicaSet', selectsTemplate),
    ingresses: toMany('Ingress', backwards(routes)),
  },
  Ingress: {
    services: toMany('Service', routes),
    pods: toMany('Pod', isRouted),
    secrets: toMany('Secret', certified),
  },
  ReplicaSet: {
    pods: toMany('Pod', owns),
    podEvents: toMany('Event', isAboutPodOf(owns)),
    deployment: toOne('Deployment', backwards(owns)),
    services: toMany('Service', backwards(selectsTemplate)),
  },
  Deployment: {
    pods: toMany('Pod', isDeployed),
    podEvents: toMany('Event', isAboutPodOf(isDeployed)),
    replicaSets: toMany('ReplicaSet', owns),
    services: toMany('Service', backwards(selectsTemplate)),
    events: toMany('Event', (deployment, event) =>
      isAbout(event, deployment, 'apps/v1', 'Deployment'),
    ),
  },
}

/** Whether an object meets a `where`, by looking at all the objects that there are. */
export function meets(where: Fields, type: Type, object: Fields, world: World): boolean {
  return Object.entries<Fields>(where).every(([name, value]) => {
    switch (name) {
      case 'and':
        return value.every((one: Fields) => meets(one, type, object, world))
      case 'or':
        return value.some((one: Fields) => meets(one, type, object, world))
      case 'not':
        return !meets(value, type, object, world)
      case 'name':
        return object.metadata.name.endsWith(value.endsWith)
      case 'phase':
        return object.status.phase === value.eq
      case 'type':
        return object.type === value.eq
      case 'labels':
        return value.every(({ key, eq }: Fields) => object.metadata.labels?.[key] === eq)
      default:
        return meetsRelated(value, relations[type]?.[name], object, world)
    }
  })
}

function meetsRelated(
  filter: Fields,
  relation: RecomputedRelation | undefined,
  object: Fields,
  world: World,
): boolean {
  if (relation === undefined) throw new TypeError('no such relation')
  const { to, holds } = relation
  const related = world.objects(to).filter((other) => holds(object, other, world))
  return Object.entries(filter).every(([operator, where]) => {
    const meeting = related.filter((other) => meets(where, to, other, world))
    if (operator === 'some' || operator === 'is') return meeting.length > 0
    if (operator === 'every') return meeting.length === related.length
    return meeting.length === 0
  })
}

/** Who makes use of an object: `Pod a/pod-1: spec.volumes[0].secret.secretName`, sorted. */
export function usersOf(type: Type, object: Fields, world: World): readonly string[] {
  const { namespace, name } = object.metadata
  const users: string[] = []
  const add = (kind: string, user: Fields, paths: readonly string[]): void => {
    if (user.metadata.namespace !== namespace || paths.length === 0) return
    users.push(`${kind} ${namespace}/${user.metadata.name}: ${paths.toSorted().join(' ')}`)
  }
  for (const pod of world.objects('Pod')) {
    // What has run to its end uses nothing any more.
    if (pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed') continue
    add('Pod', pod, placesIn(pod.spec, 'spec', type, name))
  }
  for (const deployment of world.objects('Deployment')) {
    const { spec } = deployment.spec.template
    add('Deployment', deployment, placesIn(spec, 'spec.template.spec', type, name))
  }
  for (const ingress of world.objects('Ingress')) {
    const tls: readonly Fields[] = type === 'Secret' ? (ingress.spec.tls ?? []) : []
    const places = tls.flatMap(({ secretName }, at) =>
      secretName === name ? [`spec.tls[${at}].secretName`] : [],
    )
    add('Ingress', ingress, places)
  }
  return users.toSorted()
}

/** Every path of a pod's spec at which a name stands that means an object of the type. */
function placesIn(spec: Fields, start: string, type: Type, name: string): readonly string[] {
  const ends: Readonly<Partial<Record<Type, RegExp>>> = {
    ConfigMap: /\.(?:configMap|configMapKeyRef|configMapRef)\.name$/,
    Secret:
      /\.(?:secret\.secretName|(?:secret|secretKeyRef|secretRef)\.name|imagePullSecrets\[\d+\]\.name)$/,
    PersistentVolumeClaim: /\.persistentVolumeClaim\.claimName$/,
    ServiceAccount: /\.serviceAccountName$/,
  }
  const places: string[] = []
  const walk = (value: Fields, path: string): void => {
    if (typeof value === 'string') {
      if (value === name && ends[type]?.test(path) === true) places.push(path)
    } else if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) walk(item, `${path}[${at}]`)
    } else if (typeof value === 'object' && value !== null) {
      for (const [member, inner] of Object.entries(value)) walk(inner, `${path}.${member}`)
    }
  }
  walk(spec, start)
  return places
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayOptions } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import type { ControlPlane } from '../support/control-plane.ts'
import type { ServedGateway } from '../support/gateway.ts'
import { caughtUp, listFieldOf } from './caught-up.ts'
import { keyOf } from './filtered-client.ts'
import { type Fields, RandomCluster, resources, type Type, types } from './random-cluster.ts'
import { World } from './recomputed.ts'

/** An API server whose objects are edited at random. */
export interface EditedCluster extends AsyncDisposable {
  /** For a gateway. */
  readonly selection: GatewayOptions['clusters'][number]
  /** What decides at random. */
  readonly cluster: RandomCluster
  /** Makes, changes and deletes objects. */
  readonly edit: (times: number) => Promise<void>
  /** What there is, once a gateway has heard of all of it. */
  readonly heard: (gateway: ServedGateway) => Promise<World>
}

export const simulatedEditedCluster = async (random: () => number): Promise<EditedCluster> => {
  const simulator = await startSimulator({ bookmarkIntervalMs: 0 })
  const cluster = new RandomCluster(simulator.storage, random)
  return {
    selection: { name: 'one', server: simulator.url },
    cluster,
    edit: async (times) => cluster.edit(times),
    heard: async (gateway) => {
      await caughtUp(gateway, cluster)
      return new World(cluster)
    },
    [Symbol.asyncDispose]: async () => simulator[Symbol.asyncDispose](),
  }
}

/** Resources that are stored under another name than the API has for them. */
const storedAs: Readonly<Partial<Record<Type, string>>> = {
  Node: 'minions',
  Service: 'services/specs',
  Ingress: 'ingress',
}

const storedKey = (type: Type, { metadata: { namespace, name } }: Fields): string =>
  [
    '/registry',
    storedAs[type] ?? resources[type].resource,
    ...(namespace ? [namespace] : []),
    name,
  ].join('/')

const apiVersionOf = (type: Type): string => {
  const { group, version } = resources[type]
  return group === '' ? version : `${group}/${version}`
}

const listPath = (type: Type, namespace?: string): string => {
  const { group, version, resource } = resources[type]
  const place = namespace === undefined ? '' : `/namespaces/${namespace}`
  return `${group === '' ? '/api' : `/apis/${group}`}/${version}${place}/${resource}`
}

const heardDeadlineMs = 30_000

/** A real one that becomes what a simulated one is edited to: past the API, which has its own ideas of what may be put. */
export const realEditedCluster = async (
  plane: ControlPlane,
  random: () => number,
): Promise<EditedCluster> => {
  const model = await simulatedEditedCluster(random)
  const { cluster } = model
  const stored = new Map<Type, ReadonlyMap<string, Fields>>()

  const answer = async (path: string, method: 'GET' | 'DELETE'): Promise<Fields> => {
    const { status, text } = await plane.request(path, { method })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text)
  }
  const remove = async (type: Type, { metadata: { namespace, name } }: Fields): Promise<void> => {
    const path = `${listPath(type, namespace)}/${name}`
    await answer(`${path}?gracePeriodSeconds=0`, 'DELETE')
    // A Namespace that nothing holds is gone at the second time.
    const isThere = (await plane.request(path)).status === 200
    if (isThere) await answer(path, 'DELETE')
  }
  const bodyOf = (type: Type, object: Fields): Fields => {
    const { resourceVersion: _, ...metadata } = object.metadata
    const body = { ...object, apiVersion: apiVersionOf(type), kind: type, metadata }
    // Those with an address of the cluster the server would look after, and write Events of.
    return type === 'Service' ? { ...body, spec: { ...object.spec, clusterIP: 'None' } } : body
  }
  const become = async (type: Type): Promise<void> => {
    const before = stored.get(type) ?? new Map<string, Fields>()
    const now = new Map(cluster.objects(type).map((object) => [keyOf(object), object]))
    for (const [key, object] of before) {
      const isSame = now.get(key)?.metadata.uid === object.metadata.uid
      if (!isSame) await remove(type, object)
    }
    const isNews = ([key, { metadata }]: readonly [string, Fields]): boolean =>
      before.get(key)?.metadata.resourceVersion !== metadata.resourceVersion
    const news = [...now].filter(isNews)
    await plane.putMany(
      news.map(([, object]) => [storedKey(type, object), bodyOf(type, object)] as const),
    )
    stored.set(type, now)
  }
  const states = (objects: readonly Fields[]): string =>
    objects
      .map((object) => `${keyOf(object)} ${object.metadata.uid} ${object.metadata.resourceVersion}`)
      .toSorted()
      .join()

  return {
    selection: { name: 'one', kubeconfig: plane.kubeconfigPath },
    cluster,
    edit: async (times) => {
      cluster.edit(times)
      for (const type of types) {
        await become(type)
      }
    },
    heard: async (gateway) => {
      const listed = new Map<Type, readonly Fields[]>()
      for (const type of types) {
        listed.set(type, (await answer(listPath(type), 'GET')).items)
      }
      const selection = '(first: 500) { nodes { metadata { name namespace uid resourceVersion } } }'
      const query = `{ ${types.map((type) => `${type}: ${listFieldOf(type)}${selection}`).join(' ')} }`
      const endMs = performance.now() + heardDeadlineMs
      for (;;) {
        const data = await gateway.data(query)
        const behind = types.filter(
          (type) => states(data[type].nodes) !== states(listed.get(type) ?? []),
        )
        if (behind.length === 0) break
        if (performance.now() > endMs) throw new Error(`${behind.join()} not heard of`)
        await sleep(10)
      }
      return new World({ objects: (type) => listed.get(type) ?? [] })
    },
    [Symbol.asyncDispose]: async () => model[Symbol.asyncDispose](),
  }
}

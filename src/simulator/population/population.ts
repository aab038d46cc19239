/*
 * Makes the objects of a plan, owners first. Each app is built on a workbench, on which the churn's own controllers run
 * until all is as it would be in a cluster of this age; then its objects are yielded.
 */

import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { microTimestamp, timestamp } from '../../kubernetes/timestamp.ts'
import { Cluster, type ClusterWriter } from '../churn/cluster.ts'
import { loseNode, Nodes, withHealth } from '../churn/nodes.ts'
import {
  day,
  hour,
  minute,
  type PopulationItem,
  type PopulationResource,
  second,
  type Written,
} from '../churn/object.ts'
import { imageIdOf } from '../churn/pod.ts'
import { createRandom } from '../churn/random.ts'
import { syncChanged } from '../churn/status.ts'
import type { ResourceName } from '../storage/storage.ts'
import {
  type AppPlan,
  type NodePlan,
  type Plan,
  planPopulation,
  type PopulationOptions,
} from './plan.ts'
import type { Manifest } from './scenario.ts'
import type { Values } from './template.ts'
import { type AppStamp, silentSinceMs, stamped, workloads } from './workloads.ts'

/**
 * Yields the objects of a scenario's cluster, owners before the objects that they own. Objects have UIDs, creation
 * timestamps, managed fields and status, but no resourceVersion. They share structure: do not change them. The same
 * options give the same objects. Memory grows with the number of nodes and the size of an app, not with the number of
 * pods. Throws `PopulationError` at once for impossible options, and `ScenarioError` for an invalid scenario.
 */
export function population(options: PopulationOptions = {}): Generator<PopulationItem, void> {
  return itemsOf(planPopulation(options))
}

const clusterAgeMs = 420 * day
const systemNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

function* itemsOf(plan: Plan): Generator<PopulationItem, void> {
  const { scenario, values, nowMs, nodes, namespaces } = plan
  const createdAtMs = nowMs - clusterAgeMs
  const shared = new Workbench(undefined)
  const all = (manifests: readonly Manifest[], own: Values): PopulationItem[] =>
    manifests.map((manifest) => {
      const object = stamped(plan, manifest, own, createdAtMs)
      if (object.kind === 'PriorityClass') shared.create(manifest.resource, object)
      return { resource: manifest.resource, object }
    })
  yield* all(
    scenario.cluster.filter(({ namespaced }) => !namespaced),
    values,
  )
  for (const namespace of systemNamespaces)
    yield* all(scenario.systemNamespace, values.with({ namespace }))
  // Nodes report the images of the first apps.
  const named = namespaces.flatMap(({ apps }) =>
    apps.map((app) => String(app.values.get('image', 'scenario.yaml'))),
  )
  const images = [...new Set(named)].slice(0, 24).map((image, index) => ({
    names: [imageIdOf(image), image],
    sizeBytes: 18_000_000 + ((index * 7_919_333) % 240_000_000),
  }))
  const known = new Nodes()
  for (const node of nodes) yield* nodeItems(plan, node, images, known)
  for (const { name, values: own } of namespaces)
    if (!systemNamespaces.includes(name)) yield* all(scenario.namespace, own)
  yield* all(
    scenario.cluster.filter(({ namespaced }) => namespaced),
    values.with({ namespace: 'default' }),
  )
  for (const { apps } of namespaces)
    for (const app of apps) yield* appItems(plan, app, known, shared)
}

/** A node with its Lease and CSINode, and an Event if it is silent. */
function* nodeItems(
  plan: Plan,
  node: NodePlan,
  images: readonly object[],
  known: Nodes,
): Generator<PopulationItem> {
  const { scenario, seed, nowMs } = plan
  const random = createRandom(`${seed}/node/${node.name}`)
  const createdAtMs = nowMs - random.integer(20, 90) * day
  const heardAtMs = node.ready ? nowMs - (node.index % 10) * second : silentSinceMs(plan)
  const values = node.values.with({ heardAt: microTimestamp(heardAtMs) })
  const healthy = (object: Written): Written => {
    const reporting = withHealth(object, true, heardAtMs, createdAtMs + minute)
    return { ...reporting, status: { ...(reporting.status as object), images } }
  }
  const lostAtMs = heardAtMs + 40 * second
  const bench = new Workbench(undefined)
  const cluster = new Cluster(bench, random, () => lostAtMs, { nodes: known })
  for (const manifest of scenario.node) {
    const { resource } = manifest
    const isNode = resource.kind === 'Node'
    const object = stamped(plan, manifest, values, createdAtMs, isNode ? healthy : undefined)
    bench.create(resource, object)
    if (!isNode || node.ready) continue
    const lost = loseNode(bench, object, [], lostAtMs)
    const message = `Node ${node.name} status is now: NodeNotReady`
    cluster.record(lost, 'node-controller', 'NodeNotReady', message)
  }
  yield* bench.items(nowMs)
}

/** The objects of an app: its manifests, and what the controllers make of them. */
function* appItems(
  plan: Plan,
  app: AppPlan,
  nodes: Nodes,
  shared: Workbench,
): Generator<PopulationItem> {
  const { seed, nowMs } = plan
  const random = createRandom(`${seed}/app/${app.namespace}/${app.name}`)
  const createdAtMs = nowMs - random.integer(60, 400) * day
  const values = app.values.with({ createdAt: timestamp(createdAtMs), pods: app.pods })
  const bench = new Workbench(shared)
  let clockMs = createdAtMs
  const cluster = new Cluster(bench, random, () => clockMs, { nodes })
  const stamp: AppStamp = {
    cluster,
    plan,
    app: { ...app, values },
    createdAtMs,
    setClock: (atMs) => (clockMs = atMs),
    create: (manifest, change, own = values) =>
      bench.create(manifest.resource, stamped(plan, manifest, own, createdAtMs, change)),
  }
  for (const manifest of app.manifests) {
    const workload = workloads[manifest.resource.kind]
    if (workload === undefined) stamp.create(manifest)
    else workload(stamp, manifest)
  }
  syncChanged(cluster)
  yield* bench.items(nowMs)
}

type Follower = Parameters<ClusterWriter['follow']>[0]

/** Holds the objects of one app while the churn's controllers run over them, before they are yielded. */
class Workbench implements ClusterWriter {
  readonly #items = new Map<string, PopulationItem>()
  readonly #shared: ReadonlyMap<string, PopulationItem>
  #follower: Follower = () => undefined

  /** `shared` are objects of the cluster that controllers read. */
  constructor(shared: Workbench | undefined) {
    this.#shared = shared === undefined ? new Map() : shared.#items
  }

  /** The objects in the order of their creation. Events live for an hour. */
  *items(nowMs: number): Generator<PopulationItem> {
    for (const item of this.#items.values()) {
      const { lastTimestamp = '' } = item.object as { readonly lastTimestamp?: string }
      const isOld = item.object.kind === 'Event' && Date.parse(lastTimestamp) < nowMs - hour
      if (!isOld) yield item
    }
  }

  create(resource: ResourceName, object: Unstructured): Unstructured {
    const { namespace = '', name } = object.metadata
    const { apiVersion, kind } = object
    let known = knownResources.get(resource)
    if (known === undefined) {
      known = { ...resource, apiVersion, kind, groupResource: groupResourceOf(resource) }
      knownResources.set(resource, known)
    }
    this.#items.set(`${known.groupResource}/${namespace}/${name}`, { resource: known, object })
    this.#follower(known, { namespace, name }, object)
    return object
  }

  update(resource: ResourceName, object: Unstructured): Unstructured {
    return this.create(resource, object)
  }

  delete(resource: ResourceName, namespace: string, name: string): void {
    this.#items.delete(keyOf(resource, namespace, name))
    this.#follower({ groupResource: groupResourceOf(resource) }, { namespace, name }, undefined)
  }

  get(resource: ResourceName, namespace: string, name: string): Unstructured | undefined {
    const key = keyOf(resource, namespace, name)
    return (this.#items.get(key) ?? this.#shared.get(key))?.object
  }

  /** Nothing: the controllers list once, before there are objects. */
  list(): Iterable<Unstructured> {
    return []
  }

  follow(follower: Follower): void {
    this.#follower = follower
  }
}

const keyOf = (resource: ResourceName, namespace: string, name: string): string =>
  `${groupResourceOf(resource)}/${namespace}/${name}`

/** Thousands of objects share a resource. */
const knownResources = new WeakMap<
  ResourceName,
  PopulationResource & { readonly groupResource: string }
>()

import { microTimestamp, timestamp } from '../../kubernetes/timestamp.ts'
import { withHealth } from './node-health.ts'
import { eventItem, firstUid, type PopulationItem, resources, type Written } from './object.ts'
import { type AppPlan, type NodePlan, planPopulation, type PopulationOptions } from './plan.ts'
import { imageIdOf } from './pod-status.ts'
import { createRandom } from './random.ts'
import type { Manifest } from './scenario.ts'
import { day, minute, second, Stamper } from './stamp.ts'
import type { Values } from './template.ts'
import { type AppStamp, silentSinceMs, workloadItems } from './workloads.ts'
import {
  type Backend,
  budgetStatus,
  endpointOf,
  endpointSliceItem,
  endpointsPerSlice,
} from './workload-status.ts'

/**
 * Yields the objects of a scenario's cluster, owners before the objects that they own. Objects have UIDs, creation
 * timestamps, managed fields and status, but no resourceVersion. They share structure: do not change them. The same
 * options give the same objects. Memory grows with the number of apps and nodes, not of pods. Throws `PopulationError`
 * at once for impossible options, and `ScenarioError` for an invalid scenario.
 */
export function population(options: PopulationOptions = {}): Generator<PopulationItem, void> {
  return itemsOf(new Stamper(planPopulation(options)))
}

const clusterAgeMs = 420 * day
const systemNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

function* itemsOf(stamper: Stamper): Generator<PopulationItem, void> {
  const { scenario, values, nowMs, nodes, namespaces } = stamper.plan
  const createdAtMs = nowMs - clusterAgeMs
  const all = function* (manifests: readonly Manifest[], own: Values): Generator<PopulationItem> {
    for (const manifest of manifests) yield stamper.item(manifest, own, { createdAtMs })
  }
  const inCluster = Map.groupBy(scenario.cluster, ({ namespaced }) => namespaced)
  yield* all(inCluster.get(false) ?? [], values)
  for (const namespace of systemNamespaces)
    yield* all(scenario.systemNamespace, values.with({ namespace }))
  const images = commonImages(namespaces.flatMap(({ apps }) => apps))
  for (const node of nodes) yield* nodeItems(stamper, node, images)
  for (const { name, values: own } of namespaces)
    if (!systemNamespaces.includes(name)) yield* all(scenario.namespace, own)
  yield* all(inCluster.get(true) ?? [], values.with({ namespace: 'default' }))
  for (const { apps } of namespaces) for (const app of apps) yield* appItems(stamper, app)
}

/** The images that nodes report: those of the first apps. */
function commonImages(apps: readonly AppPlan[]): readonly object[] {
  const images = apps.map(({ values }) => String(values.get('image', 'scenario.yaml')))
  return [...new Set(images)].slice(0, 24).map((image, index) => ({
    names: [imageIdOf(image), image],
    sizeBytes: 18_000_000 + ((index * 7_919_333) % 240_000_000),
  }))
}

/** A node with its Lease and CSINode, and an Event if it is silent. */
function* nodeItems(
  stamper: Stamper,
  node: NodePlan,
  images: readonly object[],
): Generator<PopulationItem> {
  const { scenario, seed, nowMs } = stamper.plan
  const createdAtMs = nowMs - createRandom(`${seed}/age/${node.name}`).integer(20, 90) * day
  const silentMs = silentSinceMs(stamper)
  const noticedMs = silentMs + 40 * second
  const heardAtMs = node.ready ? nowMs - (node.index % 10) * second : silentMs
  const values = node.values.with({ heardAt: microTimestamp(heardAtMs) })
  for (const manifest of scenario.node) {
    const isNode = manifest.resource.kind === 'Node'
    const times = { createdAtMs, updatedAtMs: heardAtMs }
    const item = stamper.item(manifest, values, times, (object) =>
      isNode
        ? withHealth(
            withImages(object, images),
            node.ready,
            heardAtMs,
            node.ready ? createdAtMs + minute : noticedMs,
          )
        : object,
    )
    yield item
    if (!isNode || node.ready) continue
    yield eventItem({
      regarding: item.object,
      type: 'Normal',
      reason: 'NodeNotReady',
      message: `Node ${node.name} status is now: NodeNotReady`,
      component: 'node-controller',
      firstAtMs: noticedMs,
      lastAtMs: noticedMs,
      count: 1,
    })
  }
}

const withImages = (node: Written, images: readonly object[]): Written => ({
  ...node,
  status: { ...(node.status as object), images },
})

/** The objects of an app: configuration, workload, pods, endpoints and budgets. */
function* appItems(stamper: Stamper, plan: AppPlan): Generator<PopulationItem> {
  const { seed, nowMs } = stamper.plan
  const random = createRandom(`${seed}/app/${plan.namespace}/${plan.name}`)
  const createdAtMs = nowMs - random.integer(60, 400) * day
  const values = plan.values.with({ createdAt: timestamp(createdAtMs), pods: plan.pods })
  const app = { ...plan, values }
  const stamp: AppStamp = { stamper, app, random, createdAtMs }
  const services: PopulationItem[] = []
  let backends: readonly Backend[] = []
  for (const manifest of app.manifests) {
    const { kind } = manifest.resource
    if (kind === 'PodDisruptionBudget') continue
    const workload = workloadItems[kind]
    if (workload !== undefined) {
      backends = yield* workload(stamp, manifest)
      continue
    }
    const item = stamper.item(manifest, app.values, { createdAtMs })
    if (kind === 'Service') services.push(item)
    yield item
  }
  for (const service of services) yield* sliceItems(stamp, service, backends)
  const ready = backends.filter((one) => one.ready).length
  const counts = { active: app.pods, ready, terminating: 0 }
  for (const manifest of app.manifests) {
    if (manifest.resource.kind !== 'PodDisruptionBudget') continue
    yield stamper.item(manifest, app.values, { createdAtMs }, (object) => ({
      ...object,
      status: budgetStatus(object, counts, createdAtMs + minute),
    }))
  }
}

function* sliceItems(
  { stamper, app, createdAtMs }: AppStamp,
  { object }: PopulationItem,
  backends: readonly Backend[],
): Generator<PopulationItem> {
  const { seed } = stamper.plan
  const { name: service } = object.metadata
  const random = createRandom(`${seed}/slices/${app.namespace}/${service}`)
  for (let from = 0; from === 0 || from < backends.length; from += endpointsPerSlice) {
    const name = `${service}-${random.suffix(5)}`
    const uid = firstUid(seed, resources.endpointSlices, app.namespace, name)
    const endpoints = backends
      .slice(from, from + endpointsPerSlice)
      .map((one) => endpointOf(one, app.namespace, stamper.zones.get(one.at.nodeName) ?? ''))
    yield endpointSliceItem(object, endpoints, { name, uid, createdAtMs: createdAtMs + second })
  }
}

/*
 * Answers `metrics.k8s.io` as metrics-server does. Nothing is measured: what a container uses follows from its
 * requests, its name and the time, and a node uses what its pods use.
 */

import { quantityOf } from '../../kubernetes/decimal.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type { Pod } from '../../kubernetes/wire/core-v1.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { metricsGroup } from '../api/resource-registry.ts'
import { methodNotAllowed, noSuchResource, notFound } from '../api/status-refusal.ts'
import { hexDigest } from '../churn/random.ts'
import type { Storage, StoredObject } from '../storage/storage.ts'
import { listQuery, selectionOf } from './collection-requests.ts'
import { type Exchange, type RequestTarget, sendBytes, sendJson } from './exchange.ts'

/** metrics-server measures each node so often. */
const resolutionMs = 15_000

/**
 * Answers as metrics-server does: what the running pods and their nodes use, from their requests, their names and the
 * time. Returns `false` for other groups, and where the group is not served. Throws refusals.
 */
export function serveMetrics(exchange: Exchange, target: RequestTarget, storage: Storage): boolean {
  const { group, version, resource, namespace, name, subresource } = target
  if (group !== metricsGroup || !storage.registry.isAggregated(group, version)) return false
  const served = storage.registry.find(group, version, resource)
  if (served === undefined || subresource !== '') throw noSuchResource()
  if (!served.verbs.has(target.verb)) throw methodNotAllowed()
  const isOfPods = resource === 'pods'
  if (isOfPods ? name !== '' && namespace === '' : namespace !== '') throw noSuchResource()
  const { kind, apiVersion } = served
  const measured = storage.registry.find('', 'v1', resource)
  if (measured === undefined) throw noSuchResource()
  const nowMs = Date.now()
  const store = storage.store(measured.stored)
  const measure: Measure = isOfPods
    ? (object) => podMetrics(object, nowMs)
    : nodeMeasurer(storage, nowMs)
  if (name !== '') {
    const found = store.get(objectKey({ namespace, name }))
    const metrics = found && measure(found)
    if (metrics === undefined) throw notFound({ ...served, name })
    sendJson(exchange, 200, { kind, apiVersion, ...metrics })
    return true
  }
  const { test } = selectionOf(measured, namespace, listQuery(exchange.params))
  const items: string[] = []
  for (const object of store.values()) {
    if (namespace !== '' && object.namespace !== namespace) continue
    if (test !== undefined && !test(object)) continue
    const metrics = measure(object)
    if (metrics !== undefined) items.push(JSON.stringify(metrics))
  }
  const head = JSON.stringify({ kind: `${kind}List`, apiVersion, metadata: {} }).slice(0, -1)
  sendBytes(exchange, Buffer.from(`${head},"items":[${items.join()}]}\n`))
  return true
}

type Measure = (object: StoredObject) => object | undefined

/** What a pod uses; `undefined` while it does not run. */
function podMetrics(object: StoredObject, nowMs: number): object | undefined {
  const pod = podOf(object)
  const used = pod && usageOf(pod, nowMs)
  if (pod === undefined || used === undefined) return undefined
  const containers = pod.containers.map(({ name }, at) => ({
    name,
    usage: writtenUsage(used[at] ?? nothing),
  }))
  const window = windowOf(pod.node, nowMs)
  const told = pod.told === undefined ? {} : { timestamp: timestamp(nowMs) }
  return { metadata: metadataOf(object), ...window, ...told, containers }
}

/** A node uses what its pods use, and something for itself. */
function nodeMeasurer(storage: Storage, nowMs: number): Measure {
  const totals = new Map<string, Usage>()
  const pods = storage.registry.find('', 'v1', 'pods')
  for (const object of pods === undefined ? [] : storage.store(pods.stored).values()) {
    const pod = podOf(object)
    for (const used of (pod && usageOf(pod, nowMs)) ?? []) {
      const { cpu, memory } = totals.get(pod?.node ?? '') ?? nothing
      totals.set(pod?.node ?? '', { cpu: cpu + used.cpu, memory: memory + used.memory })
    }
  }
  return (object) => {
    const { cpu, memory } = totals.get(object.name) ?? nothing
    const share = 1 + wave(object.name, nowMs) / 5
    const usage = writtenUsage({ cpu: cpu + 0.15 * share, memory: memory + 600 * mebi * share })
    return { metadata: metadataOf(object), ...windowOf(object.name, nowMs), usage }
  }
}

/** CPUs and bytes. */
interface Usage {
  readonly cpu: number
  readonly memory: number
}

const nothing: Usage = { cpu: 0, memory: 0 }
const mebi = 2 ** 20

interface MeasuredPod {
  readonly key: string
  readonly node: string
  readonly startMs: number
  /** What it uses by its annotation, instead of what the simulator makes up. */
  readonly told: Usage | undefined
  readonly containers: readonly {
    readonly name: string
    readonly requested: Usage
    /** The memory limit. */
    readonly most: number
  }[]
}

/** `CPU MEMORY`, of the first container: `250m 64Mi`. Such a pod is measured at each request. */
const usageAnnotation = 'simulator.informerql/usage'

/** By version of the pod; `undefined`: it does not run. */
const known = new WeakMap<StoredObject, { readonly pod: MeasuredPod | undefined }>()

function podOf(object: StoredObject): MeasuredPod | undefined {
  const found = getOrInsert(known, object, () => ({ pod: readPod(object) }))
  return found.pod
}

function readPod(object: StoredObject): MeasuredPod | undefined {
  const { metadata, spec, status } = JSON.parse(object.text.toString()) as Partial<Pod>
  const { nodeName: node, containers = [] } = spec ?? {}
  if (status?.phase !== 'Running' || node === undefined) return undefined
  const told = metadata?.annotations?.[usageAnnotation]?.split(' ')
  return {
    key: object.key,
    node,
    told: told && { cpu: amountOf(told[0]) ?? 0, memory: amountOf(told[1]) ?? 0 },
    startMs: Date.parse(status.startTime ?? '') || 0,
    containers: containers.map(({ name, resources: { requests, limits } = {} }) => ({
      name,
      requested: {
        cpu: amountOf(requests?.['cpu']) ?? 0.02,
        memory: amountOf(requests?.['memory']) ?? 48 * mebi,
      },
      most: amountOf(limits?.['memory']) ?? Infinity,
    })),
  }
}

/** What each container uses; `undefined` before the first whole window of the pod. */
function usageOf(pod: MeasuredPod, nowMs: number): Usage[] | undefined {
  const { key, startMs, containers, told } = pod
  if (told !== undefined) return containers.map((_, at) => (at === 0 ? told : nothing))
  if (nowMs - startMs < resolutionMs) return undefined
  return containers.map(({ name, requested, most }) => {
    const of = `${key}/${name}`
    // Most pods ask for more than they use; some use more than they ask for.
    const busy = 0.1 + 1.3 * shareOf(of) ** 2
    const cpu = requested.cpu * busy * (1 + 0.4 * wave(of, nowMs))
    const memory =
      requested.memory * (0.35 + 0.6 * shareOf(`${of}/memory`)) * (1 + wave(of, nowMs) / 20)
    return { cpu, memory: Math.min(memory, 0.98 * most) }
  })
}

function amountOf(quantity: unknown): number | undefined {
  const amount = quantityOf(quantity)
  return Number.isNaN(amount) ? undefined : amount
}

/** From 0 to 1, always the same for a text. */
function shareOf(text: string): number {
  return Number.parseInt(hexDigest(text, 6), 16) / 0xffffff
}

const shares = new Map<string, number>()
const maxShares = 500_000

/** From -1 to 1: ten minutes up and down, in steps of the resolution. */
function wave(text: string, nowMs: number): number {
  const phase = getOrInsert(shares, text, () => {
    if (shares.size >= maxShares) shares.clear()
    return shareOf(`${text}/wave`)
  })
  const step = Math.floor(nowMs / resolutionMs)
  return Math.sin(2 * Math.PI * (step / 40 + phase))
}

/** The last window of a node: kubelets are asked at different moments. */
function windowOf(node: string, nowMs: number): object {
  const late = Math.floor(shareOf(node) * 5_000)
  const end = Math.floor(nowMs / resolutionMs) * resolutionMs - late
  return {
    timestamp: timestamp(end),
    window: `${(14 + shareOf(`${node}/window`) * 6).toFixed(3)}s`,
  }
}

/** As metrics-server writes them: nano CPUs and kibibytes. */
function writtenUsage({ cpu, memory }: Usage): object {
  return { cpu: `${Math.round(cpu * 1e9)}n`, memory: `${Math.round(memory / 1024)}Ki` }
}

/** metrics-server copies the name and the labels, and gives its own time as that of the creation. */
function metadataOf({ name, namespace, labels }: StoredObject): object {
  return {
    name,
    ...(namespace === '' ? {} : { namespace }),
    creationTimestamp: timestamp(Date.now()),
    ...(labels === undefined ? {} : { labels }),
  }
}

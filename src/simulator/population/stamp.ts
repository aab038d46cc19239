import type { OwnerReference } from '../../kubernetes/object.ts'
import { isRecord } from '../../lib/json.ts'
import { identified, firstUid, type PopulationItem, type Written } from './object.ts'
import type { Placement } from './pod-status.ts'
import { type NodePlan, type Plan, podsPerNode } from './plan.ts'
import type { Manifest } from './scenario.ts'
import { ScenarioError, type Values } from './template.ts'

/** Durations in milliseconds. */
export const second = 1000
export const minute: number = 60 * second
export const hour: number = 60 * minute
export const day: number = 24 * hour

/** Turns manifests into objects, and places pods on nodes. */
export class Stamper {
  readonly plan: Plan
  readonly priorities: ReadonlyMap<string, number>
  readonly zones: ReadonlyMap<string, string>
  readonly #used: number[]
  #next = 0

  constructor(plan: Plan) {
    this.plan = plan
    this.#used = plan.nodes.map(() => 0)
    this.zones = new Map(plan.nodes.map(({ name, zone }) => [name, zone]))
    const classes = plan.scenario.cluster.filter(
      ({ resource }) => resource.kind === 'PriorityClass',
    )
    this.priorities = new Map(
      classes.map((one) => {
        const { metadata, value } = one.fill(plan.values) as Written & { readonly value: number }
        return [metadata.name, value]
      }),
    )
  }

  /**
   * Makes the object of a manifest, completed as an API server would. `change` adds the parts that no manifest has,
   * such as the status.
   */
  item(
    manifest: Manifest,
    values: Values,
    { createdAtMs, updatedAtMs }: { readonly createdAtMs: number; readonly updatedAtMs?: number },
    change: (object: Written) => Written = (object) => object,
  ): PopulationItem {
    const { resource, place } = manifest
    const { seed } = this.plan
    const object = change(this.written(manifest, values))
    const { name, namespace = '' } = object.metadata
    if (typeof name !== 'string')
      throw new ScenarioError(place, `a ${resource.kind} without a name`)
    return identified(resource, object, {
      uid: firstUid(seed, resource, namespace, name),
      createdAtMs,
      ...(updatedAtMs === undefined ? {} : { updatedAtMs }),
      ownerUid: (owner) => this.#ownerUid(place, owner, namespace),
    })
  }

  /** A manifest with its values and its defaults, before it has an identity. */
  written({ fill, namespaced, resource }: Manifest, values: Values): Written {
    const object = withDefaults(fill(values) as Written, this.plan.scenario.defaults[resource.kind])
    const { metadata } = object
    if (!namespaced || metadata.namespace !== undefined) return object
    const namespace = String(values.get('namespace', resource.kind))
    return { ...object, metadata: { ...metadata, namespace } }
  }

  #ownerUid(place: string, owner: Omit<OwnerReference, 'uid'>, namespace: string): string {
    const { scenario, seed } = this.plan
    const kind = scenario.kindOf(owner.apiVersion, owner.kind)
    if (kind === undefined) throw new ScenarioError(place, `its owner is an unknown ${owner.kind}`)
    return firstUid(seed, kind.resource, kind.namespaced ? namespace : '', owner.name)
  }

  /** Places a pod on the next ready node with space. The plan guarantees one. */
  place(): Placement {
    const { nodes } = this.plan
    for (let tries = 0; tries < nodes.length; tries++) {
      const node = nodes[this.#next++ % nodes.length]
      if (node?.ready === true && (this.#used[node.index] ?? 0) < podsPerNode)
        return this.placeOn(node, false)
    }
    throw new RangeError('no node has room for another pod')
  }

  /** Places a pod on a node, ready or not. With `hostNetwork` the pod has the node's address. */
  placeOn(node: NodePlan, hostNetwork: boolean): Placement {
    const count = (this.#used[node.index] ?? 0) + 1
    this.#used[node.index] = count
    const podIP = hostNetwork ? node.address : `${node.podNetwork}.${count + 1}`
    return { nodeName: node.name, hostIP: node.address, podIP }
  }
}

/** Fills in the fields that an object leaves out, by the rules of `scenario/defaults.yaml`. Makes the `data` of a Secret. */
function withDefaults({ stringData, ...object }: Written, defaults: unknown): Written {
  const filled = withFields(object, defaults) as Written
  if (stringData === undefined) return filled
  const data = Object.entries(stringData as object).map(([key, text]) => [
    key,
    Buffer.from(String(text)).toString('base64'),
  ])
  return { ...filled, data: { ...(object['data'] as object), ...Object.fromEntries(data) } }
}

function withFields(given: unknown, defaults: unknown): unknown {
  if (Array.isArray(given) && Array.isArray(defaults))
    return given.map((item) => withFields(item, defaults[0]))
  if (!isRecord(given) || !isRecord(defaults)) return given
  const added: Record<string, unknown> = {}
  const filled: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(defaults)) {
    const name = key.endsWith('?') ? key.slice(0, -1) : undefined
    if (name === undefined) added[key] = defaultOf(value, given)
    else if (given[name] !== undefined) filled[name] = withFields(given[name], value)
  }
  const known = Object.entries(added).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(known), ...given, ...filled }
}

/** A default: `$name` is the value of a field of the object. `undefined` if the object lacks that field. */
function defaultOf(value: unknown, object: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === 'string' && value.startsWith('$')) return object[value.slice(1)]
  if (!Array.isArray(value)) return value
  const items = value.map((item) => defaultOf(item, object))
  return items.includes(undefined) ? undefined : items
}

import type { Unstructured } from '../../kubernetes/object.ts'
import type { Node } from '../../kubernetes/wire/core-v1.ts'
import { isReadyObject } from './node-outage.ts'
import type { Placement } from './pod-status.ts'
import type { Random } from './random.ts'

/** The maximum number of pods per node. */
export const podsPerNode = 110

/** A node, as far as the scheduler uses it. */
export interface NodeRecord {
  readonly name: string
  readonly hostIP: string
  /** The first three bytes of its pods' addresses, with the last dot. */
  readonly prefix: string
  readonly zone: string
  readonly milliCpu: number
  readonly ready: boolean
  /** Whether the node takes new pods. */
  readonly open: boolean
  /** The last bytes of its pods' addresses. */
  readonly used: Set<number>
}

/** The nodes of a cluster and the addresses of their pods. */
export class Nodes {
  readonly #nodes = new Map<string, NodeRecord>()
  #open: readonly NodeRecord[] | undefined

  get size(): number {
    return this.#nodes.size
  }

  /** The nodes that take new pods. */
  get open(): readonly NodeRecord[] {
    this.#open ??= [...this.#nodes.values()].filter((node) => node.open)
    return this.#open
  }

  get(name = ''): NodeRecord | undefined {
    return this.#nodes.get(name)
  }

  [Symbol.iterator](): Iterator<NodeRecord> {
    return this.#nodes.values()
  }

  /** Takes up the current version of a node; `undefined` after its deletion. Returns whether its readiness changed. */
  observe(name: string, object: Unstructured | undefined): boolean {
    this.#open = undefined
    const before = this.#nodes.get(name)
    if (object === undefined) {
      this.#nodes.delete(name)
      return false
    }
    const { metadata, spec = {}, status = {} } = object as Node
    const { podCIDR = '', unschedulable = false } = spec
    const ready = isReadyObject(object)
    const prefix = podCIDR.slice(0, podCIDR.lastIndexOf('.') + 1)
    this.#nodes.set(name, {
      name,
      hostIP: status.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '',
      prefix,
      zone: metadata.labels?.['topology.kubernetes.io/zone'] ?? '',
      milliCpu: milliCpu(status.allocatable?.['cpu']),
      ready,
      open: ready && !unschedulable && prefix !== '',
      used: before?.used ?? new Set(),
    })
    return before !== undefined && before.ready !== ready
  }

  /** The emptier of two random nodes, or else any with room; `undefined` if there is none. */
  place(random: Random): NodeRecord | undefined {
    const { open } = this
    if (open.length === 0) return undefined
    const [one, other] = [random.pick(open), random.pick(open)]
    const node = one.used.size <= other.used.size ? one : other
    return hasRoom(node) ? node : open.find(hasRoom)
  }

  /** Where a pod runs on a node. With `hostNetwork` it has the node's address, else a free one. */
  placement({ name, hostIP, prefix, used }: NodeRecord, hostNetwork = false): Placement {
    let last = 2 + (used.size % 250)
    while (used.has(last)) last = last >= 254 ? 2 : last + 1
    return { nodeName: name, hostIP, podIP: hostNetwork ? hostIP : `${prefix}${last}` }
  }

  reserve(at: Placement | undefined): void {
    const node = this.get(at?.nodeName)
    if (at?.podIP.startsWith(node?.prefix ?? '-') === true) node?.used.add(lastByte(at.podIP))
  }

  release(at: Placement | undefined): void {
    const node = this.get(at?.nodeName)
    if (at?.podIP.startsWith(node?.prefix ?? '-') === true) node?.used.delete(lastByte(at.podIP))
  }
}

const hasRoom = ({ used }: NodeRecord): boolean => used.size < podsPerNode

/** CPU in thousandths: `250m`, `2`. */
export function milliCpu(quantity = '0'): number {
  return quantity.endsWith('m') ? Number(quantity.slice(0, -1)) : Number(quantity) * 1000
}

function lastByte(address: string): number {
  return Number(address.slice(address.lastIndexOf('.') + 1))
}

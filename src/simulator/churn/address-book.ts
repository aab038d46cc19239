import type { Unstructured } from '../../kubernetes/object.ts'
import { type Placement, podsPerNode } from '../population/node-plan.ts'
import type { Random } from '../population/random.ts'

/** A node as the scheduler of the churn sees it. */
interface NodeAddresses {
  readonly name: string
  readonly hostIP: string
  /** The first three bytes of its pods' addresses, with the last dot. */
  readonly prefix: string
  readonly used: Set<number>
  next: number
}

/** Which nodes take pods, and which addresses are taken. */
export class AddressBook {
  readonly #nodes = new Map<string, NodeAddresses>()
  #open: NodeAddresses[] = []
  /** Nodes that have been ready and are not now. */
  readonly #closed = new Map<string, NodeAddresses>()
  /** The zone of each node. */
  readonly zones: Map<string, string> = new Map()

  /** The nodes whose kubelets are heard of. */
  get readyNodes(): readonly string[] {
    return this.#open.map(({ name }) => name)
  }

  /** The nodes that were ready once and have been lost. */
  get lostNodes(): readonly string[] {
    return [...this.#closed.keys()]
  }

  isOpen(name: string): boolean {
    return this.#open.some((node) => node.name === name)
  }

  /** No pod comes to this node any more. */
  close(name: string): void {
    const node = this.#open.find((one) => one.name === name)
    if (node === undefined) return
    this.#open = this.#open.filter((one) => one !== node)
    this.#closed.set(name, node)
  }

  /** Pods come to this node again. */
  open(name: string): void {
    const node = this.#closed.get(name)
    if (node === undefined) return
    this.#closed.delete(name)
    this.#open.push(node)
  }

  addNode(node: Unstructured): void {
    const { name, labels } = node.metadata
    const { podCIDR = '', unschedulable = false } = (node['spec'] ?? {}) as NodeSpec
    const { addresses = [], conditions = [] } = (node['status'] ?? {}) as NodeStatus
    const hostIP = addresses.find(({ type }) => type === 'InternalIP')?.address ?? ''
    const prefix = podCIDR.slice(0, podCIDR.lastIndexOf('.') + 1)
    const known = { name, hostIP, prefix, used: new Set<number>(), next: 2 }
    this.#nodes.set(name, known)
    this.zones.set(name, labels?.['topology.kubernetes.io/zone'] ?? '')
    const ready = conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
    if (ready && !unschedulable && prefix !== '') this.#open.push(known)
  }

  /** The less full of two nodes taken at random; `undefined` where both are full, or there are none. */
  place(random: Random): Placement | undefined {
    if (this.#open.length === 0) return undefined
    const [one, other] = [random.pick(this.#open), random.pick(this.#open)]
    const node = one.used.size <= other.used.size ? one : other
    if (node.used.size >= podsPerNode) return undefined
    while (node.used.has(node.next)) node.next = node.next >= 254 ? 2 : node.next + 1
    node.used.add(node.next)
    return { nodeName: node.name, hostIP: node.hostIP, podIP: `${node.prefix}${node.next}` }
  }

  /** Takes note of an address that is in use. */
  take(at: Placement): void {
    this.#nodes.get(at.nodeName)?.used.add(lastByte(at.podIP))
  }

  /** Gives an address back. */
  release(at: Placement): void {
    this.#nodes.get(at.nodeName)?.used.delete(lastByte(at.podIP))
  }
}

interface NodeSpec {
  readonly podCIDR?: string
  readonly unschedulable?: boolean
}

interface NodeStatus {
  readonly addresses?: readonly { readonly type: string; readonly address: string }[]
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
}

function lastByte(address: string): number {
  return Number(address.slice(address.lastIndexOf('.') + 1))
}

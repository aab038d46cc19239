import { createRandom, uidDigest } from './random.ts'

/** A node before it is written out: what pods, leases and volumes need to know of it. */
export interface NodePlan {
  readonly index: number
  readonly name: string
  readonly uid: string
  readonly zone: string
  readonly instanceType: string
  readonly architecture: 'amd64' | 'arm64'
  readonly cpus: number
  readonly memoryGi: number
  readonly address: string
  /** The first three bytes of the node's pod addresses: `10.128.7`. */
  readonly podNetwork: string
  readonly ready: boolean
}

/** Where a pod runs. */
export interface Placement {
  readonly nodeName: string
  readonly hostIP: string
  readonly podIP: string
}

/** How many pods a kubelet takes. */
export const podsPerNode = 110

/** How many nodes the address plan has room for. */
export const mostNodes = 32_000

const instanceTypes = [
  { instanceType: 'general-8x32', architecture: 'amd64', cpus: 8, memoryGi: 32 },
  { instanceType: 'general-16x64', architecture: 'amd64', cpus: 16, memoryGi: 64 },
  { instanceType: 'arm-16x64', architecture: 'arm64', cpus: 16, memoryGi: 64 },
] as const

/** The zones of the imaginary region. */
export const region = 'eu-north-1'

/** Plans the nodes; with at least three of them the last one is broken. */
export function planNodes(seed: string, count: number): readonly NodePlan[] {
  const random = createRandom(`${seed}/nodes`)
  return Array.from({ length: count }, (_, index) => {
    const zone = `${region}${'abc'[index % 3] ?? 'a'}`
    const name = `worker-${zone.at(-1) ?? 'a'}-${String(Math.floor(index / 3) + 1).padStart(3, '0')}`
    return {
      index,
      name,
      uid: uidDigest(`${seed}/node/${name}`),
      zone,
      ...random.pick(instanceTypes),
      address: `10.${16 + Math.floor(index / 51_200)}.${Math.floor(index / 200) % 256}.${10 + (index % 200)}`,
      podNetwork: `10.${128 + (index >> 8)}.${index & 255}`,
      ready: count < 3 || index !== count - 1,
    }
  })
}

/** Gives out places on nodes, evenly. */
export interface Placer {
  /** A place on the next ready node that has room. */
  place(): Placement
  /** A place on one node, ready or not; `hostNetwork` takes no address of its own. */
  placeOn(node: NodePlan, hostNetwork: boolean): Placement
}

/** Starts with empty nodes. The plan sees to it that there is room for everything. */
export function createPlacer(nodes: readonly NodePlan[]): Placer {
  const used = nodes.map(() => 0)
  let at = 0
  const placeOn = (node: NodePlan, hostNetwork: boolean): Placement => {
    const count = (used[node.index] ?? 0) + 1
    used[node.index] = count
    const podIP = hostNetwork ? node.address : `${node.podNetwork}.${count + 1}`
    return { nodeName: node.name, hostIP: node.address, podIP }
  }
  return {
    placeOn,
    place() {
      for (let tries = 0; tries < nodes.length; tries++) {
        const node = nodes[at++ % nodes.length]
        if (node?.ready === true && (used[node.index] ?? 0) < podsPerNode)
          return placeOn(node, false)
      }
      throw new RangeError('no node has room for another pod')
    },
  }
}

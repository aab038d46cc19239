import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../support/random.ts'
import { inParallel, must, type RawRequest, type TestCluster } from './test-cluster.ts'

export interface RandomWritesOptions {
  readonly cluster: TestCluster
  readonly seed: number
  /** How many writes have to succeed. */
  readonly writes: number
  readonly namespaces: readonly [string, ...string[]]
  /** Nodes that pods may name. */
  readonly nodes: readonly [string, ...string[]]
  /** Told after each success; not waited for. */
  readonly written?: (count: number) => void
}

const lanes = 8
const namesPerLane = 12
const images = ['nginx:1', 'redis:7', 'busybox:3'] as const
const tiers = ['a', 'b', 'c'] as const
const phases = ['Pending', 'Running', 'Failed'] as const

/** A write, and whether its object is there when it has succeeded. */
interface Write {
  readonly path: string
  readonly request: RawRequest
  readonly leaves: boolean
}

export const makeNamespaces = async (
  cluster: TestCluster,
  names: readonly string[],
): Promise<void> =>
  inParallel(names, async (name) =>
    must(cluster, '/api/v1/namespaces', { method: 'POST', body: { metadata: { name } } }),
  )

/** The writes of one lane. Which objects are there it knows from the answers: an outage may have left other ones. */
class RandomWriter {
  readonly #random: () => number
  readonly #options: RandomWritesOptions
  readonly #lane: number
  readonly #present = new Set<string>()

  constructor(options: RandomWritesOptions, lane: number) {
    this.#options = options
    this.#lane = lane
    this.#random = seededRandom(options.seed * 31 + lane)
  }

  /** Makes one write; whether it succeeded. */
  async write(): Promise<boolean> {
    const isPod = this.#random() < 0.85
    const path = `/api/v1/namespaces/${this.#pick(this.#options.namespaces)}/${isPod ? 'pods' : 'configmaps'}`
    const name = `random-${this.#lane}-${Math.floor(this.#random() * namesPerLane)}`
    const one = `${path}/${name}`
    const write = this.#present.has(one)
      ? this.#change(one, isPod)
      : { path, leaves: true, request: this.#creation(name, isPod) }
    const { status } = await this.#options.cluster.request(write.path, write.request)
    if (status === 404 || (status < 300 && !write.leaves)) this.#present.delete(one)
    else this.#present.add(one)
    return status < 300
  }

  #creation(name: string, isPod: boolean): RawRequest {
    if (!isPod) return { method: 'POST', body: { metadata: { name }, data: this.#randomText() } }
    const nodeName = this.#random() < 0.8 ? { nodeName: this.#pick(this.#options.nodes) } : {}
    const containers = [{ name: 'main', image: this.#pick(images) }]
    const metadata = { name, labels: { tier: this.#pick(tiers) } }
    return { method: 'POST', body: { metadata, spec: { ...nodeName, containers } } }
  }

  #change(one: string, isPod: boolean): Write {
    const action = this.#random()
    if (action < 0.3) {
      // Without the grace period of 0 a pod on a node is only marked: its kubelet would delete it.
      const isMarked = isPod && this.#random() < 0.15
      const path = isMarked ? one : `${one}?gracePeriodSeconds=0`
      return { path, leaves: isMarked, request: { method: 'DELETE' } }
    }
    if (!isPod) return patch(one, { data: this.#randomText() })
    if (action < 0.5) {
      const blocked = this.#random() < 0.2 ? 'yes' : null
      return patch(one, { metadata: { labels: { tier: this.#pick(tiers), blocked } } })
    }
    if (action < 0.85) return patch(`${one}/status`, { status: { phase: this.#pick(phases) } })
    const body = [{ op: 'replace', path: '/spec/containers/0/image', value: this.#pick(images) }]
    const contentType = 'application/json-patch+json'
    return { path: one, leaves: true, request: { method: 'PATCH', contentType, body } }
  }

  #randomText(): object {
    return { value: String(Math.floor(this.#random() * 1e9)) }
  }

  #pick<T>(values: readonly [T, ...T[]]): T {
    return values[Math.floor(this.#random() * values.length)] ?? values[0]
  }
}

const patch = (path: string, body: object): Write => ({
  path,
  leaves: true,
  request: { method: 'PATCH', contentType: 'application/merge-patch+json', body },
})

/** Makes random creates, patches and deletes of pods and ConfigMaps until so many have succeeded; goes on after an outage. */
export const writeRandomly = async (options: RandomWritesOptions): Promise<void> => {
  const { writes, written } = options
  const giveUpMs = performance.now() + 120_000
  let done = 0
  const lane = async (position: number): Promise<void> => {
    const writer = new RandomWriter(options, position)
    while (done < writes) {
      if (performance.now() > giveUpMs) throw new Error(`${done} of ${writes} writes in time`)
      try {
        if (!(await writer.write())) continue
        done += 1
        written?.(done)
      } catch {
        await sleep(20)
      }
    }
  }
  await inParallel(Array.from({ length: lanes }).keys(), lane, lanes)
}

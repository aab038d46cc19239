import { type Simulator, startSimulator, type Storage } from 'informerql/simulator'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { created, sent } from './created.ts'

/** Of the ConfigMaps that it makes. */
export const path = '/api/v1/namespaces/default/configmaps'

/** A cluster behind a proxy, which can be cut off and replaced by another one. */
export class FleetCluster implements AsyncDisposable {
  readonly name: string
  readonly labels: Record<string, string>
  readonly proxy: CutProxy
  simulator: Simulator

  constructor(
    name: string,
    simulator: Simulator,
    { proxy, labels }: { readonly proxy: CutProxy; readonly labels: Record<string, string> },
  ) {
    this.name = name
    this.simulator = simulator
    this.proxy = proxy
    this.labels = labels
  }

  static async start(name: string, labels: Record<string, string> = {}): Promise<FleetCluster> {
    const simulator = await startSimulator({ populate: named })
    const proxy = await startCutProxy(Number(new URL(simulator.url).port))
    return new FleetCluster(name, simulator, { proxy, labels })
  }

  get selection(): { name: string; server: string; labels: Record<string, string> } {
    return {
      name: this.name,
      server: `http://127.0.0.1:${this.proxy.port}`,
      labels: { ...this.labels },
    }
  }

  async make(name: string, value = 'new'): Promise<void> {
    await created(this.simulator, path, { metadata: { name }, data: { value } })
  }

  async change(name: string, value: string): Promise<void> {
    await sent(this.simulator, 'PATCH', `${path}/${name}`, { data: { value } })
  }

  async remove(name: string): Promise<void> {
    await sent(this.simulator, 'DELETE', `${path}/${name}`)
  }

  /** Puts a new cluster in its place, under its name and address: empty, but for what `prepare` does to it before. */
  async makeAnew(prepare?: (simulator: Simulator) => Promise<void>): Promise<void> {
    const before = this.simulator
    this.simulator = await startSimulator({ populate: named })
    await prepare?.(this.simulator)
    this.proxy.target = Number(new URL(this.simulator.url).port)
    this.proxy.cut()
    await before[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]()
    await this.simulator[Symbol.asyncDispose]()
  }
}

/** Gives a cluster an identity. */
const named = (storage: Storage): void => {
  storage.create(
    { group: '', version: 'v1', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } },
  )
}

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { GatewayOptions, ServerOptions } from 'informerql'
import { type Simulator, type SimulatorOptions, startSimulator } from 'informerql/simulator'
import { type ServedGateway, serveGateway } from './gateway.ts'

/** A simulated API server, and a gateway to it, which calls it `one`. */
export interface ServedSimulator {
  readonly cluster: Simulator
  readonly gateway: ServedGateway
}

export interface ServedSimulatorOptions {
  readonly simulator?: SimulatorOptions
  readonly gateway?: Omit<GatewayOptions, 'clusters'>
  readonly server?: Partial<ServerOptions>
}

export async function serveSimulator(
  options: ServedSimulatorOptions = {},
): Promise<ServedSimulator & AsyncDisposable> {
  await using parts = new AsyncDisposableStack()
  const cluster = parts.use(await startSimulator(options.simulator))
  const clusters = [{ name: 'one', server: cluster.url }]
  const gateway = parts.use(await serveGateway({ ...options.gateway, clusters }, options.server))
  const all = parts.move()
  return { cluster, gateway, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** One for each test of a suite, there while the test runs: what happens in one test no other sees. */
export function freshForEachTest(options?: ServedSimulatorOptions): ServedSimulator {
  const place = new Place(options)
  beforeEach(() => place.open())
  afterEach(() => place.close())
  return place
}

/** One for all tests of a suite, there from the first one to the last. */
export function sameForAllTests(options?: ServedSimulatorOptions): ServedSimulator {
  const place = new Place(options)
  beforeAll(() => place.open())
  afterAll(() => place.close())
  return place
}

/** Where a suite finds what its hooks have started. */
class Place implements ServedSimulator {
  readonly #options: ServedSimulatorOptions | undefined
  #served: (ServedSimulator & AsyncDisposable) | undefined

  constructor(options: ServedSimulatorOptions | undefined) {
    this.#options = options
  }

  get cluster(): Simulator {
    return this.#there.cluster
  }

  get gateway(): ServedGateway {
    return this.#there.gateway
  }

  get #there(): ServedSimulator {
    if (this.#served === undefined) throw new Error('it is there while a test runs')
    return this.#served
  }

  async open(): Promise<void> {
    this.#served = await serveSimulator(this.#options)
  }

  async close(): Promise<void> {
    await this.#served?.[Symbol.asyncDispose]()
  }
}

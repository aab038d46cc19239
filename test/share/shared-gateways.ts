import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayOptions } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { created } from '../gateway/created.ts'
import { podOf, podsPath } from '../archive/restarted-gateway.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { type ServedGateway, type ServedParts, serveGateway } from '../support/gateway.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'

/** A free port of loopback: a gateway has to know its address before it listens. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

export interface SharingGateway extends ServedGateway {
  readonly address: string
}

export interface SharingProgram extends Pick<ServedGateway, 'url'>, AsyncDisposable {
  readonly program: ExampleProcess
  readonly address: string
}

/** A gateway that the others reach by a proxy, which ends with it. */
export function behind(
  gateway: ServedGateway,
  proxy: AsyncDisposable & { readonly port: number },
): SharingGateway {
  const end = async (): Promise<void> => {
    await gateway[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
  }
  return { ...gateway, address: `http://127.0.0.1:${proxy.port}`, [Symbol.asyncDispose]: end }
}

/** A gateway as a process. `options` are those of a configuration file. `at`: its port; absent: a free one. */
export async function startSharingProgram(
  options: Pick<
    GatewayOptions,
    'clusters' | 'archive' | 'preload' | 'commonKinds' | 'problemKinds'
  >,
  at?: number,
): Promise<SharingProgram> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'informerql-shared-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const config = join(folder, 'config.json')
  const { clusters, archive, preload, commonKinds, problemKinds } = options
  await writeFile(config, JSON.stringify({ clusters, archive, preload, commonKinds, problemKinds }))
  const port = at ?? (await freePort())
  const address = `http://127.0.0.1:${port}`
  const args = ['src/main.ts', 'serve', '--config', config, '--port', String(port)]
  const program = startProgram(process.execPath, [...args, '--share-address', address], {
    timeout: 230_000,
  })
  stack.use(program)
  await program.printed('informerql answers at')
  const parts = stack.move()
  return {
    program,
    address,
    url: `${address}/graphql`,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

/** Gateways that share simulated clusters, `c-0` and so on, each with a pod of its own name. */
export class SharedGateways implements AsyncDisposable {
  readonly postgres: PostgresServer
  readonly archive: string
  readonly names: readonly string[]
  readonly simulators: readonly Simulator[]
  readonly #stack: AsyncDisposableStack

  private constructor(
    postgres: PostgresServer,
    archive: string,
    simulators: readonly Simulator[],
    stack: AsyncDisposableStack,
  ) {
    this.postgres = postgres
    this.archive = archive
    this.simulators = simulators
    this.names = simulators.map((_, at) => `c-${at}`)
    this.#stack = stack
  }

  static async start(count: number): Promise<SharedGateways> {
    await using stack = new AsyncDisposableStack()
    const postgres = stack.use(await startPostgres())
    const simulators: Simulator[] = []
    for (let at = 0; at < count; at++) {
      const simulator = stack.use(await startSimulator())
      await created(simulator, podsPath, podOf(`pod-of-c-${at}`))
      simulators.push(simulator)
    }
    return new SharedGateways(postgres, await postgres.database(), simulators, stack.move())
  }

  /** The options that all gateways have in common. */
  get options(): GatewayOptions {
    return {
      clusters: this.names.map((name, at) => ({ name, server: this.simulators[at]?.url ?? '' })),
      archive: { url: this.archive, kinds: ['pods'] },
      preload: ['pods'],
      commonKinds: ['pods'],
      problemKinds: ['pods'],
    }
  }

  async serve(
    further: Partial<GatewayOptions> = {},
    parts: ServedParts = {},
  ): Promise<SharingGateway> {
    const port = await freePort()
    const address = `http://127.0.0.1:${port}`
    const options = { ...this.options, share: { address }, ...further }
    const gateway = await serveGateway(options, { port }, parts)
    return this.#stack.use({ ...gateway, address })
  }

  /** The same as a process; `at`: its port. */
  async program(at?: number): Promise<SharingProgram> {
    return this.#stack.use(await startSharingProgram(this.options, at))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

/** By cluster, the address of its holder, as a gateway says. */
export async function holdersBy({
  url,
  data,
}: Pick<ServedGateway, 'url'> & Partial<Pick<ServedGateway, 'data'>>): Promise<
  Readonly<Record<string, string | null>>
> {
  const query = '{ gatewayClusters { name holder } }'
  const { gatewayClusters } = await (data ?? dataOf)(query)
  return Object.fromEntries(
    gatewayClusters.map(({ name, holder }: { name: string; holder: string | null }) => [
      name,
      holder,
    ]),
  )

  async function dataOf(text: string): Promise<Fields> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: text }),
    })
    const answer: Fields = await response.json()
    if (answer.data == null) throw new Error(JSON.stringify(answer.errors))
    return answer.data
  }
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayOptions } from 'informerql'
import { startSimulator, type Simulator, type SimulatorOptions } from 'informerql/simulator'
import { afterAll, beforeAll } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import { type HeldBehind, resume, type Resumed } from '../gateway/resumed-subscription.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { needsPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type RequestProxy, startRequestProxy } from '../support/request-proxy.ts'

type ArchiveOptions = NonNullable<GatewayOptions['archive']>
type Options = Omit<Partial<GatewayOptions>, 'archive'> & {
  /** `kinds`: null for those that are kept by default. */
  readonly archive?: Omit<Partial<ArchiveOptions>, 'kinds'> & {
    readonly kinds?: readonly string[] | null
  }
}

export const podsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`
export const podsPath: string = podsIn('default')

export const podOf = (name: string, tier = 'x', namespace = 'default'): Fields => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels: { tier } },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] },
})

export const ascending = (one: string, other: string): number => (one < other ? -1 : 1)

/** The pods of a tier. `field` has an open list of arguments. */
export const asked = {
  field: 'pods(labelSelector: "tier=x", coalesceMs: 0',
  selection: 'metadata { name uid labels }',
}

/**
 * Where the gateways of a `describe` keep their archives: `file` or `postgres`, which runs while it does. The function gives a
 * database of its own to a test, `undefined` for a file, and skips where there is no Postgres.
 */
export const archiveUrls = (
  form: string,
): ((skip: (is: boolean) => void) => Promise<string | undefined>) => {
  const isFile = form === 'file'
  let postgres: PostgresServer | undefined
  beforeAll(async () => {
    if (!isFile && !needsPostgres.skip) postgres = await startPostgres()
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())
  return async (skip) => {
    if (!isFile) skip(needsPostgres.skip)
    return await postgres?.database()
  }
}

/** A gateway with an archive in a file, which can be started again; its requests to a simulated API server are noted. */
export class RestartedGateway implements AsyncDisposable {
  readonly folder: string
  readonly proxy: RequestProxy
  cluster: Simulator
  gateway: ServedGateway
  readonly #options: Options
  readonly #clusters: Simulator[]

  private constructor(
    folder: string,
    proxy: RequestProxy,
    cluster: Simulator,
    gateway: ServedGateway,
    options: Options,
  ) {
    this.folder = folder
    this.proxy = proxy
    this.cluster = cluster
    this.gateway = gateway
    this.#options = options
    this.#clusters = [cluster]
  }

  static async start(
    options: Options = {},
    simulator: SimulatorOptions = {},
  ): Promise<RestartedGateway> {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-archive-'))
    const cluster = await startSimulator(simulator)
    for (const name of ['a', 'b', 'c']) {
      await created(cluster, podsPath, podOf(name))
    }
    const proxy = await startRequestProxy(cluster.url)
    const gateway = await serve(folder, proxy, options)
    return new RestartedGateway(folder, proxy, cluster, gateway, options)
  }

  /** Stops the gateway and starts it again; notes the requests from then on. */
  async again(
    meanwhile: () => Promise<unknown> = async () => {},
    options: Options = {},
  ): Promise<void> {
    await this.gateway[Symbol.asyncDispose]()
    await meanwhile()
    this.proxy.requests.length = 0
    this.gateway = await serve(this.folder, this.proxy, { ...this.#options, ...options })
  }

  /** Another cluster answers from now on. */
  async exchange(options: SimulatorOptions): Promise<void> {
    this.cluster = await startSimulator(options)
    this.#clusters.push(this.cluster)
    this.proxy.target = this.cluster.url
  }

  async names(): Promise<readonly string[]> {
    const { pods } = await this.gateway.data('{ pods { nodes { metadata { name } } } }')
    return pods.nodes.map(({ metadata }: Fields) => metadata.name)
  }

  add(name: string, tier?: string, namespace = 'default'): Promise<unknown> {
    return created(this.cluster, podsIn(namespace), podOf(name, tier, namespace))
  }

  remove(name: string, namespace = 'default'): Promise<unknown> {
    return sent(this.cluster, 'DELETE', `${podsIn(namespace)}/${name}?gracePeriodSeconds=0`)
  }

  label(name: string, tier: string, namespace = 'default'): Promise<unknown> {
    const metadata = { labels: { tier } }
    return sent(this.cluster, 'PATCH', `${podsIn(namespace)}/${name}`, { metadata })
  }

  /** Follows the pods of the tier x until it holds some number of them, and leaves. */
  async stand(count: number): Promise<HeldBehind> {
    const live = this.follow()
    await live.until(({ size }) => size === count)
    live.leave()
    const last = live.seen.at(-1)
    if (last === undefined) throw new Error('no frame')
    return last
  }

  follow(from?: HeldBehind): Resumed {
    return resume(this.gateway.connect(), asked, from)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]()
    await this.proxy[Symbol.asyncDispose]()
    for (const cluster of this.#clusters) {
      await cluster[Symbol.asyncDispose]()
    }
    await rm(this.folder, { recursive: true })
  }
}

export const namesOf = (live: Pick<Resumed, 'held'>): readonly string[] =>
  [...live.held().values()].map(({ metadata }) => metadata.name).toSorted(ascending)

/** `ADDED a`: the changes of all frames, in the order of their texts. */
export const changesOf = (live: Resumed, stood: HeldBehind): readonly string[] =>
  live.seen
    .flatMap(({ frame, held }) =>
      (frame.changes as Fields[]).map(({ type, objectId }) => {
        const object = held.get(objectId) ?? stood.held.get(objectId)
        return `${type} ${object?.metadata.name}`
      }),
    )
    .toSorted(ascending)

async function serve(
  folder: string,
  proxy: RequestProxy,
  options: Options,
): Promise<ServedGateway> {
  const { kinds = ['pods', 'configMaps'], ...archive } = options.archive ?? {}
  return await serveGateway({
    clusters: [{ name: 'one', server: proxy.url }],
    preload: ['pods'],
    ...options,
    archive: {
      url: `file:${join(folder, 'archive.db')}`,
      ...(kinds === null ? {} : { kinds }),
      ...archive,
    },
  })
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGateway } from 'informerql'
import { startProgram } from '../support/example-process.ts'
import { type ServedGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { freePort, holdersBy, SharedGateways, type SharingGateway } from './shared-gateways.ts'

type Holders = Readonly<Record<string, string | null>>

const patience = { timeout: 60_000, interval: 200 }

describe('gateways that share clusters', needsPostgres, () => {
  let shared: SharedGateways
  let a: SharingGateway

  beforeAll(async () => {
    shared = await SharedGateways.start(6)
    a = await shared.serve()
  }, 240_000)

  afterAll(async () => {
    await shared[Symbol.asyncDispose]()
  })

  /** Waits until all gateways agree that each cluster is held by one of these, and each of these holds one. */
  async function settled(
    gateways: readonly Pick<ServedGateway, 'data'>[],
    addresses: readonly string[],
  ): Promise<Holders> {
    const all = async (): Promise<readonly string[]> => {
      const said = await Promise.all(gateways.map(holdersBy))
      expect(new Set(said.map((one) => JSON.stringify(one))).size).toBe(1)
      return [...new Set(Object.values(said[0] ?? {}).map(String))].toSorted()
    }
    await expect.poll(all, patience).toEqual([...addresses].toSorted())
    const [gateway = a] = gateways
    return await holdersBy(gateway)
  }

  const pods = async (gateway: ServedGateway, cluster: string): Promise<readonly string[]> => {
    const asked = `{ pods(cluster: "${cluster}") { nodes { metadata { name } } } }`
    const { data } = await gateway.query(asked)
    return (data?.pods?.nodes ?? []).map(
      ({ metadata }: { metadata: { name: string } }) => metadata.name,
    )
  }

  /** Each cluster is answered by its holder. */
  async function heldRightly(gateways: readonly SharingGateway[], holders: Holders): Promise<void> {
    for (const gateway of gateways) {
      for (const [cluster, holder] of Object.entries(holders)) {
        if (holder !== gateway.address) continue
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await expect.poll(() => pods(gateway, cluster), patience).toContain(`pod-of-${cluster}`)
      }
    }
  }

  it('one gateway holds all clusters; what joins and leaves moves only what must move', async () => {
    const alone = await settled([a], [a.address])
    expect(Object.keys(alone)).toEqual(shared.names)
    await heldRightly([a], alone)

    const b = await shared.serve()
    const two = await settled([a, b], [a.address, b.address])
    await heldRightly([a, b], two)

    const c = await shared.serve()
    // It may be that hashing gives it nothing.
    await expect.poll(() => c.log.join('\n'), patience).toContain('shares clusters with')
    await expect
      .poll(async () => {
        const said = await Promise.all([a, b, c].map(holdersBy))
        return new Set(said.map((one) => JSON.stringify(one))).size
      }, patience)
      .toBe(1)
    const three = await holdersBy(c)
    // What is not with the third gateway stays where it was.
    const stayed = shared.names.filter((name) => three[name] !== c.address)
    expect(stayed.map((name) => three[name])).toEqual(stayed.map((name) => two[name]))
    await heldRightly([a, b, c], three)

    // A clean stop: at once.
    await c[Symbol.asyncDispose]()
    expect(await settled([a, b], [a.address, b.address])).toEqual(two)
    await b[Symbol.asyncDispose]()
    expect(await settled([a], [a.address])).toEqual(alone)
    await heldRightly([a], alone)
    expect(a.log.join('\n')).toContain(`the gateway ${b.address} is gone`)
  }, 240_000)

  it('what a killed gateway held is taken over, also in the archive', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-shared-'))
    try {
      const config = join(folder, 'config.json')
      const { clusters, archive, preload, commonKinds, problemKinds } = shared.options
      const options = { clusters, archive, preload, commonKinds, problemKinds }
      await writeFile(config, JSON.stringify(options))
      const port = await freePort()
      const address = `http://127.0.0.1:${port}`
      const args = ['src/main.ts', 'serve', '--config', config, '--port', String(port)]
      const other = startProgram(process.execPath, [...args, '--share-address', address], {
        timeout: 170_000,
      })
      const two = await settled([a], [a.address, address])
      const [moved = ''] = shared.names.filter((name) => two[name] === address)
      other.signal('SIGKILL')
      await other.ended
      await settled([a], [a.address])
      expect(await pods(a, moved)).toContain(`pod-of-${moved}`)
      // The epoch of the writer grows with each holder.
      const writer = (): string =>
        shared.postgres.sql(
          `SELECT COUNT(DISTINCT holder) FROM holders WHERE until > EXTRACT(EPOCH FROM clock_timestamp()) * 1000`,
          shared.archive,
        )
      await expect.poll(writer, patience).toBe('1')
    } finally {
      await rm(folder, { recursive: true })
    }
  }, 240_000)

  it('while Postgres is away everything stays as it was, and afterwards all is whole', async () => {
    const b = await shared.serve()
    const two = await settled([a, b], [a.address, b.address])
    await shared.postgres.stop()
    // Longer than the rows of the gateways last.
    await new Promise((resolve) => setTimeout(resolve, 9_000))
    expect(await holdersBy(a)).toEqual(two)
    expect(await holdersBy(b)).toEqual(two)
    await heldRightly([a, b], two)
    await shared.postgres.start()
    await new Promise((resolve) => setTimeout(resolve, 12_000))
    expect(await settled([a, b], [a.address, b.address])).toEqual(two)
    const logs = [...a.log, ...b.log].join('\n')
    expect(logs).not.toContain('is gone')
    const c = await shared.serve()
    await expect
      .poll(() => a.log.join('\n'), patience)
      .toContain(`shares clusters with ${c.address}`)
    await c[Symbol.asyncDispose]()
    await b[Symbol.asyncDispose]()
  }, 240_000)

  it('a cluster that is everywhere is held by each gateway', async () => {
    const clusters = shared.options.clusters.map((one, at) => ({ ...one, everywhere: at === 0 }))
    const b = await shared.serve({ clusters })
    expect((await holdersBy(b))['c-0']).toBe(b.address)
    await expect.poll(() => pods(b, 'c-0'), patience).toContain('pod-of-c-0')
    await b[Symbol.asyncDispose]()
  }, 120_000)
})

describe('sharing', () => {
  const clusters = [{ name: 'one', server: 'http://127.0.0.1:1' }]
  const share = { address: 'http://127.0.0.1:4000' }

  it('needs a Postgres', async () => {
    const without = createGateway({ clusters, share })
    await expect(without).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'archive.url' })
    const file = createGateway({ clusters, share, archive: { url: 'memory:' } })
    await expect(file).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'archive.url' })
  })

  it('needs an address without a path', async () => {
    const archive = { url: 'postgres://127.0.0.1/none' }
    for (const address of ['10.0.0.1:4000', 'http://a/graphql', 'ftp://a']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(createGateway({ clusters, archive, share: { address } })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'share.address',
      })
    }
  })

  it('needs the hubs of its sources everywhere', async () => {
    const archive = { url: 'postgres://127.0.0.1/none' }
    const clusterSources = [{ type: 'argocd' as const, hub: 'one' }]
    await expect(createGateway({ clusters, archive, share, clusterSources })).rejects.toMatchObject(
      {
        code: 'INVALID_OPTION',
        option: 'clusters[0].everywhere',
      },
    )
  })
})

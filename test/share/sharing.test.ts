import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGateway } from 'informerql'
import { podOf, podsPath } from '../archive/restarted-gateway.ts'
import { created } from '../gateway/created.ts'
import { type Held, resume } from '../gateway/resumed-subscription.ts'
import { type ServedGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { agreedHolders, type Holders } from './settled-holders.ts'
import { holdersBy, SharedGateways, type SharingGateway } from './shared-gateways.ts'

// A question to all waits for a gateway that stands still until it counts as gone.
const patience = { timeout: 120_000, interval: 200 }

describe('gateways that share clusters', needsPostgres, () => {
  let shared: SharedGateways
  let a: SharingGateway

  beforeAll(async () => {
    // Many enough for each gateway to get one.
    shared = await SharedGateways.start(10)
    a = await shared.serve()
  }, 240_000)

  afterAll(async () => {
    await shared[Symbol.asyncDispose]()
  })

  /** Waits until each cluster is held by one of these, and each of these holds one. `wanted`: until it is as it was. */
  async function settled(
    gateways: readonly Pick<SharingGateway, 'url' | 'address'>[],
    wanted?: Holders,
  ): Promise<Holders> {
    const addresses = gateways.map(({ address }) => address).toSorted()
    return await agreedHolders(gateways, (held) => {
      const holders = [...new Set(Object.values(held).map(String))].toSorted()
      if (holders.join(' ') !== addresses.join(' ')) return false
      return wanted === undefined || isDeepStrictEqual(held, wanted)
    })
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
        await expect.poll(() => pods(gateway, cluster), patience).toContain(`pod-of-${cluster}`)
      }
    }
  }

  it('one gateway holds all clusters; what joins and leaves moves only what must move', async () => {
    const alone = await settled([a])
    expect(Object.keys(alone)).toEqual(shared.names)
    await heldRightly([a], alone)

    const b = await shared.serve()
    const two = await settled([a, b])
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
    expect(await settled([a, b], two)).toEqual(two)
    await b[Symbol.asyncDispose]()
    expect(await settled([a])).toEqual(alone)
    await heldRightly([a], alone)
    expect(a.log.join('\n')).toContain(`the gateway ${b.address} is gone`)
  }, 240_000)

  it('what changes while clusters are handed over is told once by the archive, and without a gap', async () => {
    const sql = (text: string) => shared.postgres.sql(text, shared.archive)
    const told = () =>
      sql(`SELECT cluster || ' ' || name FROM changes JOIN kinds ON kinds.id = kind_id
           WHERE name LIKE 'moving-%' ORDER BY changes.id`).split('\n')
    const writers = () =>
      sql(`SELECT COUNT(DISTINCT holder) FROM holders
           WHERE until > EXTRACT(EPOCH FROM clock_timestamp()) * 1000`)
    await settled([a])
    await expect.poll(() => sql('SELECT COUNT(*) FROM kinds WHERE begins > 0'), patience).toBe('10')
    const gaps = sql('SELECT COUNT(*) FROM gaps')
    const made: string[] = []
    const make = async () => {
      for (const [at, simulator] of shared.simulators.entries()) {
        const name = `moving-${made.length}`
        await created(simulator, podsPath, podOf(name))
        made.push(`${shared.names[at]} ${name}`)
      }
    }
    await make()
    const b = await shared.serve()
    // Until the next holder of some of them writes them, and for a moment more.
    const makeOn = async () => {
      await make()
      return writers()
    }
    await expect.poll(makeOn, patience).toBe('2')
    await make()
    await expect.poll(() => told().toSorted(), patience).toEqual(made.toSorted())
    await b[Symbol.asyncDispose]()
    await make()
    await expect.poll(() => told().toSorted(), patience).toEqual(made.toSorted())
    expect(sql('SELECT COUNT(*) FROM gaps')).toBe(gaps)
  }, 240_000)

  it('what a killed gateway held is taken over, also in the archive', async () => {
    const { program, address, url } = await shared.program()
    const two = await settled([a, { address, url }])
    const [moved = ''] = shared.names.filter((name) => two[name] === address)
    program.signal('SIGKILL')
    await program.ended
    await settled([a])
    expect(await pods(a, moved)).toContain(`pod-of-${moved}`)
    const writers = (): string =>
      shared.postgres.sql(
        'SELECT COUNT(DISTINCT holder) FROM holders WHERE until > EXTRACT(EPOCH FROM clock_timestamp()) * 1000',
        shared.archive,
      )
    await expect.poll(writers, patience).toBe('1')
  }, 240_000)

  it('a gateway that is to end hands its clusters over before it does', async () => {
    const { program, address, url } = await shared.program()
    await settled([a, { address, url }])
    program.signal('SIGTERM')
    await program.ended
    expect(new Set(Object.values(await holdersBy(a)))).toEqual(new Set([a.address]))
  }, 240_000)

  it('a gateway that stood still no longer holds what others have taken over, and joins again', async () => {
    const { program, address, url } = await shared.program()
    const two = await settled([a, { address, url }])
    program.signal('SIGSTOP')
    await settled([a])
    program.signal('SIGCONT')
    // They agree again: first that all is with the other one, then as before.
    expect(await settled([a, { address, url }], two)).toEqual(two)
    program.signal('SIGTERM')
    await program.ended
  }, 240_000)

  it('a resume token is honoured by the gateway that has taken its cluster over', async () => {
    const b = await shared.serve()
    const two = await settled([a, b])
    const [name = ''] = shared.names.filter((one) => two[one] === b.address)
    const simulator = shared.simulators[shared.names.indexOf(name)]
    if (simulator === undefined) throw new Error(`no cluster ${name}`)
    const asked = {
      field: `pods(cluster: "${name}", coalesceMs: 0`,
      selection: 'metadata { name }',
    }
    const before = resume(b.connect(), asked)
    const has = (held: Held, pod: string): boolean =>
      [...held.values()].some(({ metadata }) => metadata.name === pod)
    await before.until((held) => has(held, `pod-of-${name}`))
    await created(simulator, podsPath, podOf('seen'))
    await before.until((held) => has(held, 'seen'))
    before.leave()
    const stood = before.seen.at(-1)
    const leaving = b[Symbol.asyncDispose]()
    await created(simulator, podsPath, podOf('missed'))
    await leaving
    await settled([a])
    const after = resume(a.connect(), asked, stood)
    await after.until((held) => has(held, 'missed'))
    after.leave()
    expect(after.seen.map(({ frame }) => frame.reset)).not.toContain(true)
    expect(after.seen.flatMap(({ frame }) => frame.changes).map(({ type }) => type)).toEqual([
      'ADDED',
    ])
  }, 240_000)

  it('while Postgres is away everything stays as it was, and afterwards all is whole', async () => {
    const b = await shared.serve()
    const two = await settled([a, b])
    const logged = [a.log.length, b.log.length] as const
    await shared.postgres.stop()
    // Longer than the rows of the gateways last.
    await new Promise((resolve) => setTimeout(resolve, 9_000))
    expect(await holdersBy(a)).toEqual(two)
    expect(await holdersBy(b)).toEqual(two)
    await heldRightly([a, b], two)
    await shared.postgres.start()
    await new Promise((resolve) => setTimeout(resolve, 12_000))
    expect(await settled([a, b], two)).toEqual(two)
    const logs = [...a.log.slice(logged[0]), ...b.log.slice(logged[1])].join('\n')
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

import { randomUUID } from 'node:crypto'
import type { SimulatorOptions, Storage } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { RestartedGateway } from './restarted-gateway.ts'

const withUid = (): SimulatorOptions => ({
  populate: (storage: Storage) => {
    const metadata = { name: 'kube-system', uid: randomUUID() }
    const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
    storage.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
  },
})
const query = `{ changes(types: ["Pod"], first: 50) {
  nodes { type time after object { name } }
  incomplete { code from to }
} }`

describe('what happened while a gateway with an archive was down', () => {
  let world: RestartedGateway
  beforeEach(async () => {
    world = await RestartedGateway.start({}, withUid())
    await world.names()
    // Now the archive has them.
    await world.again()
    await world.names()
  })
  afterEach(() => world[Symbol.asyncDispose]())

  const changes = async (): Promise<Fields> => (await world.gateway.query(query)).data?.changes
  const named = async (name: string): Promise<readonly Fields[]> =>
    ((await changes())?.nodes ?? []).filter(({ object }: Fields) => object.name === name)

  it('has the moment at which the state before was known; what is seen live has none', async () => {
    await world.add('live')
    await expect.poll(() => named('live')).toHaveLength(1)
    expect((await named('live'))[0]).toMatchObject({ type: 'ADDED', after: null })
    const beforeMs = Date.now()
    await world.again(() => world.add('late'))
    await expect.poll(() => named('late')).toHaveLength(1)
    const [late] = await named('late')
    expect(late.type).toBe('ADDED')
    expect(Date.parse(late.after)).toBeLessThanOrEqual(Date.parse(late.time))
    expect(Date.parse(late.after)).toBeGreaterThan(beforeMs - 10_000)
    await world.add('live-again')
    await expect.poll(() => named('live-again')).toHaveLength(1)
    expect((await named('live-again'))[0]).toMatchObject({ type: 'ADDED', after: null })
    expect((await changes()).incomplete.map(({ code }: Fields) => code)).not.toContain(
      'ARCHIVE_GAP',
    )
  })

  it('is a gap of a time within, of which nobody says that nothing had changed', async () => {
    await world.add('before')
    await expect.poll(() => named('before')).toHaveLength(1)
    let within = new Date()
    await world.again(async () => {
      await world.add('late')
      await world.label('a', 'y')
      within = new Date()
    })
    await expect.poll(() => named('late')).toHaveLength(1)
    const [{ after, time }] = (await named('late')) as [Fields]
    const asked = await world.gateway.data(
      `query ($within: DateTime!, $before: DateTime!, $behind: DateTime!) {
        changes(types: ["Pod"], until: $within) { nodes { object { name } } incomplete { code from to } }
        to: differences(types: ["Pod"], from: $before, to: $within) { nodes { object { name } } incomplete { code from to } }
        from: differences(types: ["Pod"], from: $within, to: $behind) { nodes { object { name } } incomplete { code from to } }
        around: differences(types: ["Pod"], from: $before, to: $behind) { nodes { object { name } } incomplete { code } }
        still: objectByRef(cluster: "one", apiVersion: "v1", kind: "Pod", namespace: "default", name: "b", at: $within) { name }
      }`,
      { within, before: after, behind: time },
    )
    const gap = { code: 'ARCHIVE_GAP', from: after, to: time }
    const { changes: until, to, from, around, still } = asked
    expect(until).toEqual({ nodes: [{ object: { name: 'before' } }], incomplete: [gap] })
    for (const side of [to, from]) expect(side).toEqual({ nodes: [], incomplete: [gap] })
    expect(around.incomplete).toEqual([])
    expect(around.nodes.map(({ object }: Fields) => object.name)).toEqual(['a', 'late'])
    expect(still).toEqual({ name: 'b' })
  })

  it('is one step and a gap where the API server has forgotten it', async () => {
    await world.again(async () => {
      await world.label('a', 'y')
      await world.label('a', 'z')
      await world.remove('b')
      world.cluster.faults.inject({ fault: { type: 'compact-history' } })
    })
    await expect.poll(() => named('b')).toHaveLength(1)
    expect(await named('a')).toHaveLength(1)
    const { incomplete } = await changes()
    expect(incomplete.map(({ code }: Fields) => code)).toContain('ARCHIVE_GAP')
  })
})

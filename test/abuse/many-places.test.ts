import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { startAttackedGateway } from './attacked-gateway.ts'

const times = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(' ')

/** Clusters that are one: what a place costs does not depend on what is there. */
describe('A caller who asks about kinds in many clusters', () => {
  const stack = new AsyncDisposableStack()
  let gateway: ServedGateway

  beforeAll(async () => {
    const simulator = stack.use(await startSimulator())
    const clusters = Array.from({ length: 20 }, (_, at) => ({
      name: `c${at}`,
      server: simulator.url,
    }))
    // Fewer than by default, as so many aliases are too many.
    const limits = { work: { tests: 210_000 } }
    gateway = stack.use(await serveGateway({ clusters, limits, cache: { maxInformers: 2_000 } }))
  })
  afterAll(async () => stack.disposeAsync())

  it('waits for a kind once, however often they name it', async () => {
    const types = Array.from({ length: 20_000 }, () => 'Pod')
    const fields = [
      'search(clusters: ["*"], text: "a", types: $types) { types }',
      'complete(clusters: ["*"], text: "a", types: $types) { types }',
      'problems(clusters: ["*"], types: $types) { types: lookedAt }',
    ]
    for (const field of fields) {
      const read = async (): Promise<unknown> => {
        const asked = await gateway.query(`query ($types: [String!]) { all: ${field} }`, { types })
        return asked.errors ?? asked.data.all.types
      }
      // Loading takes its time on a busy machine.
      await expect.poll(read, { timeout: 60_000, message: field }).toContain('Pod')
    }
  })

  it.each([
    ['search', 100, (at: number) => `search(clusters: $all, text: "z${at}") { totalCount }`],
    [
      'problems',
      100,
      (at: number) => `problems(clusters: $all, namespace: "n${at}") { totalCount }`,
    ],
    [
      'accessGrants',
      200,
      (at: number) => `accessGrants(clusters: $all, namespace: "n${at}") { totalCount }`,
    ],
    ['tlsCertificates', 800, () => 'tlsCertificates(clusters: $all) { totalCount }'],
  ])('pays for each place that %s looks into', async (_, count, field) => {
    const ask = (many: number) =>
      gateway.query(`query ($all: [String!]) { ${times(many, (at) => `a${at}: ${field(at)}`)} }`, {
        all: ['*'],
      })
    await expect.poll(async () => (await ask(1)).errors, { timeout: 60_000 }).toBeUndefined()
    const { errors } = await ask(count)
    expect(errors).toMatchObject([
      { extensions: { code: 'QUERY_TOO_COSTLY', value: { work: 'tests' } } },
    ])
  })

  it('pays for each group of a subject in each cluster', async () => {
    const query = `query ($groups: [String!]) { accessGrants(clusters: ["*"]
      subject: { kind: USER, name: "ann", groups: $groups }) { totalCount } }`
    const groups = Array.from({ length: 17_600 }, (_, at) => (at + 1_296).toString(36))
    const { errors } = await gateway.query(query, { groups })
    expect(errors).toMatchObject([
      { extensions: { code: 'QUERY_TOO_COSTLY', value: { work: 'tests' } } },
    ])
    const same = await gateway.query(query, { groups: groups.map(() => 'dev') })
    expect(same.errors).toBeUndefined()
  })
})

describe('A caller who asks for many graphs', () => {
  it('pays for each kind that they may lead to, whether they lead there or not', async () => {
    // Fewer than by default, as so many aliases are too many.
    await using world = await startAttackedGateway({}, { work: { tests: 210_000 } })
    const { mallory } = world
    const found = await mallory.data('{ namespaces(first: 1) { nodes { id } } }')
    const roots = [found.namespaces.nodes[0].id]
    const ask = (many: number) =>
      mallory.query(
        `query ($roots: [ID!]!) { ${times(many, (at) => `a${at}: graph(roots: $roots) { truncated }`)} }`,
        { roots },
      )
    await expect.poll(async () => (await ask(1)).errors, { timeout: 60_000 }).toBeUndefined()
    expect((await ask(500)).errors).toMatchObject([
      { extensions: { code: 'QUERY_TOO_COSTLY', value: { work: 'tests' } } },
    ])
  })
})

import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { company } from '../support/company.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

const names = ['ap', 'eu', 'us'] as const
const wait = { timeout: 60_000, interval: 50 }

const row = 'id cluster kind severity reason since count object { namespace name }'

describe('problems over clusters', () => {
  const simulators = new Map<string, Simulator>()
  let gateway: ServedGateway
  let own: ReadonlyMap<string, Fields>

  const problems = async (args: string): Promise<Fields> => {
    const { data, errors } = await gateway.query(
      `{ problems(${args}) { totalCount lookedAt notLookedAt complete counts { count }
        incomplete { cluster type code since } pageInfo { hasNextPage endCursor } nodes { ${row} } } }`,
    )
    expect(data?.problems, JSON.stringify(errors)).toBeDefined()
    return { ...data.problems, codes: (errors ?? []).map(({ extensions }) => extensions.code) }
  }

  beforeAll(async () => {
    for (const name of names) {
      const populate = company({ pods: 60, seed: `problems ${name}` })
      simulators.set(name, await startSimulator({ bookmarkIntervalMs: 0, populate }))
    }
    const definition = definitionOf('Gear', 'problems.example.com', [versionOf('v1', {})])
    await created(simulators.get('eu') as Simulator, definitionsPath, definition)
    gateway = await serveGateway({
      clusters: names.map((name) => ({
        name,
        server: simulators.get(name)?.url ?? '',
        labels: { region: name },
      })),
    })
    own = new Map(
      await Promise.all(
        names.map(
          async (name) => [name, await problems(`cluster: "${name}", first: 500`)] as const,
        ),
      ),
    )
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const simulator of simulators.values()) await simulator[Symbol.asyncDispose]()
  })

  const ids = ({ nodes }: Fields): readonly string[] => nodes.map(({ id }: Fields) => id).toSorted()

  it('are those of each cluster, each once', async () => {
    const all = await problems('clusters: ["*"], first: 500')
    expect(all.nodes.length).toBeGreaterThan(6)
    expect(ids(all)).toEqual([...own.values()].flatMap(ids).toSorted())
    expect(new Set(ids(all)).size).toBe(all.totalCount)
    expect(all).toMatchObject({ complete: true, incomplete: [], codes: [] })
    const some = await problems('clusterSelector: "region!=eu", first: 500')
    expect(ids(some)).toEqual(['ap', 'us'].flatMap((name) => ids(own.get(name))).toSorted())
  })

  it.each([
    '',
    ', orderBy: [{ count: DESC }]',
    ', orderBy: [{ since: ASC }, { severity: ASC }]',
    ', severity: CRITICAL, orderBy: [{ severity: ASC }]',
  ])('come in pages that add up to the whole: %s', async (args) => {
    const whole = await problems(`clusters: ["*"], first: 500${args}`)
    const paged: Fields[] = []
    let after = ''
    do {
      const page = await problems(`clusters: ["*"], first: 2${args}${after}`)
      expect(page.totalCount).toBe(whole.totalCount)
      paged.push(...page.nodes)
      after = page.pageInfo.hasNextPage ? `, after: "${page.pageInfo.endCursor}"` : ''
    } while (after !== '')
    expect(paged).toEqual(whole.nodes)
  })

  it('are in order: the worst first, of these the ones that most objects have, and of these the newest', async () => {
    const { nodes } = await problems('clusters: ["*"], first: 500')
    const keys = nodes.map(
      ({ severity, count, since }: Fields) =>
        `${severity === 'CRITICAL' ? 1 : 0} ${String(count).padStart(6, '0')} ${since ?? ''}`,
    )
    expect(keys).toEqual(keys.toSorted().toReversed())
  })

  it('name what a cluster does not serve, without an error', async () => {
    const { incomplete, codes, notLookedAt } = await problems(
      'clusters: ["*"], types: ["ProblemsExampleComGear"]',
    )
    expect(incomplete.map(({ cluster, code }: Fields) => [cluster, code])).toEqual([
      ['ap', 'NOT_SERVED'],
      ['us', 'NOT_SERVED'],
    ])
    expect([codes, notLookedAt]).toEqual([[], []])
  })

  it('keep those of a cluster that cannot be reached, and say so', async () => {
    const us = simulators.get('us') as Simulator
    us.faults.inject({ fault: { type: 'refuse-connections', forMs: 8_000 } })
    const ask = (): Promise<Fields> => problems('clusters: ["*"], first: 500')
    await expect.poll(async () => (await ask()).codes, wait).toEqual(['CLUSTER_UNREACHABLE'])
    const { incomplete, nodes } = await ask()
    const gaps: readonly Fields[] = incomplete
    expect(new Set(gaps.map(({ cluster, code }) => `${cluster} ${code}`))).toEqual(
      new Set(['us CLUSTER_UNREACHABLE']),
    )
    expect(nodes[0]).toMatchObject({
      cluster: 'us',
      kind: 'Cluster',
      severity: 'CRITICAL',
      reason: 'ClusterUnreachable',
      count: 1,
      object: { namespace: null, name: 'us' },
    })
    expect(nodes.slice(1).filter(({ cluster }: Fields) => cluster === 'us')).toHaveLength(
      own.get('us')?.nodes.length,
    )
    await expect.poll(async () => (await ask()).incomplete, wait).toEqual([])
    const back = await ask()
    expect(back.nodes.filter(({ kind }: Fields) => kind === 'Cluster')).toEqual([])
  })

  it.each([
    ['clusters: ["nowhere"]', 'clusters'],
    ['cluster: "ap", clusters: ["eu"]', 'clusters'],
    ['types: ["Nothing"]', 'types'],
    ['first: -1', 'first'],
    ['after: "nothing"', 'after'],
    ['orderBy: [{ count: ASC }, { count: DESC }]', 'orderBy[1].count'],
  ])('refuse what is wrong by name: %s', async (args, argument) => {
    const { errors } = await gateway.query(`{ problems(${args}) { totalCount } }`)
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }])
    expect(errors?.[0]?.extensions.hint ?? '').toBeTypeOf('string')
  })
})

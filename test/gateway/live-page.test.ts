import { describe, expect, it } from 'vitest'
import { serveSimulator } from '../support/served-simulator.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import type { Fields } from './test-cluster.ts'

const pods = { group: '', version: 'v1', resource: 'pods' } as const
const page =
  'first: 5, orderBy: [{ restarts: DESC }, { name: ASC }], where: { phase: { in: ["Running", "Failed"] } }'
const selection = 'id metadata { name resourceVersion } ... on Pod { status { phase } }'
const orderInJson = page.replace('DESC', '"DESC"').replace('ASC', '"ASC"')

describe('a live page', () => {
  it('in an order that nothing has needed yet is not refused for its missing index', async () => {
    await using served = await serveSimulator()
    const { cluster, gateway } = served
    const healthy = { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' }
    for (const [name, status] of [
      ['fine', healthy],
      ['broken', { phase: 'Failed' }],
    ] as const) {
      const spec = { containers: [{ name: 'main', image: 'nginx:1' }] }
      const metadata = { name, namespace: 'default' }
      cluster.storage.create(pods, { metadata, spec, status } as Fields)
    }
    const first = Promise.withResolvers<unknown>()
    const leave = gateway.connect().subscribe(
      {
        query:
          'subscription { podsPage(orderBy: [{ health: ASC }]) { changes { object { name } } } }',
      },
      { next: first.resolve, error: first.reject, complete: () => {} },
    )
    const changes = ['broken', 'fine'].map((name) => ({ object: { name } }))
    expect(await first.promise).toEqual({ data: { podsPage: { changes } } })
    leave()
  })

  it.each([
    ['a kind', `podsPage(${page}, coalesceMs: 0)`],
    ['any kind', `objectListPage(kind: "Pod", ${orderInJson}, coalesceMs: 0)`],
  ])(`of %s folds to what a query of the page answers (SEED=${runSeed})`, async (_, field) => {
    const random = seededRandom(runSeed)
    await using served = await serveSimulator()
    const { cluster, gateway } = served
    const { storage } = cluster
    const change = (): void => {
      const name = `pod-${Math.floor(random() * 14)}`
      const before = storage.get(pods, 'default', name) as Fields
      const status = {
        phase: ['Running', 'Failed', 'Pending'][Math.floor(random() * 3)],
        containerStatuses: [{ name: 'main', restartCount: Math.floor(random() * 4) }],
      }
      if (before === undefined) {
        const metadata = { name, namespace: 'default' }
        const spec = { containers: [{ name: 'main', image: 'nginx:1' }] }
        storage.create(pods, { metadata, spec, status } as Fields)
      } else if (random() < 0.2) storage.delete(pods, 'default', name)
      else storage.update(pods, { ...before, status })
    }
    const rows: Fields[] = []
    let totalCount = -1
    let moves = 0
    const leave = gateway.connect().subscribe<{ page: Fields }>(
      {
        query: `subscription { page: ${field} {
          reset totalCount resourceVersion
          changes { step index from objectId object { ${selection} } }
        } }`,
      },
      {
        next: ({ data }) => {
          const { reset, changes, totalCount: count } = (data as Fields).page
          totalCount = count
          if (reset) rows.length = 0
          for (const { step, index, from, object } of changes) {
            if (step === 'REMOVE') rows.splice(index, 1)
            else if (step === 'MOVE') rows.splice(index, 0, ...rows.splice(from, 1))
            else if (step === 'INSERT') rows.splice(index, 0, object)
            else rows[index] = object
            if (step === 'MOVE') moves += 1
          }
        },
        error: () => {},
        complete: () => {},
      },
    )
    const query = `{ pods(${page}) { totalCount nodes { ${selection} } } }`
    for (let round = 0; round < 12; round += 1) {
      for (let count = 0; count < 10; count += 1) change()
      await expect
        .poll(async () => ({ totalCount, nodes: rows, now: await gateway.data(query) }), {
          timeout: 60_000,
        })
        .toSatisfy(({ now, ...live }: Fields) => JSON.stringify(live) === JSON.stringify(now.pods))
    }
    expect(moves).toBeGreaterThan(0)
    leave()
  })

  it.each([
    ['podsPage(first: -1)', { argument: 'first', value: -1 }],
    ['objectListPage(kind: "Pod", first: -1)', { argument: 'first', value: -1 }],
    [
      'objectListPage(kind: "Pod", orderBy: [{ restrts: "ASC" }])',
      { argument: 'orderBy[0].restrts' },
    ],
    [
      'objectListPage(kind: "Pod", orderBy: [{ name: "UP" }])',
      { argument: 'orderBy[0].name', value: 'UP' },
    ],
    ['objectListPage(kind: "Pdo")', { argument: 'kind', value: 'Pdo', hint: 'there is "Pod"' }],
    [
      'objectListPage(kind: "Pod", group: "apps")',
      { argument: 'kind', value: 'Pod', hint: 'it is of the group ""' },
    ],
  ])('refuses %s', async (field, extensions) => {
    await using served = await serveSimulator()
    const answers = served.gateway
      .connect()
      .iterate({ query: `subscription { ${field} { totalCount } }` })
    const { value } = await answers.next()
    expect(value?.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', ...extensions } }])
  })
})

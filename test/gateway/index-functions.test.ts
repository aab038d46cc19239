import { createGateway, IndexFunctionError } from 'informerql'
import type { Pod } from 'informerql/kubernetes'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created } from './created.ts'
import { follow } from './followed-subscription.ts'

const pod = (name: string, teams: string | undefined): object => ({
  metadata: { name, ...(teams === undefined ? {} : { annotations: { teams } }) },
  spec: { containers: [{ name: 'main', image: `registry.example.com/${name}:1` }] },
})

describe('indexes that functions make', () => {
  let simulator: Simulator
  let gateway: ServedGateway
  beforeAll(async () => {
    simulator = await startSimulator()
    await created(simulator, '/api/v1/namespaces/default/pods', pod('one', 'red,blue'))
    await created(simulator, '/api/v1/namespaces/default/pods', pod('two', 'blue'))
    await created(simulator, '/api/v1/namespaces/default/pods', pod('three', undefined))
    await created(simulator, '/api/v1/namespaces/default/pods', pod('broken', 'broken'))
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: simulator.url }],
      indexers: {
        pods: {
          byTeam: ({ metadata }) => {
            const teams = metadata.annotations?.['teams']
            if (teams === 'broken') throw new Error('no such team')
            return teams?.split(',') ?? []
          },
          registry: ({ spec }: Pod) =>
            (spec?.containers ?? []).map(({ image }) => image?.split('/')[0] ?? ''),
        },
      },
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const names = async (where: string): Promise<readonly string[]> => {
    const { pods } = await gateway.data(
      `{ pods(namespace: "default", where: ${where}) { nodes { metadata { name } } } }`,
    )
    return pods.nodes.map((node: { metadata: { name: string } }) => node.metadata.name)
  }

  it('are fields of where, as strings', async () => {
    expect(await names('{ byTeam: { eq: "blue" } }')).toEqual(['one', 'two'])
    expect(await names('{ byTeam: { startsWith: "r" } }')).toEqual(['one'])
    expect(await names('{ byTeam: { in: ["red"] }, registry: { contains: "example" } }')).toEqual([
      'one',
    ])
  })

  it('count an object of which they throw as one without a value, and say so in the log', async () => {
    expect(await names('{ byTeam: { exists: false } }')).toEqual(['broken', 'three'])
    expect(gateway.log.join('\n')).toContain('index failed')
  })

  it('order lists and make facets', async () => {
    const { pods } = await gateway.data(`{
      pods(namespace: "default", orderBy: [{ byTeam: DESC }]) {
        nodes { metadata { name } }
        facets(by: "byTeam") { values { value count } }
      }
    }`)
    expect(pods.nodes[0].metadata.name).toBe('one')
    expect(pods.facets[0].values).toEqual([
      { value: 'blue', count: 2 },
      { value: 'red', count: 1 },
    ])
  })

  it('follow changes, in subscriptions as well', async () => {
    const live = follow(gateway.connect(), 'pods(where: { byTeam: { eq: "green" } })', 'id')
    await live.until('snapshot', () => live.fold.synced)
    expect(live.fold.objects.size).toBe(0)
    await created(simulator, '/api/v1/namespaces/default/pods', pod('four', 'green'))
    await live.until('the green one', ({ size }) => size === 1)
    live.complete()
  })

  const none = (): readonly string[] => []
  it.for([
    ['a list that there is not', { pod: { byTeam: none } }, 'indexers.pod: there is no list'],
    ['a reserved name', { pods: { labels: none } }, 'indexers.pods.labels: the name is reserved'],
    ['a name that every kind has', { pods: { name: none } }, 'the name is reserved'],
    ['a name that is declared', { pods: { nodeName: none } }, 'Pod has an index of this name'],
    ['what is no name', { pods: { 'by-team': none } }, 'it cannot be a field of PodWhere'],
  ] as const)('fail the start for %s', async ([, indexers, message]) => {
    const clusters = [{ name: 'one', server: simulator.url }]
    const starting = createGateway({ clusters, indexers })
    await expect(starting).rejects.toThrow(message)
    await expect(starting).rejects.toBeInstanceOf(IndexFunctionError)
  })
})

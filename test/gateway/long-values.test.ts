import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created } from './created.ts'

const path = '/api/v1/namespaces/default/configmaps'
/** Far more than a cursor holds, in characters that take many bytes. */
const long = '\u0001ü😀'.repeat(6_000)

describe('A list in the order of long values', () => {
  let simulator: Simulator
  let gateway: ServedGateway
  beforeAll(async () => {
    simulator = await startSimulator()
    for (const [at, end] of ['c', 'a', '0', 'b', 'd'].entries()) {
      const metadata = { name: `of-${at}-${end}`, annotations: { note: `${long}${end}` } }
      await created(simulator, path, { metadata })
    }
    await created(simulator, path, { metadata: { name: 'none' } })
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: simulator.url }],
      indexers: {
        configMaps: { note: ({ metadata }) => [metadata.annotations?.['note'] ?? []].flat() },
      },
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const query = (direction: string, page: string): string => `{
    configMaps(namespace: "default", orderBy: [{ note: ${direction} }], ${page}) {
      edges { cursor node { metadata { name } } }
    }
  }`
  const paged = async (direction: string, size: string, from: string): Promise<string[]> => {
    const names: string[] = []
    let cursor = ''
    for (;;) {
      const page = cursor === '' ? size : `${size}, ${from}: "${cursor}"`
      const { configMaps } = await gateway.data(query(direction, page))
      const [edge] = configMaps.edges
      if (edge === undefined) return names
      expect(names).not.toContain(edge.node.metadata.name)
      names.push(edge.node.metadata.name)
      ;({ cursor } = edge)
    }
  }
  const ascending = ['of-2-0', 'of-1-a', 'of-3-b', 'of-0-c', 'of-4-d', 'none']
  const descending = [...ascending.slice(0, -1).toReversed(), 'none']

  it('is paged by the cursors of its rows, in both directions', async () => {
    expect(await paged('ASC', 'first: 1', 'after')).toEqual(ascending)
    expect(await paged('DESC', 'first: 1', 'after')).toEqual(descending)
    expect(await paged('ASC', 'last: 1', 'before')).toEqual(ascending.toReversed())
    expect(await paged('DESC', 'last: 1', 'before')).toEqual(descending.toReversed())
  })

  it('skips no row behind the cursor of an object that is gone', async () => {
    const ends = await Promise.all(
      ['ASC', 'DESC'].map(async (direction) => {
        const { configMaps } = await gateway.data(query(direction, 'first: 3'))
        return { direction, cursor: configMaps.edges[2].cursor }
      }),
    )
    await fetch(`${simulator.url}${path}/of-3-b`, { method: 'DELETE' })
    const names = async (direction: string, page: string): Promise<readonly string[]> => {
      const { configMaps } = await gateway.data(query(direction, page))
      return configMaps.edges.map(
        ({ node }: { node: { metadata: { name: string } } }) => node.metadata.name,
      )
    }
    const left = (all: readonly string[]): readonly string[] =>
      all.filter((name) => name !== 'of-3-b')
    await expect.poll(() => names('ASC', 'first: 9')).toEqual(left(ascending))
    for (const { direction, cursor } of ends) {
      const all = left(direction === 'ASC' ? ascending : descending)
      expect(await names(direction, `first: 9, after: "${cursor}"`)).toEqual(
        expect.arrayContaining(all.slice(2)),
      )
      expect(await names(direction, `last: 9, before: "${cursor}"`)).toEqual(
        expect.arrayContaining(all.slice(0, 2)),
      )
    }
  })
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { describeClusters, type Fields, must } from './test-cluster.ts'

const namespace = 'long-values'
const path = `/api/v1/namespaces/${namespace}/configmaps`
/** Far more than a cursor holds, in characters that take many bytes. */
const long = '\u0001ü😀'.repeat(6_000)
/** Names have 253 characters at most. */
const longName = 'n'.repeat(246)

describeClusters('a list in the order of long values', (cluster) => {
  let gateway: ServedGateway
  beforeAll(async () => {
    const make = (to: string, metadata: Fields): Promise<Fields> =>
      must(cluster(), to, { method: 'POST', body: { metadata } })
    await make('/api/v1/namespaces', { name: namespace })
    for (const [at, end] of ['c', 'a', '0', 'b', 'd'].entries()) {
      await make(path, {
        name: `${longName}.of-${at}-${end}`,
        annotations: { note: `${long}${end}` },
      })
    }
    await make(path, { name: 'none' })
    gateway = await serveGateway({
      clusters: [{ name: 'one', ...cluster().selection }],
      indexers: {
        configMaps: { note: ({ metadata }) => [metadata.annotations?.['note'] ?? []].flat() },
      },
    })
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  const shortened = (name: string): string => name.replace(`${longName}.`, '')
  const query = (direction: string, page: string): string => `{
    configMaps(namespace: "${namespace}", orderBy: [{ note: ${direction} }], ${page}) {
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
      const name = shortened(edge.node.metadata.name)
      expect(names).not.toContain(name)
      names.push(name)
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
    await must(cluster(), `${path}/${longName}.of-3-b`, { method: 'DELETE' })
    const names = async (direction: string, page: string): Promise<readonly string[]> => {
      const { configMaps } = await gateway.data(query(direction, page))
      return configMaps.edges.map(({ node }: Fields) => shortened(node.metadata.name))
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

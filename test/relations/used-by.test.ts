import { describe, expect, it } from 'vitest'
import { runSeed } from '../support/random.ts'
import { caughtUp, listFieldOf } from './caught-up.ts'
import type { Fields } from './random-cluster.ts'
import { randomClusterForTests } from './random-cluster-for-tests.ts'
import { usersOf, World } from './recomputed.ts'

const batches = Number(process.env['BATCHES'] ?? 6)
const used = ['ConfigMap', 'Secret', 'PersistentVolumeClaim', 'ServiceAccount'] as const

describe(`What makes use of an object, seed ${runSeed}`, () => {
  const served = randomClusterForTests(600)

  const key = ({ metadata: { namespace, name } }: Fields): string => `${namespace ?? ''}/${name}`
  const usesOf = (node: Fields): readonly string[] =>
    node.usedBy.nodes.map(({ object, paths }: { object: Fields; paths: readonly string[] }) => {
      const where = paths.toSorted().join(' ')
      return `${object.kind} ${object.namespace}/${object.name}: ${where}`
    })

  it(`is what raw objects say, with every path, after each of ${batches} batches of edits`, async () => {
    for (let batch = 0; batch < batches; batch += 1) {
      served.cluster.edit(60)
      await caughtUp(served.gateway, served.cluster)
      const world = new World(served.cluster)
      const lists = used.map((type) => {
        const list = listFieldOf(type)
        return `${type}: ${list}(first: 100) { nodes { metadata { namespace name } usedBy(first: 100) { totalCount types nodes { object { kind namespace name object { metadata { uid } } } paths } } } }
          unused${type}: ${list}(first: 500, where: { usedBy: { none: {} } }) { totalCount nodes { metadata { namespace name } } }
          byPods${type}: ${list}(first: 500, where: { usedBy: { some: { types: ["Pod"] } } }) { nodes { metadata { namespace name } } }`
      })
      const data = await served.gateway.data(`{ ${lists.join(' ')} }`)
      for (const type of used) {
        const told = data[type].nodes.map((node: Fields) => [key(node), usesOf(node).toSorted()])
        const objects = world.objects(type)
        const wanted = objects.map((object) => [key(object), usersOf(type, object, world)])
        expect(Object.fromEntries(told), type).toEqual(Object.fromEntries(wanted))
        const of = (object: Fields, kind = ''): readonly string[] =>
          usersOf(type, object, world).filter((text) => text.startsWith(kind))
        const unused = objects.filter((object) => of(object).length === 0).map(key)
        expect(data[`unused${type}`].nodes.map(key).toSorted()).toEqual(unused.toSorted())
        expect(data[`unused${type}`].totalCount).toBe(unused.length)
        const byPods = objects.filter((object) => of(object, 'Pod ').length > 0).map(key)
        expect(data[`byPods${type}`].nodes.map(key).toSorted()).toEqual(byPods.toSorted())
      }
    }
  })

  it('is asked of an object of any kind, and empty where nothing uses it', async () => {
    const list = `nodes { id usedBy { totalCount nodes { paths } } }`
    const { secrets, replicaSets } = await served.gateway.data(
      `{ secrets(first: 3) { ${list} } replicaSets(first: 3) { ${list} } }`,
    )
    const typed: readonly Fields[] = [...secrets.nodes, ...replicaSets.nodes]
    expect(typed).toHaveLength(6)
    for (const own of replicaSets.nodes)
      expect(own.usedBy.nodes).toHaveLength(own.usedBy.totalCount)
    const { events } = await served.gateway.data(`{ events(first: 3) { ${list} } }`)
    for (const own of events.nodes) expect(own.usedBy).toEqual({ totalCount: 0, nodes: [] })
    const { objects } = await served.gateway.data(
      `query ($ids: [ID!]!) { objects(ids: $ids) { id usedBy { totalCount nodes { paths } } } }`,
      { ids: typed.map(({ id }) => id as string) },
    )
    expect(objects).toEqual(typed)
  })

  it('is paged, and each page goes on where the one before it ended', async () => {
    const query = `{
      secrets(first: 100) { nodes { metadata { name namespace } usedBy(first: 100) { nodes { object { kind name } } totalCount } } }
    }`
    const { secrets } = await served.gateway.data(query)
    const most: Fields = secrets.nodes.toSorted(
      (a: Fields, b: Fields) => b.usedBy.totalCount - a.usedBy.totalCount,
    )[0]
    const { namespace, name } = most.metadata
    const seen: Fields[] = []
    let after: string | null = null
    do {
      const page: Fields = await served.gateway.data(
        `query ($namespace: String!, $name: String!, $after: String) { secret(namespace: $namespace, name: $name) { usedBy(first: 2, after: $after) { pageInfo { hasNextPage endCursor } edges { node { object { kind name } } } } } }`,
        { namespace, name, after },
      )
      const { pageInfo, edges } = page.secret.usedBy
      seen.push(...edges.map(({ node }: Fields) => node))
      after = pageInfo.hasNextPage === true ? pageInfo.endCursor : null
    } while (after !== null)
    expect(seen).toEqual(most.usedBy.nodes)
  })

  it.each<[string, Fields]>([
    [
      'a field',
      [
        '{ secrets(first: 1) { nodes { usedBy(types: ["Nope"]) { totalCount } } } }',
        'types',
        'Nope',
      ],
    ],
    [
      'a field, of a kind that never does',
      [
        '{ secrets(first: 1) { nodes { usedBy(types: ["Node"]) { totalCount } } } }',
        'types',
        'Node',
      ],
    ],
    [
      'a filter',
      [
        '{ secrets(where: { usedBy: { none: { types: ["Pod", "Nope"] } } }) { totalCount } }',
        'where.usedBy.none.types[1]',
        'Nope',
      ],
    ],
  ])('of a kind that is not there is an error: %s', async (_, [query, argument, value]) => {
    const { errors } = await served.gateway.query(query)
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument, value } }])
    expect(errors?.[0]?.extensions.hint).toContain('Deployment')
  })
})

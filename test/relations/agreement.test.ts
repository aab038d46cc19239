import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { caughtUp, listFieldOf } from './caught-up.ts'
import { type Fields, RandomCluster, type Type, types } from './random-cluster.ts'
import { relations, World } from './recomputed.ts'

const batches = Number(process.env['BATCHES'] ?? 4)
const related = types.filter((type) => relations[type] !== undefined)
const metadata = 'metadata { name namespace }'

/** Everything that every relation of every kind leads to. */
const query = `{ ${related
  .map((type) => {
    const fields = Object.entries(relations[type] ?? {}).map(([name, { many }]) =>
      many ? `${name}(first: 100) { totalCount nodes { ${metadata} } }` : `${name} { ${metadata} }`,
    )
    return `${type}: ${listFieldOf(type)}(first: 100) { nodes { ${metadata} ${fields.join(' ')} } }`
  })
  .join(' ')} }`

describe(`Relations, forwards and backwards, seed ${runSeed}`, () => {
  let simulator: Simulator
  let gateway: ServedGateway
  let cluster: RandomCluster
  const serve = (): Promise<ServedGateway> =>
    serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
  beforeAll(async () => {
    simulator = await startSimulator({ bookmarkIntervalMs: 0 })
    cluster = new RandomCluster(simulator.storage, seededRandom(runSeed))
    cluster.edit(500)
    gateway = await serve()
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const key = ({ metadata: { namespace, name } }: Fields): string => `${namespace ?? ''}/${name}`
  const told = (type: Type, node: Fields): Fields =>
    Object.fromEntries(
      Object.entries(relations[type] ?? {}).map(([name, { many }]) => {
        const found: Fields[] = many ? node[name].nodes : [node[name]].filter((one) => one !== null)
        if (many) expect(node[name].totalCount).toBe(found.length)
        return [name, found.map(key).toSorted()]
      }),
    )
  const recomputed = (type: Type, object: Fields, world: World): Fields =>
    Object.fromEntries(
      Object.entries(relations[type] ?? {}).map(([name, { to, holds }]) => {
        const found = world.objects(to).filter((other) => holds(object, other, world))
        return [name, found.map(key).toSorted()]
      }),
    )

  it(`lead where raw objects say, after each of ${batches} batches of edits, live and rebuilt`, async () => {
    for (let batch = 0; batch < batches; batch += 1) {
      cluster.edit(60)
      await caughtUp(gateway, cluster)
      const live = await gateway.data(query)
      const world = new World(cluster)
      for (const type of related) {
        const answered = live[type].nodes.map((node: Fields) => [key(node), told(type, node)])
        const objects = world.objects(type)
        const wanted = objects.map((object) => [key(object), recomputed(type, object, world)])
        expect(Object.fromEntries(answered), `${type}, batch ${batch}`).toEqual(
          Object.fromEntries(wanted),
        )
      }
      // Its indexes are made of what is there, not of what has happened.
      await using rebuilt = await serve()
      expect(await rebuilt.data(query), `batch ${batch}`).toEqual(live)
    }
  })
})

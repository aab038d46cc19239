import { describe, expect, it } from 'vitest'
import { runSeed } from '../support/random.ts'
import { type Fields, types } from './random-cluster.ts'
import { randomClusterForTests } from './random-cluster-for-tests.ts'
import { randomFilter } from './random-filter.ts'
import { meets, relations, World } from './recomputed.ts'
import { caughtUp, listFieldOf } from './caught-up.ts'

const batches = Number(process.env['BATCHES'] ?? 6)
const filtersPerBatch = 25

describe(`Lists that are filtered by related objects, seed ${runSeed}`, () => {
  const served = randomClusterForTests(600)

  const key = ({ metadata: { namespace, name } }: Fields): string => `${namespace ?? ''}/${name}`

  it(`answer what raw objects answer, after each of ${batches} batches of edits`, async () => {
    for (let batch = 0; batch < batches; batch += 1) {
      served.cluster.edit(40)
      await caughtUp(served.gateway, served.cluster)
      const world = new World(served.cluster)
      for (let at = 0; at < filtersPerBatch; at += 1) {
        const type = served.cluster.pick(types.filter((one) => relations[one] !== undefined))
        const filter = randomFilter(served.cluster, type, 3)
        const metadata = 'metadata { name namespace }'
        const list = listFieldOf(type)
        const query = `query ($where: ${type}Where) {
          ${list}(first: 500, where: $where) { nodes { ${metadata} } }
          page: ${list}(first: 3, where: $where, orderBy: [{ name: DESC }]) { totalCount nodes { ${metadata} } }
        }`
        const { [list]: all, page } = await served.gateway.data(query, { where: filter })
        const wanted = world
          .objects(type)
          .filter((object) => meets(filter, type, object, world))
          .map(key)
          .toSorted()
        const about = `${type} ${JSON.stringify(filter)}`
        expect(all.nodes.map(key).toSorted(), about).toEqual(wanted)
        expect(page.totalCount, about).toBe(wanted.length)
        expect(page.nodes, about).toHaveLength(Math.min(3, wanted.length))
      }
    }
  })
})

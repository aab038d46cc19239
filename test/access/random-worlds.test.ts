import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSeed, seededRandom } from '../support/random.ts'
import { serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { administrator, type AccessCluster, describeAccess, users } from './access-cluster.ts'
import { askedKinds, everything, keyOf, shownTo } from './access-truth.ts'
import { hasHeard } from './followed-rbac.ts'
import { RandomRbac } from './random-rbac.ts'
import {
  checkAnyKinds,
  checkCan,
  checkExploring,
  type Checked,
  checkLists,
  checkNamespaces,
  checkObjects,
  checkPickers,
  checkProblems,
  checkRelations,
  checkStates,
} from './route-checks.ts'
import { checkCompletions, checkSearchWords } from './search-checks.ts'

/** How long worlds are made on a real API server; on the simulator a few are enough to be told of a mistake soon. */
const realWorldsMs = Number(process.env['ACCESS_WORLDS_MS'] ?? 12_000)
const simulatedWorlds = 4

const checks = [
  checkLists,
  checkNamespaces,
  checkObjects,
  checkRelations,
  checkStates,
  checkCan,
  checkPickers,
  checkExploring,
  checkProblems,
  checkSearchWords,
  checkCompletions,
  checkAnyKinds,
]

const idsOf = async (served: ViewedGateway): Promise<Checked['ids']> => {
  const ids = new Map<(typeof askedKinds)[number], ReadonlyMap<string, string>>()
  for (const kind of askedKinds) {
    const query = `{ list: ${kind.list}(first: 500) { nodes { id metadata { namespace name } } } }`
    const { data } = await served.query(administrator, query)
    const keyed = data.list.nodes.map(
      ({
        id,
        metadata: { namespace, name },
      }: {
        id: string
        metadata: { namespace: string | null; name: string }
      }) => [keyOf({ metadata: { name, namespace: namespace ?? undefined } }), id] as const,
    )
    ids.set(kind, new Map<string, string>(keyed))
  }
  return ids
}

describeAccess('What a user gets', (cluster: () => AccessCluster, isReal) => {
  describe(`in random worlds, SEED=${runSeed}`, () => {
    let served: ViewedGateway
    beforeAll(async () => {
      served = await serveViewers({ clusters: [cluster().selection()] })
    })
    afterAll(async () => served[Symbol.asyncDispose]())

    it(
      'is exactly what the raw API shows them, by every route',
      async () => {
        const rbac = new RandomRbac(cluster(), seededRandom(runSeed))
        const deadline = performance.now() + realWorldsMs
        const [ids, objects] = [await idsOf(served), await everything(cluster())]
        let worlds = 0
        while (isReal ? performance.now() < deadline : worlds < simulatedWorlds) {
          await hasHeard(served, await rbac.replace())
          worlds += 1
          for (const user of users) {
            const shown = await shownTo(cluster(), user, objects)
            // The second time, texts and permissions are known.
            for (const time of ['first', 'second']) {
              const ask: Checked['ask'] = async (query, variables) =>
                served.query(user, query, variables)
              for (const check of checks) {
                try {
                  await check({ ask, objects, shown, ids })
                } catch (error) {
                  const where = `world ${worlds} of SEED=${runSeed}, ${user.username}, ${check.name}, ${time} time`
                  throw new Error(where, { cause: error })
                }
              }
            }
          }
        }
        expect(worlds).toBeGreaterThan(0)
        console.log(`${worlds} worlds, SEED=${runSeed}`)
      },
      realWorldsMs + 120_000,
    )
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { type AccessCluster, populate, startSimulated, users } from './access-cluster.ts'
import { askedKinds, everything, shownTo } from './access-truth.ts'
import { checkFleet } from './fleet-checks.ts'
import { hasHeard } from './followed-rbac.ts'
import { RandomRbac } from './random-rbac.ts'
import { checkAnyKinds, type Checked, checkProblems } from './route-checks.ts'
import { checkCompletions, checkSearchWords } from './search-checks.ts'

const names = ['one', 'two'] as const
const worlds = 4

describe(`What a user gets of two clusters with their own RBAC, SEED=${runSeed}`, () => {
  const clusters = new Map<string, AccessCluster & AsyncDisposable>()
  let served: ViewedGateway
  let rbac: readonly (readonly [name: string, rbac: RandomRbac])[]

  beforeAll(async () => {
    for (const name of names) {
      const cluster = await startSimulated(name)
      await populate(cluster)
      clusters.set(name, cluster)
    }
    const random = seededRandom(runSeed)
    rbac = Array.from(clusters, ([name, cluster]) => [name, new RandomRbac(cluster, random)])
    served = await serveViewers({ clusters: [...clusters.values()].map((one) => one.selection()) })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    for (const cluster of clusters.values()) await cluster[Symbol.asyncDispose]()
  })

  const fields = (place: string): string =>
    askedKinds
      .map(
        ({ type, list }) => `
        ${list}: ${list}(${place}, first: 500) {
          nodes { id } totalCount incomplete { cluster code }
          facets(by: ["name", "cluster"], top: 1000) { by values { value count } }
        }
        any${type}: kubernetesObjects(kinds: ["${type}"], ${place}, first: 500) {
          nodes { id } totalCount incomplete { cluster code } counts { count } }`,
      )
      .join(' ')

  const counted = (facet: Fields): ReadonlyMap<unknown, number> =>
    new Map((facet?.values ?? []).map(({ value, count }: Fields) => [value, count]))

  it('over both is exactly what each shows alone, and each refusal is a gap', async () => {
    let refusals = 0
    for (let world = 1; world <= worlds; world += 1) {
      for (const [name, one] of rbac) await hasHeard(served, await one.replace(), name)
      for (const user of users) {
        const alone = new Map<string, Fields>()
        for (const name of names) {
          alone.set(name, (await served.query(user, `{ ${fields(`cluster: "${name}"`)} }`)).data)
        }
        const answer = await served.query(user, `{ ${fields('clusters: ["*"]')} }`)
        for (const { list, type } of askedKinds) {
          const place = `world ${world} of SEED=${runSeed}, ${user.username}, ${list}`
          const seen = names.filter((name) => alone.get(name)?.[list] !== null)
          const refused = names.filter((name) => !seen.includes(name))
          refusals += refused.length
          const parts = seen.map((name) => alone.get(name)?.[list])
          const nodes = parts.flatMap((part) => part.nodes as Fields[])
          const gaps = refused.map((cluster) => ({ cluster, code: 'FORBIDDEN' }))
          for (const field of [list, `any${type}`]) {
            const found = answer.data[field]
            expect(found.nodes, `${place}, ${field}`).toEqual(nodes)
            expect(found.totalCount, place).toBe(nodes.length)
            expect(found.incomplete, place).toEqual(gaps)
            const told = (answer.errors ?? [])
              .filter(({ path }) => path?.[0] === field)
              .map(({ extensions: { code, cluster } }) => ({ cluster, code }))
            expect(told, place).toEqual(gaps)
          }
          const sums = new Map<unknown, number>()
          for (const part of parts) {
            for (const [value, count] of counted(part.facets[0])) {
              sums.set(value, (sums.get(value) ?? 0) + count)
            }
          }
          const { facets } = answer.data[list]
          expect(counted(facets[0]), place).toEqual(sums)
          const sizes = seen.map((name, at) => [name, parts[at]?.nodes.length] as const)
          expect(counted(facets[1]), place).toEqual(new Map(sizes.filter(([, size]) => size > 0)))
        }
      }
    }
    expect(refusals).toBeGreaterThan(0)
  }, 180_000)

  it('of problems, searches, completions and lists over kinds is, too, and what RBAC allows', async () => {
    let checked = 0
    for (let world = 1; world <= worlds; world += 1) {
      for (const [name, one] of rbac) await hasHeard(served, await one.replace(), name)
      for (const user of users) {
        const ask: Checked['ask'] = async (query, variables) => served.query(user, query, variables)
        try {
          for (const name of names) {
            const cluster = clusters.get(name) as AccessCluster
            const objects = await everything(cluster)
            const shown = await shownTo(cluster, user, objects)
            const place = `cluster: "${name}", `
            for (const check of [checkProblems, checkAnyKinds, checkSearchWords, checkCompletions])
              await check({ place, ask, objects, shown, ids: new Map() })
          }
          await checkFleet({ clusters: names, ask })
          checked += 1
        } catch (error) {
          const where = `world ${world} of SEED=${runSeed}, ${user.username}`
          throw new Error(where, { cause: error })
        }
      }
    }
    expect(checked).toBe(worlds * users.length)
  }, 180_000)
})

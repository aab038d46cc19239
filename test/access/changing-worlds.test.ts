import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnsweredError } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { type Fields, inParallel } from '../gateway/test-cluster.ts'
import { type AccessCluster, describeAccess, users } from './access-cluster.ts'
import { mayInPods } from './asked-access.ts'
import { hasHeard } from './followed-rbac.ts'
import { RandomRbac } from './random-rbac.ts'

const rounds = 6
const podPath = (namespace: string, name: string): string =>
  `/api/v1/namespaces/${namespace}/pods/${name}`

/** A subscription to pods as its subscriber sees it, begun anew where it was ended. */
class PodSubscription {
  /** What is held, by `namespace/name`: how often the pod had been touched. */
  held = new Map<string, string>()
  /** What was told of any pod, since this was last emptied. */
  told: { readonly key: string; readonly touched: string }[] = []
  ended: readonly AnsweredError[] | undefined
  readonly #keys = new Map<string, string>()
  readonly #leave: () => void

  constructor(served: ViewedGateway, who: (typeof users)[number]) {
    const fields = 'metadata { namespace name annotation(key: "touched") }'
    const query = `subscription { pods { reset changes { type objectId object { ${fields} } } } }`
    this.#leave = served.connect(who).subscribe(
      { query },
      {
        next: ({ data, errors }) => {
          if (errors !== undefined) this.ended = errors as unknown as AnsweredError[]
          this.#apply(data?.['pods'] as Fields)
        },
        error: (error) => {
          this.ended = error as AnsweredError[]
        },
        complete: () => {},
      },
    )
  }

  leave(): void {
    this.#leave()
  }

  #apply(frame: Fields): void {
    if (frame?.reset === true) this.held.clear()
    for (const { type, objectId, object } of frame?.changes ?? []) {
      if (object !== null) {
        const { namespace, name, annotation } = object.metadata
        const key = `${namespace}/${name}`
        this.#keys.set(objectId, key)
        this.told.push({ key, touched: annotation })
      }
      const key = this.#keys.get(objectId) ?? objectId
      if (type === 'REMOVED') this.held.delete(key)
      else this.held.set(key, object.metadata.annotation)
    }
  }
}

describeAccess('A running subscription', (cluster: () => AccessCluster) => {
  describe(`while roles and bindings change, SEED=${runSeed}`, () => {
    let served: ViewedGateway
    beforeAll(async () => {
      served = await serveViewers({ clusters: [cluster().selection()] })
    })
    afterAll(async () => served[Symbol.asyncDispose]())

    it('shows nothing that may not be seen from the moment on when the change has been heard of', async () => {
      const { must } = cluster()
      const rbac = new RandomRbac(cluster(), seededRandom(runSeed))
      const pods: readonly Fields[] = (await must('/api/v1/pods')).items
      const keys = pods.map(({ metadata }) => [metadata.namespace, metadata.name] as const)
      const namespaces = [...new Set(keys.map(([namespace]) => namespace))]
      await hasHeard(served, await rbac.replace())
      const open = new Map<(typeof users)[number], PodSubscription>()
      for (let round = 1; round <= rounds; round += 1) {
        for (const user of users) {
          if (open.get(user)?.ended !== undefined) open.delete(user)
          if (!open.has(user)) open.set(user, new PodSubscription(served, user))
        }
        await hasHeard(served, await rbac.change())
        for (const one of open.values()) one.told = []
        const touched = `round ${round}`
        const body = { metadata: { annotations: { touched } } }
        await inParallel(keys, async (key) => must(podPath(...key), { method: 'PATCH', body }))
        for (const user of users) {
          const where = `${user.username} in round ${round}, SEED=${runSeed}`
          const allowed = await mayInPods(cluster(), user, ['list', 'watch'], namespaces)
          const expected = keys.flatMap(([namespace, name]) =>
            allowed.has(namespace) ? [`${namespace}/${name}`] : [],
          )
          const one = open.get(user) as PodSubscription
          const isAsExpected = (): boolean =>
            expected.length === 0
              ? one.ended !== undefined
              : one.held.size === expected.length &&
                expected.every((key) => one.held.get(key) === touched)
          const deadline = performance.now() + 20_000
          while (!isAsExpected() && performance.now() < deadline) {
            // A subscription that was refused while nothing was allowed begins anew.
            if (one.ended !== undefined && expected.length > 0) break
            await sleep(10)
          }
          const isEndedBefore = one.ended !== undefined && expected.length > 0
          expect(
            isEndedBefore || isAsExpected(),
            `${where}: ${JSON.stringify([...one.held])}`,
          ).toBe(true)
          expect(one.ended?.[0]?.extensions.code ?? 'FORBIDDEN', where).toBe('FORBIDDEN')
          const leaked = one.told.filter(({ key }) => !expected.includes(key))
          expect(leaked, where).toEqual([])
        }
      }
      for (const one of open.values()) one.leave()
    }, 180_000)
  })
})

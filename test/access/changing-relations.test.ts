import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OperationReport } from 'informerql'
import { runSeed, seededRandom } from '../support/random.ts'
import { serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { type Fields, inParallel } from '../gateway/test-cluster.ts'
import { type AccessCluster, describeAccess, users } from './access-cluster.ts'
import { isAllowed, mayFollow } from './asked-access.ts'
import { hasHeard } from './followed-rbac.ts'
import { RandomRbac } from './random-rbac.ts'

type User = (typeof users)[number]

const rounds = 5
const nodes = ['big', 'small']
const query = `subscription { pods(coalesceMs: 20) { reset changes { type objectId object {
  metadata { namespace name } get: can(verb: "get") node { metadata { name annotation(key: "touched") } } namespace { metadata { name } }
} } } }`

/** A subscription to pods with what they lead to, begun anew where it was ended. */
class RelatedSubscription {
  readonly held = new Map<string, Fields>()
  /** What rows have said of nodes and namespaces, since this was last emptied. */
  told: Fields[] = []
  isEnded = false
  readonly leave: () => void

  constructor(served: ViewedGateway, who: User) {
    this.leave = served.connect(who).subscribe(
      { query },
      {
        next: ({ data, errors }) => {
          this.isEnded ||= errors !== undefined
          this.#apply(data?.['pods'] as Fields)
        },
        error: () => {
          this.isEnded = true
        },
        complete: () => {},
      },
    )
  }

  #apply(frame: Fields): void {
    if (frame?.reset === true) this.held.clear()
    for (const { type, objectId, object } of frame?.changes ?? []) {
      if (object !== null) this.told.push(object)
      if (type === 'REMOVED') this.held.delete(objectId)
      else this.held.set(objectId, object)
    }
  }
}

/** The nodes that somebody may look at. */
const nodesSeen = async (cluster: AccessCluster, user: User): Promise<ReadonlySet<string>> => {
  const may = async (verb: string, name?: string): Promise<boolean> =>
    isAllowed(cluster, user, { verb, resource: 'nodes', ...(name === undefined ? {} : { name }) })
  const isAll = (await may('list')) || (await may('get'))
  const names = new Set<string>()
  for (const name of nodes) if (isAll || (await may('get', name))) names.add(name)
  return names
}

/** The pods that somebody may get, by their keys. */
const podsGettable = async (
  cluster: AccessCluster,
  user: User,
  pods: readonly Fields[],
): Promise<ReadonlySet<string>> => {
  const gettable = new Set<string>()
  await inParallel(pods, async ({ metadata: { namespace, name } }) => {
    const asked = { verb: 'get', resource: 'pods', namespace, name }
    if (await isAllowed(cluster, user, asked)) gettable.add(`${namespace}/${name}`)
  })
  return gettable
}

/** The namespaces that somebody may look at. */
const namespacesSeen = async (
  cluster: AccessCluster,
  user: User,
  names: readonly string[],
): Promise<ReadonlySet<string>> => {
  const seen = new Set<string>()
  const resource = 'namespaces'
  await inParallel(names, async (name) => {
    const isListed = await isAllowed(cluster, user, { verb: 'list', resource })
    const asked = { verb: 'get', resource, namespace: name, name }
    if (isListed || (await isAllowed(cluster, user, asked))) seen.add(name)
  })
  return seen
}

describeAccess('Related objects of a running subscription', (cluster: () => AccessCluster) => {
  describe(`while roles and bindings change, SEED=${runSeed}`, () => {
    let served: ViewedGateway
    /** By what the last subscription of each user was begun. */
    const by = new Map<string | undefined, 'plan' | 'graphql-js'>()
    beforeAll(async () => {
      const answered = (report: OperationReport): void => {
        if (report.operation === 'subscription') by.set(report.viewer?.username, report.by)
      }
      served = await serveViewers({ clusters: [cluster().selection()], audit: { answered } })
    })
    afterAll(async () => served[Symbol.asyncDispose]())

    it('are those that may be seen, from the moment on when the change has been heard of', async () => {
      const { must } = cluster()
      const rbac = new RandomRbac(cluster(), seededRandom(runSeed))
      const pods: readonly Fields[] = (await must('/api/v1/pods')).items
      const nodeOf = ({ namespace, name }: Fields): string =>
        pods.find(({ metadata: at }) => at.namespace === namespace && at.name === name)?.spec
          .nodeName
      const places = [...new Set(pods.map(({ metadata }): string => metadata.namespace))]
      await hasHeard(served, await rbac.replace())
      const open = new Map<User, RelatedSubscription>()
      for (let round = 1; round <= rounds; round += 1) {
        for (const user of users) {
          if (open.get(user)?.isEnded !== false)
            open.set(user, new RelatedSubscription(served, user))
        }
        await hasHeard(served, await rbac.change())
        for (const one of open.values()) one.told = []
        const touched = `round ${round}`
        const body = { metadata: { annotations: { touched } } }
        await inParallel(nodes, async (name) =>
          must(`/api/v1/nodes/${name}`, { method: 'PATCH', body }),
        )
        for (const user of users) {
          const where = `${user.username} in round ${round}, SEED=${runSeed}`
          const followed = await mayFollow(cluster(), user, places)
          const expected = pods.filter(({ metadata }) => followed.has(metadata.namespace)).length
          const seenNodes = await nodesSeen(cluster(), user)
          const gettable = await podsGettable(cluster(), user, pods)
          const seenPlaces = await namespacesSeen(cluster(), user, places)
          const one = open.get(user) as RelatedSubscription
          const isAsExpected = ({ get, node, namespace, metadata }: Fields): boolean =>
            get === gettable.has(`${metadata.namespace}/${metadata.name}`) &&
            (namespace !== null) === seenPlaces.has(metadata.namespace) &&
            (node !== null) === seenNodes.has(nodeOf(metadata)) &&
            (node === null || node.metadata.annotation === touched)
          // Without a plan, a row says of related objects what was so when it was sent.
          const isRow = by.get(user.username) === 'plan' ? isAsExpected : () => true
          const isRight = (): boolean =>
            one.isEnded || (one.held.size === expected && [...one.held.values()].every(isRow))
          const deadline = performance.now() + 20_000
          while (!isRight() && performance.now() < deadline) await sleep(20)
          expect(isRight(), `${where}: ${JSON.stringify([...one.held.values()])}`).toBe(true)
          const leaked = one.told.filter(
            ({ node, namespace }) =>
              (node !== null && !seenNodes.has(node.metadata.name)) ||
              (namespace !== null && !seenPlaces.has(namespace.metadata.name)),
          )
          expect(leaked, where).toEqual([])
        }
      }
      for (const one of open.values()) one.leave()
    }, 180_000)
  })
})

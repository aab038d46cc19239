import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSeed, seededRandom } from '../support/random.ts'
import { serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { type Fields, inParallel } from '../gateway/test-cluster.ts'
import { type AccessCluster, describeAccess, rbac as rbacPath, users } from './access-cluster.ts'
import { isAllowed, mayInPods } from './asked-access.ts'
import { hasHeard } from './followed-rbac.ts'
import { RandomRbac } from './random-rbac.ts'

type User = (typeof users)[number]

const rounds = 5
const nodes = ['big', 'small']
/** A subscriber who asks what they can do has rows of their own; the others share them. */
const forms = ['own', 'shared'] as const
type Form = (typeof forms)[number]
const queryOf = (
  form: Form,
): string => `subscription { pods(coalesceMs: 20) { reset changes { type objectId object {
  metadata { namespace name } ${form === 'own' ? 'get: can(verb: "get")' : ''} namespaceObject { metadata { name } }
  node { metadata { name annotation(key: "touched") } pods { nodes { metadata { namespace name } } } }
} } } }`

/** A subscription to pods with what they lead to, begun anew where it was ended. */
class RelatedSubscription {
  readonly held = new Map<string, Fields>()
  /** What rows have said of nodes and namespaces, since this was last emptied. */
  told: Fields[] = []
  isEnded = false
  readonly user: User
  readonly form: Form
  readonly leave: () => void

  constructor(served: ViewedGateway, user: User, form: Form) {
    this.user = user
    this.form = form
    this.leave = served.connect(user).subscribe(
      { query: queryOf(form) },
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

/** Lets a group read nodes throughout, so that nodes often lead back to pods. */
const seesNodes = async ({ must }: AccessCluster, group: string): Promise<void> => {
  const metadata = { name: 'sees-nodes' }
  const apiGroup = 'rbac.authorization.k8s.io'
  const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] }]
  await must(`${rbacPath}/clusterroles`, { method: 'POST', body: { metadata, rules } })
  const roleRef = { apiGroup, kind: 'ClusterRole', name: metadata.name }
  const subjects = [{ apiGroup, kind: 'Group', name: group }]
  const body = { metadata, roleRef, subjects }
  await must(`${rbacPath}/clusterrolebindings`, { method: 'POST', body })
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
    beforeAll(async () => {
      served = await serveViewers({ clusters: [cluster().selection()] })
    })
    afterAll(async () => served[Symbol.asyncDispose]())

    it('are those that may be seen, from the moment on when the change has been heard of', async () => {
      const { must } = cluster()
      await seesNodes(cluster(), 'devs')
      const rbac = new RandomRbac(cluster(), seededRandom(runSeed))
      const pods: readonly Fields[] = (await must('/api/v1/pods')).items
      const keyOf = ({ metadata: { namespace, name } }: Fields): string => `${namespace}/${name}`
      const nodeOf = new Map(pods.map((pod) => [keyOf(pod), pod.spec.nodeName as string]))
      const places = [...new Set(pods.map(({ metadata }): string => metadata.namespace))]
      await hasHeard(served, await rbac.replace())
      let open = users.flatMap((user) =>
        forms.map((form) => new RelatedSubscription(served, user, form)),
      )
      for (let round = 1; round <= rounds; round += 1) {
        open = open.map((one) =>
          one.isEnded ? new RelatedSubscription(served, one.user, one.form) : one,
        )
        await hasHeard(served, await rbac.change())
        for (const one of open) one.told = []
        const touched = `round ${round}`
        const body = { metadata: { annotations: { touched } } }
        await inParallel(nodes, async (name) =>
          must(`/api/v1/nodes/${name}`, { method: 'PATCH', body }),
        )
        for (const one of open) {
          const { user, form } = one
          const where = `${user.username}, ${form}, in round ${round}, SEED=${runSeed}`
          const followed = await mayInPods(cluster(), user, ['list', 'watch'], places)
          const expected = pods.filter(({ metadata }) => followed.has(metadata.namespace)).length
          const listed = await mayInPods(cluster(), user, ['list'], places)
          const seenNodes = await nodesSeen(cluster(), user)
          const gettable = await podsGettable(cluster(), user, pods)
          const seenPlaces = await namespacesSeen(cluster(), user, places)
          const isNode = ({ metadata, pods: ofNode }: Fields): boolean =>
            metadata.annotation === touched &&
            sorted(ofNode.nodes.map(keyOf)) ===
              sorted(
                pods
                  .filter((pod) => listed.has(pod.metadata.namespace))
                  .map(keyOf)
                  .filter((key) => nodeOf.get(key) === metadata.name),
              )
          const isRow = ({ get, node, namespaceObject, metadata }: Fields): boolean =>
            (form === 'shared' || get === gettable.has(keyOf({ metadata }))) &&
            (namespaceObject !== null) === seenPlaces.has(metadata.namespace) &&
            (node !== null) === seenNodes.has(nodeOf.get(keyOf({ metadata })) ?? '') &&
            (node === null || isNode(node))
          const isRight = (): boolean =>
            one.isEnded || (one.held.size === expected && [...one.held.values()].every(isRow))
          const deadline = performance.now() + 20_000
          while (!isRight() && performance.now() < deadline) await sleep(20)
          expect(isRight(), `${where}: ${JSON.stringify([...one.held.values()])}`).toBe(true)
          const leaked = one.told.filter(
            ({ node, namespaceObject, metadata }) =>
              !followed.has(metadata.namespace) ||
              (node !== null && !seenNodes.has(node.metadata.name)) ||
              (node?.pods.nodes as readonly Fields[] | undefined)?.some(
                (pod) => !listed.has(pod.metadata.namespace),
              ) === true ||
              (namespaceObject !== null && !seenPlaces.has(namespaceObject.metadata.name)),
          )
          expect(leaked, where).toEqual([])
        }
      }
      for (const one of open) one.leave()
    }, 180_000)
  })
})

const sorted = (keys: readonly string[]): string => keys.toSorted().join()

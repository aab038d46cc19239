import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSeed, seededRandom } from '../support/random.ts'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type AccessCluster, describeAccess, rbac } from './access-cluster.ts'
import { type AskedAccess, isAllowed } from './asked-access.ts'
import { hasHeard } from './followed-rbac.ts'
import { EditedRbac } from './edited-rbac.ts'
import { type CountedServer, startCountedServer } from './counted-server.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const rounds = 8

/** Nothing that is known grows old while the test runs, so that nothing but a change makes it be asked again. */
const kept = { allowMs: 3_600_000, denyMs: 3_600_000 }

const account = 'system:serviceaccount:red:robot'
const viewers: readonly Caller[] = [
  caller('ann', 'devs'),
  caller('ben', 'devs', 'ops'),
  caller('cleo'),
  caller(account, 'system:serviceaccounts', 'system:serviceaccounts:red'),
]

const asked: readonly Required<AskedAccess>[] = ['get', 'list', 'delete'].flatMap((verb) =>
  ['pods', 'configmaps', 'nodes'].flatMap((resource) =>
    (resource === 'nodes' ? [''] : ['', 'red', 'green']).map((namespace) => ({
      verb,
      resource,
      namespace,
      name: verb === 'list' ? '' : 'first',
    })),
  ),
)
const text = JSON.stringify
const everyCan = `{ ${asked
  .map(
    ({ verb, resource, namespace, name }, at) =>
      `can${at}: can(verb: ${text(verb)}, resource: ${text(resource)}, namespace: ${text(namespace)}, name: ${text(name)})`,
  )
  .join(' ')} }`

describeAccess('What is kept of permissions', (cluster: () => AccessCluster) => {
  describe(`while roles and bindings are edited, SEED=${runSeed}`, () => {
    let served: ViewedGateway
    beforeAll(async () => {
      served = await serveViewers({ clusters: [cluster().selection()], access: kept })
    })
    afterAll(async () => served[Symbol.asyncDispose]())

    it('is nothing that an edit has changed', async () => {
      const edited = new EditedRbac(cluster(), seededRandom(runSeed), viewers)
      await hasHeard(served, await edited.begin())
      for (let round = 1; round <= rounds; round += 1) {
        for (const viewer of viewers) {
          const { data } = await served.query(viewer, everyCan)
          const told = Object.values(data)
          const expected = await Promise.all(
            asked.map(async (one) => isAllowed(cluster(), viewer, one)),
          )
          const where = `${viewer.username}, SEED=${runSeed}, round ${round}: ${edited.last}`
          const wrong = asked.filter((_, at) => told[at] !== expected[at])
          expect(wrong, where).toEqual([])
        }
        await hasHeard(served, await edited.edit())
      }
    }, 180_000)
  })
})

describe('Whoever a change of RBAC does not concern', () => {
  const users = Array.from({ length: 8 }, (_, at) => caller(`user-${at}`, 'readers'))
  const [first] = users as [Caller, ...Caller[]]
  let world: SmallWorld
  let counted: CountedServer
  let served: ViewedGateway
  beforeAll(async () => {
    world = await startSmallWorld(async (url) => {
      counted = await startCountedServer(url)
      return counted.url
    })
    for (const { username } of users) {
      await world.allow('one', username, username, [reads('', 'pods', 'services')])
    }
    await world.allowEverywhere('shown', 'nobody', [reads('', 'configmaps')])
    await world.make(
      `${rbac}/namespaces/one/rolebindings`,
      bound('shown', 'ClusterRole', 'readers'),
    )
    await world.make(`${rbac}/clusterroles`, {
      metadata: { name: 'aggregated' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { into: 'aggregated' } }] },
      rules: [],
    })
    await world.make(
      `${rbac}/namespaces/one/rolebindings`,
      bound('aggregated', 'ClusterRole', 'readers'),
    )
    served = await serveViewers({ clusters: [world.selection], access: kept })
    await hasHeard(served, new Map())
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await counted[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  const query = '{ pods { totalCount } services { totalCount } configMaps { totalCount } }'
  const askAll = async (): Promise<void> => {
    for (const user of users) expect((await served.query(user, query)).errors).toBeUndefined()
  }
  /** How many reviews it takes to answer everybody again after a change that has been heard of and has settled. */
  const reviewsAfter = async (resource: string, change: () => Promise<Fields>): Promise<number> => {
    await askAll()
    const { metadata } = await change()
    const { resourceVersion } = metadata
    await hasHeard(served, new Map([[`${resource}.rbac.authorization.k8s.io`, resourceVersion]]))
    const before = counted.count('/subjectaccessreviews')
    await askAll()
    return counted.count('/subjectaccessreviews') - before
  }
  const made = (resource: string, body: Fields, namespace?: string) =>
    reviewsAfter(resource, () => {
      const place = namespace === undefined ? '' : `/namespaces/${namespace}`
      return world.make(`${rbac}${place}/${resource}`, body)
    })

  it('is neither reviewed nor answered for a list that holds the name of a namespace', async () => {
    const asking = [
      'query ($in: String) { pods(namespace: $in) { totalCount } }',
      'query ($in: String) { pods(namespace: $in) { totalCount } __schema { __typename } }',
      'query ($in: String) { can(verb: "list", resource: "pods", namespace: $in) }',
      'query ($in: String!) { pod(namespace: $in, name: "shop") { id } }',
    ]
    for (const one of asking.slice(0, 3)) {
      expect((await served.query(first, one, { in: 'one' })).errors).toBeUndefined()
    }
    const before = counted.count('/subjectaccessreviews')
    for (const one of asking) {
      const { errors } = await served.query(first, one, { in: ['one'] })
      expect(errors, one).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
    }
    expect(counted.count('/subjectaccessreviews')).toBe(before)
  })

  it('is not asked about again when others are bound, or a role is changed that they do not have', async () => {
    const pipeline = bound('pipeline', 'ClusterRole', 'pipelines')
    const role = { metadata: { name: 'pipeline' }, rules: [reads('', 'pods')] }
    expect(await made('clusterroles', role)).toBe(0)
    expect(await made('clusterrolebindings', pipeline)).toBe(0)
    expect(await made('rolebindings', pipeline, 'one')).toBe(0)
    const rules = [reads('apps', '*')]
    const changed = () => world.patch(`${rbac}/clusterroles/pipeline`, { rules })
    expect(await reviewsAfter('clusterroles', changed)).toBe(0)
  })

  it('is not asked about again where one of them is bound, or loses a Role', async () => {
    const own = { ...bound('own', 'Role', ''), subjects: [user(first.username)] }
    // That nothing is allowed everywhere is still known: of each kind the one namespace is asked about.
    expect(await made('rolebindings', own, 'one')).toBe(3)
    const path = `${rbac}/namespaces/one/roles/${first.username}`
    const rules = [reads('', 'pods', 'services'), reads('apps', 'deployments')]
    expect(await reviewsAfter('roles', () => world.patch(path, { rules }))).toBe(3)
    const everywhere = { ...bound('own', 'ClusterRole', ''), subjects: [user(first.username)] }
    expect(await made('clusterrolebindings', everywhere)).toBe(9)
  })

  it('is only asked about again, together with the others of a group, for what the group is bound to', async () => {
    const some = users.length * 3
    const rules = [reads('', 'configmaps'), reads('', 'secrets')]
    const changed = () => world.patch(`${rbac}/clusterroles/shown`, { rules })
    expect(await reviewsAfter('clusterroles', changed)).toBe(some)
    const labels = { into: 'aggregated' }
    const added = { metadata: { name: 'added', labels }, rules: [reads('', 'nodes')] }
    expect(await made('clusterroles', added)).toBeLessThanOrEqual(some)
    const all = bound('everybody', 'ClusterRole', 'system:authenticated')
    expect(await made('clusterrolebindings', all)).toBe(users.length * 9)
  })

  it('is asked about again all the same where another authorizer than RBAC has decided', async () => {
    const status = { allowed: true, reason: 'the webhook says so' }
    counted.answer('/subjectaccessreviews', { status })
    const guest = caller('guest')
    const ask = async (): Promise<number> => {
      const before = counted.count('/subjectaccessreviews')
      expect((await served.query(guest, query)).errors).toBeUndefined()
      return counted.count('/subjectaccessreviews') - before
    }
    await ask()
    await hasHeard(served, new Map())
    expect(await ask()).toBe(0)
    const other = bound('other', 'ClusterRole', 'pipelines')
    const { metadata } = await world.make(`${rbac}/clusterrolebindings`, other)
    const resource = 'clusterrolebindings.rbac.authorization.k8s.io'
    await hasHeard(served, new Map([[resource, metadata.resourceVersion]]))
    expect(await ask()).toBe(3)
  })
})

const user = (name: string): Fields => ({
  apiGroup: 'rbac.authorization.k8s.io',
  kind: 'User',
  name,
})

/** A binding of a group, of the name of its role. */
const bound = (name: string, kind: string, group: string): Fields => ({
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
})

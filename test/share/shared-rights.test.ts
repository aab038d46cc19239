import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayOptions } from 'informerql'
import { resources } from 'informerql/kubernetes'
import { type Simulator, startSimulator, type Storage } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Fields, kubeconfigText } from '../gateway/test-cluster.ts'
import { putPod, running } from '../logs/small-town.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { needsPostgres, startPostgres } from '../support/postgres.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { areSame, followedBeside } from './followed-beside.ts'
import { freePort } from './shared-gateways.ts'

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const apiVersion = 'rbac.authorization.k8s.io/v1'
const bindings = { ...rbac, resource: 'rolebindings' }
const wait = { timeout: 60_000, interval: 200 }
const namespaces = ['one', 'two'] as const
/** So many that other gateways hold some. The first one reviews tokens, so that each gateway holds it. */
const names = Array.from({ length: 8 }, (_, at) => `c-${at}`)
const users = [
  { user: 'gateway', token: 'of-gateway', groups: ['system:masters'] },
  { user: 'ann', token: 'of-ann', groups: [] },
]

/** Two namespaces, each with a pod that runs and one that does not, and a role that nobody has. */
const populate = (storage: Storage): void => {
  for (const namespace of namespaces) {
    storage.create(resources.namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    })
    putPod(storage, 'runs', running(0), { in: namespace, uid: `runs-${namespace}` })
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off' }
    const uid = `fails-${namespace}`
    putPod(storage, 'fails', { state: { waiting }, restartCount: 4 }, { in: namespace, uid })
  }
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }]
  const metadata = { name: 'pods' }
  const role = { apiVersion, kind: 'ClusterRole', metadata, rules }
  storage.create({ ...rbac, resource: 'clusterroles' }, role)
  for (const [name, kinds] of Object.entries(lists)) {
    const seen = [{ apiGroups: [rbac.group], resources: kinds, verbs: ['list'] }]
    const whole = { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: seen }
    storage.create({ ...rbac, resource: 'clusterroles' }, whole)
  }
}

/** ClusterRoles that list kinds of RBAC. */
const lists = {
  all: ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'],
  bindings: ['rolebindings', 'clusterrolebindings'],
} as const

const allowList = ({ storage }: Simulator, name: keyof typeof lists): void => {
  storage.create(
    { ...rbac, resource: 'clusterrolebindings' },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'lists' },
      roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name: 'ann' }],
    },
  )
}

const allow = ({ storage }: Simulator, namespace: string): void => {
  storage.create(bindings, {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name: 'ann', namespace },
    roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'pods' },
    subjects: [{ kind: 'User', name: 'ann' }],
  })
}

const forbid = ({ storage }: Simulator, namespace: string): void => {
  storage.delete(bindings, namespace, 'ann')
}

describe(
  `the rights of who follows clusters of several gateways, seed ${runSeed}`,
  needsPostgres,
  () => {
    const stack = new AsyncDisposableStack()
    const simulators: Simulator[] = []
    let shared: ServedGateway
    let whole: ServedGateway
    let here = ''

    beforeAll(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'informerql-rights-'))
      stack.defer(async () => rm(folder, { recursive: true }))
      const clusters: GatewayOptions['clusters'][number][] = []
      for (const [at, name] of names.entries()) {
        const simulator = stack.use(
          await startSimulator({ authorization: 'rbac', users, populate }),
        )
        simulators.push(simulator)
        const kubeconfig = join(folder, `${name}.json`)
        await writeFile(kubeconfig, kubeconfigText(simulator.url, 'of-gateway'))
        clusters.push({ name, kubeconfig, everywhere: at === 0 })
      }
      const auth = { auth: { mode: 'token-review' } } as const
      const kinds = { preload: ['pods'], commonKinds: ['pods'], problemKinds: ['pods'] }
      whole = stack.use(await serveGateway({ clusters, ...kinds }, {}, auth))
      const archive = { url: await stack.use(await startPostgres()).database(), kinds: ['pods'] }
      for (let at = 0; at < 2; at++) {
        const port = await freePort()
        here = `http://127.0.0.1:${port}`
        const options = { clusters, archive, share: { address: here }, ...kinds }
        shared = stack.use(await serveGateway(options, { port }, auth))
      }
    }, 240_000)

    afterAll(() => stack.disposeAsync())

    const gaps = 'incomplete { cluster type code message }'
    const row = 'object { id clusterName namespace name }'
    const questions = {
      list: `pods(clusters: ["*"]) { reset synced visible ${gaps} changes { type removal objectId ${row} } }`,
      page: `podsPage(clusters: ["*"], first: 12, orderBy: [{ name: DESC }]) { reset synced totalCount ${gaps} changes { step index from objectId ${row} } }`,
      facets: `podFacets(clusters: ["*"], by: ["namespace", "cluster"]) { totalCount ${gaps} facets { by distinctCount values { value count } } }`,
      problems: `problems(clusters: ["*"], first: 9) { reset synced totalCount lookedAt notLookedAt ${gaps} changes { type objectId object { reason cluster object { namespace name } } } }`,
      kinds: `kubernetesObjects(kinds: ["Pod"], clusters: ["*"]) { reset synced ${gaps} changes { type removal objectId ${row} } }`,
      kindsPage: `kubernetesObjectsPage(kinds: ["Pod", "Service"], clusters: ["*"], first: 5) { reset synced totalCount ${gaps} changes { step index from objectId ${row} } }`,
      objects: `objects(ids: [IDS]) { reset synced ${gaps} changes { type removal objectId ${row} } }`,
    }

    it('let them see grants of the clusters where they may list these, by any gateway', async () => {
      for (const [at, simulator] of simulators.entries()) {
        if (at % 3 < 2) allowList(simulator, at % 3 === 0 ? 'all' : 'bindings')
      }
      const [annShared, annWhole] = [shared.as('of-ann'), whole.as('of-ann')]
      const named = '{ kind namespace name }'
      const query = `query ($after: String, $first: Int, $clusters: [String!]) {
        gatewayClusters { holder }
        accessGrants(clusters: $clusters, verb: "list", first: $first, after: $after) { totalCount visible notes ${gaps}
          unseenRoles { id name } pageInfo { hasNextPage endCursor }
          nodes { cluster namespace subject ${named} binding ${named} role ${named} rule { verbs resources } } } }`
      const all = { clusters: ['*'], first: 100 }
      let seen: Fields = {}
      await expect
        .poll(async () => {
          const answers = await Promise.all(
            [annShared, annWhole].map((ann) => ann.query(query, all)),
          )
          const [ofShared, ofWhole] = answers.map(({ data, errors = [] }) => ({
            grants: data?.accessGrants,
            errors: errors.map(({ message, path }) => JSON.stringify({ message, path })).toSorted(),
          }))
          seen = ofWhole ?? {}
          const holders = new Set(
            answers[0]?.data?.gatewayClusters.map(({ holder }: Fields) => holder),
          )
          const isSame = JSON.stringify(ofShared) === JSON.stringify(ofWhole)
          const hidden = (seen['grants']?.unseenRoles ?? []).filter(
            ({ name }: Fields) => name === 'bindings',
          )
          return [isSame, holders.size, seen['errors']?.length, hidden.length]
        }, wait)
        // Two clusters show nothing of RBAC, and three nothing of the role of their binding.
        .toEqual([true, 2, 2, 3])
      const { nodes } = seen['grants']
      expect(new Set(nodes.map(({ cluster }: Fields) => cluster))).toEqual(
        new Set(['c-0', 'c-3', 'c-6']),
      )
      const paged: unknown[] = []
      let after: string | null = null
      do {
        const { data } = await annShared.query(query, { clusters: ['*'], first: 2, after })
        paged.push(...data.accessGrants.nodes)
        const { hasNextPage, endCursor } = data.accessGrants.pageInfo
        after = hasNextPage === true ? endCursor : null
      } while (after !== null)
      expect(paged).toEqual(nodes)
      const { errors } = await annShared.query(
        '{ accessGrants(clusters: ["*"]) { unseenRoles { object { id } } } }',
      )
      expect(errors?.map(({ extensions }) => extensions.code)).toContain('UNSUPPORTED')
    }, 120_000)

    it('are those of one gateway that holds all, as they are given and taken', async () => {
      const asAnn = shared.as('of-ann')
      let beside: readonly number[] = []
      await expect
        .poll(async () => {
          const { data } = await asAnn.query('{ gatewayClusters { name holder state } }')
          const all: readonly { name: string; holder: string | null; state: string }[] =
            data?.gatewayClusters ?? []
          beside = all.flatMap(({ name, holder }) =>
            name !== 'c-0' && holder !== here ? [names.indexOf(name)] : [],
          )
          const held = all.every(({ holder, state }) => holder !== null && state === 'CONNECTED')
          return held ? new Set(all.map(({ holder }) => holder)).size : 0
        }, wait)
        .toBeGreaterThan(1)
      const random = seededRandom(runSeed)
      const allowed = new Set<string>()
      const toggle = (at: number, namespace: string): void => {
        const place = `${at} ${namespace}`
        if (allowed.delete(place)) forbid(simulators[at]!, namespace)
        else {
          allowed.add(place)
          allow(simulators[at]!, namespace)
        }
      }
      for (const at of names.keys()) for (const namespace of namespaces) toggle(at, namespace)
      const annShared = shared.as('of-ann')
      const annWhole = whole.as('of-ann')
      let ids: readonly string[] = []
      for (const ann of [annShared, annWhole]) {
        await expect
          .poll(async () => {
            const { data } = await ann.query('{ pods(clusters: ["*"]) { nodes { id } } }')
            ids = (data?.pods?.nodes ?? []).map(({ id }: { id: string }) => id)
            return ids.length
          }, wait)
          .toBe(4 * names.length)
      }
      const known = JSON.stringify(ids)
      const lives = Object.values(questions).map((text) => {
        const field = text.replace('(', '(coalesceMs: 10, ').replace('[IDS]', known)
        return followedBeside({ shared: annShared, whole: annWhole }, field)
      })
      const placesOf = ({ rows = [] }: Fields): readonly string[] =>
        [
          ...new Set<string>(
            rows.map(
              ({ clusterName, namespace }: Fields) => `${names.indexOf(clusterName)} ${namespace}`,
            ),
          ),
        ].toSorted()
      const check = async (): Promise<void> => {
        const all = JSON.stringify([...allowed].toSorted())
        const [list, ...others] = lives
        await areSame(list!, (shown) => JSON.stringify(placesOf(shown)) === all)
        for (const live of others) await areSame(live)
      }
      await check()
      // The other gateway refuses its part as a whole.
      for (const at of beside) for (const namespace of namespaces) toggle(at, namespace)
      await check()
      for (let step = 0; step < 4; step++) {
        for (const at of names.keys()) {
          for (const [which, namespace] of namespaces.entries()) {
            // Otherwise the last right that is taken ends the subscriptions.
            if (at + which > 0 && random() < 0.3) toggle(at, namespace)
          }
        }
        await check()
      }
      for (const place of allowed) {
        const [at, namespace = ''] = place.split(' ')
        toggle(Number(at), namespace)
      }
      // What is about one kind ends.
      const isEmpty = ({ ended, totalCount, rows }: Fields): boolean =>
        ended !== undefined || totalCount === 0 || rows?.length === 0
      for (const live of lives) await areSame(live, isEmpty)
      for (const live of lives) live.leave()
    }, 600_000)
  },
)

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import {
  type AccessCluster,
  administrator,
  describeAccess,
  rbac as rbacPath,
  users,
} from './access-cluster.ts'
import { hasHeard } from './followed-rbac.ts'
import { type Heard, RandomRbac } from './random-rbac.ts'
import {
  describeSmallWorld,
  type FurnishedWorld,
  reads,
  type SmallWorld,
  startSmallWorld,
} from './small-world.ts'

const rbacGroup = 'rbac.authorization.k8s.io'
/** The namespaces of the worlds. */
const places = ['red', 'green', 'blue']
const rbacKinds = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']

const grants = `accessGrants(verb: $verb, resource: $resource, subresource: $subresource, namespace: $namespace,
  name: $name, subject: $subject, first: $first, after: $after) {
  totalCount visible incomplete { code type } notes
  unseenRoles { kind namespace name }
  pageInfo { hasNextPage endCursor }
  nodes {
    namespace
    subject { kind namespace name serviceAccount { kind namespace name } }
    binding { kind namespace name }
    role { kind namespace name }
    rule { verbs apiGroups resources resourceNames nonResourceURLs }
  }
}`
const query = `query ($verb: String, $resource: String, $subresource: String, $namespace: String, $name: String,
  $subject: AccessSubjectInput, $first: Int, $after: String) { ${grants} }`

/** Waits until the caches of RBAC are as new as the last change. */
const held = async (served: ViewedGateway, heard: Heard): Promise<void> => {
  const lists = rbacKinds.map((kind) => {
    const field = kind
      .replace('cluster', 'cluster_')
      .replace(/(role)(bindings)/, '$1_$2')
      .replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
    return `${kind}: ${field}(first: 1) { resourceVersion }`
  })
  await expect
    .poll(async () => {
      const { data } = await served.query(administrator, `{ ${lists.join(' ')} }`)
      return rbacKinds.every(
        (kind) =>
          BigInt(data[kind].resourceVersion || 0) >= BigInt(heard.get(`${kind}.${rbacGroup}`) ?? 0),
      )
    })
    .toBe(true)
}

interface Identity {
  readonly user: string
  readonly groups: readonly string[]
  readonly subject: Fields
}

const account = (namespace: string, name: string): Identity => ({
  user: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  subject: { kind: 'SERVICE_ACCOUNT', namespace, name },
})

const identities: readonly Identity[] = [
  ...users.map(({ username, groups }) => ({
    user: username,
    groups,
    subject: { kind: 'USER', name: username, groups },
  })),
  account('red', 'robot'),
  account('green', 'robot'),
]

/** Whether a grant is one of somebody. */
const isOf =
  ({ user, groups }: Identity) =>
  ({ subject: { kind, namespace, name } }: Fields): boolean =>
    kind === 'GROUP'
      ? groups.includes(name)
      : user === (kind === 'USER' ? name : `system:serviceaccount:${namespace}:${name}`)

const questions = (random: () => number, count: number): readonly Fields[] => {
  const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  return Array.from({ length: count }, () => {
    const resource = one([
      'pods',
      'services',
      'configmaps',
      'nodes',
      'namespaces',
      'replicasets.apps',
    ])
    const isOfCluster = ['nodes', 'namespaces'].includes(resource)
    return {
      verb: one(['get', 'list', 'delete', 'impersonate', '*']),
      resource,
      subresource: random() < 0.3 ? one(['log', 'scale', 'status']) : undefined,
      namespace: isOfCluster || random() < 0.2 ? undefined : one(places),
      name: random() < 0.6 ? one(['first', 'shop', 'big', 'red']) : undefined,
    }
  })
}

/** The review of a question, as an API server gets the request. */
const allowedBy = async (
  { must }: AccessCluster,
  { user, groups }: Identity,
  { verb, resource, subresource, namespace, name }: Fields,
): Promise<boolean> => {
  const [plural, group = ''] = resource.split('.')
  const place = plural === 'namespaces' ? name : namespace
  const resourceAttributes = { verb, group, resource: plural, subresource, namespace: place, name }
  const { status } = await must('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    method: 'POST',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups, resourceAttributes },
    },
  })
  return status.allowed
}

describeAccess('The grants of RBAC', (cluster: () => AccessCluster) => {
  describe(`in random worlds, SEED=${runSeed}`, () => {
    let served: ViewedGateway
    /** What the robot of `red` may do in all worlds, and nobody else in most of them. */
    const certain = { verb: 'watch', resource: 'secrets', namespace: 'red' }
    beforeAll(async () => {
      const role = { apiGroup: rbacGroup, kind: 'Role', name: 'certain' }
      const bound = { kind: 'ServiceAccount', name: 'robot' }
      const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['watch'] }]
      for (const [path, more] of [
        ['roles', { rules }],
        ['rolebindings', { roleRef: role, subjects: [bound] }],
      ] as const) {
        const body = { metadata: { name: 'certain' }, ...more }
        await cluster().must(`${rbacPath}/namespaces/red/${path}`, { method: 'POST', body })
      }
      served = await serveViewers({ clusters: [cluster().selection()] })
    })
    afterAll(async () => served[Symbol.asyncDispose]())
    const robot = { kind: 'ServiceAccount', name: 'robot' }
    const user = { apiGroup: rbacGroup, kind: 'User' }
    const group = { apiGroup: rbacGroup, kind: 'Group' }
    const further = {
      groups: [rbacGroup],
      resources: ['pods/log', 'replicasets/scale', '*/scale', ...rbacKinds],
      subjects: [
        { ...robot, namespace: 'red' },
        { ...robot, namespace: 'green' },
        { ...user, name: 'system:serviceaccount:red:robot' },
        { ...group, name: 'system:serviceaccounts:green' },
        { ...group, name: 'system:serviceaccounts' },
        { ...group, name: 'system:authenticated' },
      ],
    }

    it('are what the API server says of each subject, and each caller gets those of the objects that they may list', async () => {
      const random = seededRandom(runSeed)
      const world = new RandomRbac(cluster(), random, further)
      const raw = async (path: string, token: string): Promise<ReadonlySet<string>> => {
        const { status, json } = await cluster().ask(`${rbacPath}/${path}`, { token })
        return new Set(
          status === 200 ? json.items.map(({ metadata }: Fields) => metadata.name) : [],
        )
      }
      const compared = { allowed: 0, refused: 0 }
      for (let count = 0; count < 3; count += 1) {
        const heard = await world.replace()
        await hasHeard(served, heard)
        await held(served, heard)
        for (const asked of [certain, ...questions(random, 25)]) {
          const { data, errors } = await served.query(administrator, query, {
            ...asked,
            first: 500,
          })
          expect(errors).toBeUndefined()
          for (const identity of identities) {
            const holds = ({ namespace, rule: { resourceNames } }: Fields): boolean =>
              (asked['namespace'] !== undefined ||
                asked['resource'] === 'namespaces' ||
                namespace === null) &&
              (asked['name'] !== undefined || resourceNames.length === 0)
            const own = data.accessGrants.nodes.filter(isOf(identity)).filter(
              (grant: Fields) =>
                // Without a name, a grant in a namespace is for that Namespace alone.
                holds(grant) &&
                (asked['resource'] !== 'namespaces' ||
                  asked['name'] !== undefined ||
                  grant.namespace === null),
            )
            const allowed = await allowedBy(cluster(), identity, asked)
            const what = `${identity.user} ${JSON.stringify(asked)} SEED=${runSeed}`
            expect([what, own.length > 0]).toEqual([what, allowed])
            const { subject } = identity
            const alone = await served.query(administrator, query, {
              ...asked,
              subject,
              first: 500,
            })
            const all = data.accessGrants.nodes.filter(isOf(identity))
            expect([what, alone.data.accessGrants.nodes]).toEqual([what, all])
            compared[allowed ? 'allowed' : 'refused'] += 1
          }
        }
        const everything = await served.query(administrator, query, { first: 500 })
        const { nodes } = everything.data.accessGrants
        for (const viewer of users) {
          const seen = new Map<string, ReadonlySet<string>>()
          for (const kind of rbacKinds) {
            const isOfCluster = kind.startsWith('cluster')
            for (const namespace of isOfCluster ? [''] : places) {
              const place = isOfCluster ? kind : `namespaces/${namespace}/${kind}`
              seen.set(`${kind}/${namespace}`, await raw(place, viewer.token))
            }
          }
          const isSeen = ({ kind, namespace, name }: Fields): boolean =>
            seen.get(`${kind.toLowerCase()}s/${namespace ?? ''}`)?.has(name) === true
          const shown = nodes.filter(({ binding, role }: Fields) => isSeen(binding) && isSeen(role))
          const { data, errors } = await served.query(viewer, query, { first: 500 })
          // Whoever may list nothing of RBAC is refused. Roles of the cluster itself are in other namespaces.
          const inWorld = (data?.accessGrants?.nodes ?? []).filter(
            ({ namespace }: Fields) => namespace === null || places.includes(namespace),
          )
          const codes = (errors ?? []).map(({ extensions }: Fields) => extensions.code)
          const who = `${viewer.username} SEED=${runSeed}`
          expect([who, inWorld]).toEqual([who, shown])
          expect(codes.every((code) => code === 'FORBIDDEN')).toBe(true)
        }
      }
      expect(Math.min(compared.allowed, compared.refused)).toBeGreaterThan(0)
    })
  })
})

const root = caller('root', 'system:masters')
const ann = caller('ann')
const ben = caller('ben')
const cleo = caller('cleo')

const clusterRole = async (world: FurnishedWorld, name: string, body: Fields): Promise<void> => {
  await world.make(`${rbacPath}/clusterroles`, { metadata: { name }, ...body })
}

const bind = async (
  world: FurnishedWorld,
  { namespace, name, role, subjects }: Fields,
): Promise<void> => {
  const path =
    namespace === undefined ? 'clusterrolebindings' : `namespaces/${namespace}/rolebindings`
  await world.make(`${rbacPath}/${path}`, {
    metadata: { name },
    roleRef: { apiGroup: rbacGroup, ...role },
    subjects,
  })
}

const told = ({ subject, namespace, binding, role }: Fields): string =>
  `${subject.kind} ${subject.namespace ?? ''}/${subject.name} in ${namespace ?? '*'} by ${binding.kind} ${binding.name} of ${role.kind} ${role.name}`

describeSmallWorld('The grants of RBAC', (world) => {
  let served: ViewedGateway
  beforeAll(async () => {
    const small = world()
    const core = { apiGroups: [''] }
    const devs = { apiGroup: rbacGroup, kind: 'Group', name: 'devs' }
    await clusterRole(small, 'logs-part', {
      metadata: { name: 'logs-part', labels: { part: 'logs' } },
      rules: [{ ...core, resources: ['pods/log'], verbs: ['get'] }],
    })
    await clusterRole(small, 'logs', {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'logs' } }] },
      // As the controller of ClusterRoles writes them, which not every world has.
      rules: [{ ...core, resources: ['pods/log'], verbs: ['get'] }],
    })
    await clusterRole(small, 'metrics', {
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    })
    await clusterRole(small, 'acts-as', {
      rules: [{ ...core, resources: ['users'], verbs: ['impersonate'], resourceNames: ['boss'] }],
    })
    const of = (name: string): Fields => ({ kind: 'ClusterRole', name })
    await bind(small, { namespace: 'one', name: 'logs', role: of('logs'), subjects: [devs] })
    await bind(small, { name: 'metrics', role: of('metrics'), subjects: [devs] })
    await bind(small, { namespace: 'one', name: 'metrics', role: of('metrics'), subjects: [devs] })
    const builder = { kind: 'ServiceAccount', name: 'builder' }
    await bind(small, {
      name: 'acts-as',
      role: of('acts-as'),
      subjects: [{ ...builder, namespace: 'two' }],
    })
    await small.make(`${rbacPath}/namespaces/one/roles`, {
      metadata: { name: 'deletes' },
      rules: [
        { ...core, resources: ['pods'], verbs: ['delete'], resourceNames: ['shop-1-x'] },
        { ...core, resources: ['pods', 'services'], verbs: ['get'] },
      ],
    })
    await bind(small, {
      namespace: 'one',
      name: 'deletes',
      role: { kind: 'Role', name: 'deletes' },
      subjects: [
        { ...builder, namespace: 'one' },
        { apiGroup: rbacGroup, kind: 'User', name: 'dora' },
      ],
    })
    // Ann may list the bindings and roles of `one`, Ben those of the cluster, Cleo nothing of RBAC.
    await small.allow('one', 'ann', 'ann', [reads(rbacGroup, 'roles', 'rolebindings')])
    await small.allowEverywhere('ben', 'ben', [
      reads(rbacGroup, 'clusterroles', 'clusterrolebindings'),
    ])
    served = await serveViewers({ clusters: [world().selection] })
  })
  afterAll(async () => served[Symbol.asyncDispose]())

  const asked = async (who: typeof root, variables: Fields): Promise<Fields> => {
    const { data, errors } = await served.query(who, query, { first: 200, ...variables })
    return data?.accessGrants ?? errors
  }

  it('say who may delete one pod, and why', async () => {
    const one = { verb: 'delete', resource: 'pods', namespace: 'one', name: 'shop-1-x' }
    const { nodes, visible, incomplete, unseenRoles, notes } = await asked(root, one)
    expect([visible, incomplete, unseenRoles]).toEqual(['ALL', [], []])
    expect(notes[0]).toContain('system:masters')
    const why = 'in one by RoleBinding deletes of Role deletes'
    expect(nodes.map(told)).toEqual(
      expect.arrayContaining([`USER /dora ${why}`, `SERVICE_ACCOUNT one/builder ${why}`]),
    )
    const dora = nodes.find(({ subject }: Fields) => subject.name === 'dora')
    expect(dora.rule).toEqual({
      verbs: ['delete'],
      apiGroups: [''],
      resources: ['pods'],
      resourceNames: ['shop-1-x'],
      nonResourceURLs: [],
    })
    const builder = nodes.find(({ subject }: Fields) => subject.name === 'builder')
    expect(builder.subject.serviceAccount).toEqual({
      kind: 'ServiceAccount',
      namespace: 'one',
      name: 'builder',
    })
    const other = await asked(root, { ...one, name: 'other' })
    expect(other.nodes.map(told)).not.toContain(`USER /dora ${why}`)
  })

  it('say what a group may do in a namespace, of aggregated roles too, and no paths by a RoleBinding', async () => {
    const subject = { kind: 'GROUP', name: 'devs' }
    const { nodes } = await asked(root, { namespace: 'one', subject })
    const own = nodes.filter(({ subject: one }: Fields) => one.name === 'devs')
    expect(own.map(told)).toEqual([
      'GROUP /devs in * by ClusterRoleBinding metrics of ClusterRole metrics',
      'GROUP /devs in one by RoleBinding logs of ClusterRole logs',
    ])
    const elsewhere = await asked(root, { namespace: 'two', subject })
    expect(
      elsewhere.nodes.filter(({ subject: one }: Fields) => one.name === 'devs').map(told),
    ).toEqual(['GROUP /devs in * by ClusterRoleBinding metrics of ClusterRole metrics'])
  })

  it('know verbs that no list of kinds has', async () => {
    const { nodes } = await asked(root, { verb: 'impersonate', resource: 'users', name: 'boss' })
    expect(nodes.map(told)).toContain(
      'SERVICE_ACCOUNT two/builder in * by ClusterRoleBinding acts-as of ClusterRole acts-as',
    )
  })

  it('come by pages, each once', async () => {
    const one = { resource: 'pods', namespace: 'one' }
    const all = await asked(root, one)
    const paged: string[] = []
    let after: string | undefined
    for (let page = 0; page <= all.totalCount; page += 1) {
      const { nodes, pageInfo } = await asked(root, { ...one, first: 2, after })
      paged.push(...nodes.map((node: Fields) => JSON.stringify(node)))
      after = pageInfo.endCursor
      if (pageInfo.hasNextPage === false) break
    }
    expect(paged).toEqual(all.nodes.map((node: Fields) => JSON.stringify(node)))
  })

  it('are those of the objects that the caller may list, which says that there may be more', async () => {
    const one = { resource: 'pods', namespace: 'one' }
    const { nodes, visible, incomplete, unseenRoles } = await asked(ann, one)
    expect(new Set(nodes.map(({ binding }: Fields) => binding.name))).toEqual(new Set(['deletes']))
    expect(visible).toBe('NAMESPACES')
    expect(incomplete).toEqual([
      { code: 'FORBIDDEN', type: 'ClusterRole' },
      { code: 'FORBIDDEN', type: 'ClusterRoleBinding' },
    ])
    expect(unseenRoles).toEqual([
      { kind: 'ClusterRole', namespace: null, name: 'logs' },
      { kind: 'ClusterRole', namespace: null, name: 'metrics' },
    ])
    const elsewhere = await asked(ann, { ...one, namespace: 'two' })
    expect(elsewhere[0].extensions.code).toBe('FORBIDDEN')
    const ofCluster = await asked(ben, { resource: 'nodes' })
    expect([ofCluster.visible, ofCluster.incomplete, ofCluster.unseenRoles]).toEqual([
      'ALL',
      [],
      [],
    ])
    const ofNamespace = await asked(ben, one)
    expect(ofNamespace.visible).toBe('NAMESPACES')
    expect(ofNamespace.nodes.every(({ namespace }: Fields) => namespace === null)).toBe(true)
  })

  it('are refused to who may list none of them, and to unclear questions', async () => {
    const refused = await asked(cleo, { resource: 'pods' })
    expect(refused[0].extensions).toMatchObject({ code: 'FORBIDDEN', cluster: 'test' })
    const wrong = async (variables: Fields): Promise<unknown> =>
      (await asked(root, variables))[0]?.extensions
    expect(await wrong({ name: 'x' })).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'name' })
    expect(await wrong({ subresource: 'log' })).toMatchObject({ argument: 'subresource' })
    expect(await wrong({ verb: 'Delete' })).toMatchObject({ argument: 'verb' })
    const nowhere = { kind: 'SERVICE_ACCOUNT', name: 'builder' }
    expect(await wrong({ subject: nowhere })).toMatchObject({ argument: 'subject.namespace' })
    const first = await asked(root, { resource: 'pods', first: 1 })
    const after = first.pageInfo.endCursor
    expect(await wrong({ resource: 'services', after })).toMatchObject({ argument: 'after' })
  })

  it('cost work, which is bounded', async () => {
    const work = { examined: 1_000, tests: 1_000 }
    await using small = await serveViewers({
      clusters: [world().selection],
      limits: { work },
    })
    const { errors } = await small.query(root, query, { first: 1 })
    expect(errors?.[0]?.extensions['code']).toBe('QUERY_TOO_COSTLY')
  })
})

it('The grants of a cluster that is cut off are incomplete, with an error, and never none', async () => {
  await using small = await startSmallWorld()
  await small.allow('one', 'dora', 'dora', [reads('', 'pods')])
  await using served = await serveViewers({ clusters: [small.selection] })
  const asked = async (): Promise<Fields> => {
    const variables = { subject: { kind: 'USER', name: 'dora' }, first: 10 }
    return await served.query(root, query, variables)
  }
  const { data } = await asked()
  const { nodes, notes, incomplete } = data.accessGrants
  expect(nodes.map(told)).toContain('USER /dora in one by RoleBinding dora of Role dora')
  expect(notes.join(' ')).toContain('does not know the groups of dora')
  expect(incomplete).toEqual([])
  await small[Symbol.asyncDispose]()
  const code = 'CLUSTER_UNREACHABLE'
  await expect
    .poll(async () => {
      const { data: now, errors = [] } = await asked()
      return {
        gaps: now.accessGrants.incomplete.map((gap: Fields) => gap.code).includes(code),
        errors: errors.some(({ extensions }: Fields) => extensions.code === code),
      }
    })
    .toEqual({ gaps: true, errors: true })
})

describe('The grants of RBAC in several clusters', () => {
  const stack = new AsyncDisposableStack()
  let served: ViewedGateway
  const worlds = new Map<string, SmallWorld>()

  const eve = caller('eve')
  const rbacReads = reads(rbacGroup, ...rbacKinds)

  beforeAll(async () => {
    const clusters = []
    for (const name of ['north', 'south']) {
      const small = stack.use(await startSmallWorld())
      worlds.set(name, small)
      clusters.push({ name, kubeconfig: small.selection.kubeconfig })
      await small.allow('one', 'dora', 'dora', [reads('', 'pods')])
      // Not as one of `system:masters`, which count in their own cluster only.
      await small.allowEverywhere('eve', 'eve', [rbacReads])
    }
    const { allow, allowEverywhere } = worlds.get('south')!
    await allow('one', 'finn', 'finn', [reads('', 'pods')])
    await allowEverywhere('ben', 'ben', [rbacReads])
    served = stack.use(await serveViewers({ clusters }))
    const isWhole = async (): Promise<boolean> => {
      const { data } = await served.query(eve, fleet, { clusters: ['*'] })
      return data.accessGrants.incomplete.length === 0
    }
    await vi.waitUntil(isWhole, { timeout: 60_000 })
  })
  afterAll(() => stack.disposeAsync())

  const fleet = `query ($clusters: [String!], $cluster: String, $first: Int, $after: String) {
    accessGrants(clusters: $clusters, cluster: $cluster, verb: "get", resource: "pods", namespace: "one", name: "x", first: $first, after: $after) {
      totalCount visible incomplete { cluster code type } pageInfo { hasNextPage endCursor }
      nodes { cluster subject { kind name } binding { id name object { clusterName } } role { name } }
    } }`
  const userRows = ({ nodes }: Fields): readonly string[] =>
    nodes.flatMap(({ cluster, subject }: Fields) =>
      subject.kind === 'USER' ? [`${subject.name} ${cluster}`] : [],
    )

  it('are one list, in the order of the subjects, each with its cluster, and come by pages', async () => {
    const { data } = await served.query(eve, fleet, { clusters: ['*'] })
    expect(userRows(data.accessGrants)).toEqual([
      'dora north',
      'dora south',
      'finn south',
      'gateway north',
      'gateway south',
    ])
    const { nodes, totalCount, incomplete } = data.accessGrants
    expect([totalCount, incomplete]).toEqual([nodes.length, []])
    for (const { cluster, binding } of nodes) expect(binding.object.clusterName).toBe(cluster)
    const one = await served.query(eve, fleet, { cluster: 'south' })
    expect(one.data.accessGrants.nodes).toEqual(
      nodes.filter(({ cluster }: Fields) => cluster === 'south'),
    )
    const byDefault = await served.query(eve, fleet)
    expect(new Set(byDefault.data.accessGrants.nodes.map((node: Fields) => node.cluster))).toEqual(
      new Set(['north']),
    )
    const paged: unknown[] = []
    let after: string | undefined
    for (let page = 0; page <= totalCount; page += 1) {
      const part = await served.query(eve, fleet, { clusters: ['*'], first: 1, after })
      paged.push(...part.data.accessGrants.nodes)
      after = part.data.accessGrants.pageInfo.endCursor
      if (part.data.accessGrants.pageInfo.hasNextPage === false) break
    }
    expect(paged).toEqual(nodes)
    const elsewhere = await served.query(eve, fleet, { cluster: 'south', after })
    expect(elsewhere.errors?.[0]?.extensions).toMatchObject({ argument: 'after' })
  })

  it('show each caller those of the clusters where they may list them, and say which they may not', async () => {
    const ofBen = await served.query(ben, fleet, { clusters: ['*'] })
    expect(userRows(ofBen.data.accessGrants)).toEqual(['dora south', 'finn south', 'gateway south'])
    expect(ofBen.data.accessGrants.visible).toBe('NAMESPACES')
    expect(ofBen.data.accessGrants.incomplete).toEqual(
      ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'].map((type) => ({
        cluster: 'north',
        code: 'FORBIDDEN',
        type,
      })),
    )
    expect(ofBen.errors?.map(({ message }) => message)).toEqual([
      'you may list no objects of RBAC in cluster north',
    ])
    const ofCleo = await served.query(cleo, fleet, { clusters: ['*'] })
    expect([ofCleo.data.accessGrants.nodes, ofCleo.errors?.length]).toEqual([[], 2])
    const alone = await served.query(ben, fleet, { cluster: 'north' })
    expect([alone.data.accessGrants, alone.errors?.[0]?.extensions['code']]).toEqual([
      null,
      'FORBIDDEN',
    ])
    const both = await served.query(eve, fleet, { clusters: ['north'], cluster: 'north' })
    expect(both.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' })
  })

  it('cost the work of each cluster', async () => {
    const workOf = async (clusters: readonly string[]): Promise<number> => {
      const { extensions } = await served.explained(eve, fleet, { clusters })
      return extensions?.['explain'].fields[0].examined
    }
    const [north, south, all] = await Promise.all([['north'], ['south'], ['*']].map(workOf))
    expect(north).toBeGreaterThan(0)
    expect(all).toBe(north! + south!)
  })

  it('lack those of a cluster that is cut off, say so, and have the others', async () => {
    await worlds.get('south')![Symbol.asyncDispose]()
    await expect
      .poll(async () => {
        const { data, errors = [] } = await served.query(eve, fleet, { clusters: ['*'] })
        const { nodes, incomplete } = data.accessGrants
        return {
          north: nodes.some(({ cluster }: Fields) => cluster === 'north'),
          gaps: [...new Set(incomplete.map((gap: Fields) => `${gap.cluster} ${gap.code}`))],
          errors: errors.map(
            ({ extensions }: Fields) => `${extensions.cluster} ${extensions.code}`,
          ),
        }
      })
      .toEqual({
        north: true,
        gaps: ['south CLUSTER_UNREACHABLE'],
        errors: ['south CLUSTER_UNREACHABLE'],
      })
  })
})

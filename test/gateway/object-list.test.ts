import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { company } from '../support/company.ts'
import { type ServedGateway, serveGateway, type Variables } from '../support/gateway.ts'
import { type Fields, must, startSimulatedCluster, type TestCluster } from './test-cluster.ts'

/** One document for every kind. */
const anyKind = `query ($group: String, $kind: String!, $cluster: String, $namespace: String,
    $namespaces: [String!], $ids: [ID!], $labelSelector: String, $where: JSON, $orderBy: [JSON!],
    $first: Int, $after: String, $last: Int, $before: String) {
  list: objectList(group: $group, kind: $kind, cluster: $cluster, namespace: $namespace,
      namespaces: $namespaces, ids: $ids, labelSelector: $labelSelector, where: $where,
      orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
    type totalCount resourceVersion resumeToken staleSince
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    facets(by: ["namespace", "health"]) { by distinctCount missingCount values { value count } }
    edges { cursor } nodes { __typename id apiVersion kind name namespace health { status } }
  }
}`

/** The same in the words of one kind. */
const ofOneKind = (list: string, type: string, args: readonly string[]): string => {
  const types: Record<string, string> = {
    namespaces: '[String!]',
    ids: '[ID!]',
    where: `${type}Where`,
    orderBy: `[${type}Order!]`,
    first: 'Int',
    last: 'Int',
  }
  const variables = args.map((name) => `$${name}: ${types[name] ?? 'String'}`).join(', ')
  const given = args.map((name) => `${name}: $${name}`).join(', ')
  return `query ${variables === '' ? '' : `(${variables})`} {
    list: ${list}${given === '' ? '' : `(${given})`} {
      totalCount resourceVersion resumeToken staleSince
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      facets(by: ["namespace", "health"]) { by distinctCount missingCount values { value count } }
      edges { cursor } nodes { __typename id apiVersion kind name namespace health { status } }
    }
  }`
}

interface BadList {
  readonly title: string
  readonly variables: Variables
  readonly message: RegExp
  readonly argument: string
  readonly value?: unknown
  readonly hint?: RegExp
}

const bad: readonly BadList[] = [
  {
    title: 'a kind that is not there',
    variables: { kind: 'Deplyoment' },
    message: /^kind: there is no kind "Deplyoment"$/,
    argument: 'kind',
    value: 'Deplyoment',
    hint: /there is "Deployment"/,
  },
  {
    title: 'a kind that resembles none',
    variables: { kind: 'x'.repeat(10_000) },
    message: /^kind: there is no kind/,
    argument: 'kind',
    hint: /as the API does/,
  },
  {
    title: 'a kind of another group',
    variables: { group: '', kind: 'Deployment' },
    message: /^kind: there is no kind "Deployment" of the group ""$/,
    argument: 'kind',
    value: 'Deployment',
    hint: /it is of the group "apps"/,
  },
  {
    title: 'a group that is not there',
    variables: { group: 'app', kind: 'Nothing' },
    message: /^group: there is no group "app"$/,
    argument: 'group',
    value: 'app',
    hint: /there is "apps"/,
  },
  {
    title: 'a kind that several groups have',
    variables: { kind: 'Gateway' },
    message: /^group: several groups have the kind "Gateway"$/,
    argument: 'group',
    hint: /"one.example.com", "two.example.com"/,
  },
  {
    title: 'a filter that is not there',
    variables: { kind: 'Pod', where: { or: [{ phse: { eq: 'Running' } }] } },
    message: /^where.or\[0\].phse: there is no "phse"$/,
    argument: 'where.or[0].phse',
    value: 'phse',
    hint: /there is phase/,
  },
  {
    title: 'a filter that resembles none',
    variables: { kind: 'Pod', where: { colour: { eq: 'red' } } },
    message: /^where.colour: /,
    argument: 'where.colour',
    hint: /there are name, namespace, .*phase/,
  },
  {
    title: 'an operator that is not there',
    variables: { kind: 'Pod', where: { phase: { is: 'Running' } } },
    message: /^where.phase.is: /,
    argument: 'where.phase.is',
    hint: /eq/,
  },
  {
    title: 'text for a number',
    variables: { kind: 'Pod', where: { restarts: { gt: 'a' } } },
    message: /^where.restarts.gt: Int64 cannot represent "a"/,
    argument: 'where.restarts.gt',
    value: 'a',
  },
  {
    title: 'a phase that the API does not have',
    variables: { kind: 'Pod', where: { phase: { eq: 'running' } } },
    message: /"running" is not a value of phase/,
    argument: 'where.phase.eq',
    value: 'running',
    hint: /^there are Failed, Pending, Running, Succeeded, Unknown$/,
  },
  {
    title: 'a filter that is none',
    variables: { kind: 'Pod', where: 'phase=Running' },
    message: /^where: .*to be an object/,
    argument: 'where',
    value: 'phase=Running',
  },
  {
    title: 'an order that is not there',
    variables: { kind: 'Pod', orderBy: [{ name: 'ASC' }, { restart: 'DESC' }] },
    message: /^orderBy\[1\].restart: /,
    argument: 'orderBy[1].restart',
    hint: /there is restarts/,
  },
  {
    title: 'a direction that is none',
    variables: { kind: 'Pod', orderBy: [{ restarts: 'down' }] },
    message: /^orderBy\[0\].restarts: .*"down"/,
    argument: 'orderBy[0].restarts',
    value: 'down',
  },
  {
    title: 'an order of two indexes in one key',
    variables: { kind: 'Pod', orderBy: [{ restarts: 'DESC', name: 'ASC' }] },
    message: /^orderBy\[0\]: .*xactly one/,
    argument: 'orderBy[0]',
  },
  {
    title: 'a namespace for a kind without',
    variables: { kind: 'Node', namespace: 'shop' },
    message: /^namespace: objects of Node do not live in namespaces$/,
    argument: 'namespace',
    value: 'shop',
    hint: /leave it out/,
  },
  {
    title: 'a page that is too large',
    variables: { kind: 'Pod', first: 501 },
    message: /^first: must be a whole number from 0 to 500/,
    argument: 'first',
    value: 501,
  },
]

/** What an error is to match. */
const told = ({
  message,
  hint,
  title: _title,
  variables: _variables,
  ...rest
}: BadList): object => ({
  path: ['list'],
  message: expect.stringMatching(message),
  extensions: {
    code: 'BAD_USER_INPUT',
    ...rest,
    ...(hint === undefined ? {} : { hint: expect.stringMatching(hint) }),
  },
})

const gatewayDefinition = (group: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gateways.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'gateways', singular: 'gateway', kind: 'Gateway', listKind: 'GatewayList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
      },
    ],
  },
})

describe('the list of a kind that a request names', () => {
  let cluster: TestCluster
  let gateway: ServedGateway

  beforeAll(async () => {
    cluster = await startSimulatedCluster({
      bookmarkIntervalMs: 0,
      populate: company({ pods: 300, seed: 'object-list' }),
    })
    for (const group of ['one.example.com', 'two.example.com']) {
      await must(cluster, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        method: 'POST',
        body: gatewayDefinition(group),
      })
    }
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const ask = async (variables: Variables) => gateway.query(anyKind, variables)

  it.each<[kind: string, list: string, type: string, args: Variables]>([
    ['Pod', 'pods', 'Pod', {}],
    ['Pod', 'pods', 'Pod', { namespace: 'kube-system', first: 3 }],
    ['Pod', 'pods', 'Pod', { where: { phase: { eq: 'Running' } }, first: 7 }],
    ['Pod', 'pods', 'Pod', { where: { and: { health: { in: ['DEGRADED', 'HEALTHY'] } } } }],
    ['Pod', 'pods', 'Pod', { where: { node: { is: { name: { contains: '1' } } } }, last: 4 }],
    ['Pod', 'pods', 'Pod', { orderBy: [{ restarts: 'DESC' }, { name: 'ASC' }], first: 9 }],
    ['pods', 'pods', 'Pod', { labelSelector: 'app', namespaces: ['kube-system', 'observability'] }],
    ['Deployment', 'deployments', 'Deployment', { orderBy: [{ health: 'ASC' }], first: 2 }],
    ['Service', 'services', 'Service', { where: { pods: { none: {} } } }],
    ['configMaps', 'configMaps', 'ConfigMap', { where: { usedBy: { some: { types: 'Pod' } } } }],
  ])('%s is %s, with cursors and a token of the same list: %#', async (kind, list, type, args) => {
    const own = await gateway.data(ofOneKind(list, type, Object.keys(args)), args)
    const any = await ask({ kind, ...args })
    expect(any.errors).toBeUndefined()
    expect(any.data.list).toEqual({ ...own.list, type })
  })

  it('of cluster-scoped and of custom kinds is answered by the same document', async () => {
    const nodes = await gateway.data('{ nodes { totalCount } }')
    expect((await gateway.data(anyList, { kind: 'Node' })).list).toEqual({
      type: 'Node',
      ...nodes.nodes,
    })
    const metadata = { name: 'front' }
    await must(cluster, '/apis/two.example.com/v1/namespaces/kube-system/gateways', {
      method: 'POST',
      body: { apiVersion: 'two.example.com/v1', kind: 'Gateway', metadata, spec: {} },
    })
    const custom = async () =>
      (await gateway.data(anyList, { group: 'two.example.com', kind: 'Gateway' })).list.totalCount
    await expect.poll(custom).toBe(1)
  })

  it('goes on after a cursor, and by the ids of its objects', async () => {
    const args = { kind: 'Pod', where: { phase: { eq: 'Running' } } }
    const order = { ...args, orderBy: [{ name: 'DESC' }] }
    const { list } = (await ask({ ...order, first: 500 })).data
    const names = list.nodes.map((node: Fields) => node.id)
    const seen: string[] = []
    for (let after: string | null = null, hasNextPage = true; hasNextPage;) {
      const page: Fields = (await ask({ ...order, first: 40, after })).data.list
      seen.push(...page.nodes.map((node: Fields) => node.id))
      ;({ endCursor: after, hasNextPage } = page.pageInfo)
    }
    expect(seen).toEqual(names)
    const some = (await ask({ kind: 'Pod', ids: names.slice(0, 2) })).data.list
    expect(some.totalCount).toBe(2)
  })

  it('is answered whether the filter is a literal or a variable, in whole or in part', async () => {
    const variants: [string, Variables][] = [
      ['{ objectList(kind: "Pod", where: { restarts: { gte: 1 } }) { totalCount } }', {}],
      [
        'query ($w: JSON) { objectList(kind: "Pod", where: $w) { totalCount } }',
        { w: { restarts: { gte: 1 } } },
      ],
      [
        'query ($n: Int) { objectList(kind: "Pod", where: { restarts: { gte: $n } }) { totalCount } }',
        { n: 1 },
      ],
    ]
    const answers = await Promise.all(
      variants.map(async ([query, variables]) => gateway.data(query, variables)),
    )
    const own = await gateway.data('{ pods(where: { restarts: { gte: 1 } }) { totalCount } }')
    for (const { objectList } of answers) expect(objectList).toEqual(own.pods)
  })

  it.each(bad)('is refused for $title', async (one) => {
    const { data, errors } = await ask(one.variables)
    expect(data.list).toBeNull()
    expect(errors).toMatchObject([told(one)])
  })

  it('counts its page among those that multiply', async () => {
    const { errors } = await gateway.query(
      '{ objectList(kind: "Node", first: 500) { nodes { ... on Node { pods(first: 500) { nodes { id } } } } } }',
    )
    expect(errors).toMatchObject([
      { message: expect.stringMatching(/^objectList.pods: pages of 500 x 500/) },
    ])
  })

  it('suggests no names while introspection is off', async () => {
    await using closed = await serveGateway({
      clusters: [{ name: 'one', ...cluster.selection }],
      limits: { introspection: false },
    })
    for (const variables of [
      { kind: 'Deplyoment' },
      { group: '', kind: 'Deployment' },
      { kind: 'Gateway' },
      { kind: 'Pod', where: { phse: { eq: 'Running' } } },
    ]) {
      const { errors = [] } = await closed.query(anyKind, variables)
      expect(errors.length, JSON.stringify(variables)).toBe(1)
      expect(errors[0]?.extensions.hint ?? '').not.toMatch(/there is|it is of|example|phase/)
    }
    for (const list of ['pods', 'objectList(kind: "Pod")']) {
      const { errors } = await closed.query(`{ ${list} { facets(by: ["phse"]) { by } } }`)
      expect(errors).toMatchObject([{ extensions: { argument: 'by[0]', value: 'phse' } }])
      expect(JSON.stringify(errors)).not.toMatch(/phase/)
    }
  })
})

const anyList =
  'query ($group: String, $kind: String!) { list: objectList(group: $group, kind: $kind) { type totalCount } }'

import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  firstAnswer,
  type GraphQLAnswer,
  type ServedGateway,
  serveGateway,
} from '../support/gateway.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'
import { describeNamespacedAccount } from './namespaced-account.ts'

const soon = { timeout: 60_000, interval: 50 }

/** The namespaces of the pods that a gateway answers with. */
const namespacesOf = async (served: ServedGateway): Promise<readonly string[]> => {
  const { data } = await served.query('{ pods { nodes { metadata { namespace } } } }')
  const nodes: { metadata: { namespace: string } }[] = data?.pods?.nodes ?? []
  return [...new Set(nodes.map(({ metadata }) => metadata.namespace))].toSorted()
}

describeNamespacedAccount('An account with Roles in three namespaces', (world) => {
  let served: ServedGateway
  beforeAll(async () => {
    const selection = await world().selection('finder')
    await world().letListNamespaces('finder')
    for (const namespace of ['red', 'green', 'blue']) await world().grant('finder', namespace)
    served = await serveGateway({ clusters: [selection] })
  }, 60_000)
  afterAll(async () => served[Symbol.asyncDispose]())

  it('runs a whole gateway: lists have what is in these namespaces', async () => {
    await expect.poll(() => namespacesOf(served), soon).toEqual(['blue', 'green', 'red'])
    const { data, errors } = await served.query(
      '{ pods { totalCount facets(by: ["namespace"]) { values { value count } } } configMaps(namespace: "red") { nodes { metadata { name } } } }',
    )
    expect(errors).toBeUndefined()
    expect(data.pods.totalCount).toBe(6)
    expect(data.pods.facets[0].values).toHaveLength(3)
  })

  it('says of a list without a namespace which ones it has', async () => {
    const { extensions } = await served.query('{ pods { totalCount } }')
    expect(extensions.incomplete).toMatchObject([
      {
        cluster: 'test',
        type: 'Pod',
        code: 'NAMESPACE_NOT_CACHED',
        namespaces: ['blue', 'green', 'red'],
      },
    ])
    const within = await served.query('{ pods(namespace: "red") { totalCount } }')
    expect(within).toEqual({ data: { pods: { totalCount: 2 } } })
  })

  it('says so on the page, too', async () => {
    const pods = 'pods { incomplete { cluster type code message since } }'
    const within = 'within: pods(namespace: "red") { incomplete { code } }'
    const { data, errors } = await served.query(`{ ${pods} ${within} }`)
    expect(errors).toBeUndefined()
    expect(data.within.incomplete).toEqual([])
    expect(data.pods.incomplete).toEqual([
      {
        cluster: 'test',
        type: 'Pod',
        code: 'NAMESPACE_NOT_CACHED',
        message:
          "Pod of the namespaces blue, green, red only: the gateway's account may list it in some namespaces only",
        since: null,
      },
    ])
  })

  it('refuses a list and a look-up of another namespace, and names it', async () => {
    for (const query of [
      '{ pods(namespace: "white") { totalCount } }',
      '{ pods(namespaces: ["red", "white"]) { totalCount } }',
      '{ pods(where: { namespace: { eq: "white" } }) { totalCount } }',
      '{ pod(namespace: "white", name: "first") { id } }',
    ]) {
      const { errors: [error] = [] } = await served.query(query)
      expect(error?.extensions, query).toMatchObject({
        code: 'NAMESPACE_NOT_CACHED',
        value: 'white',
        cluster: 'test',
        type: 'Pod',
      })
      expect(error?.message).toContain('"white"')
    }
  })

  it('says of cluster-scoped kinds that it may not list them', async () => {
    const { errors: [error] = [] } = await served.query('{ nodes { totalCount } }')
    expect(error?.extensions).toMatchObject({ code: 'FORBIDDEN', type: 'Node' })
  })

  it('tells by kind which namespaces are cached, and why', async () => {
    const { data } = await served.query(
      '{ gatewayClusters { resources(loaded: true) { type state namespaces namespacesReason excludedNamespaces refusedNamespaces } } }',
    )
    const ofType = (type: string): object =>
      data.gatewayClusters[0].resources.find((one: { type: string }) => one.type === type)
    expect(ofType('Pod')).toEqual({
      type: 'Pod',
      state: 'SYNCED',
      namespaces: ['blue', 'green', 'red'],
      namespacesReason: 'ACCOUNT',
      excludedNamespaces: [],
      refusedNamespaces: [],
    })
  })

  it('does not repeat in the log what it may not do', () => {
    const lines = served.log.filter((line) => /403|may not|forbidden/.test(line))
    expect(new Set(lines).size).toBe(lines.length)
  })

  it('resumes a subscription with what was missed in any of them, without a reset', async () => {
    const query = (from: string): string =>
      `subscription { pods(resumeFrom: ${from}) { reset resumeToken changes { type object { metadata { namespace name } } } } }`
    const first = await firstAnswer(served.connect(), query('null'))
    expect(first.data.pods.reset).toBe(true)
    for (const namespace of ['green', 'red']) await world().makePod(namespace, 'missed')
    await expect
      .poll(async () => (await served.query('{ pods { totalCount } }')).data.pods.totalCount, soon)
      .toBe(8)
    const { data } = await firstAnswer(
      served.connect(),
      query(JSON.stringify(first.data.pods.resumeToken)),
    )
    expect(data.pods.reset).toBe(false)
    const added = data.pods.changes.map(
      ({ type, object }: { type: string; object: { metadata: { namespace: string } } }) =>
        `${type} ${object.metadata.namespace}`,
    )
    expect(added.toSorted()).toEqual(['ADDED green', 'ADDED red'])
    for (const namespace of ['green', 'red']) {
      await world().send(
        'DELETE',
        `/api/v1/namespaces/${namespace}/pods/missed?gracePeriodSeconds=0`,
      )
    }
    await expect
      .poll(async () => (await served.query('{ pods { totalCount } }')).data.pods.totalCount, soon)
      .toBe(6)
  }, 60_000)

  it('gets a fourth namespace within seconds of its RoleBinding, and subscribers see it come', async () => {
    const told: string[] = []
    let resets = 0
    const leave = served.connect().subscribe(
      {
        query:
          'subscription { pods { reset changes { type object { metadata { namespace name } } removal } } }',
      },
      {
        next: (answer) => {
          const { data } = answer as GraphQLAnswer
          if (data.pods.reset === true) resets += 1
          for (const { type, object } of data.pods.changes) {
            told.push(`${type} ${object?.metadata.namespace ?? ''}`)
          }
        },
        error: (error: unknown) => void told.push(`error ${JSON.stringify(error)}`),
        complete: () => void told.push('complete'),
      },
    )
    await expect.poll(() => told.length, soon).toBe(6)
    const first = resets
    await world().grant('finder', 'white')
    await expect.poll(() => namespacesOf(served), soon).toEqual(['blue', 'green', 'red', 'white'])
    await expect.poll(() => told.slice(6), soon).toEqual(['ADDED white', 'ADDED white'])
    await world().revoke('finder', 'white')
    await expect.poll(() => namespacesOf(served), soon).toEqual(['blue', 'green', 'red'])
    await expect.poll(() => told.length, soon).toBe(10)
    expect(told.slice(8).every((text) => text.startsWith('REMOVED'))).toBe(true)
    await world().makePod('blue', 'third')
    await expect.poll(() => told.at(-1), soon).toBe('ADDED blue')
    expect(resets).toBe(first)
    leave()
  }, 120_000)
})

describeNamespacedAccount('Configured namespaces', (world) => {
  it('are cached as far as the account may list them, without a right on namespaces', async () => {
    const selection = await world().selection('configured')
    for (const namespace of ['red', 'green']) await world().grant('configured', namespace)
    await using served = await serveGateway({
      clusters: [{ ...selection, cache: { namespaces: ['red', 'green', 'blue'] } }],
    })
    await expect.poll(() => namespacesOf(served), soon).toEqual(['green', 'red'])
    const resources =
      'resources(loaded: true) { type namespaces namespacesReason refusedNamespaces }'
    const { data } = await served.query(`{ gatewayClusters { ${resources} } }`)
    expect(data.gatewayClusters[0].resources).toContainEqual({
      type: 'Pod',
      namespaces: ['green', 'red'],
      namespacesReason: 'CONFIGURED',
      refusedNamespaces: ['blue'],
    })
    const codeIn = async (namespace: string): Promise<string | undefined> => {
      const answer = await served.query(`{ pods(namespace: "${namespace}") { totalCount } }`)
      return answer.errors?.[0]?.extensions.hint
    }
    expect(await codeIn('blue')).toMatch(/let the gateway's account list and watch pods/)
    expect(await codeIn('black')).toMatch(/add it to cache.namespaces/)
    await world().grant('configured', 'blue')
    await expect.poll(() => namespacesOf(served), soon).toEqual(['blue', 'green', 'red'])
  }, 120_000)

  it('limit an account that may list everything, and excluded ones are left out', async () => {
    const selection = await world().selection('wide')
    await world().send('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'wide' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'cluster-admin',
      },
      subjects: [{ kind: 'ServiceAccount', namespace: 'red', name: 'wide' }],
    })
    await using some = await serveGateway({
      clusters: [selection],
      cache: { namespaces: ['red', 'green'] },
    })
    await expect.poll(() => namespacesOf(some), soon).toEqual(['green', 'red'])
    await using others = await serveGateway({
      clusters: [selection],
      cache: { excludeNamespaces: ['red', 'kube-system'] },
    })
    await expect.poll(() => namespacesOf(others), soon).toEqual(['black', 'blue', 'green', 'white'])
    const { errors: [error] = [] } = await others.query('{ pods(namespace: "red") { totalCount } }')
    expect(error?.extensions).toMatchObject({ code: 'NAMESPACE_NOT_CACHED', value: 'red' })
    const { extensions } = await others.query('{ pods { totalCount } }')
    expect(extensions.incomplete).toMatchObject([
      { type: 'Pod', namespaces: null, excluded: ['kube-system', 'red'] },
    ])
  }, 120_000)
})

describeNamespacedAccount('A kind that is cached in fewer namespaces than another', (world) => {
  let served: ServedGateway
  beforeAll(async () => {
    const { send, selection, grant, letListNamespaces } = world()
    const account = await selection('uneven')
    await letListNamespaces('uneven')
    await grant('uneven', 'red')
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/blue'
    await send('POST', `${rbac}/roles`, {
      metadata: { name: 'services' },
      rules: [{ apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch'] }],
    })
    await send('POST', `${rbac}/rolebindings`, {
      metadata: { name: 'services' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'services' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'red', name: 'uneven' }],
    })
    for (const namespace of ['red', 'blue']) {
      await send('POST', `/api/v1/namespaces/${namespace}/services`, {
        metadata: { name: 'shop' },
        spec: { selector: { app: 'shop' }, ports: [{ port: 80 }] },
      })
    }
    served = await serveGateway({ clusters: [account] })
  }, 60_000)
  afterAll(async () => served[Symbol.asyncDispose]())

  const refusal = { code: 'NAMESPACE_NOT_CACHED', type: 'Pod', cluster: 'test' }

  it('is an error where a relation leads to it, not an empty list', async () => {
    const { data, errors } = await served.query(
      '{ services(orderBy: [{ namespace: ASC }]) { nodes { metadata { namespace } pods { totalCount } } } }',
    )
    expect(data.services.nodes).toEqual([
      { metadata: { namespace: 'blue' }, pods: null },
      { metadata: { namespace: 'red' }, pods: { totalCount: 2 } },
    ])
    expect(errors).toMatchObject([
      { path: ['services', 'nodes', 0, 'pods'], extensions: { ...refusal, value: 'blue' } },
    ])
  })

  it('is an error where a filter asks for what has none of it, and no match', async () => {
    const none = 'where: { pods: { none: { name: { eq: "first" } } }'
    const everywhere = await served.query(`{ services(${none} }) { totalCount } }`)
    expect(everywhere.errors).toMatchObject([{ extensions: refusal }])
    const within = await served.query(`{ services(${none} }, namespace: "red") { totalCount } }`)
    expect(within.errors).toBeUndefined()
    expect(within.data).toEqual({ services: { totalCount: 0 } })
  })

  it('goes on to be followed where it is cached', async () => {
    const query = 'subscription { pods(namespace: "red") { synced } }'
    const { data, errors } = await firstAnswer(served.connect(), query)
    expect(errors).toBeUndefined()
    expect(data.pods.synced).toBe(true)
    const outside = 'subscription { pods(namespace: "blue") { synced } }'
    const refused = await firstAnswer(served.connect(), outside)
    expect(refused.errors).toMatchObject([{ extensions: { ...refusal, value: 'blue' } }])
  })
})

describeNamespacedAccount('Callers of a gateway whose account sees some namespaces', (world) => {
  it('see of these what they may list, without a right on namespaces', async () => {
    const { selection, grant, send } = world()
    const account = await selection('reviewer')
    for (const namespace of ['red', 'green']) await grant('reviewer', namespace)
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await send('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'reviewer' },
      rules: [
        {
          apiGroups: ['authorization.k8s.io'],
          resources: ['subjectaccessreviews'],
          verbs: ['create'],
        },
      ],
    })
    const clusters = [{ ...account, cache: { namespaces: ['red', 'green'] } }]
    await using served = await serveViewers({ clusters })
    const ann = caller('ann')
    const refused = await served.query(ann, '{ pods { totalCount } }')
    expect(refused.errors?.[0]?.extensions).toMatchObject({
      code: 'FORBIDDEN',
      hint: expect.stringContaining('system:auth-delegator'),
    })
    await send('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'reviewer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reviewer' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'red', name: 'reviewer' }],
    })
    await send('POST', `${rbac}/namespaces/red/rolebindings`, {
      metadata: { name: 'ann' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
    })
    const seen = async (): Promise<GraphQLAnswer> =>
      served.query(ann, '{ pods { totalCount incomplete { code } } }')
    await expect
      .poll(seen, { ...soon, timeout: 60_000 })
      .toEqual({ data: { pods: { totalCount: 2, incomplete: [] } } })
    const root = await served.query(
      caller('root', 'system:masters'),
      '{ pods { totalCount incomplete { code } } }',
    )
    const incomplete = [{ code: 'NAMESPACE_NOT_CACHED' }]
    expect(root.data).toEqual({ pods: { totalCount: 4, incomplete } })
  }, 120_000)
})

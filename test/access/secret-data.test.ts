import { createHash } from 'node:crypto'
import { GatewayMetrics, type OperationReport } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'
import { type AccessCluster, describeAccess, rbac } from './access-cluster.ts'
import { type CountedServer, startCountedServer } from './counted-server.ts'

const password = Buffer.from('correct horse battery staple').toString('base64')
const data = { password }
const secret = '{ secret(namespace: "red", name: "door") { metadata { name } data type } }'
const secrets = '{ secrets(namespace: "red") { nodes { metadata { name } data } } }'

/** Everybody may list what is in `red`; ann may get all of it, ben one Secret, cleo none. */
const populate = async ({ must }: AccessCluster): Promise<void> => {
  const make = (path: string, body: object): Promise<unknown> =>
    must(path, { method: 'POST', body })
  const allow = async (
    place: string,
    [kind, name]: readonly [kind: 'Role' | 'ClusterRole', name: string],
    users: readonly string[],
    rule: object,
  ): Promise<void> => {
    const apiGroup = 'rbac.authorization.k8s.io'
    const subjects = users.map((user) => ({ apiGroup, kind: 'User', name: user }))
    const [roles, bindings] =
      kind === 'Role' ? ['roles', 'rolebindings'] : ['clusterroles', 'clusterrolebindings']
    await make(`${place}/${roles}`, { metadata: { name }, rules: [rule] })
    await make(`${place}/${bindings}`, {
      metadata: { name },
      roleRef: { apiGroup, kind, name },
      subjects,
    })
  }
  const red = `${rbac}/namespaces/red`
  const ofSecrets = { apiGroups: [''], resources: ['secrets'] }
  const reviews = { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] }
  await allow(rbac, ['ClusterRole', 'asks-who'], ['gateway'], { ...reviews, verbs: ['create'] })
  const lists = { ...ofSecrets, verbs: ['list', 'watch'] }
  const robot = 'system:serviceaccount:red:robot'
  await allow(red, ['Role', 'lists'], ['ann', 'ben', 'cleo', robot], lists)
  await allow(red, ['Role', 'gets'], ['ann', robot], { ...ofSecrets, verbs: ['get'] })
  const one = { ...ofSecrets, resourceNames: ['door'], verbs: ['get'] }
  await allow(red, ['Role', 'gets-one'], ['ben'], one)
  for (const name of ['door', 'gate']) {
    await make('/api/v1/namespaces/red/secrets', {
      metadata: { name },
      type: 'example.com/key',
      data,
    })
  }
}

describeAccess('what Secrets hold is read live with the token of the caller', (cluster) => {
  let gateway: ServedGateway
  const reports: OperationReport[] = []
  const audit = { answered: (report: OperationReport): void => void reports.push(report) }
  const metrics = new GatewayMetrics()

  beforeAll(async () => {
    await populate(cluster())
    gateway = await serveGateway(
      { clusters: [cluster().selection()], secretData: true, audit, metrics },
      {},
      { auth: { mode: 'token-review' } },
    )
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
  })

  const read = { metadata: { name: 'door' }, data, type: 'example.com/key' }

  it('by HTTP and by WebSocket, in look-ups and in lists', async () => {
    const ann = gateway.as('ann-token')
    expect(await ann.query(secret)).toEqual({ data: { secret: read } })
    expect(await firstAnswer(ann.connect(), secret)).toEqual({ data: { secret: read } })
    const nodes = ['door', 'gate'].map((name) => ({ metadata: { name }, data }))
    expect((await ann.data(secrets)).secrets.nodes).toEqual(nodes)
  })

  it('and who may not get one is told no more than that, field by field', async () => {
    const ben = await gateway.as('ben-token').query(secrets)
    expect(ben.data.secrets.nodes).toEqual([
      { metadata: { name: 'door' }, data },
      { metadata: { name: 'gate' }, data: null },
    ])
    const forbidden = {
      code: 'FORBIDDEN',
      cluster: 'test',
      type: 'Secret',
      hint: 'ask for get on secrets',
    }
    const message = 'you may not get Secret'
    expect(ben.errors).toMatchObject([
      { message, path: ['secrets', 'nodes', 1, 'data'], extensions: forbidden },
    ])
    const cleo = await gateway.as('cleo-token').query(secret)
    expect(cleo.data.secret).toEqual({ metadata: { name: 'door' }, data: null, type: null })
    expect(cleo.errors).toMatchObject([
      { message, extensions: forbidden },
      { message, extensions: forbidden },
    ])
    expect(JSON.stringify([cleo, ben.errors])).not.toMatch(/gate|password/)
  })

  it('and its type and keys alone are no values, and read with the same right', async () => {
    const keys = '{ secret(namespace: "red", name: "gate") { keys } }'
    const ann = await gateway.as('ann-token').query(keys)
    expect(ann).toEqual({ data: { secret: { keys: ['password'] } } })
    const audited = expect.objectContaining({ secrets: ['test/red/gate'] })
    expect(reports.filter(({ viewer }) => viewer?.username === 'ann')).toContainEqual(audited)
    const ben = await gateway.as('ben-token').query(keys)
    expect(ben.data.secret).toEqual({ keys: null })
    expect(ben.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
  })

  it('and so are the keys that none of its managers names', async () => {
    const { must } = cluster()
    const path = '/api/v1/namespaces/red/secrets'
    const body = { metadata: { name: 'unmanaged' }, data }
    await must(path, { method: 'POST', body })
    const unmanaged = { metadata: { managedFields: [{}] } }
    await must(`${path}/unmanaged`, { method: 'PATCH', body: unmanaged })
    const keys = '{ secret(namespace: "red", name: "unmanaged") { keys keyCount } }'
    const ann = await gateway.as('ann-token').data(keys)
    expect(ann).toEqual({ secret: { keys: ['password'], keyCount: 1 } })
    await must(`${path}/unmanaged`, { method: 'DELETE' })
  })

  it('as it is now', async () => {
    const { must } = cluster()
    const path = '/api/v1/namespaces/red/secrets/door'
    const ann = gateway.as('ann-token')
    await must(path, { method: 'PATCH', body: { data: { password: 'bmV3' } } })
    expect((await ann.data(secret)).secret.data).toEqual({ password: 'bmV3' })
    await must(path, { method: 'PATCH', body: { data } })
    expect((await ann.data(secret)).secret.data).toEqual(data)
  })

  it('but not in frames', async () => {
    const subscription =
      'subscription { secrets(namespace: "red") { changes { object { metadata { name } data } } } }'
    const client = gateway.as('ann-token').connect()
    const { data: frame, errors = [] } = await firstAnswer(client, subscription)
    expect(frame.secrets.changes[0].object).toEqual({ metadata: { name: 'door' }, data: null })
    expect(errors[0]?.extensions.code).toBe('UNSUPPORTED')
  })

  it('by a token of a ServiceAccount, too', async () => {
    const accounts = '/api/v1/namespaces/red/serviceaccounts'
    await cluster().must(accounts, { method: 'POST', body: { metadata: { name: 'robot' } } })
    const tokenFor = async (spec: object): Promise<string> => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
      const { status } = await cluster().must(`${accounts}/robot/token`, { method: 'POST', body })
      return status.token as string
    }
    const robot = gateway.as(await tokenFor({}))
    expect((await robot.data(secret)).secret).toEqual(read)

    await using strict = await serveGateway(
      { clusters: [cluster().selection()], secretData: true },
      {},
      { auth: { mode: 'token-review', audiences: ['gateway'] } },
    )
    // The gateway knows whose it is, but it is not for the API server.
    const foreign = strict.as(await tokenFor({ audiences: ['gateway'] }))
    const { data: answered, errors = [] } = await foreign.query(secret)
    expect(answered.secret).toEqual({ ...read, data: null })
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({
      message:
        'the data of this Secret cannot be read: the API server of cluster test does not accept your token',
      extensions: { code: 'UNSUPPORTED', type: 'Secret' },
    })
  })

  it('and is written down, without the data and without a token', async () => {
    const explained = await fetch(gateway.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer ann-token',
        'x-informerql-explain': '1',
      },
      body: JSON.stringify({ query: secret }),
    })
    const { extensions } = (await explained.json()) as { extensions: { explain: object } }
    expect(extensions.explain).toBeDefined()
    const of = (user: string): typeof reports =>
      reports.filter(({ viewer }) => viewer?.username === user)
    expect(of('ann')).toContainEqual(expect.objectContaining({ secrets: ['test/red/door'] }))
    expect(of('ben')).toContainEqual(
      expect.objectContaining({
        by: 'plan',
        secrets: ['test/red/door'],
        codes: expect.arrayContaining(['FORBIDDEN']),
      }),
    )
    expect(of('cleo').filter((report) => (report.secrets ?? []).length > 0)).toEqual([])
    const written = [reports, await metrics.text(), gateway.log, extensions.explain]
    expect(JSON.stringify(written)).not.toMatch(
      new RegExp(`${password}|bmV3|(ann|ben|cleo)-token|battery`),
    )
  })

  it('and where a proxy says who asks there is nothing to read it with', async () => {
    await using proxied = await serveViewers({
      clusters: [cluster().selection()],
      secretData: true,
    })
    const { data: answered, errors = [] } = await proxied.query(caller('ann'), secret)
    expect(answered.secret).toEqual({ ...read, data: null })
    const message =
      'the data of this Secret cannot be read: you sent no bearer token to read it with'
    expect(errors).toMatchObject([{ message, extensions: { code: 'UNSUPPORTED' } }])
  })

  it('and never sent to a cluster that the token is not for', async () => {
    const { kubeconfig } = cluster().selection()
    await using two = await serveGateway(
      { clusters: ['one', 'two'].map((name) => ({ name, kubeconfig })), secretData: true },
      {},
      { auth: { mode: 'token-review', cluster: 'two' } },
    )
    const ann = two.as('ann-token')
    const [one, other] = await Promise.all(
      ['one', 'two'].map(async (name) =>
        ann.query(secret.replace('name:', `cluster: "${name}", name:`)),
      ),
    )
    expect(one?.errors?.[0]).toMatchObject({
      message: 'the data of this Secret cannot be read: your token is not for cluster one',
      extensions: {
        code: 'UNSUPPORTED',
        hint: 'read Secrets of cluster two: the gateway sends your token nowhere else',
      },
    })
    expect(other).toEqual({ data: { secret: read } })
  })
})

const post = async (url: string, body: object): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('what Secrets hold, where nobody is asked who they are', () => {
  let simulator: Simulator
  let counted: CountedServer
  let gateway: ServedGateway
  const path = '/api/v1/namespaces/red/secrets'
  const first = `{ secret(namespace: "red", name: "s-0") { metadata { name } data } }`
  const gone = { metadata: { name: 's-0' }, data: null }

  beforeAll(async () => {
    simulator = await startSimulator({})
    counted = await startCountedServer(simulator.url)
    await post(`${simulator.url}/api/v1/namespaces`, { metadata: { name: 'red' } })
    for (let at = 0; at < 101; at++) {
      await post(`${simulator.url}${path}`, { metadata: { name: `s-${at}` }, data })
    }
    gateway = await serveGateway({
      clusters: [{ name: 'test', server: counted.url }],
      secretData: true,
    })
  })
  afterAll(async () => {
    for (const one of [gateway, counted, simulator]) await one[Symbol.asyncDispose]()
  })

  it('is no part of the schema unless it is configured', async () => {
    const clusters = [{ name: 'test', server: simulator.url }]
    await using other = await serveGateway({ clusters })
    const { errors } = await other.query(secrets)
    expect(errors?.[0]?.message).toMatch(/Cannot query field "data"/)
    const says = '{ gatewayClusters { secretData } }'
    expect(await other.data(says)).toEqual({ gatewayClusters: [{ secretData: false }] })
    expect(await gateway.data(says)).toEqual({ gatewayClusters: [{ secretData: true }] })
  })

  it('is read once for each Secret of an operation, of a hundred Secrets at most', async () => {
    const query = `{
      a: secrets(first: 100) { nodes { data type } }
      b: secrets(first: 1) { nodes { again: data } }
    }`
    const { a, b } = await gateway.data(query)
    expect(a.nodes).toHaveLength(100)
    expect(b.nodes).toEqual([{ again: data }])
    expect(counted.count('/secrets/s-0')).toBe(1)
    const tooMany = await gateway.query('{ secrets(first: 101) { nodes { data } } }')
    expect(tooMany.errors?.[0]?.extensions.code).toBe('QUERY_TOO_COSTLY')
    expect(counted.count('/secrets/s-0')).toBe(1)
  })

  it('is kept by no browser, also where the document is named by its hash', async () => {
    const cacheControl = async (query: string): Promise<string | null> => {
      const sha256Hash = createHash('sha256').update(query).digest('hex')
      const extensions = { persistedQuery: { version: 1, sha256Hash } }
      await post(gateway.url, { query, extensions })
      const search = new URLSearchParams({ extensions: JSON.stringify(extensions) })
      const headers = { 'graphql-require-preflight': '1' }
      const answer = await fetch(`${gateway.url}?${search}`, { headers })
      expect(answer.status).toBe(200)
      return answer.headers.get('cache-control')
    }
    expect(await cacheControl('{ secrets(first: 1) { nodes { id } } }')).toBe('private, no-cache')
    expect(await cacheControl('{ secrets(first: 1) { nodes { data } } }')).toBe('no-store')
  })

  it('is null where the Secret is gone, or another one has its name', async () => {
    counted.refuse('/secrets/s-0', 404)
    expect(await gateway.query(first)).toEqual({ data: { secret: gone } })
    const other = { metadata: { name: 's-0', namespace: 'red', uid: 'of-another' }, data }
    counted.answer('/secrets/s-0', { apiVersion: 'v1', kind: 'Secret', ...other })
    expect(await gateway.query(first)).toEqual({ data: { secret: gone } })
  })

  it('is an error where the API server does not answer in time', async () => {
    await using hurried = await serveGateway({
      clusters: [{ name: 'test', server: counted.url }],
      secretData: true,
      limits: { liveDeadlineMs: 200 },
    })
    counted.hold('/secrets/s-100')
    const late = await hurried.query('{ secret(namespace: "red", name: "s-100") { data } }')
    expect(late.data).toEqual({ secret: { data: null } })
    expect(late.errors?.[0]?.extensions.code).toBe('CLUSTER_UNREACHABLE')
  })

  it('is an error that quotes nothing where the API server fails, or refuses it', async () => {
    counted.answer('/secrets/s-0', { no: 'Secret', data })
    const broken = await gateway.query(first)
    counted.refuse('/secrets/s-0', 500)
    const failed = await gateway.query(first)
    for (const { data: answered, errors = [] } of [broken, failed]) {
      expect(answered.secret).toEqual(gone)
      expect(JSON.stringify(errors)).not.toContain(password)
    }
    expect(failed.errors?.[0]?.extensions.code).toBe('CLUSTER_UNREACHABLE')
    counted.refuse('/secrets/s-0', 403)
    const { errors = [] } = await gateway.query(first)
    expect(errors).toMatchObject([
      { message: 'you may not get Secret', extensions: { code: 'FORBIDDEN', type: 'Secret' } },
    ])
  })
})

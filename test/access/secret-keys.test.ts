import { readFile, writeFile } from 'node:fs/promises'
import type { OperationReport } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { startRequestProxy } from '../support/request-proxy.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'
import { type AccessCluster, describeAccess, rbac } from './access-cluster.ts'
import { startCountedServer } from './counted-server.ts'

const path = '/api/v1/namespaces/red/secrets'
const said = 'correct horse battery staple'
const outline = 'type keys keyCount'
const door = `{ secret(namespace: "red", name: "door") { name ${outline} } }`
const all = `{ secrets(namespace: "red") { nodes { name ${outline} } } }`
const ofDoor = {
  name: 'door',
  type: 'example.com/key',
  keys: ['password', 'user'],
  keyCount: 2,
}
const unknown = { type: null, keys: null, keyCount: null }

/** Everybody may list the Secrets of `red`; ann may get all of them, ben one, cleo none. */
const populate = async ({ must }: AccessCluster): Promise<void> => {
  const make = (at: string, body: object): Promise<unknown> => must(at, { method: 'POST', body })
  const allow = async (name: string, users: readonly string[], rule: object): Promise<void> => {
    const apiGroup = 'rbac.authorization.k8s.io'
    const red = `${rbac}/namespaces/red`
    const rules = [{ apiGroups: [''], resources: ['secrets'], ...rule }]
    await make(`${red}/roles`, { metadata: { name }, rules })
    await make(`${red}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup, kind: 'Role', name },
      subjects: users.map((user) => ({ apiGroup, kind: 'User', name: user })),
    })
  }
  await allow('lists', ['ann', 'ben', 'cleo'], { verbs: ['list', 'watch'] })
  await allow('gets', ['ann'], { verbs: ['get'] })
  await allow('gets-one', ['ben'], { verbs: ['get'], resourceNames: ['door'] })
  const data = { user: '', password: Buffer.from(said).toString('base64') }
  await make(path, { metadata: { name: 'door' }, type: 'example.com/key', data })
  await make(path, { metadata: { name: 'empty' } })
}

describeAccess('the type and the keys of a Secret, where its values are not served,', (cluster) => {
  let gateway: ServedGateway
  const reports: OperationReport[] = []

  beforeAll(async () => {
    await populate(cluster())
    const asks = {
      metadata: { name: 'asks-who' },
      rules: [
        { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      ],
    }
    await cluster().must(`${rbac}/clusterroles`, { method: 'POST', body: asks })
    const apiGroup = 'rbac.authorization.k8s.io'
    const bound = {
      metadata: { name: 'asks-who' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'asks-who' },
      subjects: [{ apiGroup, kind: 'User', name: 'gateway' }],
    }
    await cluster().must(`${rbac}/clusterrolebindings`, { method: 'POST', body: bound })
    const audit = { answered: (report: OperationReport): void => void reports.push(report) }
    gateway = await serveGateway(
      { clusters: [cluster().selection()], audit },
      {},
      { auth: { mode: 'token-review' } },
    )
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
  })

  const audited = (user: string): readonly (readonly string[])[] =>
    reports
      .filter(({ viewer }) => viewer?.username === user)
      .flatMap(({ secrets = [] }) => (secrets.length === 0 ? [] : [secrets]))

  it('are there for a caller who may get it, by HTTP and by WebSocket, and audited', async () => {
    const ann = gateway.as('ann-token')
    expect(await ann.query(door)).toEqual({ data: { secret: ofDoor } })
    expect(await firstAnswer(ann.connect(), door)).toEqual({ data: { secret: ofDoor } })
    expect(audited('ann')).toContainEqual(['test/red/door'])
    const { secrets } = await ann.data(all)
    expect(secrets.nodes).toContainEqual({ name: 'empty', type: 'Opaque', keys: [], keyCount: 0 })
  })

  it('and for nobody else, also if he may list it', async () => {
    const ben = await gateway.as('ben-token').query(all)
    expect(ben.data.secrets.nodes).toEqual([ofDoor, { name: 'empty', ...unknown }])
    const forbidden = { code: 'FORBIDDEN', type: 'Secret', hint: 'ask for get on secrets' }
    const cleo = await gateway.as('cleo-token').query(door)
    expect(cleo.data).toEqual({ secret: { name: 'door', ...unknown } })
    for (const { message, extensions } of [...(ben.errors ?? []), ...(cleo.errors ?? [])]) {
      expect(message).toBe('you may not get Secret')
      expect(extensions).toMatchObject(forbidden)
    }
    expect(cleo.errors).toHaveLength(3)
    expect(JSON.stringify(cleo)).not.toMatch(/password|example.com/)
    expect(audited('ben')).toEqual([['test/red/door']])
    expect(audited('cleo')).toEqual([])
  })

  it('and so they are if a proxy says who asks', async () => {
    await using proxied = await serveViewers({ clusters: [cluster().selection()] })
    expect(await proxied.query(caller('ann'), door)).toEqual({ data: { secret: ofDoor } })
    const { data } = await proxied.query(caller('cleo'), door)
    expect(data.secret).toEqual({ name: 'door', ...unknown })
  })

  it('but not as conditions, and not in frames', async () => {
    const ann = gateway.as('ann-token')
    const { errors = [] } = await ann.query(
      '{ secrets(namespace: "red", where: { type: { eq: "Opaque" } }) { totalCount } }',
    )
    expect(errors[0]?.extensions.code).toBe('BAD_USER_INPUT')
    const live = 'subscription { secrets(namespace: "red") { changes { object { type } } } }'
    const frame = await firstAnswer(ann.connect(), live)
    expect(frame.data.secrets.changes[0].object).toEqual({ type: null })
    expect(frame.errors?.[0]?.extensions.code).toBe('UNSUPPORTED')
  })

  it('as they are now, of whoever has applied them', async () => {
    const { must } = cluster()
    const ann = gateway.as('ann-token')
    const named = async (name: string): Promise<unknown> =>
      (await ann.data(`{ secret(namespace: "red", name: "${name}") { keys keyCount } }`)).secret
    const body = { metadata: { name: 'changing' }, stringData: { first: 'one' } }
    await must(path, { method: 'POST', body })
    await expect.poll(() => named('changing')).toEqual({ keys: ['first'], keyCount: 1 })
    const next = { data: { first: null, second: 'dHdv' } }
    await must(`${path}/changing`, { method: 'PATCH', body: next })
    expect(await named('changing')).toEqual({ keys: ['second'], keyCount: 1 })
    // No manager owns what is there.
    const given = { metadata: { managedFields: [{}] } }
    await must(`${path}/changing`, { method: 'PATCH', body: given })
    expect(await named('changing')).toEqual({ keys: [], keyCount: 1 })
    const applied = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'applied' } }
    await must(`${path}/applied?fieldManager=test`, {
      method: 'PATCH',
      contentType: 'application/apply-patch+yaml',
      body: { ...applied, data: { coded: 'b25l' }, stringData: { plain: 'two' } },
    })
    await expect.poll(() => named('applied')).toEqual({ keys: ['coded', 'plain'], keyCount: 2 })
    await must(`${path}/applied`, { method: 'PATCH', body: { data: { plain: null } } })
    expect(await named('applied')).toEqual({ keys: ['coded'], keyCount: 1 })
  })

  it('and no value leaves the API server for them', async () => {
    const { kubeconfig } = cluster().selection()
    const config = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
      clusters: [{ cluster: { server: string } }]
    }
    const [{ cluster: at }] = config.clusters
    // A real API server is behind TLS, which the proxy does not speak.
    if (at.server.startsWith('https')) return
    await using proxy = await startRequestProxy(at.server)
    let answers = ''
    const paths = new Set<string>()
    proxy.heard = (asked, text) => {
      answers += text
      paths.add(asked)
    }
    const past = `${kubeconfig}.proxy.json`
    await writeFile(past, JSON.stringify(config).replaceAll(at.server, proxy.url))
    await using beside = await serveGateway(
      { clusters: [{ name: 'test', kubeconfig: past }] },
      {},
      { auth: { mode: 'token-review' } },
    )
    expect(await beside.as('ann-token').query(door)).toEqual({ data: { secret: ofDoor } })
    expect([...paths].filter((one) => one.includes('metadata.name%3Ddoor'))).toHaveLength(1)
    expect(answers).toContain('example.com/key')
    expect(answers).not.toContain(Buffer.from(said).toString('base64'))
  })
})

describe('the type and the keys of Secrets', () => {
  it('are read of a hundred Secrets at most, within a time, and null where one is gone', async () => {
    await using simulator = await startSimulator({})
    await using counted = await startCountedServer(simulator.url)
    const post = (at: string, body: object): Promise<Response> =>
      fetch(new URL(at, simulator.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await post('/api/v1/namespaces', { metadata: { name: 'red' } })
    for (let at = 0; at < 101; at++) {
      await post(path, { metadata: { name: `s-${at}` }, stringData: { password: said } })
    }
    await using gateway = await serveGateway({
      clusters: [{ name: 'test', server: counted.url }],
      limits: { liveDeadlineMs: 500 },
    })
    const tooMany = await gateway.query('{ secrets(first: 101) { nodes { keys } } }')
    expect(tooMany.errors?.[0]?.extensions.code).toBe('QUERY_TOO_COSTLY')
    expect(counted.counted(/fieldSelector/)).toBe(0)
    const first = '{ secret(namespace: "red", name: "s-0") { type keys again: keys } }'
    const keys = ['password']
    expect(await gateway.data(first)).toEqual({ secret: { type: 'Opaque', keys, again: keys } })
    expect(counted.counted(/fieldSelector/)).toBe(1)
    // Another Secret of the name is not the one that was found.
    const { metadata } = JSON.parse(
      await (await fetch(new URL(`${path}/s-0`, simulator.url))).text(),
    ) as { metadata: object }
    const rows = [
      { cells: ['s-0', 'Other', 1, '1s'], object: { metadata: { ...metadata, uid: 'another' } } },
    ]
    const columnDefinitions = ['Name', 'Type', 'Data', 'Age'].map((name) => ({ name }))
    const table = { kind: 'Table', apiVersion: 'meta.k8s.io/v1', columnDefinitions, rows }
    counted.answer('metadata.name%3Ds-0', table)
    const gone = { type: null, keys: null, again: null }
    expect(await gateway.data(first)).toEqual({ secret: gone })
    counted.hold('metadata.name%3Ds-1')
    const late = await gateway.query('{ secret(namespace: "red", name: "s-1") { type } }')
    expect(late.data).toEqual({ secret: { type: null } })
    expect(late.errors?.[0]?.extensions.code).toBe('CLUSTER_UNREACHABLE')
  })
})

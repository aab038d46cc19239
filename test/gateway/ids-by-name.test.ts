import { buildClientSchema, getIntrospectionQuery, type GraphQLSchema, isObjectType } from 'graphql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created, sent } from './created.ts'
import type { Fields } from './test-cluster.ts'

const core = '/api/v1/namespaces/shop'
const wait = { timeout: 60_000, interval: 50 }
const labels = { app: 'web' }
const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'web:1' }] },
}
const deployment = 'one/Deployment.apps/shop/web'

/** How each mutation that takes an `id` is called by name. */
const mutations: Readonly<Record<string, string>> = {
  patch: `patch(id: "one/ConfigMap/shop/settings", type: MERGE, patch: {data: {a: "c"}})`,
  delete: `delete(id: "one/ConfigMap/shop/spare")`,
  scale: `scale(id: "${deployment}", replicas: 2)`,
  restart: `restart(id: "${deployment}")`,
  pauseRollout: `pauseRollout(id: "${deployment}")`,
  resumeRollout: `resumeRollout(id: "${deployment}")`,
  rollback: `rollback(id: "${deployment}")`,
  suspend: `suspend(id: "one/CronJob.batch/shop/nightly")`,
  resume: `resume(id: "one/CronJob.batch/shop/nightly")`,
  runNow: `runNow(id: "one/CronJob.batch/shop/nightly", name: "now")`,
  cordon: `cordon(id: "one/Node//worker")`,
  uncordon: `uncordon(id: "one/Node//worker")`,
  evict: `evict(id: "one/Pod/shop/web-0")`,
  setImage: `setImage(id: "${deployment}", container: "main", image: "web:2")`,
  label: `label(id: "${deployment}", labels: {x: "y"})`,
  annotate: `annotate(id: "${deployment}", annotations: {x: "y"})`,
}

/** The fields with ids that are no list, with what they answer. */
const queries: Readonly<Record<string, readonly [field: string, answer: unknown]>> = {
  object: [`object(id: "${deployment}") { name nameId }`, { name: 'web', nameId: deployment }],
  'reference to an object': [
    `search(text: "web-0", types: ["Pod"]) { nodes { object { nameId } } }`,
    { nodes: [{ object: { nameId: 'one/Pod/shop/web-0' } }] },
  ],
  objects: [
    `objects(ids: ["${deployment}", "one/Node//worker", "one/Pod/shop/none"]) { name }`,
    [{ name: 'web' }, { name: 'worker' }, null],
  ],
  graph: [
    `graph(roots: ["${deployment}"], depth: 0) { nodes { object { name } } }`,
    { nodes: [{ object: { name: 'web' } }] },
  ],
  podLogs: [
    'podLogs(ids: ["one/Pod/shop/web-0"], tailLines: 1) { streams { pod } }',
    { streams: [{ pod: 'web-0' }] },
  ],
  objectList: [
    'objectList(kind: "ConfigMap", ids: ["one/ConfigMap/shop/settings"]) { totalCount }',
    { totalCount: 1 },
  ],
  changes: [`changes(around: "${deployment}", first: 0) { nodes { id } }`, { nodes: [] }],
}

const changes = 'changes { type object { name } }'
const added = (name: string): unknown => ({ changes: [{ type: 'ADDED', object: { name } }] })

/** The same of subscriptions, with their first frames. */
const subscriptions: Readonly<Record<string, readonly [field: string, frame: unknown]>> = {
  object: [`object(id: "${deployment}") { ${changes} }`, added('web')],
  objects: [`objects(ids: ["one/Node//worker"]) { ${changes} }`, added('worker')],
  drain: ['drain(id: "one/Node//worker", dryRun: true) { total }', { total: 0 }],
  podLogs: queries['podLogs'] as readonly [string, unknown],
  objectList: [
    `objectList(kind: "ConfigMap", ids: ["one/ConfigMap/shop/settings"]) { ${changes} }`,
    added('settings'),
  ],
  objectListPage: [
    'objectListPage(kind: "ConfigMap", ids: ["one/ConfigMap/shop/settings"], first: 3) { totalCount }',
    { totalCount: 1 },
  ],
  objectListFacets: [
    'objectListFacets(kind: "ConfigMap", ids: ["one/ConfigMap/shop/settings"]) { totalCount }',
    { totalCount: 1 },
  ],
  changes: [
    `changes(ids: ["${deployment}"], first: 0) { reset changes { id } }`,
    { reset: true, changes: [] },
  ],
}

describe('an id by name', () => {
  let simulator: Simulator
  let gateway: ServedGateway
  let schema: GraphQLSchema
  beforeAll(async () => {
    simulator = await startSimulator({})
    await created(simulator, '/api/v1/namespaces', { metadata: { name: 'shop' } })
    await created(simulator, '/api/v1/nodes', { metadata: { name: 'worker' } })
    for (const name of ['settings', 'spare'])
      await created(simulator, `${core}/configmaps`, { metadata: { name }, data: { a: 'b' } })
    await created(simulator, `${core}/pods`, { metadata: { name: 'web-0' }, spec: template.spec })
    await created(simulator, '/apis/apps/v1/namespaces/shop/deployments', {
      metadata: { name: 'web' },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    })
    await created(simulator, '/apis/batch/v1/namespaces/shop/cronjobs', {
      metadata: { name: 'nightly' },
      spec: {
        schedule: '0 0 * * *',
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
      },
    })
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: simulator.url }],
      allowWrites: true,
      archive: { url: 'memory:', kinds: ['configMaps'] },
    })
    schema = buildClientSchema(await gateway.data(getIntrospectionQuery()))
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  /** The fields of a root type that take ids, and the names of these arguments. */
  const fieldsWithIds = (root: string): readonly (readonly [field: string, argument: string])[] => {
    const type = schema.getType(root)
    if (!isObjectType(type)) throw new Error(`no ${root}`)
    return Object.values(type.getFields()).flatMap((field) =>
      field.args.flatMap((one) =>
        String(one.type).replaceAll(/[[\]!]/g, '') === 'ID'
          ? [[field.name, one.name] as const]
          : [],
      ),
    )
  }
  const firstFrame = async (field: string): Promise<unknown> => {
    const { promise, resolve, reject } = Promise.withResolvers<Fields>()
    const leave = gateway.connect().subscribe<Fields>(
      { query: `subscription { found: ${field} }` },
      {
        next: ({ data, errors }) =>
          errors === undefined
            ? resolve(data?.['found'])
            : reject(new Error(JSON.stringify(errors))),
        error: (error) => reject(error instanceof Error ? error : new Error(JSON.stringify(error))),
        complete: () => {},
      },
    )
    return await promise.finally(leave)
  }

  it('stands wherever an id does: no argument is left out of this table', async () => {
    expect(fieldsWithIds('Mutation').map(([field]) => field)).toEqual(Object.keys(mutations))
    const isList = ([, argument]: readonly [string, string]): boolean => argument === 'ids'
    for (const [root, table] of [
      ['Query', queries],
      ['Subscription', subscriptions],
    ] as const) {
      const singles = fieldsWithIds(root).filter((one) => !isList(one))
      for (const [field] of singles) expect(table, `${root}.${field}`).toHaveProperty(field)
    }
  })

  it.each(Object.entries(queries))('in a query: %s', async (_, [field, answer]) => {
    expect((await gateway.data(`{ found: ${field} }`)).found).toEqual(answer)
  })

  it.each(Object.entries(subscriptions))('in a subscription: %s', async (_, [field, frame]) => {
    expect(await firstFrame(field)).toEqual(frame)
  })

  it('in every list, live list, live page and live counts of a kind', async () => {
    const lists = fieldsWithIds('Query').filter(([field]) => !(field in queries))
    expect(lists.length).toBeGreaterThan(40)
    for (const [field] of lists) {
      const { data, errors } = await gateway.query(
        `{ found: ${field}(ids: ["one/ConfigMap/shop/settings"]) { totalCount } }`,
      )
      const found = data?.found?.totalCount ?? errors?.[0]?.extensions.code
      // Kinds without a cache take no ids.
      const wanted = field === 'configMaps' ? [1] : [0, 'UNSUPPORTED']
      expect(wanted, field).toContain(found)
    }
    const ids = 'ids: ["one/ConfigMap/shop/settings"]'
    expect(await firstFrame(`configMaps(${ids}) { ${changes} }`)).toEqual(added('settings'))
    expect(await firstFrame(`configMapsPage(${ids}, first: 2) { totalCount }`)).toEqual({
      totalCount: 1,
    })
    expect(await firstFrame(`configMapFacets(${ids}) { totalCount }`)).toEqual({ totalCount: 1 })
  })

  it.each(Object.entries(mutations))('in the mutation %s', async (name, call) => {
    const { data, errors } = await gateway.query(`mutation { done: ${call} { resourceVersion } }`)
    // A Deployment without a former revision has nothing to go back to: then it was found.
    const isFound = data.done !== null || errors?.[0]?.extensions.argument === 'toRevision'
    expect(isFound, `${name}: ${JSON.stringify(errors)}`).toBe(true)
  })

  it('means the object that has the name at the time', async () => {
    const path = `${core}/configmaps`
    await created(simulator, path, { metadata: { name: 'again' } })
    const query = '{ object(id: "one/ConfigMap/shop/again") { id nameId uid } }'
    await expect.poll(async () => (await gateway.data(query)).object, wait).not.toBeNull()
    const { object: former } = await gateway.data(query)
    await sent(simulator, 'DELETE', `${path}/again`)
    await created(simulator, path, { metadata: { name: 'again' } })
    await expect
      .poll(async () => (await gateway.data(query)).object?.uid, wait)
      .not.toBe(former.uid)
    const { object: later } = await gateway.data(query)
    expect(later.nameId).toBe(former.nameId)
    expect(later.id).not.toBe(former.id)
    // The former id says what has become of it.
    const gone = await gateway.query('query ($id: ID!) { object(id: $id) { name } }', {
      id: former.id,
    })
    expect(gone.data.object).toBeNull()
    expect(gone.errors?.[0]).toMatchObject({
      message: expect.stringContaining('gone'),
      extensions: { code: 'NOT_FOUND', successor: later.id },
    })
    const written = await gateway.query(
      'mutation ($id: ID!) { label(id: $id, labels: {x: "y"}) { resourceVersion } }',
      { id: former.id },
    )
    expect(written.errors?.[0]?.extensions).toMatchObject({
      code: 'NOT_FOUND',
      successor: later.id,
    })
    const several = await gateway.query('query ($ids: [ID!]!) { objects(ids: $ids) { id } }', {
      ids: [former.id, later.id],
    })
    expect(several.data.objects).toEqual([null, { id: later.id }])
    expect(several.errors).toHaveLength(1)
  })

  it.each(['one/ConfigMap', 'one/ConfigMap/shop/', '/ConfigMap/shop/a', 'one//shop/a'])(
    'with a part that is missing is no id: %s',
    async (id) => {
      const { errors } = await gateway.query('query ($id: ID!) { object(id: $id) { name } }', {
        id,
      })
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', value: id })
    },
  )
})

import type { GraphQLInterfaceType } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { company } from '../support/company.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type Fields, startSimulatedCluster, type TestCluster } from './test-cluster.ts'

/** What a page asks that lists any kind. */
const catalogue = `{ gatewayClusters { resources {
  type group version apiVersion kind resource namespaced shortNames listField state objects
  indexes { name form values description } columns { name type format priority }
  facets(by: ["health"]) { by values { value count } missingCount }
} } }`

describe('what a page needs to list any kind', () => {
  let cluster: TestCluster
  let gateway: ServedGateway
  beforeAll(async () => {
    cluster = await startSimulatedCluster({
      bookmarkIntervalMs: 0,
      populate: company({ pods: 200, seed: 'catalogue' }),
    })
    gateway = await serveGateway({
      clusters: [{ name: 'one', ...cluster.selection }],
      uncached: ['ConfigMap'],
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const kinds = async (query = catalogue): Promise<readonly Fields[]> =>
    (await gateway.data(query)).gatewayClusters[0].resources
  const kindOf = (all: readonly Fields[], type: string): Fields =>
    all.find((one) => one['type'] === type)

  it('is there for every kind of the schema, and loads none', async () => {
    const all = await kinds()
    const { schema } = gateway.gateway
    const object = schema.getType('KubernetesObject') as GraphQLInterfaceType
    const ofSchema = schema.getPossibleTypes(object).map(({ name }) => name)
    const types = new Set(all.map(({ type }) => String(type)))
    expect(types).toEqual(new Set(ofSchema))
    expect(all.length).toBe(types.size)
    expect(kindOf(all, 'Deployment')).toMatchObject({
      group: 'apps',
      version: 'v1',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      resource: 'deployments',
      namespaced: true,
      shortNames: ['deploy'],
      listField: 'deployments',
      state: 'IDLE',
      objects: null,
      facets: null,
    })
    expect(kindOf(all, 'Node')).toMatchObject({ group: '', apiVersion: 'v1', namespaced: false })
    expect(kindOf(all, 'ConfigMap')).toMatchObject({ state: 'UNCACHED', facets: null })
    expect(await kinds('{ gatewayClusters { resources(loaded: true) { type } } }')).toEqual([])
  })

  it('names indexes with their forms and their few values, and each may be filtered, ordered and counted by', async () => {
    const pod = kindOf(await kinds(), 'Pod') ?? {}
    const index = (name: string): Fields =>
      pod['indexes'].find((one: Fields) => one['name'] === name)
    expect(index('phase')).toMatchObject({
      form: 'STRING',
      values: ['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown'],
      description: '`status.phase` of the object.',
    })
    expect(index('restarts')).toMatchObject({ form: 'INT', values: null })
    expect(index('creationTimestamp')).toMatchObject({ form: 'DATE_TIME' })
    expect(index('health')).toMatchObject({
      form: 'HEALTH_STATUS',
      values: expect.arrayContaining(['DEGRADED', 'HEALTHY']),
    })
    for (const { name } of pod['indexes']) {
      await gateway.data(
        `query ($where: JSON, $orderBy: [JSON!], $by: [String!]!) {
          objectList(kind: "Pod", where: $where, orderBy: $orderBy, first: 1) { facets(by: $by) { by } }
        }`,
        { where: { [name]: { exists: true } }, orderBy: [{ [name]: 'ASC' }], by: [name] },
      )
    }
  })

  it('names the columns that the objects have', async () => {
    const named = kindOf(await kinds(), 'Deployment')?.['columns']
    const { deployments } = await gateway.data(
      '{ deployments(first: 1) { nodes { printerColumns(wide: true) { name type format priority } } } }',
    )
    expect(named).toEqual(deployments.nodes[0].printerColumns)
  })

  it('counts the objects of every loaded kind by their health, as their lists do', async () => {
    const lists = ['pods', 'deployments', 'services', 'nodes']
    const of = '{ totalCount facets(by: ["health"]) { by values { value count } missingCount } }'
    const counted = await gateway.data(`{ ${lists.map((list) => `${list} ${of}`).join(' ')} }`)
    const all = await kinds()
    for (const list of lists) {
      const { totalCount, facets } = counted[list]
      expect(all.find(({ listField }) => listField === list)).toMatchObject({
        state: 'SYNCED',
        objects: totalCount,
        facets,
      })
    }
    const byPlan = await gateway.data(`query { ...All } fragment All on Query ${catalogue}`)
    expect(byPlan.gatewayClusters[0].resources.length).toBe(all.length)
  })

  it('counts the objects of the namespaces that are named, and those in no namespace, as their lists do', async () => {
    const namespaces = ['payments', 'storefront']
    const of = '{ totalCount facets(by: ["health"]) { by values { value count } missingCount } }'
    const counted = await gateway.data(
      `query ($namespaces: [String!]) { pods(namespaces: $namespaces) ${of} services(namespaces: $namespaces) ${of} nodes ${of} }`,
      { namespaces },
    )
    const { gatewayClusters } = await gateway.data(
      `query ($namespaces: [String!]) { gatewayClusters {
        resources(loaded: true, namespaces: $namespaces) {
          listField objects facets(by: ["health"]) { by values { value count } missingCount }
        }
        all: resources(loaded: true) { listField objects }
      } }`,
      { namespaces },
    )
    const [{ resources, all }] = gatewayClusters
    const objectsOf = (states: readonly Fields[], list: string): number =>
      states.find(({ listField }) => listField === list)?.['objects']
    for (const list of ['pods', 'services', 'nodes']) {
      const { totalCount, facets } = counted[list]
      expect(resources).toContainEqual({ listField: list, objects: totalCount, facets })
    }
    expect(objectsOf(resources, 'pods')).toBeLessThan(objectsOf(all, 'pods'))
    expect(objectsOf(resources, 'nodes')).toBe(objectsOf(all, 'nodes'))
  })

  it('is divided into the kinds that are loaded and the others', async () => {
    const of = async (args: string): Promise<readonly string[]> =>
      (await kinds(`{ gatewayClusters { resources${args} { type } } }`)).map(({ type }) => type)
    const [all, loaded, others] = [
      await of(''),
      await of('(loaded: true)'),
      await of('(loaded: false)'),
    ]
    expect(loaded).toContain('Pod')
    expect(others).toContain('Secret')
    // A kind that is loaded moves no other: who follows the list is told nothing new.
    expect(all).toEqual([...loaded, ...others].toSorted())
  })

  it('counts within the bounds of the operation, and says how to count one kind', async () => {
    await using bounded = await serveGateway({
      clusters: [{ name: 'one', ...cluster.selection }],
      limits: { work: { examined: 50 } },
    })
    await bounded.data('{ pods(first: 1) { resourceVersion } }')
    const { errors } = await bounded.query(
      '{ gatewayClusters { resources(loaded: true) { facets(by: ["name"]) { distinctCount } } } }',
    )
    expect(errors).toMatchObject([
      {
        extensions: {
          code: 'QUERY_TOO_COSTLY',
          argument: 'by',
          hint: expect.stringContaining('objectList'),
        },
      },
    ])
  })

  it('is an error of its own where a kind has not the index to count by', async () => {
    const { data, errors = [] } = await gateway.query(
      '{ gatewayClusters { resources(loaded: true) { type facets(by: ["phase"]) { by } } } }',
    )
    const pod = kindOf(data.gatewayClusters[0].resources, 'Pod')
    expect(pod?.['facets']).toEqual([{ by: 'phase' }])
    const node = kindOf(data.gatewayClusters[0].resources, 'Service')
    expect(node?.['facets']).toBeNull()
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'by[0]' })
  })
})

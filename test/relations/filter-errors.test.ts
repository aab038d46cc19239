import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import type { Fields } from './random-cluster.ts'

/** May read everything but Secrets and Deployments. */
const reader = { token: 'reader-token', user: 'reader' }
const namespace = 'default'
const filtered = 'query ($where: PodWhere) { pods(where: $where) { totalCount } }'

const nested = (depth: number): Fields => {
  let where: Fields = {}
  for (let level = 0; level < depth; level += 1) {
    where = level % 2 === 0 ? { pods: { some: where } } : { configMaps: { none: where } }
  }
  return where
}

describe('a filter by related objects that cannot be answered is an error, never "none"', () => {
  let cluster: TestCluster
  let gateway: ServedGateway
  beforeAll(async () => {
    cluster = await startSimulatedCluster(
      {
        bookmarkIntervalMs: 0,
        populate(storage) {
          const core = (resource: string) => ({ group: '', version: 'v1', resource })
          const metadata = { name: 'lonely', namespace }
          storage.create(core('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', metadata })
          const spec = { containers: [] }
          storage.create(core('pods'), { apiVersion: 'v1', kind: 'Pod', metadata, spec })
        },
      },
      [reader],
    )
    const selection = await cluster.selectionFor(reader)
    gateway = await serveGateway({ clusters: [{ name: 'one', ...selection }], uncached: ['Node'] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  it.each([
    ['secrets.some', { secrets: { some: {} } }],
    ['secrets.none', { secrets: { none: {} } }],
    ['secrets.every', { secrets: { every: { name: { eq: 'x' } } } }],
    ['not.secrets.some', { not: { secrets: { some: {} } } }],
    ['or[1].secrets.none', { or: [{ name: { eq: 'x' } }, { secrets: { none: {} } }] }],
    [
      'configMaps.none.pods.some.secrets.some',
      { configMaps: { none: { pods: { some: { secrets: { some: {} } } } } } },
    ],
  ])('of a kind that may not be read: %s', async (path, where) => {
    const { data, errors } = await gateway.query(filtered, { where })
    expect(data).toEqual({ pods: null })
    const argument = `where.${path}`
    expect(errors).toMatchObject([
      {
        path: ['pods'],
        extensions: { code: 'FORBIDDEN', cluster: 'one', type: 'Secret', argument },
      },
    ])
  })

  it('of a kind in between that may not be read', async () => {
    const { errors } = await gateway.query(filtered, { where: { deployment: { isNot: {} } } })
    expect(errors).toMatchObject([
      {
        extensions: {
          code: 'FORBIDDEN',
          type: 'Deployment',
          argument: 'where.deployment.isNot',
        },
      },
    ])
  })

  it('written in the document, and in a relation', async () => {
    const { data, errors } = await gateway.query(
      '{ configMaps { nodes { pods(where: { secrets: { none: {} } }) { totalCount } } } }',
    )
    expect(data.configMaps.nodes).toEqual([{ pods: null }])
    expect(errors).toMatchObject([
      {
        path: ['configMaps', 'nodes', 0, 'pods'],
        extensions: { code: 'FORBIDDEN', type: 'Secret', argument: 'where.secrets.none' },
      },
    ])
  })

  it('of a kind that is not cached', async () => {
    const { errors } = await gateway.query(filtered, { where: { node: { isNot: {} } } })
    expect(errors).toMatchObject([
      { extensions: { code: 'UNSUPPORTED', type: 'Node', argument: 'where.node.isNot' } },
    ])
  })

  it.each([
    ['FORBIDDEN', 'Secret', 'secrets.none', '{ secrets: { none: {} } }', ''],
    ['FORBIDDEN', 'Secret', 'secrets.none', '{ secrets: { none: {} } }', 'changes { previous }'],
    ['FORBIDDEN', 'Deployment', 'deployment.isNot', '{ deployment: { isNot: {} } }', ''],
    ['UNSUPPORTED', 'Node', 'node.isNot', '{ node: { isNot: {} } }', ''],
  ])('of a subscription: %s %s %s', async (code, kind, path, where, more) => {
    const query = `subscription { pods(where: ${where}) { synced ${more} } }`
    const { value } = await gateway.connect().iterate({ query }).next()
    const argument = `where.${path}`
    expect(value?.errors).toMatchObject([{ extensions: { code, type: kind, argument } }])
  })

  it.each([{ configMaps: { some: { nope: {} } } }, { configMaps: { any: {} } }])(
    'with what the schema does not have: %j',
    async (where) => {
      const { errors } = await gateway.query(filtered, { where })
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
    },
  )

  it.each([
    [15, 'where'],
    [1_000, '$where'],
  ])('nested %i deep', async (depth, argument) => {
    const query = 'query ($where: ConfigMapWhere) { configMaps(where: $where) { totalCount } }'
    const { errors } = await gateway.query(query, { where: nested(2 * depth + 1) })
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
    expect(errors?.[0]?.extensions.argument?.startsWith(argument)).toBe(true)
    expect(errors?.[0]?.message).toMatch(/nested/)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import type { Fields } from './random-cluster.ts'

const parents = 500
const childrenOf = (parent: number): number => parent % 4

describe('lists within a list of 500', () => {
  let cluster: TestCluster
  let gateway: ServedGateway
  let children = 0
  beforeAll(async () => {
    cluster = await startSimulatedCluster({
      bookmarkIntervalMs: 0,
      populate(storage) {
        const apps = (resource: string) => ({ group: 'apps', version: 'v1', resource })
        const pods = { group: '', version: 'v1', resource: 'pods' }
        const create = (resource: typeof pods, object: Fields): void => {
          storage.create(resource, { apiVersion: 'v1', kind: '', ...object })
        }
        for (let parent = 0; parent < parents; parent += 1) {
          const name = `set-${String(parent).padStart(3, '0')}`
          const metadata = { name, namespace: 'default', uid: name }
          create(apps('replicasets'), { metadata, spec: { replicas: 1 } })
          for (let child = 0; child < childrenOf(parent); child += 1) {
            children += 1
            const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: name }
            const own = { name: `${name}-${child}`, namespace: 'default', ownerReferences: [owner] }
            const phase = child === 0 ? 'Running' : 'Pending'
            const spec = { containers: [], nodeName: `node-${child}` }
            create(pods, { metadata: own, spec, status: { phase } })
          }
        }
      },
    })
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const explained = async (query: string): Promise<Fields> => {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, extensions: { explain: true } }),
    })
    const { data, errors, extensions } = await response.json()
    expect(errors).toBeUndefined()
    return { data, ...extensions.explain }
  }

  it('cost one read of an index for each parent, and look at nothing but the children', async () => {
    const query = `{ replicaSets(first: ${parents}) { nodes { metadata { name } pods(first: 10) { totalCount nodes { metadata { name } } } } } }`
    await explained(query)
    const { data, answeredBy, fields, fragments } = await explained(query)
    expect(answeredBy).toBe('plan')
    expect(fields).toMatchObject([
      { path: 'replicaSets', reads: 1, returned: parents, scanned: false },
      {
        path: 'replicaSets.pods',
        reads: parents,
        access: ['postings'],
        scanned: false,
        examined: children,
        returned: children,
      },
    ])
    // The second time every text is at hand: nothing is parsed, or written anew.
    expect(fragments).toEqual({ hits: parents + children, misses: 0 })
    const counts = data.replicaSets.nodes.map(({ pods }: Fields) => pods.totalCount)
    expect(counts).toEqual(Array.from({ length: parents }, (_, parent) => childrenOf(parent)))
  })

  it('answer a filter by related objects once, however many rows ask for it', async () => {
    const query = `{ replicaSets(first: ${parents}) { nodes { pods(first: 10, where: { replicaSet: { is: { name: { endsWith: "3" } } } }) { totalCount } } } }`
    const { answeredBy, fields } = await explained(query)
    expect(answeredBy).toBe('plan')
    const [, pods] = fields
    expect(pods).toMatchObject({ path: 'replicaSets.pods', reads: parents, scanned: false })
    // The children, and what the filter has looked at: not that once more for each of the 500.
    expect(pods.examined).toBeLessThan(6 * children)
  })

  it('page, order, filter, count and facet as lists of their own do', async () => {
    const args = 'first: 2, orderBy: [{ name: DESC }], where: { phase: { eq: "Pending" } }'
    const inner = `totalCount facets(by: ["nodeName"]) { values { value count } missingCount } pageInfo { hasNextPage endCursor } nodes { metadata { name } }`
    const { replicaSets } = await gateway.data(
      `{ replicaSets(first: 8) { nodes { metadata { name } pods(${args}) { ${inner} } } } }`,
    )
    for (const { metadata, pods } of replicaSets.nodes as Fields[]) {
      const of = `{ name: { startsWith: "${metadata.name}-" } }`
      const root = await gateway.data(
        `{ pods(first: 2, orderBy: [{ name: DESC }], where: { and: [{ phase: { eq: "Pending" } }, ${of}] }) { ${inner} } }`,
      )
      const comparable = ({ pageInfo, ...rest }: Fields): Fields => ({
        ...rest,
        hasNextPage: pageInfo.hasNextPage,
      })
      expect(comparable(pods), metadata.name).toEqual(comparable(root.pods))
    }
  })
})

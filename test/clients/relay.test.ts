import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  ConnectionHandler,
  createOperationDescriptor,
  Environment,
  getSelector,
  type GraphQLResponse,
  Network,
  RecordSource,
  type ReaderFragment,
  Store,
} from 'relay-runtime'
import { beforeAll, describe, expect, it } from 'vitest'
import { podNames, shop, shopForTests } from './shop.ts'

const app = `
import { graphql } from 'relay-runtime'

export const pods = graphql\`
  fragment NodePage_pods on Node
  @refetchable(queryName: "NodePagePodsQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 3 }, cursor: { type: "String" }) {
    metadata { name }
    pods(first: $count, after: $cursor) @connection(key: "NodePage_pods") {
      edges { node { id metadata { name } } }
    }
  }
\`
export const page = graphql\`
  query NodePageQuery($name: String!) { node(name: $name) { id ...NodePage_pods } }
\`
export const owners = graphql\`
  query NodePageOwnersQuery {
    replicaSets { nodes { id namespaceObject { id metadata { name } } } }
    pods(first: 1) { nodes { id ownerChain { id kind namespace name } } }
  }
\`
export const live = graphql\`
  subscription NodePageSubscription {
    pods { reset synced resumeToken changes { type removal objectId object { id metadata { name } status { phase } } } }
  }
\`
`

interface PodEdges {
  readonly pods: {
    readonly edges: readonly { readonly node: { readonly metadata: { readonly name: string } } }[]
  }
}

type Artifact = Parameters<typeof createOperationDescriptor>[0]

describe('Relay', () => {
  const open = shopForTests({ relay: true })
  let said = ''

  const artifact = async <T>(name: string): Promise<T> =>
    ((await open().project.load(`src/__generated__/${name}.graphql.js`)) as { default: T }).default

  beforeAll(async () => {
    const { project, schema } = open()
    await mkdir(join(project.dir, 'src'))
    await project.write('schema.graphql', await schema('--for', 'relay'))
    await project.write('src/NodePage.js', app)
    await project.write(
      'relay.config.json',
      JSON.stringify({
        src: './src',
        schema: './schema.graphql',
        language: 'javascript',
        eagerEsModules: true,
      }),
    )
    said = await project.program('relay-compiler', 'relay.config.json')
  })

  const openEnvironment = () => {
    const environment = new Environment({
      network: Network.create(async ({ text }, variables) => {
        const answer = await open().gateway.query(text ?? '', variables)
        return answer as GraphQLResponse
      }),
      store: new Store(new RecordSource()),
      // An ObjectRef has the id of the object that it means, but is not that object.
      getDataID: ({ id }, type) => (type === 'ObjectRef' ? undefined : id),
    })
    const run = async (name: string, variables: Record<string, unknown>) => {
      const operation = createOperationDescriptor(await artifact<Artifact>(name), variables)
      environment.retain(operation)
      await environment.execute({ operation }).toPromise()
      return operation
    }
    return { environment, run }
  }

  it('compiles a refetchable fragment with pages of a relation', async () => {
    expect(said).toContain('compiled documents')
    expect(said).not.toMatch(/warn|error/i)
    const query = await artifact<{ readonly params: { readonly text: string } }>(
      'NodePagePodsQuery',
    )
    expect(query.params.text).toContain('fetch__Node(id: $id)')
    const fragment = await artifact<ReaderFragment>('NodePage_pods')
    expect(fragment.metadata?.refetch?.identifierInfo).toMatchObject({ identifierField: 'id' })
  })

  it('pages through a relation by fetching its object again', async () => {
    const { environment, run } = openEnvironment()
    const page = await run('NodePageQuery', { name: 'n-0' })
    const { data } = environment.lookup(page.fragment)
    const { node } = data as unknown as { readonly node: { readonly id: string } }
    const selector = getSelector(await artifact<ReaderFragment>('NodePage_pods'), node)
    const names = (): readonly string[] => {
      if (selector?.kind !== 'SingularReaderSelector') throw new Error('one node')
      const { pods } = environment.lookup(selector).data as unknown as PodEdges
      return pods.edges.map((edge) => edge.node.metadata.name)
    }
    expect(names()).toEqual(podNames.slice(0, 3))
    const cursor = async (): Promise<string> => {
      const { data: found } = await open().gateway.query(
        'query ($id: ID!, $first: Int!) { fetch__Node(id: $id) { pods(first: $first) { pageInfo { endCursor } } } }',
        { id: node.id, first: names().length },
      )
      return found.fetch__Node.pods.pageInfo.endCursor
    }
    await run('NodePagePodsQuery', { id: node.id, count: 3, cursor: await cursor() })
    expect(names()).toEqual(podNames.slice(0, 6))
    await run('NodePagePodsQuery', { id: node.id, count: 3, cursor: await cursor() })
    expect(names()).toEqual(podNames)
  })

  it('adds the rows of a subscription to a connection, and takes them out', async () => {
    const { environment, run } = openEnvironment()
    const page = await run('NodePageQuery', { name: 'n-0' })
    const { node } = environment.lookup(page.fragment).data as { readonly node: { id: string } }
    const selector = getSelector(await artifact<ReaderFragment>('NodePage_pods'), node)
    const names = (): readonly string[] => {
      if (selector?.kind !== 'SingularReaderSelector') throw new Error('one node')
      const { pods } = environment.lookup(selector).data as unknown as PodEdges
      return pods.edges.map((edge) => edge.node.metadata.name)
    }
    const fold = (type: 'ADDED' | 'REMOVED', id: string): void =>
      environment.commitUpdate((store) => {
        const owner = store.get(node.id)
        const pods = owner && ConnectionHandler.getConnection(owner, 'NodePage_pods')
        const pod = store.get(id)
        if (!pods || !pod) return
        if (type === 'REMOVED') return ConnectionHandler.deleteNode(pods, id)
        const edges = pods.getLinkedRecords('edges') ?? []
        if (edges.some((one) => one?.getLinkedRecord('node')?.getDataID() === id)) return
        const edge = ConnectionHandler.createEdge(store, pods, pod, 'PodEdge')
        ConnectionHandler.insertEdgeAfter(pods, edge)
      })
    const { data } = await open().gateway.query('{ pods(first: 4) { nodes { id } } }')
    const { id } = data.pods.nodes[3]
    const subscription = createOperationDescriptor(
      await artifact<Artifact>('NodePageSubscription'),
      {},
    )
    const object = {
      __typename: 'Pod',
      id,
      metadata: { name: podNames[3] },
      status: { phase: null },
    }
    const change = { type: 'ADDED', removal: null, objectId: id, object }
    environment.commitPayload(subscription, {
      pods: { reset: true, synced: true, resumeToken: '', changes: [change] },
    })
    fold('ADDED', id)
    expect(names()).toEqual(podNames.slice(0, 4))
    // A row that is there already is not added again.
    fold('ADDED', id)
    expect(names()).toEqual(podNames.slice(0, 4))
    fold('REMOVED', id)
    expect(names()).toEqual(podNames.slice(0, 3))
  })

  it('does not take a reference to an object for the object', async () => {
    const { environment, run } = openEnvironment()
    const { fragment } = await run('NodePageOwnersQuery', {})
    const { data } = environment.lookup(fragment)
    const namespaceObject = { metadata: { name: shop } }
    expect(data).toMatchObject({
      replicaSets: { nodes: [{ namespaceObject }] },
      pods: { nodes: [{ ownerChain: [{ kind: 'ReplicaSet', namespace: shop, name: 'web' }] }] },
    })
  })

  it('an object is fetched as what it is, or the id is refused', async () => {
    const { gateway } = open()
    const { node, pods } = await gateway.data(
      '{ node(name: "n-0") { id } pods(first: 1) { nodes { id } } }',
    )
    const fetched = 'query ($id: ID!) { fetch__Pod(id: $id) { id kind } }'
    const [{ id }] = pods.nodes
    expect(await gateway.data(fetched, { id })).toEqual({ fetch__Pod: { id, kind: 'Pod' } })
    const refused = await gateway.query(fetched, { id: node.id })
    expect(refused.data).toEqual({ fetch__Pod: null })
    expect(refused.errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'id',
    })
    const unread = await gateway.query(fetched, { id: 'nothing' })
    expect(unread.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
  })
})

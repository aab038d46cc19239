import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client/core'
import { Client, fetchExchange } from '@urql/core'
import {
  type GatewayErrorExtensions,
  gatewayErrors,
  liveCollection,
  WebSocketClient,
} from 'informerql/client'
import {
  commitMutation,
  Environment,
  type GraphQLResponse,
  Network,
  RecordSource,
  Store,
} from 'relay-runtime'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type AccessCluster, populate, startSimulated } from '../access/access-cluster.ts'
import type { ServedGateway } from '../support/gateway.ts'
import { idOf, populateShop, serveShop } from '../writes/shop.ts'
import { generate, generateTada, tadaStart } from './codegen.ts'
import { createProject, type Project } from './project.ts'

/** A name that no object may have, so that the API server names the field. */
const create = `mutation Create {
  create(manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "Not A Name", namespace: "shop" } }) {
    object { id }
  }
}`
/** What the codes of errors make of them: the compiler knows the members of each. */
const explained = (extensions: GatewayErrorExtensions): unknown => {
  switch (extensions.code) {
    case 'INVALID':
    case 'DISRUPTION_BUDGET':
      return extensions.causes?.map(({ field, reason }) => ({ field, reason }))
    case 'CONFLICT':
      return extensions.conflicts?.map(({ manager }) => manager)
    case 'PRECONDITION_FAILED':
      return extensions.precondition === 'uid' ? 'another object' : 'changed'
    case 'ADMISSION_DENIED':
      return extensions.admission?.name
    case 'FORBIDDEN':
      return extensions.verb
    default:
      // @ts-expect-error -- errors of other codes have no causes
      return extensions.hint ?? extensions.causes
  }
}
const invalid = [{ field: 'metadata.name', reason: 'FieldValueInvalid' }]

describe('the errors of a gateway', () => {
  const parts = new AsyncDisposableStack()
  let cluster: AccessCluster
  let gateway: ServedGateway
  let project: Project

  beforeAll(async () => {
    cluster = parts.use(await startSimulated())
    await populate(cluster)
    await populateShop(cluster)
    gateway = parts.use(await serveShop(cluster))
    project = parts.use(await createProject())
    await idOf(gateway.as('ann-token'), 'deployment(namespace: "shop", name: "web")')
  })
  afterAll(() => parts.disposeAsync())

  const headers = { authorization: 'Bearer ann-token' }
  const toldBy = (reported: unknown): unknown =>
    gatewayErrors(reported).map(({ extensions }) => explained(extensions))

  it('are found in what Apollo Client reports', async () => {
    const link = new HttpLink({ uri: gateway.url, headers })
    const client = new ApolloClient({ cache: new InMemoryCache(), link })
    const reported = await client.mutate({ mutation: gql(create) }).catch((error: unknown) => error)
    expect(reported).toBeInstanceOf(Error)
    expect(toldBy(reported)).toEqual([invalid])
    const all = await client.mutate({ mutation: gql(create), errorPolicy: 'all' })
    expect(toldBy(all.error)).toEqual([invalid])
  })

  it('in what urql reports', async () => {
    const client = new Client({
      url: gateway.url,
      exchanges: [fetchExchange],
      fetchOptions: { headers },
      preferGetMethod: false,
    })
    const { error } = await client.mutation(create, {}).toPromise()
    expect(toldBy(error)).toEqual([invalid])
    const nowhere = new Client({
      url: 'http://127.0.0.1:9',
      exchanges: [fetchExchange],
      preferGetMethod: false,
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    })
    const lost = await nowhere.mutation(create, {}).toPromise()
    expect(lost.error).toBeDefined()
    expect(gatewayErrors(lost.error)).toEqual([])
  })

  it('in what Relay reports, whether or not there is data beside them', async () => {
    const ann = gateway.as('ann-token')
    const answered = async (text: string): Promise<unknown> => {
      const network = Network.create(async () => (await ann.query(text)) as GraphQLResponse)
      const environment = new Environment({ network, store: new Store(new RecordSource()) })
      const node = (kind: 'Fragment' | 'Operation'): object => ({
        argumentDefinitions: [],
        kind,
        name: 'Create',
        selections: [],
        type: 'Mutation',
      })
      const params = {
        id: null,
        cacheID: 'create',
        name: 'Create',
        operationKind: 'mutation',
        text,
        metadata: {},
      }
      const mutation = {
        fragment: node('Fragment'),
        kind: 'Request',
        operation: node('Operation'),
        params,
      }
      return await new Promise((resolve) => {
        commitMutation(environment, {
          mutation: mutation as never,
          variables: {},
          onCompleted: (_data, errors) => resolve(errors),
          onError: resolve,
        })
      })
    }
    expect(toldBy(await answered(create))).toEqual([invalid])
    const wrong = gatewayErrors(await answered('mutation { nothing { id } }'))
    expect(wrong).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
  })

  it('in an answer of fetch, in its list, and in nothing else', async () => {
    const body = JSON.stringify({ query: create })
    const sent = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
    const answer = (await (await fetch(gateway.url, { ...sent, body })).json()) as {
      readonly errors: unknown
    }
    expect(toldBy(answer)).toEqual([invalid])
    expect(toldBy(answer.errors)).toEqual([invalid])
    for (const other of [undefined, null, 'INVALID', 7, {}, [], [null, {}], new Error('lost')]) {
      expect(gatewayErrors(other)).toEqual([])
    }
    const round: { cause?: unknown } = {}
    round.cause = round
    expect(gatewayErrors(round)).toEqual([])
  })

  it('in the error of a live collection', async () => {
    const url = gateway.url.replace('http', 'ws')
    const client = new WebSocketClient({
      url,
      connectionParams: { Authorization: 'Bearer ann-token' },
    })
    const query = `subscription { pods(namespace: "shop", where: { nothing: { eq: 1 } }) {
      reset synced changes { type removal objectId object { id } } } }`
    using pods = liveCollection({ client, query })
    const leave = pods.subscribe(() => {})
    await vi.waitFor(() => expect(pods.getSnapshot().status).toBe('failed'), 15_000)
    expect(gatewayErrors(pods.getSnapshot().error)).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT' } },
    ])
    leave()
  })

  it('as data are typed by graphql-codegen and gql.tada: a code is one of those of the schema', async () => {
    const profile = { include: { kinds: ['Pod'] }, descriptions: false }
    await project.write('informerql.yaml', JSON.stringify({ profile, allowWrites: true }))
    const sdl = await project.informerql('schema', '--config', 'informerql.yaml', '--allow-writes')
    const text = `mutation Scale($id: ID!) {
      scale(id: $id, replicas: 2, dryRun: true) {
        preview { name json(path: "spec.replicas") }
        errors { code field message }
      }
    }`
    const use = `
      const [error] = answer.scale?.errors ?? []
      export const field: string | null | undefined = error?.field
      export const isInvalid: boolean = error?.code === 'INVALID'
      // @ts-expect-error -- there is no such code
      export const isOdd: boolean = error?.code === 'ODD'
      export const name: string | undefined = answer.scale?.preview?.name
    `
    await generate(project, { folder: 'generated', sdl, operations: [text] })
    await project.write(
      'codegen.ts',
      `import type { ScaleMutation } from './generated/graphql.ts'
       declare const answer: ScaleMutation
       ${use}`,
    )
    await generateTada(project, sdl)
    await project.write(
      'tada.ts',
      `${tadaStart}
       const mutation = graphql(\`${text}\`)
       declare const answer: ResultOf<typeof mutation>
       export const variables: VariablesOf<typeof mutation> = { id: '1' }
       ${use}`,
    )
    expect(await project.compile()).toBe('')
  })
})

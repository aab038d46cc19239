import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  ApolloClient,
  HttpLink,
  InMemoryCache,
  type InMemoryCacheConfig,
} from '@apollo/client/core'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { type DocumentNode, OperationTypeNode } from 'graphql'
import { expect, it } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { generate } from './codegen.ts'
import { podNames, profile, shopForTests, watchConsole } from './shop.ts'
import { framesText, type Page, pageText, podNamesOf } from './shop-queries.ts'

type Persisted = DocumentNode & { readonly __meta__: { readonly hash: string } }

const open = shopForTests()

it('Apollo Client runs the trusted documents that graphql-codegen writes with their __typename', async () => {
  using said = watchConsole()
  const { cluster, project, schema } = open()
  await generate(project, {
    folder: 'generated',
    sdl: await schema(),
    operations: [pageText, framesText],
    persistedDocuments: true,
  })
  await project.write('apollo.ts', await schema('--for', 'apollo'))
  const config = (await project.load('apollo.ts')) as InMemoryCacheConfig
  const { PageDocument, FramesDocument } = (await project.load('generated/graphql.ts')) as Readonly<
    Record<'PageDocument' | 'FramesDocument', Persisted>
  >

  const trustedDocuments = join(project.dir, 'generated', 'persisted-documents.json')
  expect(Object.values(JSON.parse(await readFile(trustedDocuments, 'utf8')))).toHaveLength(2)
  await using gateway = await serveGateway(
    { profile, clusters: [{ name: 'default', ...cluster.selection }] },
    { trustedDocuments },
  )
  const byHash = new PersistedQueryLink({
    generateHash: (document) => (document as Persisted).__meta__.hash,
  })
  const socket = gateway.connect()
  const client = new ApolloClient({
    cache: new InMemoryCache(config),
    link: byHash.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink({
        ...socket,
        subscribe: (operation, sink) => socket.subscribe({ ...operation, query: '' }, sink),
      }),
      new HttpLink({ uri: gateway.url }),
    ),
  })
  const { data } = await client.query<Page>({ query: PageDocument, variables: { first: 3 } })
  expect(podNamesOf(data?.pods.nodes ?? [])).toEqual(podNames.slice(0, 3))
  expect(client.readQuery({ query: PageDocument, variables: { first: 3 } })).toEqual(data)
  const { promise: first, resolve, reject } = Promise.withResolvers<unknown>()
  const frames = client.subscribe({ query: FramesDocument })
  const following = frames.subscribe({ next: resolve, error: reject })
  expect(await first).toMatchObject({ data: { pods: { reset: true } } })
  following.unsubscribe()
  expect(said.lines).toEqual([])
})

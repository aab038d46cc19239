import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  ApolloClient,
  HttpLink,
  InMemoryCache,
  type InMemoryCacheConfig,
} from '@apollo/client/core'
import { ApolloLink } from '@apollo/client/link'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import { cacheExchange, type CacheExchangeOpts } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { type DocumentNode, OperationTypeNode, parse } from 'graphql'
import { type Client as SocketClient, createClient } from 'graphql-ws'
import { followApolloList } from 'informerql/client/apollo'
import { followUrqlList, liveCache } from 'informerql/client/urql'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { describeInBrowser, sentBy } from '../support/browser.ts'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { serveFiles } from '../support/file-server.ts'
import { type GraphQLAnswer, serveGateway } from '../support/gateway.ts'
import { generate, generateTada, tadaStart } from './codegen.ts'
import { createProject, type Project } from './project.ts'
import { compileRelayApp } from './relay-app.ts'
import { pageFetch, watchConsole } from './shop.ts'

interface Pod {
  readonly id: string
  readonly metadata: { readonly namespace: string; readonly name: string }
}
interface Page {
  readonly pods: {
    readonly nodes: readonly Pod[]
    readonly totalCount: number
    readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean }
  }
}

const podFields = 'id metadata { namespace name } status { phase }'
const operations = {
  pods: `query Pods($first: Int!, $after: String) {
    pods(first: $first, after: $after) {
      nodes { ${podFields} ownerChain { id kind name } } totalCount pageInfo { endCursor hasNextPage }
    }
  }`,
  newest: `query Newest($first: Int!) {
    pods(first: $first, orderBy: [{ creationTimestamp: DESC }]) {
      nodes { ${podFields} } totalCount pageInfo { endCursor hasNextPage }
    }
  }`,
  newestPage: `subscription NewestPage($first: Int!) {
    podsPage(first: $first, orderBy: [{ creationTimestamp: DESC }]) {
      reset synced totalCount
      changes { step index from objectId object { ${podFields} } }
    }
  }`,
  frames: `subscription Frames {
    pods { reset synced changes { type removal objectId object { ${podFields} } } }
  }`,
  card: `query Card($id: ID!) { object(id: $id) { ...PodCard } }
    fragment PodCard on KubernetesObject { id kind name health { status } }`,
}
type Name = 'Pods' | 'Newest' | 'NewestPage' | 'Frames' | 'Card'

const namesOf = (pods: readonly Pod[]): readonly string[] =>
  pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)

describe('informerql demo, with its company and its changes', () => {
  const parts = new AsyncDisposableStack()
  let pages = ''
  let origin = ''
  let project: Project
  let demo: ExampleProcess
  let url = ''
  let server = ''
  let socket: SocketClient
  let documents: Readonly<Record<`${Name}Document`, DocumentNode>>

  beforeAll(async () => {
    pages = await mkdtemp(join(tmpdir(), 'informerql-pages-'))
    parts.defer(() => rm(pages, { recursive: true, force: true }))
    origin = parts.use(await serveFiles(pages)).origin
    project = parts.use(await createProject())
    const flags = ['--port', '0', '--rate', '20', '--relay', '--allowed-origin', origin]
    const program = ['src/main.ts', 'demo', ...flags]
    demo = parts.use(startProgram(process.execPath, program, { timeout: 600_000 }))
    await demo.printed('Ctrl-C')
    const said = demo.lines.join('\n')
    url = /http:\S+\/graphql/.exec(said)?.[0] ?? ''
    server = /--server=(\S+)/.exec(said)?.[1] ?? ''
    socket = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket })
    parts.defer(() => socket.dispose())
    const sdl = await project.informerql('schema', '--gateway', url)
    await generate(project, {
      folder: 'generated',
      sdl,
      operations: Object.values(operations),
      persistedDocuments: true,
    })
    await generateTada(project, sdl)
    documents = (await project.load('generated/graphql.ts')) as typeof documents
  })
  afterAll(() => parts.disposeAsync())

  const schemaFor = (client: string) =>
    project.informerql('schema', '--gateway', url, '--for', client)

  const answer = async (query: string, variables: object = {}): Promise<GraphQLAnswer> => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ query, variables })
    return (await (await fetch(url, { method: 'POST', headers, body })).json()) as GraphQLAnswer
  }
  const ask = async (query: string, variables: object): Promise<Page['pods']> =>
    ((await answer(query, variables)).data as Page).pods
  const all = async (): Promise<readonly string[]> =>
    namesOf((await ask(operations.pods, { first: 500 })).nodes)

  /** Waits until a list has changed, and is then what the gateway answers. */
  async function followed(
    shown: () => readonly string[] | Promise<readonly string[]>,
    asked: () => Promise<readonly string[]>,
  ): Promise<void> {
    const first = await shown()
    await vi.waitFor(
      async () => {
        const rows = await shown()
        expect(rows).not.toEqual(first)
        expect(rows.toSorted()).toEqual((await asked()).toSorted())
      },
      { timeout: 60_000, interval: 100 },
    )
  }

  /** What pages that were read one after the other have to show: each object once, and all that were there throughout. */
  async function expectAllOf(listed: readonly string[], before: readonly string[]): Promise<void> {
    const after = new Set(await all())
    expect(new Set(listed).size).toBe(listed.length)
    expect(listed).toEqual(expect.arrayContaining(before.filter((name) => after.has(name))))
  }

  it('Apollo Client pages through its pods, and keeps a list as its live page has it', async () => {
    using said = watchConsole()
    await project.write('apollo.ts', await schemaFor('apollo'))
    const cache = new InMemoryCache((await project.load('apollo.ts')) as InMemoryCacheConfig)
    const link = ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(socket),
      new HttpLink({ uri: url }),
    )
    const client = new ApolloClient({ cache, link })

    const before = await all()
    const pods = { query: documents.PodsDocument, variables: { first: 100 } }
    await client.query<Page>(pods)
    const list = client.watchQuery<Page>(pods)
    const watching = list.subscribe(() => {})
    const shown = () => (list.getCurrentResult().data as Page).pods
    while (shown().pageInfo.hasNextPage) {
      const { nodes, pageInfo } = shown()
      await list.fetchMore({ variables: { after: pageInfo.endCursor } })
      await vi.waitUntil(() => shown().nodes.length > nodes.length)
    }
    await expectAllOf(namesOf(shown().nodes), before)
    watching.unsubscribe()

    const newest = { query: documents.NewestDocument, variables: { first: 10 } }
    await client.query<Page>(newest)
    const { variables } = newest
    const following = followApolloList(client, {
      ...newest,
      subscription: documents.NewestPageDocument,
    })
    await followed(
      () => namesOf(client.readQuery<Page>(newest)?.pods.nodes ?? []),
      async () => namesOf((await ask(operations.newest, variables)).nodes),
    )
    following.close()
    expect(said.lines).toEqual([])
  })

  it('Apollo Client asks for trusted documents by their hashes by GET', async () => {
    const hashOf = (document: DocumentNode): string =>
      (document as DocumentNode & { readonly __meta__: { readonly hash: string } }).__meta__.hash
    const trustedDocuments = join(project.dir, 'generated', 'persisted-documents.json')
    await using gateway = await serveGateway(
      { clusters: [{ name: 'demo', server }] },
      { trustedDocuments },
    )
    const page = pageFetch()
    const link = new PersistedQueryLink({
      generateHash: hashOf,
      useGETForHashedQueries: true,
    }).concat(new HttpLink({ uri: gateway.url, fetch: page.fetch }))
    const client = new ApolloClient({ cache: new InMemoryCache(), link })
    const { data } = await client.query<Page>({
      query: documents.PodsDocument,
      variables: { first: 5 },
    })
    expect(data?.pods.nodes).toHaveLength(5)
    expect(page.methods).toEqual(['GET'])
    const other = await gateway.query('{ pods(first: 1) { totalCount } }')
    expect(other.errors?.[0]?.extensions.code).toBe('UNTRUSTED_DOCUMENT')
  })

  it('urql pages through its pods by GET, and keeps all lists as the frames say', async () => {
    using said = watchConsole()
    await project.write('urql.ts', await schemaFor('urql'))
    const config = (await project.load('urql.ts')) as CacheExchangeOpts
    const page = pageFetch()
    const client = new Client({
      url,
      fetch: page.fetch,
      preferGetMethod: 'force',
      exchanges: [
        liveCache(cacheExchange, {
          ...config,
          resolvers: { Query: { pods: relayPagination() } },
        }),
        fetchExchange,
        subscriptionExchange({
          forwardSubscription: ({ query = '', variables = {} }) => ({
            subscribe: (sink) => ({
              unsubscribe: socket.subscribe({ query, variables }, sink as never),
            }),
          }),
        }),
      ],
    })

    const before = await all()
    const query = parse(operations.pods)
    let after: string | null = null
    let shown: Page | undefined
    do {
      const { data, error } = await client.query<Page>(query, { first: 100, after }).toPromise()
      expect(error).toBeUndefined()
      shown = data
      after = data?.pods.pageInfo.endCursor ?? null
    } while (shown?.pods.pageInfo.hasNextPage === true)
    await expectAllOf(namesOf(shown?.pods.nodes ?? []), before)
    expect(new Set(page.methods)).toEqual(new Set(['GET']))

    const [pod] = shown?.pods.nodes ?? []
    const card = parse(operations.card)
    await client.query(card, { id: pod?.id }).toPromise()
    expect(client.readQuery(card, { id: pod?.id })?.data).toMatchObject({
      object: { id: pod?.id, kind: 'Pod', name: pod?.metadata.name },
    })

    const newest = parse(operations.newest)
    await client.query<Page>(newest, { first: 500 }).toPromise()
    const following = followUrqlList(client, {
      query: newest,
      variables: { first: 500 },
      subscription: parse(operations.frames),
    })
    await followed(
      () => namesOf(client.readQuery<Page>(newest, { first: 500 })?.data?.pods.nodes ?? []),
      all,
    )
    following.close()
    expect(said.lines).toEqual([])
  })

  it('Relay pages through the pods of a node, and its documented follower follows them', async () => {
    const app = await compileRelayApp(project, await schemaFor('relay'))
    expect(app.compiled).not.toMatch(/warn|error/i)
    const name = 'worker-a-001'
    const node = await app.open({ query: answer }, socket).readNode(name, 5)
    expect(node.names()).toHaveLength(5)
    while (node.pods().pageInfo.hasNextPage) await node.loadNext(5)
    expect(new Set(node.names()).size).toBe(node.names().length)

    using following = node.follow()
    const path = `${server}/api/v1/namespaces/default/pods`
    const headers = { 'content-type': 'application/json' }
    const spec = { nodeName: name, containers: [{ name: 'main', image: 'nginx:1' }] }
    const body = JSON.stringify({ metadata: { name: 'mine' }, spec })
    expect((await fetch(path, { method: 'POST', headers, body })).status).toBe(201)
    await vi.waitFor(() => expect(node.names()).toContain('mine'), 20_000)
    expect((await fetch(`${path}/mine?gracePeriodSeconds=0`, { method: 'DELETE' })).ok).toBe(true)
    await vi.waitFor(() => expect(node.names()).not.toContain('mine'), 20_000)
    await vi.waitFor(async () => {
      const { data } = await answer(
        'query ($name: String!) { node(name: $name) { pods(first: 500) { nodes { name } } } }',
        { name },
      )
      const { nodes } = data.node.pods as { readonly nodes: readonly { readonly name: string }[] }
      expect(node.names().toSorted()).toEqual(nodes.map((pod) => pod.name).toSorted())
    }, 20_000)
    expect(following.getSnapshot().error).toBe(undefined)
  })

  it('graphql-codegen and gql.tada type operations of its whole schema', async () => {
    await project.write(
      'types.ts',
      `import type { CardQuery, NewestPageSubscription, PodsQuery, PodsQueryVariables } from './generated/graphql.ts'
       ${tadaStart}
       const query = graphql(\`${operations.pods}\`)
       export const variables: PodsQueryVariables & VariablesOf<typeof query> = { first: 2 }
       declare const answers: readonly [PodsQuery, ResultOf<typeof query>]
       for (const { pods } of answers) {
         const [pod] = pods?.nodes ?? []
         const name: string | undefined = pod?.metadata.name
         const phase: string | null | undefined = pod?.status?.phase
         // @ts-expect-error -- it may be null
         const surely: string = pod?.status?.phase
         void [name, phase, surely]
       }
       declare const card: CardQuery
       export const kind: string | undefined = card.object?.kind
       declare const frame: NewestPageSubscription
       export const index: number | null | undefined = frame.podsPage?.changes[0]?.index\n`,
    )
    expect(await project.compile()).toBe('')
  })

  describeInBrowser('React under StrictMode', (browser) => {
    it('shows its pods, live', async () => {
      await build({
        root: resolve('examples', 'react-page'),
        configFile: false,
        logLevel: 'warn',
        // StrictMode mounts components twice in React's development build only.
        define: { 'process.env.NODE_ENV': '"development"' },
        build: { outDir: pages, emptyOutDir: true },
        resolve: { conditions: ['informerql-source', 'module', 'browser'] },
      })
      const page = await browser().newPage()
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(error.message))
      const sent = sentBy(page)
      await page.goto(`${origin}/?gateway=${url.replace('http', 'ws')}`)
      await page.getByRole('status').getByText('live', { exact: true }).waitFor()
      expect(sent).toEqual(['connected', 'subscribe 1', 'subscribe 2', 'subscribe 3'])
      await followed(
        () =>
          page
            .locator('tbody tr')
            .evaluateAll((rows) =>
              rows.map((row) => Array.from(row.children, (cell) => cell.textContent).join('/')),
            )
            .then((texts) => texts.map((text) => text.split('/').slice(0, 2).join('/'))),
        all,
      )
      expect(problems).toEqual([])
      await page.close()
    })
  })
})

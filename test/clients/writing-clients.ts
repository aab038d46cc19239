import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  ApolloClient,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
} from '@apollo/client/core'
import type { InMemoryCacheConfig } from '@apollo/client/core'
import { ApolloLink } from '@apollo/client/link'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import { cacheExchange, type CacheExchangeOpts } from '@urql/exchange-graphcache'
import { OperationTypeNode } from 'graphql'
import type { Client as SocketClient } from 'graphql-ws'
import { followApolloList, type FollowedList } from 'informerql/client/apollo'
import { followRelayList, liveEnvironment } from 'informerql/client/relay'
import { followUrqlList, liveCache } from 'informerql/client/urql'
import {
  commitMutation,
  createOperationDescriptor,
  fetchQuery,
  getRequest,
  type GraphQLResponse,
  type GraphQLTaggedNode,
  type MutationParameters,
  Network,
  Observable,
  RecordSource,
  Store,
} from 'relay-runtime'
import type { GatewayCaller } from '../support/gateway.ts'
import type { Project } from './project.ts'

/** The answer to a mutation: its payload, and the codes of the errors beside it. */
export interface Answer {
  readonly payload: Payload | null | undefined
  readonly codes: readonly unknown[]
}

interface Payload {
  readonly object: { readonly id: string } | null
  readonly preview: { readonly name: string; readonly json: unknown } | null
  readonly changes: readonly { readonly path: string; readonly after: unknown }[]
  readonly errors: readonly {
    readonly code: string
    readonly field: string | null
    readonly manager: string | null
    readonly message: string
  }[]
}

/** The Deployments of the shop in the cache of a client, and writes of them. */
export interface WritingApp {
  readonly load: () => Promise<void>
  /** The replicas by name, as the page shows them. */
  readonly shown: () => Readonly<Record<string, number>>
  readonly follow: () => FollowedList
  /** With an answer that is shown until the gateway's has come, if `optimistic`. */
  readonly scale: (
    variables: { readonly id: string; readonly replicas: number; readonly dryRun?: boolean },
    optimistic?: boolean,
  ) => Promise<Answer>
  readonly write: (
    mutation: 'create' | 'delete' | 'apply',
    variables: Readonly<Record<string, unknown>>,
  ) => Promise<Answer>
}

interface Caller {
  readonly url: string
  readonly token: string
  readonly socket: SocketClient
  readonly query: GatewayCaller['query']
}

export type StartWriting = (
  project: Project,
  schema: (client: string) => Promise<string>,
) => Promise<(caller: Caller) => WritingApp>

const row = 'id metadata { name } spec { replicas }'
const payload = `
  object { id ... on Deployment { spec { replicas } } }
  preview { name json(path: "spec.replicas") }
  changes { path after }
  dryRun
  errors { code field message manager }
`
const texts = {
  list: `query List($first: Int, $after: String) {
    deployments(namespace: "shop", first: $first, after: $after) {
      nodes { ${row} } totalCount pageInfo { endCursor hasNextPage }
    }
  }`,
  frames: `subscription Frames($resumeFrom: String) {
    deployments(namespace: "shop", resumeFrom: $resumeFrom, coalesceMs: 0) {
      reset synced resumeToken changes { type removal objectId object { ${row} } }
    }
  }`,
  scale: `mutation Scale($id: ID!, $replicas: Int!, $dryRun: Boolean) {
    scale(id: $id, replicas: $replicas, dryRun: $dryRun) { ${payload} }
  }`,
  create: `mutation Create($manifest: JSON!, $dryRun: Boolean) {
    create(manifest: $manifest, dryRun: $dryRun) { ${payload} }
  }`,
  delete: `mutation Delete($id: ID!) { delete(id: $id) { ${payload} } }`,
  apply: `mutation Apply($manifest: JSON!, $force: Boolean) {
    apply(manifest: $manifest, force: $force) { ${payload} }
  }`,
}

interface Row {
  readonly id: string
  readonly metadata: { readonly name: string }
  readonly spec: { readonly replicas: number }
}

const shownOf = (rows: readonly Row[] = []): Readonly<Record<string, number>> =>
  Object.fromEntries(rows.map(({ metadata, spec }) => [metadata.name, spec.replicas]))

/** The payload of the only field; of several documents, the first one's. */
const payloadOf = (data: unknown): Payload | null | undefined => {
  const [answer] = Object.values(data ?? {}) as (Payload | readonly Payload[] | null)[]
  return Array.isArray(answer) ? (answer[0] as Payload) : (answer as Payload | null | undefined)
}

const codesOf = (errors: readonly { readonly extensions?: Record<string, unknown> }[] = []) =>
  errors.map(({ extensions }) => extensions?.['code'])

/** What a page shows until the gateway has answered: the object by its type and id, with what the write changes. */
const optimisticPayload = ({
  id,
  replicas,
}: {
  readonly id: string
  readonly replicas: number
}) => ({
  __typename: 'WritePayload',
  object: {
    __typename: 'Deployment',
    id,
    spec: { __typename: 'DeploymentSpec', replicas },
  },
  preview: null,
  changes: [],
  dryRun: false,
  errors: [],
})

const startApollo: StartWriting = async (project, schema) => {
  await project.write('apollo.ts', await schema('apollo'))
  const config = (await project.load('apollo.ts')) as InMemoryCacheConfig
  return ({ url, token, socket }) => {
    const cache = new InMemoryCache(config)
    const headers = { authorization: `Bearer ${token}` }
    const link = ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(socket),
      new HttpLink({ uri: url, headers }),
    )
    const client = new ApolloClient({ cache, link })
    const query = gql(texts.list)
    const options = { query, variables: { first: 20 } }
    const mutate: (options: ApolloClient.MutateOptions) => Promise<Answer> = async (given) => {
      const { data, error } = await client.mutate({ ...given, errorPolicy: 'all' })
      const errors = CombinedGraphQLErrors.is(error) ? error.errors : []
      return { payload: payloadOf(data), codes: codesOf(errors) }
    }
    return {
      load: async () => void (await client.query(options)),
      shown() {
        const found = cache.readQuery<{ deployments: { nodes: readonly Row[] } }>({
          ...options,
          optimistic: true,
        })
        return shownOf(found?.deployments.nodes)
      },
      follow: () => followApolloList(client, { ...options, subscription: gql(texts.frames) }),
      scale: (variables, optimistic = false) =>
        mutate({
          mutation: gql(texts.scale),
          variables,
          ...(optimistic ? { optimisticResponse: { scale: optimisticPayload(variables) } } : {}),
        }),
      write: (name, variables) => mutate({ mutation: gql(texts[name]), variables }),
    }
  }
}

const startUrql: StartWriting = async (project, schema) => {
  await project.write('urql.ts', await schema('urql'))
  const { keys, possibleTypes } = (await project.load('urql.ts')) as Required<
    Pick<CacheExchangeOpts, 'keys' | 'possibleTypes'>
  >
  return ({ url, token, socket }) => {
    let isOptimistic = false
    const client = new Client({
      url,
      preferGetMethod: false,
      fetchOptions: { headers: { authorization: `Bearer ${token}` } },
      exchanges: [
        liveCache(cacheExchange, {
          keys,
          possibleTypes,
          optimistic: {
            scale: (args) => (isOptimistic ? optimisticPayload(args as never) : null),
          },
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
    const mutate = async (text: string, variables: object): Promise<Answer> => {
      const { data, error } = await client.mutation(text, variables).toPromise()
      return { payload: payloadOf(data), codes: codesOf(error?.graphQLErrors) }
    }
    const variables = { first: 20 }
    return {
      load: async () => void (await client.query(texts.list, variables).toPromise()),
      shown: () => shownOf(client.readQuery(texts.list, variables)?.data?.deployments.nodes),
      follow: () =>
        followUrqlList(client, { query: texts.list, variables, subscription: texts.frames }),
      scale(given, optimistic = false) {
        isOptimistic = optimistic
        return mutate(texts.scale, given)
      },
      write: (name, given) => mutate(texts[name], given),
    }
  }
}

/** Relay knows the types of what is not abstract. */
const relayPayload = (given: { readonly id: string; readonly replicas: number }) => {
  const { __typename: _, ...rest } = optimisticPayload(given)
  const { spec, ...object } = rest.object
  return { ...rest, object: { ...object, spec: { replicas: spec.replicas } } }
}

const startRelay: StartWriting = async (project, schema) => {
  await mkdir(join(project.dir, 'src'), { recursive: true })
  await project.write('schema.graphql', await schema('relay'))
  const list = `query WritesListQuery($first: Int, $after: String) {
    deployments(namespace: "shop", first: $first, after: $after) @connection(key: "Writes_deployments", filters: []) {
      totalCount edges { node { ${row} } }
    }
  }`
  const named = Object.entries(texts)
    .filter(([name]) => name !== 'list')
    .map(([, text]) =>
      text.replace(/(subscription|mutation) (\w+)/, (_, kind: string, name: string) => {
        const suffix = kind === 'mutation' ? 'Mutation' : 'Subscription'
        return `${kind} Writes${name}${suffix}`
      }),
    )
  await project.write(
    'src/Writes.js',
    `import { graphql } from 'relay-runtime'\n${[list, ...named].map((text, at) => `export const d${at} = graphql\`${text}\``).join('\n')}`,
  )
  const settings = { src: './src', schema: './schema.graphql', language: 'javascript' }
  await project.write('relay.config.json', JSON.stringify({ ...settings, eagerEsModules: true }))
  await project.program('relay-compiler', 'relay.config.json')
  const artifact = async (name: string): Promise<GraphQLTaggedNode> =>
    ((await project.load(`src/__generated__/Writes${name}.graphql.js`)) as { default: never })
      .default
  const query = await artifact('ListQuery')
  const subscription = await artifact('FramesSubscription')
  const mutations = {
    scale: await artifact('ScaleMutation'),
    create: await artifact('CreateMutation'),
    delete: await artifact('DeleteMutation'),
    apply: await artifact('ApplyMutation'),
  }
  return ({ query: ask, socket }) => {
    const environment = liveEnvironment({
      network: Network.create(
        async ({ text }, variables) => (await ask(text ?? '', variables)) as GraphQLResponse,
        ({ text }, variables) =>
          Observable.create((sink) =>
            socket.subscribe({ query: text ?? '', variables }, sink as never),
          ),
      ),
      store: new Store(new RecordSource()),
    })
    const variables = { first: 20 }
    const operation = createOperationDescriptor(getRequest(query), variables)
    environment.retain(operation)
    const mutate = (
      mutation: GraphQLTaggedNode,
      given: Readonly<Record<string, unknown>>,
      optimistic?: Record<string, unknown>,
    ): Promise<Answer> =>
      new Promise((resolve, reject) => {
        commitMutation<MutationParameters & { readonly rawResponse: Record<string, unknown> }>(
          environment,
          {
            mutation,
            variables: given,
            ...(optimistic === undefined ? {} : { optimisticResponse: optimistic }),
            onCompleted: (data, errors) =>
              resolve({ payload: payloadOf(data), codes: codesOf((errors ?? []) as never) }),
            onError: reject,
          },
        )
      })
    return {
      load: async () => void (await fetchQuery(environment, query, variables).toPromise()),
      shown() {
        const { data } = environment.lookup(operation.fragment)
        const { deployments } = data as unknown as {
          readonly deployments?: { readonly edges: readonly { readonly node: Row | null }[] }
        }
        return shownOf(deployments?.edges.flatMap(({ node }) => node ?? []))
      },
      follow: () =>
        followRelayList(environment, {
          connection: 'Writes_deployments',
          subscription,
          filters: {},
        }),
      scale: (given, optimistic = false) =>
        mutate(mutations.scale, given, optimistic ? { scale: relayPayload(given) } : undefined),
      write: (name, given) => mutate(mutations[name], given),
    }
  }
}

/** The clients whose caches docs/clients.md describes. */
export const writingApps: Readonly<Record<string, StartWriting>> = {
  'Apollo Client': startApollo,
  urql: startUrql,
  Relay: startRelay,
}

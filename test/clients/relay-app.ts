import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createOperationDescriptor,
  type Environment,
  getSelector,
  type GraphQLResponse,
  Network,
  Observable,
  type ReaderFragment,
  RecordSource,
  Store,
} from 'relay-runtime'
import type { Client } from 'graphql-ws'
import { type FollowedList, liveEnvironment } from 'informerql/client/relay'
import type { GatewayCaller } from '../support/gateway.ts'
import type { Project } from './project.ts'

/** The pods of a node in Relay's store. */
export interface NodePods {
  readonly edges: readonly { readonly node: { readonly metadata: { readonly name: string } } }[]
  readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean }
}

/** An app of Relay whose fragment `NodePage_pods`, settings and follower are those of docs/clients.md. */
export interface RelayApp {
  /** What relay-compiler has printed. */
  readonly compiled: string
  readonly artifact: <T>(name: string) => Promise<T>
  /** A store without objects. */
  readonly open: (gateway: Pick<GatewayCaller, 'query'>, socket: Client) => RelayStore
}

export interface RelayStore {
  /** Runs an operation; answers with what it shows. */
  readonly run: (name: string, variables: Record<string, unknown>) => Promise<unknown>
  /** What the store has of an operation, without a request. */
  readonly look: (name: string, variables: Record<string, unknown>) => Promise<unknown>
  /** Reads a node by `NodePageQuery`, with its first pods. */
  readonly readNode: (name: string, count: number) => Promise<RelayNode>
}

export interface RelayNode {
  readonly pods: () => NodePods
  readonly names: () => readonly string[]
  /** Fetches the next page of its pods. */
  readonly loadNext: (count: number) => Promise<void>
  /** Follows its pods as documented. */
  readonly follow: () => FollowedList
}

const operations = `
  export const page = graphql\`
    query NodePageQuery($name: String!, $count: Int!) {
      node(name: $name) { id ...NodePage_pods @arguments(count: $count) }
    }
  \`
  export const owners = graphql\`
    query NodePageOwnersQuery {
      replicaSets { nodes { id namespaceObject { id metadata { name } } } }
      pods(first: 1) { nodes { id ownerChain { id kind namespace name } } }
    }
  \`
  export const live = graphql\`
    subscription NodePageSubscription($name: String!) {
      pods(where: { nodeName: { eq: $name } }) {
        reset synced
        changes { type removal objectId object { id metadata { name } } }
      }
    }
  \`
`

/** Compiles the app in a project, with further operations. */
export async function compileRelayApp(
  project: Project,
  sdl: string,
  further = '',
): Promise<RelayApp> {
  const document = await readFile('docs/clients.md', 'utf8')
  const blocks = Array.from(document.matchAll(/```\w+\n(.*?)```/gs), ([, block = '']) => block)
  const blockWith = (text: string): string => {
    const found = blocks.find((block) => block.includes(text))
    if (found === undefined) throw new Error(`docs/clients.md shows nothing with ${text}`)
    return found
  }
  await mkdir(join(project.dir, 'src'))
  await project.write('schema.graphql', sdl)
  const fragment = `export const pods = graphql\`${blockWith('fragment NodePage_pods')}\``
  const source = `import { graphql } from 'relay-runtime'\n${fragment}\n${operations}\n${further}`
  await project.write('src/NodePage.js', source)
  const settings = JSON.parse(blockWith('"eagerEsModules"')) as object
  await project.write('relay.config.json', JSON.stringify({ ...settings, language: 'javascript' }))
  const compiled = await project.program('relay-compiler', 'relay.config.json')
  // A module of TypeScript may import the sources of the client.
  const artifacts = ['NodePageSubscription', 'NodePagePodsQuery'].map(
    (name) => `import ${name} from './src/__generated__/${name}.graphql.js'`,
  )
  const follower = `// @ts-nocheck\n${artifacts.join('\n')}\n${blockWith('followRelayList(')}`
  await project.write('follower.ts', follower)
  const { followPods } = (await project.load('follower.ts')) as Pick<StoreParts, 'followPods'>
  const artifact = async <T>(name: string): Promise<T> =>
    ((await project.load(`src/__generated__/${name}.graphql.js`)) as { default: T }).default
  return {
    compiled,
    artifact,
    open: (gateway, socket) => storeOf({ gateway, socket, artifact, followPods }),
  }
}

interface StoreParts extends Pick<RelayApp, 'artifact'> {
  readonly gateway: Pick<GatewayCaller, 'query'>
  readonly socket: Client
  readonly followPods: (environment: Environment, socket: Client, node: object) => FollowedList
}

function storeOf({ gateway, socket, artifact, followPods }: StoreParts): RelayStore {
  const environment = liveEnvironment({
    network: Network.create(
      async ({ text }, variables) =>
        (await gateway.query(text ?? '', variables)) as GraphQLResponse,
      ({ text }, variables) =>
        Observable.create((sink) =>
          socket.subscribe(
            { query: text ?? '', variables },
            { ...sink, next: (found) => sink.next(found as GraphQLResponse) },
          ),
        ),
    ),
    store: new Store(new RecordSource()),
  })
  const run = async (name: string, variables: Record<string, unknown>): Promise<unknown> => {
    type Artifact = Parameters<typeof createOperationDescriptor>[0]
    const operation = createOperationDescriptor(await artifact<Artifact>(name), variables)
    environment.retain(operation)
    await environment.execute({ operation }).toPromise()
    return environment.lookup(operation.fragment).data
  }
  const look = async (name: string, variables: Record<string, unknown>): Promise<unknown> => {
    type Artifact = Parameters<typeof createOperationDescriptor>[0]
    const operation = createOperationDescriptor(await artifact<Artifact>(name), variables)
    return environment.lookup(operation.fragment).data
  }
  const readNode = async (name: string, count: number): Promise<RelayNode> => {
    const { node } = (await run('NodePageQuery', { name, count })) as {
      readonly node: { readonly id: string }
    }
    const selector = getSelector(await artifact<ReaderFragment>('NodePage_pods'), node)
    const pods = (): NodePods => {
      if (selector?.kind !== 'SingularReaderSelector') throw new Error('one node')
      return (environment.lookup(selector).data as unknown as { readonly pods: NodePods }).pods
    }
    return {
      pods,
      names: () => pods().edges.map((edge) => edge.node.metadata.name),
      async loadNext(next) {
        const cursor = pods().pageInfo.endCursor
        await run('NodePagePodsQuery', { id: node.id, count: next, cursor })
      },
      follow: () => followPods(environment, socket, { id: node.id, name }),
    }
  }
  return { run, look, readNode }
}

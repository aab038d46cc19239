import { copyFileSync, existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { reads, type SmallWorld, startSmallWorld } from '../access/small-world.ts'
import type { GraphQLAnswer } from '../support/gateway.ts'
import {
  type Caller,
  caller,
  serveViewers,
  tokenOf,
  type ViewedGateway,
} from '../support/viewed-gateway.ts'
import { compose, startCatalog, startRouter, subgraphAt } from './composed.ts'

/** Where `.ci/run` installs Hive Gateway, which needs a graphql of its own. */
const folder = resolve('.cache', 'hive-gateway')
const isInstalled = existsSync(join(folder, 'node_modules'))
if (!isInstalled) {
  process.stderr.write(
    `skipped: Hive Gateway is not there: cp test/federation/hive-gateway/* ${folder} && npm ci --prefix ${folder}\n`,
  )
}

const clerk = caller('clerk')
/** Reads pods in `one` only. */
const alice = caller('alice')

describe.skipIf(!isInstalled)('behind Hive Gateway, next to another subgraph', () => {
  let world: SmallWorld
  let served: ViewedGateway
  let catalog: Awaited<ReturnType<typeof startCatalog>>
  let router: Awaited<ReturnType<typeof startRouter>>
  let directory = ''

  beforeAll(async () => {
    for (const file of ['server.js', 'gateway.config.js']) {
      copyFileSync(join('test/federation/hive-gateway', file), join(folder, file))
    }
    world = await startSmallWorld()
    await world.allow('one', 'alice', 'alice', [reads('', 'pods')])
    await world.allowEverywhere('clerk', 'clerk', [
      reads('', 'pods', 'nodes'),
      reads('apps', 'deployments', 'replicasets'),
    ])
    served = await serveViewers({
      clusters: [{ ...world.selection, name: 'shop' }],
      federation: true,
      profile: {
        include: { kinds: ['Pod', 'Node', 'Deployment', 'ReplicaSet'] },
        descriptions: false,
      },
    })
    catalog = await startCatalog()
    const clusters = await subgraphAt('clusters', served.url, { authorization: tokenOf(clerk) })
    directory = await mkdtemp(join(tmpdir(), 'informerql-supergraph-'))
    const file = join(directory, 'supergraph.graphql')
    await writeFile(file, compose([clusters, catalog]))
    router = await startRouter(folder, file)
  })
  afterAll(async () => {
    await router?.[Symbol.asyncDispose]()
    await catalog?.[Symbol.asyncDispose]()
    await served?.[Symbol.asyncDispose]()
    await world?.[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  })

  const ask = async (who: Caller, query: string): Promise<GraphQLAnswer> => {
    const response = await fetch(router.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: tokenOf(who) },
      body: JSON.stringify({ query }),
    })
    return (await response.json()) as GraphQLAnswer
  }

  it('pods have a field of the other subgraph, made of what informerql knows', async () => {
    await world.patch('/api/v1/namespaces/one/pods/shop-1-x', {
      metadata: { labels: { team: 'checkout' } },
    })
    const query = '{ pods(orderBy: [{ namespace: ASC }]) { nodes { namespace ownerTeam } } }'
    await expect
      .poll(async () => (await ask(clerk, query)).data)
      .toEqual({
        pods: {
          nodes: [
            { namespace: 'one', ownerTeam: 'checkout' },
            { namespace: 'two', ownerTeam: 'platform' },
          ],
        },
      })
  })

  it('the other subgraph leads to a kind by its key, with fields and relations', async () => {
    const { data, errors } = await ask(
      clerk,
      '{ catalogServices { name deployment { name kind pods { nodes { name ownerTeam } } } } }',
    )
    expect(errors).toBeUndefined()
    expect(data.catalogServices).toEqual([
      {
        name: 'shop',
        deployment: {
          name: 'shop',
          kind: 'Deployment',
          pods: { nodes: [{ name: 'shop-1-x', ownerTeam: 'checkout' }] },
        },
      },
      { name: 'closed', deployment: null },
    ])
  })

  it('objects of every kind have a field of the other subgraph', async () => {
    const { data, errors } = await ask(clerk, '{ nodes { nodes { id name runbook } } }')
    expect(errors).toBeUndefined()
    const [node] = data.nodes.nodes
    const runbook = `https://runbooks.example.com/${node.id}`
    expect(node).toEqual({ id: expect.any(String), name: 'worker', runbook })
    const any = await ask(clerk, `{ object(id: "${node.id}") { kind runbook } }`)
    expect(any).toEqual({ data: { object: { kind: 'Node', runbook } } })
  })

  it('callers see what they may see, since the router forwards their tokens', async () => {
    const { data, errors } = await ask(
      alice,
      '{ pods { nodes { namespace ownerTeam } } catalogServices { name deployment { kind } } }',
    )
    expect(data.pods.nodes).toEqual([{ namespace: 'one', ownerTeam: 'checkout' }])
    expect(data.catalogServices).toEqual([
      { name: 'shop', deployment: null },
      { name: 'closed', deployment: null },
    ])
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
  })

  it('subscriptions run over WebSockets, and each change has the fields of both subgraphs', async () => {
    const client = createClient({
      url: router.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { authorization: tokenOf(alice) },
    })
    const frames = client.iterate<{ readonly pods: { readonly changes: readonly object[] } }>({
      query:
        'subscription { pods(coalesceMs: 0) { reset synced changes { type object { name ownerTeam } } } }',
    })
    const seen: object[] = []
    const until = async (expected: object): Promise<void> => {
      for await (const { data, errors } of { [Symbol.asyncIterator]: () => frames }) {
        expect(errors).toBeUndefined()
        seen.push(...(data?.pods.changes ?? []))
        try {
          expect(seen).toContainEqual(expected)
          return
        } catch {
          // The next frame.
        }
      }
    }
    const change = (type: string, ownerTeam: string): object => ({
      type,
      object: { name: 'shop-1-x', ownerTeam },
    })
    await until(change('ADDED', 'checkout'))
    await world.patch('/api/v1/namespaces/one/pods/shop-1-x', {
      metadata: { labels: { team: 'payments' } },
    })
    await until(change('MODIFIED', 'payments'))
    await client.dispose()
  })
})

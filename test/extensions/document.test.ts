import { EventEmitter, on } from 'node:events'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { createGateway, type Gateway } from 'informerql'
import { createApiServer } from 'informerql/cluster'
import { createSharedInformerFactory, resources } from 'informerql/informer'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'

const document = readFileSync('docs/extending.md', 'utf8')
const snippets = Array.from(document.matchAll(/```ts\n(.*?)```/gs), ([, code = '']) => code)

const snippetWith = (part: string): string => {
  const found = snippets.find((snippet) => snippet.includes(part))
  if (found === undefined) throw new Error(`no snippet has ${part}`)
  return found
}

/** Runs a snippet with what it leaves to the reader, and gives the value of an expression at its end. */
const run = async (part: string, scope: Fields, result: string): Promise<Fields> => {
  const code = stripTypeScriptTypes(`async () => { ${snippetWith(part)} \n return ${result} }`)
  // oxlint-disable-next-line typescript/no-implied-eval -- the code of the document
  const made = new Function(...Object.keys(scope), `return (${code})()`)
  return await made(...Object.values(scope))
}

describe('docs/extending.md', () => {
  let simulator: Simulator
  let gateway: Gateway
  beforeAll(async () => {
    simulator = await startSimulator()
    await created(simulator, '/api/v1/namespaces/default/pods', {
      metadata: { name: 'web', labels: { team: 'shop' } },
      spec: { containers: [{ name: 'a', image: 'example/a' }] },
    })
    gateway = await createGateway({ clusters: [{ name: 'test', server: simulator.url }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  it('has the code of the example', () => {
    const example = readFileSync('examples/extension.ts', 'utf8')
    for (const name of ['const costs', 'const onCall']) expect(example).toContain(snippetWith(name))
  })

  it('adds a field to a kind, and tests it', async () => {
    const clusters = [{ name: 'test', server: simulator.url }]
    const query = '{ pods { nodes { team } } }'
    const answer = `await gateway.execute({ query: '${query}' })`
    const teams = { pods: { nodes: [{ team: 'shop' }] } }
    expect(await run('team: String', { createGateway, clusters }, answer)).toEqual({ data: teams })
    const labels = {
      typeDefs: 'extend type Pod { team: String }',
      resolvers: { Pod: { team: ({ metadata }: Fields) => metadata.labels.team } },
    }
    // The snippet starts its own, which is empty.
    const scope = { createGateway, labels, startSimulator }
    expect(await run('startSimulator', scope, 'data')).toEqual({ pods: { nodes: [] } })
  })

  it('adds a query, a mutation and a subscription', async () => {
    const pager = new EventEmitter()
    const sent: string[] = []
    const pages = await run('openPages', { on, pager, sent }, 'pages')
    await using extended = await createGateway({
      clusters: [{ name: 'test', server: simulator.url }],
      extend: [pages],
    })
    const frames = await extended.execute({ query: 'subscription { paged { who } }' })
    if (!(Symbol.asyncIterator in frames)) throw new Error(JSON.stringify(frames))
    const next = frames.next()
    await expect.poll(() => pager.listenerCount('page')).toBe(1)
    pager.emit('page', 'ann')
    expect(await next).toEqual({ done: false, value: { data: { paged: { who: 'ann' } } } })
    await frames.return()
    await expect.poll(() => pager.listenerCount('page')).toBe(0)
    expect(await extended.execute({ query: 'mutation { page(who: "bob") }' })).toEqual({
      data: { page: true },
    })
    expect(await extended.execute({ query: '{ openPages }' })).toEqual({ data: { openPages: 1 } })
  })

  it('asks in the same process, and follows the schema', async () => {
    const answer = await run('const { data, errors }', { gateway }, '{ data, errors }')
    expect(answer).toEqual({ data: { pods: { totalCount: 0 } }, errors: undefined })
    expect(await run('Symbol.asyncIterator', { gateway }, '(await frames.next()).done')).toBe(true)
    const clusters = [{ name: 'test', server: simulator.url }]
    await using apiServer = createApiServer({ server: simulator.url })
    const means = { createGateway, createSharedInformerFactory, resources, apiServer, clusters }
    const shared = await run('informers: factory', means, 'await factory.shutdown(), true')
    expect(shared).toBe(true)
    const router = { replace: () => {} }
    expect(await run('onSchemaChange', { gateway, router }, 'typeof stop')).toBe('function')
  })
})

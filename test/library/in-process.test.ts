import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'graphql'
import { createGateway, type SubscriptionResults } from 'informerql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reads, type SmallWorld, startSmallWorld } from '../access/small-world.ts'
import { define, definitionOf, undefine, versionOf } from '../gateway/definitions.ts'
import { startSimulatedCluster } from '../gateway/test-cluster.ts'
import { caller, serveViewers, tokenOf, type ViewedGateway } from '../support/viewed-gateway.ts'

const ann = caller('ann')
const names = '{ pods { nodes { metadata { namespace name } } } }'

describe('An operation of the program itself', () => {
  let world: SmallWorld
  let served: ViewedGateway

  beforeAll(async () => {
    world = await startSmallWorld()
    await world.allow('one', 'ann', 'ann', [reads('', 'pods')])
    served = await serveViewers({ clusters: [world.selection] })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  it.each([
    names,
    '{ pods { nodes { metadata { name } } } __schema { queryType { name } } }',
    '{ pods(first: 100000) { nodes { metadata { name } } } }',
    '{ secrets { totalCount } }',
    '{ pods(namespace: "three") { totalCount } nothing }',
    '{ pods(',
    'query ($name: String!) { pod(namespace: "one", name: $name) { metadata { name } } }',
    'mutation { deletePod }',
  ])('is answered as by HTTP: %s', async (query) => {
    const byHttp = await served.query(ann, query)
    expect(await served.gateway.execute({ query, viewer: ann })).toEqual(byHttp)
  })

  it('shows a caller what they may see, and without one everything', async () => {
    const { execute } = served.gateway
    const mine = await execute({ query: names, viewer: ann })
    expect(mine).toEqual({ data: { pods: { nodes: [metadata('one')] } } })
    const everything = await execute({ query: parse(names) })
    expect(everything).toEqual({ data: { pods: { nodes: [metadata('one'), metadata('two')] } } })
  })

  it('finds its caller by an authenticator, and takes no credentials without one', async () => {
    const { execute } = served.gateway
    const authenticator = {
      authenticate: ({ authorization = '' }: { readonly authorization: string | undefined }) => {
        if (authorization !== tokenOf(ann)) throw new Error('the password is hunter2')
        return { viewer: ann, expiresAtMs: undefined }
      },
    }
    const token = tokenOf(ann).slice('Bearer '.length)
    const mine = { data: { pods: { nodes: [metadata('one')] } } }
    expect(await execute({ query: names, authenticator, token })).toEqual(mine)
    const headers = new Headers({ authorization: tokenOf(ann) })
    expect(await execute({ query: names, authenticator, headers })).toEqual(mine)
    const refused = await execute({ query: names, authenticator, token: 'x' })
    expect(refused).toMatchObject({ errors: [{ extensions: { code: 'INTERNAL' } }] })
    expect(JSON.stringify(refused)).not.toContain('hunter2')
    await expect(execute({ query: names, token })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    })
  })

  it('needs a viewer where one is required', async () => {
    await using gateway = await createGateway({ clusters: [world.selection], requireViewer: true })
    for (const query of [names, 'subscription { pods { synced } }']) {
      expect(await gateway.execute({ query })).toMatchObject({
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      })
    }
  })

  it('that subscribes gets its frames as an iterable, until it leaves or its signal aborts', async () => {
    const query = 'subscription { pods { synced changes { object { metadata { namespace } } } } }'
    const { execute } = served.gateway
    const leaving = new AbortController()
    const request = { query, viewer: ann, signal: leaving.signal }
    const frames = (await execute(request)) as SubscriptionResults
    const seen: unknown[] = []
    for await (const frame of frames) {
      seen.push(frame)
      leaving.abort()
    }
    expect(seen).toEqual([
      {
        data: { pods: { synced: true, changes: [{ object: { metadata: { namespace: 'one' } } }] } },
      },
    ])
    for await (const _ of (await execute({ query, viewer: ann })) as SubscriptionResults) break
    await expect.poll(() => served.gateway.planned.liveState().members).toBe(0)
  })

  it('explains itself, and is not waited for once its signal aborts', async () => {
    const { execute } = served.gateway
    const explained = await execute({ query: names, viewer: ann, explain: true })
    expect(explained).toHaveProperty('extensions.explain')
    const late = AbortSignal.abort(new Error('no longer needed'))
    await expect(execute({ query: names, signal: late })).rejects.toThrow('no longer needed')
  })
})

const metadata = (namespace: string): object => ({ metadata: { namespace, name: 'shop-1-x' } })

it('a program hears of each further schema, until it stops to listen', async () => {
  await using cluster = await startSimulatedCluster({}, [])
  await using gateway = await createGateway({
    clusters: [{ name: 'one', ...cluster.selection }],
    retryMs: 50,
  })
  const heard: boolean[] = []
  const stop = gateway.onSchemaChange((schema) => {
    heard.push(schema === gateway.schema && schema.getType('HeardExampleComGear') !== undefined)
    throw new Error('a listener that fails harms nobody')
  })
  await define(cluster, definitionOf('Gear', 'heard.example.com', [versionOf('v1', {})]))
  await expect.poll(() => heard.at(-1)).toBe(true)
  stop()
  const count = heard.length
  await undefine(cluster, 'gears.heard.example.com')
  const gone = (): boolean => gateway.schema.getType('HeardExampleComGear') === undefined
  await expect.poll(gone).toBe(true)
  await sleep(0)
  expect(heard).toHaveLength(count)
})

import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CountedServer, startCountedServer } from '../access/counted-server.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created, sent } from './created.ts'
import { definitionOf, definitionsPath, versionOf } from './definitions.ts'
import { resume, type Resumed } from './resumed-subscription.ts'

const group = 'hot.example.com'
const definition = `${definitionsPath}/gears.${group}`
const gears = `/apis/${group}/v1/namespaces/default/gears`
const string = { type: 'string' }
const wait = { timeout: 60_000 }

describe('A subscription to a kind whose definition changes while it begins', () => {
  let cluster: Simulator
  let counted: CountedServer
  const gateways: ServedGateway[] = []

  beforeEach(async () => {
    cluster = await startSimulator()
    counted = await startCountedServer(cluster.url)
    await created(
      cluster,
      definitionsPath,
      definitionOf('Gear', group, [versionOf('v1', { colour: string })]),
    )
  })
  afterEach(async () => {
    counted.release()
    for (const one of gateways.splice(0)) await one[Symbol.asyncDispose]()
    await counted[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const serve = async (server: string): Promise<ServedGateway> => {
    const served = await serveGateway({
      clusters: [{ name: 'one', server }],
      retryMs: 100,
      limits: { syncDeadlineMs: 60_000 },
    })
    gateways.push(served)
    return served
  }
  /** Waits until these are the fields of a gear's spec; `null`: until there are no gears. */
  const served = async (
    gateway: ServedGateway,
    fields: readonly string[] | null,
  ): Promise<void> => {
    const query = '{ type: __type(name: "HotExampleComGearSpec") { fields { name } } }'
    await expect
      .poll(async () => (await gateway.data(query)).type, wait)
      .toEqual(fields && { fields: fields.map((name) => ({ name })) })
  }
  const follow = (gateway: ServedGateway, from?: Resumed['seen'][number]): Resumed => {
    const asked = { field: 'hotExampleComGears(coalesceMs: 0', selection: 'spec { colour }' }
    return resume(gateway.connect(), asked, from)
  }

  it('ends with SCHEMA_CHANGED where it reads what is gone', async () => {
    const gateway = await serve(counted.url)
    await served(gateway, ['colour'])
    counted.hold('/v1/gears')
    const live = follow(gateway)
    await expect.poll(counted.held, wait).toBe(1)
    const versions = [versionOf('v1', { teeth: { type: 'integer' } })]
    await sent(cluster, 'PATCH', definition, { spec: { versions } })
    await served(gateway, ['teeth'])
    counted.release()
    await expect(live.until(() => false)).rejects.toThrow('SCHEMA_CHANGED')
    expect(live.seen).toEqual([])
  })

  it('reads nothing more of what it missed where the kind is gone', async () => {
    await created(cluster, gears, {
      apiVersion: `${group}/v1`,
      kind: 'Gear',
      metadata: { name: 'a' },
    })
    const first = await serve(cluster.url)
    await served(first, ['colour'])
    const live = follow(first)
    await live.until(({ size }) => size === 1)
    const from = live.seen.at(-1)
    await sent(cluster, 'PATCH', `${gears}/a`, { spec: { colour: 'red' } })
    const next = await serve(counted.url)
    await served(next, ['colour'])
    counted.hold(`resourceVersion=${from?.frame.resourceVersion}`)
    const again = follow(next, from)
    await expect.poll(counted.held, wait).toBe(1)
    await sent(cluster, 'DELETE', definition)
    await served(next, null)
    // Long before the watch of what was missed would be given up.
    await expect.poll(counted.held).toBe(0)
    await expect(again.until(() => false)).rejects.toThrow('SCHEMA_CHANGED')
  })
})

describe('A definition that is there before the API server shows its API', () => {
  // A document of the same content is known from the server before.
  it.each([
    ['in discovery', '/apis', 'spokes'],
    ['in OpenAPI', `/openapi/v3/apis/${group}/v1`, 'rims'],
  ])(
    'is served in full once it is shown %s, although nothing else changes',
    async (_, path, field) => {
      const wheels = definitionOf('Wheel', group, [versionOf('v1', { [field]: string })])
      await using cluster = await startSimulator()
      await using front = await startCountedServer(cluster.url)
      const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
      const before = await fetch(cluster.url + path, { headers: { accept } })
      const text = Buffer.from(await before.arrayBuffer())
      await created(cluster, definitionsPath, wheels)
      if (before.ok) front.answer(path, text)
      else front.refuse(path, 404)
      await using gateway = await serveGateway({ clusters: [{ name: 'one', server: front.url }] })
      const query = '{ type: __type(name: "HotExampleComWheelSpec") { fields { name } } }'
      expect((await gateway.data(query)).type).toBeNull()
      front.refuse(path, undefined)
      await expect
        .poll(async () => (await gateway.data(query)).type, wait)
        .toEqual({ fields: [{ name: field }] })
    },
    60_000,
  )
})

import { GatewayMetrics } from 'informerql'
import { createApiServer, type ObjectClient } from 'informerql/cluster'
import { createSharedInformer, resources, type Unstructured } from 'informerql/informer'
import type { Ingress } from 'informerql/kubernetes'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { until } from '../support/informer.ts'

const { ingresses, configMaps } = resources
const namespace = 'default'
const ingress = (name: string, hosts: readonly string[]) => ({
  metadata: { namespace, name },
  spec: {
    defaultBackend: { service: { name: 'web', port: { number: 80 } } },
    rules: hosts.map((host) => ({ host })),
  },
})
const hostsOf = (many: number): string[] =>
  Array.from({ length: many }, (_, at) => `host-${at}.example.com`)

describe('An object with more values than an index keeps of one', () => {
  const stack = new AsyncDisposableStack()
  const metrics = new GatewayMetrics()
  let gateway: ServedGateway
  let client: ObjectClient<Ingress>

  const namesOf = async (host: string): Promise<string[]> => {
    const query = `query ($host: String!) { ingresses(where: { host: { eq: $host } }) { nodes { metadata { name } } } }`
    const { data } = await gateway.query(query, { host })
    return data.ingresses.nodes.map((node: Unstructured) => node.metadata.name)
  }

  beforeAll(async () => {
    const simulator = stack.use(await startSimulator())
    const apiServer = stack.use(createApiServer({ server: simulator.url }))
    client = apiServer.client(ingresses)
    await client.create(ingress('shop', ['shop.example.com', 'host-7.example.com']))
    await client.create(ingress('large', hostsOf(5_000)))
    gateway = stack.use(
      await serveGateway({ clusters: [{ name: 'one', server: simulator.url }], metrics }),
    )
  })
  afterAll(async () => stack.disposeAsync())

  it('is found by each of as many as it keeps', async () => {
    expect(await namesOf('host-4999.example.com')).toEqual(['large'])
    expect(await namesOf('host-7.example.com')).toEqual(['large', 'shop'])
  })

  it('is a failure of the index, told and counted, while others are found and it is still read', async () => {
    const large = await client.patch(
      { namespace, name: 'large' },
      { merge: ingress('large', hostsOf(20_000)) },
    )
    await expect.poll(() => namesOf('host-7.example.com')).toEqual(['shop'])
    const { data } = await gateway.query(
      `{ ingress(namespace: "${namespace}", name: "large") { metadata { resourceVersion } } }`,
    )
    expect(data.ingress.metadata.resourceVersion).toBe(large.metadata.resourceVersion)
    expect(gateway.log.join('\n')).toMatch(
      /"host" failed for ingresses\.networking\.k8s\.io default\/large: .*20000 values, more than 5000/,
    )
    expect(await metrics.text()).toMatch(
      /informer_failures_total\{.*resource="ingresses\.networking\.k8s\.io".*failure="index"\} 1/,
    )
  })

  it('is found again once it has fewer', async () => {
    await client.patch(
      { namespace, name: 'large' },
      { merge: ingress('large', ['small.example.com']) },
    )
    await expect.poll(() => namesOf('small.example.com')).toEqual(['large'])
    expect(await namesOf('host-7.example.com')).toEqual(['shop'])
  })
})

describe('An update of an object with many values', () => {
  it('reads each of them a few times, however many there are', async () => {
    await using simulator = await startSimulator()
    await using apiServer = createApiServer({ server: simulator.url })
    const maps = apiServer.client(configMaps)
    const values = hostsOf(5_000)
    let reads = 0
    const counted = new Proxy(values, {
      get(target, member, receiver) {
        if (typeof member === 'string' && /^\d+$/.test(member)) reads += 1
        return Reflect.get(target, member, receiver) as unknown
      },
    })
    const informer = createSharedInformer({
      apiServer,
      resource: configMaps,
      indexers: { host: () => counted },
    })
    const stop = new AbortController()
    const running = informer.run(stop.signal)
    await informer.waitForSync({ deadlineMs: 20_000 })
    for (const name of ['one', 'other']) {
      await maps.create({ metadata: { namespace, name }, data: { n: '1' } })
    }
    const { metadata } = await maps.patch(
      { namespace, name: 'one' },
      { merge: { data: { n: '2' } } },
    )
    await until(
      () =>
        informer.lister().namespaced(namespace).find('one')?.metadata.resourceVersion ===
        metadata.resourceVersion,
      'the update',
    )
    await maps.delete({ namespace, name: 'one' })
    await until(
      () => informer.store.index('host').posting('host-0.example.com')?.size === 1,
      'the end',
    )
    stop.abort()
    await running
    // Two additions and an update.
    expect(reads).toBeLessThan(3 * 10 * values.length)
    expect(reads).toBeGreaterThan(3 * values.length)
  })
})

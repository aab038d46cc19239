import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { startRequestProxy } from '../support/request-proxy.ts'

it('names that would lead a proxy to another path are of no object, and are sent to no API server', async () => {
  await using simulator = await startSimulator()
  await using proxy = await startRequestProxy(simulator.url)
  const clusters = [{ name: 'one', server: proxy.url }]
  await using gateway = await serveGateway({ clusters, allowWrites: true })
  const manifest = JSON.stringify('{ apiVersion: v1, kind: ConfigMap, metadata: { name: one } }')
  for (const mutation of [
    'delete(id: "one/ConfigMap/default/..")',
    'delete(id: "one/ConfigMap/../one")',
    'label(id: "one/ConfigMap/default/.", labels: { a: "b" })',
    `apply(manifest: ${manifest}, namespace: "..")`,
    `create(manifest: ${manifest}, namespace: ".")`,
  ]) {
    const { errors } = await gateway.query(`mutation { ${mutation} { changes { path } } }`)
    expect(errors?.[0]?.extensions, mutation).toMatchObject({ code: 'NOT_FOUND' })
  }
  const live = await gateway.query(`{
    pod(namespace: "default", name: "..", live: true) { name }
    node(name: "..", live: true) { name }
  }`)
  expect(live).toEqual({ data: { pod: null, node: null } })
  expect(proxy.requests.filter((one) => /\/\.{1,2}([/?]|$)/.test(one))).toEqual([])
})

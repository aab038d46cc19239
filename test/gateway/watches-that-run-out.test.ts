import { startSimulator } from 'informerql/simulator'
import { expect, it, vi } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { startRequestProxy } from '../support/request-proxy.ts'

it('asks which cluster it is when a connection begins, and not with each watch that follows another one in time', async () => {
  await using cluster = await startSimulator()
  await using proxy = await startRequestProxy(cluster.url)
  await using gateway = await serveGateway({
    clusters: [{ name: 'one', server: proxy.url }],
    // A watch that ends within a second of its time has run out.
    reflector: { watchTimeoutSeconds: { min: 1, max: 1 }, shortWatchMs: 0 },
  })
  const asked = (what: RegExp): number =>
    proxy.requests.filter((request) => what.test(request)).length
  const identities = (): number => asked(/^GET \/api\/v1\/namespaces\/kube-system$/)
  const watches = (): number => asked(/^GET \/api\/v1\/pods\?.*watch=true/)
  await gateway.query('{ pods(first: 1) { totalCount } }')
  await vi.waitFor(() => expect(watches()).toBeGreaterThan(2), 20_000)
  const before = { identities: identities(), watches: watches() }
  expect(before.identities).toBeGreaterThan(0)
  await vi.waitFor(() => expect(watches()).toBeGreaterThan(before.watches + 3), 20_000)
  expect(identities()).toBe(before.identities)
  cluster.faults.inject({ fault: { type: 'drop-connections' } })
  await vi.waitFor(() => expect(identities()).toBeGreaterThan(before.identities), 20_000)
})

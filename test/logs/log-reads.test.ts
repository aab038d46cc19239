import { createHash } from 'node:crypto'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { startCountedServer } from '../access/counted-server.ts'
import { serveGateway } from '../support/gateway.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'
import { namespace, putNodes, putPod, running } from './small-town.ts'

it('all podLogs of a query share one deadline, and no browser keeps their lines', async () => {
  await using cluster = await startSimulator({
    populate(storage) {
      putNodes(storage)
      putPod(storage, 'one', running(0))
    },
  })
  await using between = await startCountedServer(cluster.url)
  await using kubeconfig = await writeKubeconfig({
    url: between.url,
    headers: {},
    expireHistory: async () => {},
  })
  await using gateway = await serveGateway({
    clusters: [{ name: 'one', kubeconfig: kubeconfig.path }],
    limits: { liveDeadlineMs: 1_000 },
  })
  const logs = (tailLines: number): string =>
    `podLogs(namespace: "${namespace}", tailLines: ${tailLines}) { lines { text } }`

  const query = `{ ${logs(1)} }`
  const sha256Hash = createHash('sha256').update(query).digest('hex')
  const extensions = { persistedQuery: { version: 1, sha256Hash } }
  const learned = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, extensions }),
  })
  expect((await learned.json()).data.podLogs.lines).toHaveLength(1)
  const named = `?extensions=${encodeURIComponent(JSON.stringify(extensions))}`
  for (const accept of ['application/json', 'text/plain;q=0.1, application/json']) {
    const kept = await fetch(gateway.url + named, {
      headers: { accept, 'apollo-require-preflight': '1' },
    })
    expect(kept.status).toBe(200)
    expect(kept.headers.get('cache-control')).toBe('no-store')
    expect(kept.headers.get('etag')).toBeNull()
  }

  between.hold('/log?')
  const { data, errors } = await gateway.query(`{
    a: podLogs(namespace: "${namespace}", tailLines: 2) { streams { state } }
    b: ${logs(3)} c: ${logs(4)}
  }`)
  expect(data).toEqual({ a: { streams: [{ state: 'FAILED' }] }, b: null, c: null })
  expect(errors).toMatchObject([
    { path: ['b'], extensions: { code: 'DEADLINE_EXCEEDED', value: 1_000 } },
    { path: ['c'], extensions: { code: 'DEADLINE_EXCEEDED', value: 1_000 } },
  ])
  expect(between.count('tailLines=2')).toBe(1)
  expect(between.count('tailLines=3') + between.count('tailLines=4')).toBe(0)
})

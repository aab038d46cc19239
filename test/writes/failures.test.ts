import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { refused, written } from './shop.ts'

const apply = 'apply(manifest: $manifest, namespace: "default")'
const map = (name: string, data: object = {}): object => ({
  manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data },
})

describe('a write that the API server does not answer as it should', () => {
  let simulator: Simulator
  const serve = (writes: object = {}, server: object = {}): Promise<ServedGateway> =>
    serveGateway(
      { clusters: [{ name: 'test', server: simulator.url }], allowWrites: true, writes },
      server,
    )
  beforeAll(async () => {
    simulator = await startSimulator()
  })
  afterAll(async () => simulator[Symbol.asyncDispose]())

  it('may have been made: OUTCOME_UNKNOWN, and it is not repeated', async () => {
    await using gateway = await serve()
    const match = { resource: 'configmaps', verb: 'patch' } as const
    simulator.faults.inject({ match, fault: { type: 'disconnect' } })
    expect(await refused(gateway, apply, map('unknown'))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      cluster: 'test',
      type: 'ConfigMap',
      hint: 'read the object before you write again',
    })
    expect(simulator.faults.pending()).toEqual([])
  })

  it.each([
    [500, 'CLUSTER_UNREACHABLE'],
    [503, 'CLUSTER_UNREACHABLE'],
    [413, 'BAD_USER_INPUT'],
    [401, 'TOKEN_NEEDED'],
  ] as const)('a status %i is %s', async (code, expected) => {
    await using gateway = await serve()
    const match = { resource: 'configmaps', verb: 'patch' } as const
    simulator.faults.inject({ match, fault: { type: 'status', code } })
    expect((await refused(gateway, apply, map('refused'))).code).toBe(expected)
  })

  it('a cache that does not hear of it in time is behind, and says so', async () => {
    const match = { resource: 'configmaps', verb: 'watch' } as const
    simulator.faults.inject({ match, fault: { type: 'half-open', afterBytes: 0 }, times: 3 })
    await using gateway = await serve({ cacheDeadlineMs: 300 })
    await gateway.query('{ configMaps { totalCount } }')
    const [payload] = await written(gateway, apply, map('late', { a: '1' }))
    expect(payload).toMatchObject({ behind: true, object: { json: { data: { a: '1' } } } })
  })

  it('so is a cache whose first list may have begun before the write', async () => {
    await using gateway = await serve({ cacheDeadlineMs: 300 })
    const match = { resource: 'configmaps', verb: 'list' } as const
    simulator.faults.inject({ match, fault: { type: 'half-open', afterBytes: 0 }, times: 3 })
    const listed = gateway.query('{ configMaps { totalCount } }')
    await vi.waitFor(() => expect(simulator.faults.pending()[0]?.remaining).toBeLessThan(3))
    expect(await written(gateway, apply, map('first'))).toMatchObject([{ behind: true }])
    simulator.faults.clear()
    simulator.faults.inject({ fault: { type: 'drop-connections' } })
    await listed
  })

  it('an object that cannot be read after the write is not told as removed', async () => {
    await using gateway = await serve()
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'web:1' }] },
    }
    const manifest = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', finalizers: ['example.com/held'] },
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template },
    }
    const [{ object }] = await written(gateway, apply, { manifest })
    for (const mutation of [
      `scale(id: "${object.id}", replicas: 3)`,
      `delete(id: "${object.id}")`,
    ]) {
      const match = { resource: 'deployments', verb: 'get' } as const
      const fault = [{ type: 'none' }, { type: 'status', code: 500 }] as const
      simulator.faults.inject({ match, fault })
      expect(await written(gateway, mutation)).toMatchObject({
        object: null,
        changes: [],
        behind: true,
        warnings: ['this was written, but its present state could not be read'],
      })
      expect(simulator.faults.pending()).toEqual([])
    }
  })

  it('a container that is removed before its image is set stays removed, and annotations set meanwhile stay', async () => {
    const path = '/apis/apps/v1/namespaces/default/deployments/raced'
    let change: object | undefined
    const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { method = 'GET', url = '' } = request
      const text = Buffer.concat(await request.toArray())
      if (method === 'PATCH' && change !== undefined) {
        const headers = { 'content-type': 'application/merge-patch+json' }
        const options = { method, headers, body: JSON.stringify(change) }
        change = undefined
        await fetch(`${simulator.url}${path}`, options)
      }
      const headers = { 'content-type': request.headers['content-type'] ?? 'application/json' }
      const body = text.length === 0 ? null : text
      const answer = await fetch(`${simulator.url}${url}`, { method, headers, body })
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      if (answer.body === null) response.end()
      else await pipeline(answer.body, response).catch(() => {})
    }
    const between = createServer((request, response) => void forward(request, response)).listen(0)
    onTestFinished(() => between.close().closeAllConnections())
    const server = `http://127.0.0.1:${(between.address() as AddressInfo).port}`
    await using gateway = await serveGateway({
      clusters: [{ name: 'test', server }],
      allowWrites: true,
    })
    const selector = { matchLabels: { app: 'raced' } }
    const metadata = { labels: selector.matchLabels }
    const containers = ['main', 'side'].map((name) => ({ name, image: 'web:1' }))
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'raced', annotations: { first: 'a' } },
      spec: { replicas: 0, selector, template: { metadata, spec: { containers } } },
    }
    const [{ object }] = await written(gateway, apply, { manifest: deployment })
    const { apiVersion, kind } = deployment
    const { uid } = object.json.metadata
    const ownerReferences = [{ apiVersion, kind, name: 'raced', uid, controller: true }]
    const manifest = [1, 2].map((at) => ({
      apiVersion,
      kind: 'ReplicaSet',
      metadata: {
        name: `raced-${at}`,
        ...metadata,
        annotations: { 'deployment.kubernetes.io/revision': `${at}` },
        ownerReferences,
      },
      spec: { replicas: 0, selector, template: { metadata, spec: { containers } } },
    }))
    await written(gateway, apply, { manifest })
    /** Makes a mutation, and changes the object between its read and its write. */
    const raced = async (mutation: string, body: object): Promise<Fields> => {
      change = body
      const answer = await gateway.query(`mutation { ${mutation} { behind } }`)
      expect(change).toBeUndefined()
      const response = await fetch(`${simulator.url}${path}`)
      return { answer, object: await response.json() }
    }
    const annotated = { metadata: { annotations: { second: 'b' } } }
    const rolled = await raced(`rollback(id: "${object.id}", toRevision: 1)`, annotated)
    expect(rolled).toMatchObject({
      answer: { data: { rollback: { behind: false } } },
      object: { metadata: { annotations: { first: 'a', second: 'b' } } },
    })
    const [main] = containers
    const alone = { spec: { template: { spec: { containers: [main] } } } }
    const set = `setImage(id: "${object.id}", container: "side", image: "side:2")`
    expect(await raced(set, alone)).toMatchObject({
      answer: { errors: [{ extensions: { code: 'INVALID' } }] },
      object: { spec: { template: { spec: { containers: [main] } } } },
    })
  })

  it('a mutation that is not in the list of trusted documents is refused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-writes-'))
    const trustedDocuments = join(folder, 'documents.json')
    await writeFile(trustedDocuments, JSON.stringify({ one: '{ __typename }' }))
    await using gateway = await serve({}, { trustedDocuments })
    expect(await refused(gateway, apply, map('untrusted'))).toMatchObject({
      code: 'UNTRUSTED_DOCUMENT',
    })
    await rm(folder, { recursive: true })
  })
})

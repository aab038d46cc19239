import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
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
        warnings: ['this was written, but what is there now could not be read'],
      })
      expect(simulator.faults.pending()).toEqual([])
    }
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

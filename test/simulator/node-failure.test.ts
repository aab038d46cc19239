import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ask, type ContractServer, type Fields } from '../contract/contract-server.ts'

const pods = '/api/v1/namespaces/default/pods'

let simulator: Simulator
let server: ContractServer

beforeEach(async () => {
  simulator = await startSimulator()
  server = { url: simulator.url, headers: {}, expireHistory: async () => undefined }
  const status = { conditions: [{ type: 'Ready', status: 'True' }] }
  await ask(server, '/api/v1/nodes', {
    method: 'POST',
    body: { metadata: { name: 'n' }, spec: {}, status },
  })
  const tolerations = [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists' }]
  for (const [name, more] of Object.entries({ a: {}, b: { tolerations } })) {
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }], ...more }
    await ask(server, pods, { method: 'POST', body: { metadata: { name }, spec } })
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'True' }))
    await ask(server, `${pods}/${name}/status`, {
      method: 'PATCH',
      body: { status: { phase: 'Running', conditions } },
      contentType: 'application/merge-patch+json',
    })
  }
})

afterEach(async () => simulator[Symbol.asyncDispose]())

const get = async (path: string): Promise<Fields> => (await ask(server, path)).json
const ready = ({ status }: Fields): string =>
  status.conditions.find(({ type }: Fields) => type === 'Ready').status

describe('A node that fails', () => {
  it('is unknown and tainted, its pods are not ready, and those that do not tolerate it are evicted', async () => {
    simulator.faults.inject({ fault: { type: 'fail-node', node: 'n', evictAfterMs: 0 } })
    const node = await get('/api/v1/nodes/n')
    expect(ready(node)).toBe('Unknown')
    expect(node.spec.taints).toMatchObject([
      { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
    ])
    expect([ready(await get(`${pods}/a`)), ready(await get(`${pods}/b`))]).toEqual([
      'False',
      'False',
    ])
    await expect
      .poll(async () => (await get(`${pods}/a`)).metadata.deletionTimestamp)
      .toBeTypeOf('string')
    expect((await get(`${pods}/b`)).metadata.deletionTimestamp).toBeUndefined()
  })

  it('keeps its pods for as long as they tolerate it', async () => {
    simulator.faults.inject({ fault: { type: 'fail-node', node: 'n', evictAfterMs: 60_000 } })
    expect((await get(`${pods}/a`)).metadata.deletionTimestamp).toBeUndefined()
  })

  it('comes back: what was evicted is gone, the rest is ready', async () => {
    simulator.faults.inject({ fault: { type: 'fail-node', node: 'n', evictAfterMs: 0 } })
    await expect
      .poll(async () => (await get(`${pods}/a`)).metadata.deletionTimestamp)
      .toBeTypeOf('string')
    simulator.faults.inject({ fault: { type: 'recover-node', node: 'n' } })
    const node = await get('/api/v1/nodes/n')
    expect([ready(node), node.spec.taints]).toEqual(['True', undefined])
    expect((await ask(server, `${pods}/a`)).status).toBe(404)
    expect(ready(await get(`${pods}/b`))).toBe('True')
  })

  it('must be there', async () => {
    const body = { fault: { type: 'fail-node', node: 'none' } }
    const answer = await ask(server, '/simulator/faults', { method: 'POST', body })
    expect([answer.status, answer.json.message]).toEqual([400, expect.stringContaining('none')])
  })
})

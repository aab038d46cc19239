import { beforeEach, expect, it } from 'vitest'
import {
  ask,
  type ContractAnswer,
  describeContract,
  type Fields,
  newNamespace,
} from './contract-server.ts'

const mergePatch = 'application/merge-patch+json'

describeContract('An eviction', (server) => {
  let namespace = ''

  const at = (rest: string): string => `/api/v1/namespaces/${namespace}/pods/${rest}`
  const budgets = (rest: string): string =>
    `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets${rest}`
  const patch = async (path: string, body: object): Promise<void> => {
    const { status } = await ask(server(), path, { method: 'PATCH', contentType: mergePatch, body })
    expect(status).toBe(200)
  }
  const evict = async (name: string, more: Fields = {}, query = ''): Promise<ContractAnswer> =>
    ask(server(), `${at(name)}/eviction${query}`, {
      method: 'POST',
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...more },
    })
  const exists = async (name: string): Promise<boolean> =>
    (await ask(server(), at(name))).status === 200
  const makePod = async (name: string, phase = 'Running'): Promise<void> => {
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const metadata = { name, labels: { app: 'web' } }
    await ask(server(), at(''), { method: 'POST', body: { metadata, spec } })
    const conditions = [{ type: 'Ready', status: 'True' }]
    await patch(`${at(name)}/status`, { status: { phase, conditions } })
  }

  beforeEach(async () => {
    namespace = await newNamespace(server())
  })

  it('deletes the pod', async () => {
    await makePod('a')
    const answer = await evict('a')
    expect(answer.status).toBe(201)
    expect(answer.json).toMatchObject({ kind: 'Status', status: 'Success', code: 201 })
    expect(await exists('a')).toBe(false)
  })

  it('deletes nothing in a dry run', async () => {
    await makePod('a')
    expect((await evict('a', {}, '?dryRun=All')).status).toBe(201)
    expect((await evict('a', { deleteOptions: { dryRun: ['All'] } })).status).toBe(201)
    expect(await exists('a')).toBe(true)
  })

  it('is of the pod that it names, which must be there and be the one that is meant', async () => {
    await makePod('a')
    const other = await evict('a', { metadata: { name: 'b' } })
    expect(other.json).toMatchObject({
      code: 400,
      message: 'name in URL does not match name in Eviction object',
    })
    expect((await evict('none')).status).toBe(404)
    const stale = await evict('a', { deleteOptions: { preconditions: { uid: 'another' } } })
    expect(stale.status).toBe(409)
    expect(await exists('a')).toBe(true)
  })

  it('spends what a disruption budget allows, and is refused beyond', async () => {
    await makePod('a')
    await makePod('b')
    const spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } }
    await ask(server(), budgets(''), { method: 'POST', body: { metadata: { name: 'web' }, spec } })
    const unknown = await evict('a')
    expect(unknown.status).toBe(429)
    expect(unknown.json).toMatchObject({
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
    })
    expect(unknown.headers['retry-after']).toBe('10')
    const known = { observedGeneration: 1, expectedPods: 2, desiredHealthy: 1, currentHealthy: 2 }
    await patch(`${budgets('/web')}/status`, { status: { ...known, disruptionsAllowed: 1 } })
    expect((await evict('a')).status).toBe(201)
    const spent = await ask(server(), budgets('/web'))
    expect(spent.json.status.disruptionsAllowed).toBe(0)
    for (const [currentHealthy, problem] of [
      [2, 'does not allow evicting pods currently'],
      [1, 'needs 1 healthy pods and has 1 currently'],
    ]) {
      await patch(`${budgets('/web')}/status`, { status: { currentHealthy } })
      const refused = await evict('b')
      expect(refused.status).toBe(429)
      expect(refused.json.details.causes).toMatchObject([
        { reason: 'DisruptionBudget', message: `The disruption budget web ${problem}` },
      ])
    }
    expect(await exists('a')).toBe(false)
    expect(await exists('b')).toBe(true)
  })

  it('asks no budget for a pod that has ended, or has not begun', async () => {
    const spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } }
    await ask(server(), budgets(''), { method: 'POST', body: { metadata: { name: 'web' }, spec } })
    for (const phase of ['Pending', 'Succeeded', 'Failed']) {
      const name = phase.toLowerCase()
      await makePod(name, phase)
      expect((await evict(name)).status).toBe(201)
      expect(await exists(name)).toBe(false)
    }
  })
})

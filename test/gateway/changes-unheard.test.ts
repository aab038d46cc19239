import { type FaultMatch, startSimulator, type Simulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created } from './created.ts'
import { definitionOf, definitionsPath, versionOf } from './definitions.ts'

const gear = definitionOf('Gear', 'hot.example.com', [
  versionOf('v1', { colour: { type: 'string' } }),
])
const query = '{ hotExampleComGears { nodes { spec { colour } } } }'
const wait = { timeout: 60_000, interval: 50 }
const definitions = { resource: 'customresourcedefinitions' }

describe('types that change where it is not easily heard of', () => {
  let simulator: Simulator
  let gateway: ServedGateway
  beforeEach(async () => {
    simulator = await startSimulator()
  })
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const fail = (match: FaultMatch, code: number, times: number): void =>
    simulator.faults.inject({ fault: { type: 'status', code }, match, times })
  const serve = async (watch: object = {}): Promise<void> => {
    gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }], watch })
  }
  const answered = async (): Promise<string> => JSON.stringify(await gateway.query(query))

  it('a gateway that may not watch definitions asks from time to time', async () => {
    for (const verb of ['list', 'watch', 'get'] as const)
      fail({ ...definitions, verb }, 403, Infinity)
    await serve({ pollMs: 300 })
    await created(simulator, definitionsPath, gear)
    await expect.poll(answered, wait).toBe('{"data":{"hotExampleComGears":{"nodes":[]}}}')
  })

  it('a cluster that fails to say what it serves is asked again, and the old schema stays', async () => {
    await serve()
    fail({ path: '/apis', verb: 'get' }, 500, 2)
    fail({ path: '/openapi' }, 500, 2)
    await created(simulator, definitionsPath, gear)
    await expect.poll(() => gateway.log.join('\n'), wait).toContain('asking for its API failed')
    expect(
      await gateway.data('{ namespaces(first: 1) { nodes { metadata { name } } } }'),
    ).toBeTruthy()
    await expect.poll(answered, wait).toBe('{"data":{"hotExampleComGears":{"nodes":[]}}}')
  })

  it('a definition that came while the cluster was out of reach is found when it is back', async () => {
    await serve()
    simulator.faults.inject({ fault: { type: 'refuse-connections', forMs: 500 } })
    await expect
      .poll(
        () =>
          created(simulator, definitionsPath, gear).then(
            () => 'created',
            () => 'refused',
          ),
        wait,
      )
      .toBe('created')
    await expect.poll(answered, wait).toBe('{"data":{"hotExampleComGears":{"nodes":[]}}}')
  })
})

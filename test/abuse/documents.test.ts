import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { GatewayMetrics } from 'informerql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type AttackedGateway, startAttackedGateway } from './attacked-gateway.ts'
import { company } from '../support/company.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const heapBytes = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
const megabyte = 1 << 20
const times = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(' ')

describe('a name that no operation of a document has', () => {
  let world: AttackedGateway
  const query = '{ pods { totalCount } }'

  beforeAll(async () => {
    world = await startAttackedGateway()
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
  })

  const post = async (operationName: string | null): Promise<string> => {
    const { gateway, authorization } = world
    const headers = { 'content-type': 'application/json', authorization }
    const body = JSON.stringify({ query, operationName })
    return (await fetch(gateway.url, { method: 'POST', headers, body })).text()
  }

  it('is not remembered, however many there are', async () => {
    await post('first')
    const before = heapBytes()
    for (let at = 0; at < 400; at += 1) {
      expect(await post(`${at}${'x'.repeat(100_000)}`)).toContain('Unknown operation')
    }
    expect(heapBytes() - before).toBeLessThan(20 * megabyte)
  })

  it('is unknown where it is empty, too, by every transport, and turns off no plan', async () => {
    const { gateway, authorization, mallory } = world
    const headers = { authorization, 'graphql-require-preflight': '1' }
    await post(null)
    const search = new URLSearchParams({ query, operationName: '' })
    const byGet = await (await fetch(`${gateway.url}?${search}`, { headers })).text()
    const bySocket = await firstAnswer(mallory.connect(), query, {}, '')
    for (const answer of [byGet, await post(''), JSON.stringify(bySocket)]) {
      expect(answer).toContain(String.raw`Unknown operation named \"\".`)
    }
    const whole = '{"data":{"pods":{"totalCount":60}}}'
    expect(await post(null)).toBe(whole)
    expect(await gateway.gateway.planned.answer({ query, operationName: null })).toBe(whole)
  })
})

describe('documents that nobody has asked before', () => {
  const bound = 8 * megabyte
  const metrics = new GatewayMetrics()
  let cluster: TestCluster
  let gateway: ServedGateway
  const serve = (measuredBy: GatewayMetrics): Promise<ServedGateway> =>
    serveGateway({
      clusters: [{ name: 'one', ...cluster.selection }],
      metrics: measuredBy,
      documentBytes: bound,
      fragmentBytes: bound,
    })

  beforeAll(async () => {
    const now = new Date('2026-01-15T12:00:00Z')
    cluster = await startSimulatedCluster({
      populate: company({ seed: 'documents', pods: 60, now }),
    })
    gateway = await serve(metrics)
    await gateway.data('{ pods { totalCount } }')
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const bytes = async (name: string, of: GatewayMetrics = metrics): Promise<number> =>
    Number(new RegExp(`^informerql_${name}_bytes (\\S+)`, 'm').exec(await of.text())?.[1])
  const flags = Array.from({ length: 6 }, (_, at) => `f${at}`)

  const documents = {
    '450 long aliases each': [
      150,
      (at: number) =>
        `{ pods(first: 1) { nodes { ${times(450, (of) => `${'x'.repeat(100)}${at}_${of}: kind`)} } } }`,
    ],
    'wrong fields': [500, (at: number) => `{ pods { ${times(15, (of) => `x${at}_${of}`)} } }`],
    'relations to objects of any kind': [
      500,
      (at: number) =>
        `{ pods(first: 5) { nodes { owners { ${times(50, (of) => `x${at}_${of}: kind`)} } } } }`,
    ],
    'the schema': [
      500,
      (at: number) => `{ __schema { queryType { fields { x${at}: name description } } } }`,
    ],
  } as const satisfies Record<string, readonly [number, (at: number) => string]>

  it.each(Object.entries(documents))(
    'of %s, and their fragments, are kept within a bound of bytes',
    async (_, [count, write]) => {
      const before = heapBytes()
      for (let at = 0; at < count; at += 1) await gateway.query(write(at))
      expect(await bytes('document')).toBeLessThanOrEqual(bound)
      expect(await bytes('fragment')).toBeLessThanOrEqual(bound)
      expect(heapBytes() - before).toBeLessThan(4 * bound)
    },
  )

  it('count each variant of @include that is asked of them', async () => {
    // Its cache is empty: in a full one, what comes drives out what was there.
    const own = new GatewayMetrics()
    await using fresh = await serve(own)
    await fresh.data('{ pods { totalCount } }')
    const of = flags.map((flag, at) => `a${at}: kind @include(if: $${flag})`).join(' ')
    const variables = flags.map((flag) => `$${flag}: Boolean!`).join(' ')
    const query = (name: string): string =>
      `query ${name}(${variables}) { pods(first: 1) { nodes { ${of} ${times(400, (at) => `b${at}: kind`)} } } }`
    const ask = async (variants: number): Promise<number> => {
      const before = await bytes('document', own)
      for (let variant = 0; variant < variants; variant += 1) {
        const given = flags.map((flag, at) => [flag, ((variant >> at) & 1) === 1])
        await fresh.query(query(`q${variants}`), Object.fromEntries(given))
      }
      return (await bytes('document', own)) - before
    }
    expect(await ask(11)).toBeGreaterThan((await ask(1)) * 3)
    await ask(64)
    expect(await bytes('document', own)).toBeLessThanOrEqual(bound)
  })
})

import { createHash } from 'node:crypto'
import { printSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import { type ServedGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { SharedGateways, type SharingGateway } from './shared-gateways.ts'

const patience = { timeout: 60_000, interval: 200 }

const schemaOf = ({ gateway }: ServedGateway): string => printSchema(gateway.schema)

const kindsOf = (gateway: ServedGateway): readonly string[] => {
  const schema = schemaOf(gateway)
  return ['Cake', 'Pie', 'Tart'].filter((kind) => schema.includes(`type ExampleCom${kind} `))
}

describe('the schema of gateways that share clusters', needsPostgres, () => {
  let shared: SharedGateways
  let a: SharingGateway
  let b: SharingGateway

  const define = async (cluster: string, kind: string): Promise<void> => {
    const simulator = shared.simulators[shared.names.indexOf(cluster)]
    const definition = definitionOf(kind, 'example.com', [
      versionOf('v1', { layers: { type: 'integer' } }),
    ])
    if (simulator !== undefined) await created(simulator, definitionsPath, definition)
  }
  const holders = (): Readonly<Record<string, string>> => {
    const rows = shared.postgres.sql('SELECT cluster, address FROM serving', shared.archive)
    return Object.fromEntries(rows.split('\n').map((row) => row.split('|')))
  }
  const heldBy = ({ address }: SharingGateway): string =>
    Object.entries(holders()).find(([, holder]) => holder === address)?.[0] ?? ''

  beforeAll(async () => {
    // Many enough for each gateway to get one.
    shared = await SharedGateways.start(10)
    ;[a, b] = await Promise.all([shared.serve(), shared.serve()])
  }, 240_000)

  afterAll(async () => {
    await shared[Symbol.asyncDispose]()
  })

  it('is that of all clusters at each of them, soon after a definition is made at one', async () => {
    await expect
      .poll(() => new Set(Object.values(holders())), patience)
      .toEqual(new Set([a.address, b.address]))
    const [ofA, ofB] = [heldBy(a), heldBy(b)]
    expect(ofA).not.toBe(ofB)
    await Promise.all([define(ofA, 'Cake'), define(ofB, 'Pie')])
    for (const gateway of [a, b]) {
      await expect.poll(() => kindsOf(gateway), patience).toEqual(['Cake', 'Pie'])
    }
    expect(schemaOf(a)).toBe(schemaOf(b))
    await define(ofA, 'Tart')
    await expect.poll(() => kindsOf(b), patience).toEqual(['Cake', 'Pie', 'Tart'])
    await expect.poll(() => schemaOf(a), patience).toBe(schemaOf(b))
  })

  it('is that of all clusters for a gateway that starts, also of those that nobody can reach', async () => {
    const before = schemaOf(a)
    const [gone = ''] = shared.names
    await Promise.all([a, b].map((one) => one[Symbol.asyncDispose]()))
    // A gateway that is gone without a word, and held one of the clusters, which is its share.
    const next = 'http://127.0.0.1:1'
    const weightOf = (one: string): string =>
      createHash('sha256').update(`${gone}\n${one}`).digest('hex')
    let port = 2
    const addressAt = (): string => `http://127.0.0.1:${port}`
    while (weightOf(addressAt()) < weightOf(next)) port += 1
    const address = addressAt()
    shared.postgres.sql(
      `INSERT INTO members (address, instance, until, leaving) VALUES ('${address}', 'gone', 99999999999999, 0);
       UPDATE serving SET address = '${address}' WHERE cluster = '${gone}'`,
      shared.archive,
    )
    const again = await shared.serve({ share: { address: next } })
    expect(schemaOf(again)).toBe(before)
    const asked = `{ pods(cluster: "${gone}") { nodes { name } } }`
    expect((await again.query(asked)).errors?.[0]?.extensions.code).toBe('CLUSTER_UNREACHABLE')
  })
})

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type GatewayOptions, GatewayMetrics } from 'informerql'
import { describe, expect, it } from 'vitest'
import { company } from '../support/company.ts'
import { serveSimulator } from '../support/served-simulator.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Live heap and memory outside of it, bytes. */
async function liveBytes(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    collect()
    await new Promise<void>((resolve) => setTimeout(resolve, 5))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const now = new Date('2026-01-15T12:00:00Z')
const related = 'changes { object { metadata { name } node { metadata { name } } } }'

/** A gateway with 2,000 pods in memory, whose subscribers read all that they are sent. */
const serve = async (live: GatewayOptions['live'] = {}) => {
  const metrics = new GatewayMetrics()
  const served = await serveSimulator({
    simulator: { populate: company({ seed: 'groups', pods: 2_000, now }) },
    gateway: { live, metrics },
  })
  const { planned } = served.gateway.gateway
  await served.gateway.data('{ pods { totalCount } nodes { totalCount } }')
  const streams: { readonly close: () => void }[] = []
  /** Subscribes by a text of its own, and so in a group of its own. Returns whether there was room for it. */
  const open = async (number: number, fields: string, args = ''): Promise<boolean> => {
    const query = `subscription { pods(coalesceMs: ${number} ${args}) { synced ${fields} } }`
    const stream = await planned.subscribe({ query }, {})
    if (stream === undefined) throw new Error('there is no plan')
    const read = (): void => {
      while (stream.take() !== undefined);
    }
    stream.onReady(read)
    read()
    if (stream.end === undefined) streams.push(stream)
    else stream.close()
    return stream.end === undefined
  }
  /** What the process has, and what its groups and documents count of it. */
  const measured = async () => {
    const bytes = await liveBytes()
    const documents = /^informerql_document_bytes (\d+)/m.exec(await metrics.text())?.[1]
    return { bytes, counted: planned.liveState().heldBytes + Number(documents) }
  }
  const closeAll = (): void => {
    for (const stream of streams.splice(0)) stream.close()
  }
  return {
    planned,
    open,
    measured,
    closeAll,
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
}

describe('what groups of subscribers retain is what they count', () => {
  it('of small rows, of rows that lead to other objects, and of few rows: the process grows by less than half as much again', async () => {
    await using served = await serve()
    const grown = async (groups: number, fields: string, args?: string): Promise<number> => {
      // What the first one compiles stays.
      await served.open(0, fields, args)
      const before = await served.measured()
      for (let number = 1; number <= groups; number += 1) {
        await served.open(number, fields, args)
      }
      expect(served.planned.liveState().groups).toBe(groups + 1)
      const after = await served.measured()
      served.closeAll()
      expect(after.counted - before.counted).toBeGreaterThan(10_000_000)
      return (after.bytes - before.bytes) / (after.counted - before.counted)
    }
    for (const ratio of [
      await grown(40, 'changes { type }'),
      await grown(20, related),
      await grown(300, 'changes { type }', 'namespace: "none"'),
    ]) {
      expect(ratio).toBeGreaterThan(1 / 2)
      expect(ratio).toBeLessThan(3 / 2)
    }
  }, 60_000)

  it('a thousand that differ in coalesceMs end at what is allowed, and for those without room no row is written', async () => {
    const maxHeldBytes = 16 << 20
    await using served = await serve({ maxHeldBytes })
    await served.open(0, related)
    const before = await served.measured()
    const numbers = Array.from({ length: 1_000 }, (_, number) => number + 1)
    const open = await Promise.all(numbers.map(async (number) => served.open(number, related)))
    const { groups, heldBytes } = served.planned.liveState()
    expect(open.filter((isOpen) => isOpen)).toHaveLength(groups - 1)
    expect(groups).toBeGreaterThan(2)
    expect(heldBytes).toBeLessThan(maxHeldBytes)
    const after = await served.measured()
    expect(after.bytes - before.bytes).toBeLessThan((after.counted - before.counted) * (3 / 2))
  }, 60_000)
})

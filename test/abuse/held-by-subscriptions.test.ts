import type { GatewayOptions } from 'informerql'
import { describe, expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import { firstAnswer } from '../support/gateway.ts'
import { serveSimulator } from '../support/served-simulator.ts'
import { startAttackedGateway } from './attacked-gateway.ts'

const noRoom = { code: 'QUERY_TOO_COSTLY', retryAfterMs: 10_000 }
/** Each is a group of its own, of sixty pods; what it holds of them is a hundredth of what is sent of an average one. */
const small = (number: number): string =>
  `subscription Small${number} { pods(coalesceMs: 0) { synced changes { type } } }`

const attacked = async (live: GatewayOptions['live']) => startAttackedGateway({}, {}, live)

describe('what subscriptions hold is counted by what it takes', () => {
  it('so small rows of many groups are bounded, and what is refused is not executed at the same cost', async () => {
    const maxHeldBytes = 200_000
    await using target = await attacked({ maxHeldBytes })
    const state = () => target.gateway.gateway.planned.liveState()
    const client = target.mallory.connect()
    const refusals: unknown[] = []
    let begun = 0
    const leave = Array.from({ length: 30 }, (_, number) => {
      let isBegun = false
      return client.subscribe(
        { query: small(number) },
        {
          next({ errors }) {
            if (errors !== undefined) refusals.push(errors[0]?.extensions)
            else if (!isBegun) begun += 1
            isBegun = true
          },
          error: (error) => refusals.push(error),
          complete() {},
        },
      )
    })
    await expect.poll(() => begun + refusals.length).toBeGreaterThanOrEqual(30)
    const { groups, members, heldBytes } = state()
    expect(heldBytes).toBeLessThan(maxHeldBytes)
    expect({ groups, members }).toEqual({ groups: 30 - refusals.length, members: groups })
    expect(refusals.length).toBeGreaterThan(15)
    for (const refusal of refusals) expect(refusal).toMatchObject(noRoom)
    for (const end of leave) end()
    await expect.poll(() => state().groups).toBe(0)
    expect((await firstAnswer(client, small(0))).errors).toBeUndefined()
  })

  it('and one user has a bound of their own, which leaves room for a neighbour', async () => {
    await using target = await attacked({ maxHeldBytesPerUser: 100_000 })
    const refusal = Promise.withResolvers<unknown>()
    const client = target.mallory.connect()
    for (let number = 0; number < 30; number += 1) {
      client.subscribe(
        { query: small(number) },
        {
          next: ({ errors }) => errors && refusal.resolve(errors[0]?.extensions),
          error: refusal.reject,
          complete() {},
        },
      )
    }
    expect(await refusal.promise).toMatchObject({ ...noRoom, value: 100_000 })
    const ann = target.gateway.as('of-ann').connect()
    for (let number = 30; number < 33; number += 1) {
      expect((await firstAnswer(ann, small(number))).errors).toBeUndefined()
    }
    // What she shares with nobody but mallory is hers by a half.
    const { members, heldBytes } = target.gateway.gateway.planned.liveState()
    expect(members).toBeGreaterThan(0)
    expect(heldBytes).toBeLessThan(200_000)
  })

  it('and no other coalesceMs makes another group', async () => {
    await using target = await attacked({})
    const client = target.mallory.connect()
    let begun = 0
    for (let coalesceMs = 1; coalesceMs <= 100; coalesceMs += 1) {
      const query = `subscription ($coalesceMs: Int) { pods(coalesceMs: $coalesceMs) { synced } }`
      client.subscribe(
        { query, variables: { coalesceMs } },
        { next: () => (begun += 1), error() {}, complete() {} },
      )
    }
    const { planned } = target.gateway.gateway
    await expect.poll(() => planned.liveState().members).toBe(100)
    // 10, 20, 50 and 100; what a variable says is a part of what is asked.
    expect(planned.liveState().groups).toBe(4)
  })

  it('and what is told anew to those who come back and read nothing, who begin anew where there is no room', async () => {
    const maxHeldBytes = 2_000_000
    await using served = await serveSimulator({ gateway: { live: { maxHeldBytes } } })
    const { cluster, gateway } = served
    const { planned } = gateway.gateway
    const query = `subscription ($from: String) { configMaps(coalesceMs: 0, resumeFrom: $from) {
      resumeToken changes { object { data } } } }`
    const first = await firstAnswer(gateway.connect(), query)
    const maps = '/api/v1/namespaces/default/configmaps'
    for (const name of ['a', 'b', 'c', 'd']) {
      await created(cluster, maps, { metadata: { name }, data: { text: 'x'.repeat(50_000) } })
    }
    const count = async () => (await gateway.data('{ configMaps { totalCount } }')).configMaps
    await expect.poll(count).toEqual({ totalCount: 4 })
    const from = first.data.configMaps.resumeToken
    const streams = await Promise.all(
      Array.from({ length: 20 }, async () => planned.subscribe({ query, variables: { from } }, {})),
    )
    // Of the rows there are 400,000 bytes, and 200,000 for each who is told what was missed.
    const { resumed, notResumed, heldBytes } = planned.liveState()
    expect(heldBytes).toBeLessThan(maxHeldBytes)
    expect({ resumed, notResumed }).toEqual({ resumed: 7, notResumed: 13 })
    for (const stream of streams) stream?.close()
    expect(planned.liveState().heldBytes).toBe(0)
  })

  it('and what somebody missed who comes back', async () => {
    const maps = '/api/v1/namespaces/default/configmaps'
    const query = `subscription ($from: String) { configMaps(coalesceMs: 0, resumeFrom: $from) {
      reset resumeToken changes { object { data } } } }`
    const begun = async (maxHeldBytes: number) => {
      await using served = await serveSimulator({ gateway: { live: { maxHeldBytes } } })
      const { cluster, gateway } = served
      const first = await firstAnswer(gateway.connect(), query)
      for (const name of ['a', 'b', 'c', 'd']) {
        await created(cluster, maps, { metadata: { name }, data: { text: 'x'.repeat(50_000) } })
      }
      const from = first.data.configMaps.resumeToken
      const { data, errors } = await firstAnswer(gateway.connect(), query, { from })
      const { resumed, notResumed } = gateway.gateway.planned.liveState()
      return { resumed, notResumed, reset: data?.configMaps.reset, error: errors?.[0]?.extensions }
    }
    // Four rows are counted by 400,000 bytes, and what was missed by half of that, as a snapshot is.
    expect(await begun(700_000)).toMatchObject({ resumed: 1, notResumed: 0, reset: false })
    expect(await begun(500_000)).toMatchObject({ resumed: 0, notResumed: 1, error: noRoom })
  })
})

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'graphql-ws'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { caughtUp } from './caught-up.ts'
import { FilteredClient, keyOf } from './filtered-client.ts'
import { RandomCluster, types } from './random-cluster.ts'
import { asksOfOthers, randomFilter } from './random-filter.ts'
import { meets, relations, World } from './recomputed.ts'

const batches = Number(process.env['BATCHES'] ?? 15)
const clients = 24
const deadlineMs = 15_000

describe(`Subscriptions that are filtered by related objects, seed ${runSeed}`, () => {
  let simulator: Simulator
  let gateway: ServedGateway
  let cluster: RandomCluster
  let socket: Client
  beforeAll(async () => {
    simulator = await startSimulator({ bookmarkIntervalMs: 0 })
    cluster = new RandomCluster(simulator.storage, seededRandom(runSeed))
    cluster.edit(500)
    gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
    socket = gateway.connect()
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const newClient = (at: number): FilteredClient => {
    for (;;) {
      const type = cluster.pick(types.filter((one) => relations[one] !== undefined))
      const where = randomFilter(cluster, type, 3)
      if (asksOfOthers(where, type)) {
        return new FilteredClient(type, where, at % 3 === 0 ? 'alone' : 'group')
      }
    }
  }

  const expectInStep = async (client: FilteredClient, world: World): Promise<void> => {
    const { type, where } = client
    const objects = world.objects(type)
    const wanted = objects
      .filter((object) => meets(where, type, object, world))
      .map(keyOf)
      .toSorted()
    const isThere = () => JSON.stringify(client.keys()) === JSON.stringify(wanted)
    const endMs = performance.now() + deadlineMs
    while (!isThere() && client.error === undefined && performance.now() < endMs) {
      await Promise.race([client.told(), sleep(100)])
    }
    const about = `${type} ${JSON.stringify(where)}`
    expect(client.error, about).toBeUndefined()
    expect(client.keys(), about).toEqual(wanted)
    expect(client.problems, about).toEqual([])
  }

  it(`hold what raw objects answer, after each of ${batches} batches of edits`, async () => {
    const all = Array.from({ length: clients }, (_, at) => newClient(at))
    for (const client of all) client.follow(socket)
    for (let batch = 0; batch < batches; batch += 1) {
      const away = batch % 3 === 2 ? all.filter((_, at) => at % 3 === 1) : []
      for (const client of away) client.leave()
      const edits = cluster.pick([1, 5, 40])
      cluster.edit(edits)
      await caughtUp(gateway, cluster)
      for (const client of away) client.follow(socket)
      const world = new World(cluster)
      for (const client of all) {
        await expectInStep(client, world)
        // Of several edits, states in between are answered truly, too; a single one has none.
        const back = [...client.removals].filter((id) => client.held.has(id))
        expect(edits === 1 ? back : [], JSON.stringify(client.where)).toEqual([])
        client.removals.clear()
      }
    }
    // Some of them may still be on their way back.
    const { groups, resumed } = gateway.gateway.planned.liveState()
    expect(groups).toBeGreaterThanOrEqual(clients / 3)
    expect(resumed).toBeGreaterThan(0)
    for (const client of all) client.leave()
  })
})

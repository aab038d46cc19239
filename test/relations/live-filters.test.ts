import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { type EditedCluster, realEditedCluster, simulatedEditedCluster } from './edited-cluster.ts'
import { FilteredClient, keyOf } from './filtered-client.ts'
import { types } from './random-cluster.ts'
import { asksOfOthers, randomFilter } from './random-filter.ts'
import { meets, relations, type World } from './recomputed.ts'

const batches = Number(process.env['BATCHES'] ?? 8)
/** On the real server, which takes its time. */
const realBatches = Number(process.env['REAL_BATCHES'] ?? 6)
const clients = 24
const deadlineMs = 15_000

const name = `Subscriptions that are filtered by related objects, seed ${runSeed}`

const filteredBy = (start: () => Promise<EditedCluster>, count: number): void => {
  let edited: EditedCluster
  let gateway: ServedGateway
  let socket: Client
  beforeAll(async () => {
    edited = await start()
    await edited.edit(500)
    gateway = await serveGateway({ clusters: [edited.selection] })
    socket = gateway.connect()
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await edited[Symbol.asyncDispose]()
  })

  const newClient = (): FilteredClient => {
    const { cluster } = edited
    for (;;) {
      const type = cluster.pick(types.filter((one) => relations[one] !== undefined))
      const where = randomFilter(cluster, type, 3)
      if (asksOfOthers(where, type)) return new FilteredClient(type, where)
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

  it(`hold what raw objects answer, after each of ${count} batches of edits`, async () => {
    const all = Array.from({ length: clients }, () => newClient())
    for (const client of all) client.follow(socket)
    for (let batch = 0; batch < count; batch += 1) {
      const away = batch % 3 === 2 ? all.filter((_, at) => at % 3 === 1) : []
      for (const client of away) client.leave()
      const edits = edited.cluster.pick([1, 5, 40])
      await edited.edit(edits)
      const world = await edited.heard(gateway)
      for (const client of away) client.follow(socket)
      for (const client of all) {
        await expectInStep(client, world)
        // Of several edits, states in between are answered truly, too; a single one has none.
        const back = [...client.removals].filter((id) => client.held.has(id))
        expect(edits === 1 ? back : [], JSON.stringify(client.where)).toEqual([])
        client.removals.clear()
      }
    }
    const state = () => gateway.gateway.planned.liveState()
    expect(state().groups).toBeGreaterThanOrEqual(clients / 3)
    // They may still be on their way back.
    await expect.poll(() => state().resumed, { timeout: deadlineMs }).toBeGreaterThan(0)
    for (const client of all) client.leave()
  })
}

describe(`${name}, on the simulator`, () => {
  filteredBy(() => simulatedEditedCluster(seededRandom(runSeed)), batches)
})

describeWithControlPlane(name, (plane) => {
  filteredBy(() => realEditedCluster(plane(), seededRandom(runSeed)), realBatches)
})

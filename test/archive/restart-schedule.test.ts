import type { SimulatorOptions, Storage } from 'informerql/simulator'
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HeldBehind, Resumed } from '../gateway/resumed-subscription.ts'
import { listsOf } from '../support/request-proxy.ts'
import { seededRandom } from '../support/random.ts'
import { ascending, podsIn, RestartedGateway } from './restarted-gateway.ts'

const withUid = (): SimulatorOptions => ({
  populate: (storage: Storage) => {
    const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
    for (const metadata of [{ name: 'kube-system', uid: randomUUID() }, { name: 'shop' }]) {
      storage.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
    }
  },
})
const restarts = 6

describe.each([
  { of: 'all namespaces', options: {} },
  { of: 'some namespaces', options: { cache: { namespaces: ['default', 'shop'] } } },
])('live clients over restarts of a gateway with an archive of $of', ({ options }) => {
  let world: RestartedGateway
  beforeEach(async () => {
    world = await RestartedGateway.start(options, withUid())
    await world.names()
    // Now the archive has them.
    await world.again()
  })
  afterEach(() => world[Symbol.asyncDispose]())

  it.each([1, 2, 3, 8])('see no reset, and fold right under writes (seed %i)', async (seed) => {
    const random = seededRandom(seed)
    const chosen = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
    const there = new Map([
      ['a', 'x'],
      ['b', 'x'],
      ['c', 'x'],
    ])
    let made = 0
    const placeOf = (name: string): string => (/[13579]$/.test(name) ? 'shop' : 'default')
    const write = async (): Promise<void> => {
      const name = chosen([...there.keys(), 'new'])
      const act = chosen(['label', 'label', 'remove', 'add'])
      if (name === 'new' || act === 'add') {
        const added = `pod-${(made += 1)}`
        const tier = chosen(['x', 'y'])
        await world.add(added, tier, placeOf(added))
        there.set(added, tier)
      } else if (act === 'label') {
        const tier = chosen(['x', 'y'])
        await world.label(name, tier, placeOf(name))
        there.set(name, tier)
      } else {
        await world.remove(name, placeOf(name))
        there.delete(name)
      }
    }
    const writes = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) {
        await write()
      }
    }
    const matching = (): string =>
      [...there]
        .flatMap(([name, tier]) => (tier === 'x' ? [name] : []))
        .toSorted(ascending)
        .join()
    const names = ({ held }: Pick<Resumed, 'held'>): string =>
      Array.from(held().values(), ({ metadata }) => String(metadata.name))
        .toSorted(ascending)
        .join()
    let stood: HeldBehind = await world.stand(3)
    expect(await world.names()).toHaveLength(3)
    for (let at = 0; at < restarts; at += 1) {
      // Some of it is seen live, some only by the gateway, and some by nobody.
      const live = world.follow(stood)
      await writes(Math.floor(random() * 6))
      const wanted = matching()
      await live.until(() => names(live) === wanted)
      live.leave()
      expect(live.seen.map(({ frame }) => frame.reset)).not.toContain(true)
      stood = live.seen.at(-1) ?? stood
      await writes(Math.floor(random() * 4))
      await world.again(() => writes(Math.floor(random() * 6)))
    }
    const live = world.follow(stood)
    await live.until(() => names(live) === matching())
    expect(live.seen.map(({ frame }) => frame.reset)).not.toContain(true)
    const shown = await world.names()
    expect(shown.toSorted(ascending)).toEqual([...there.keys()].toSorted(ascending))
    for (const path of ['/api/v1/pods', podsIn('default'), podsIn('shop')]) {
      expect(listsOf(world.proxy, path)).toEqual([])
    }
    live.leave()
  })
})

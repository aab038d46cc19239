import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { SharedInformer } from 'informerql/informer'
import { until } from '../support/informer.ts'
import { play, type Played } from './played-informer.ts'
import { configMap } from './scripted-server.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Live heap and memory outside of it, bytes. */
async function liveBytes(): Promise<number> {
  // Finalizers, and what sockets and streams let go of, take a turn of the event loop.
  for (let round = 0; round < 4; round++) {
    collect()
    await new Promise<void>((resolve) => setTimeout(resolve, 5))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const count = 6000

/** Of some families, each with texts of its own: like what controllers make. */
const object = (at: number): object => ({
  ...configMap(`family-${at % 40}-${at}`, `${at + 1}`, {
    labels: { app: `app-${at % 40}`, instance: `i-${at}` },
  }),
  data: { common: `${at % 40} `.repeat(400), own: `${at} `.repeat(60) },
})

const indexers = {
  app: ({ metadata }: { metadata: { name: string } }) => [metadata.name.slice(0, 9)],
}

const playMany = async (objects: number): Promise<Played> =>
  play(
    Array.from({ length: objects }, (_, at) => object(at)),
    { indexers },
  )

describe('The memory of a store', () => {
  it('is what it says it holds, within a third, and is returned when its informer is stopped and dropped', async () => {
    // What is loaded and compiled with the first informer stays.
    const small = await playMany(100)
    await small[Symbol.asyncDispose]()
    const before = await liveBytes()
    let played: Played | undefined = await playMany(count)
    let informer: SharedInformer | undefined = played.informer
    await until(() => informer?.store.size === count, 'the objects')
    const used = (await liveBytes()) - before
    const held = informer.store.heldBytes
    expect(used).toBeGreaterThan(2_000_000)
    expect(held / used).toBeGreaterThan(2 / 3)
    expect(held / used).toBeLessThan(3 / 2)
    await played[Symbol.asyncDispose]()
    played = undefined
    informer = undefined
    const left = (await liveBytes()) - before
    expect(left / used).toBeLessThan(1 / 10)
  })

  it('is said to be less when objects go, and the same when they come and go', async () => {
    await using played = await playMany(50)
    const { store } = played.informer
    const sizes = [store.heldBytes]
    for (let at = 0; at < 50; at++) played.watch.send('DELETED', object(at))
    await until(() => store.size === 0, 'the deletions')
    sizes.push(store.heldBytes)
    for (let at = 0; at < 50; at++) played.watch.send('ADDED', object(at))
    await until(() => store.size === 50, 'the objects')
    sizes.push(store.heldBytes)
    const [full = 0, empty = 0, again = 0] = sizes
    expect(empty).toBeLessThan(full / 3)
    expect(again / full).toBeGreaterThan(0.8)
    expect(again / full).toBeLessThan(1.3)
  })
})

import { FrameFold } from 'informerql/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { podOf, podsPath } from '../archive/restarted-gateway.ts'
import { created } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { agreedHolders } from './settled-holders.ts'
import { holdersBy, SharedGateways, type SharingGateway } from './shared-gateways.ts'

const wait = { timeout: 60_000, interval: 100 }

describe('subscriptions over clusters that gateways share', () => {
  const stack = new AsyncDisposableStack()
  let shared: SharedGateways
  let gateways: readonly SharingGateway[]
  beforeAll(async () => {
    shared = stack.use(await SharedGateways.start(6))
    gateways = [await shared.serve(), await shared.serve(), await shared.serve()]
  }, 120_000)
  afterAll(() => stack.disposeAsync())

  it('lead to the same rows while clusters go to other gateways', async () => {
    const [asked, ...others] = gateways
    let last: SharingGateway | undefined
    // By their addresses, one of three may hold none.
    await expect
      .poll(async () => {
        const holders = new Set(Object.values(await holdersBy(asked!)))
        last = others.find(({ address }) => holders.has(address))
        return last
      }, wait)
      .toBeDefined()
    const fold = new FrameFold<Fields>()
    const frames: Fields[] = []
    let ended: unknown
    const leave = asked!.connect().subscribe<Fields>(
      {
        query: `subscription { pods(clusters: ["*"], coalesceMs: 10) {
          reset synced resumeToken incomplete { cluster code }
          changes { type removal objectId object { id clusterName name } } } }`,
      },
      {
        next: ({ data }) => {
          if (data == null) return
          frames.push(data.pods)
          fold.apply(data.pods)
        },
        error: (error) => (ended = error),
        complete: () => (ended ??= 'complete'),
      },
    )
    const rows = (): unknown => [
      [...fold.objects.values()]
        .map(({ clusterName, name }) => `${clusterName}/${name}`)
        .toSorted(),
      ended,
    ]
    const all = shared.names.map((name) => `${name}/pod-of-${name}`)
    await expect.poll(rows, wait).toEqual([all, undefined])
    await last![Symbol.asyncDispose]()
    const more = shared.names.map((name) => `${name}/z-more`)
    for (const simulator of shared.simulators) await created(simulator, podsPath, podOf('z-more'))
    await expect.poll(rows, wait).toEqual([[...all, ...more].toSorted(), undefined])
    await expect.poll(() => frames.at(-1)?.incomplete, wait).toEqual([])
    expect(frames.filter(({ reset }) => reset)).toHaveLength(1)
    leave()
  }, 180_000)

  it('go on from a list over them', async () => {
    const [asked] = gateways
    // A token of clusters that go to another gateway meanwhile begins anew.
    await agreedHolders([asked!])
    const { pods } = await asked!.data(`{ pods(clusters: ["*"]) { resumeToken } }`)
    const frames: Fields[] = []
    const leave = asked!.connect().subscribe<Fields>(
      {
        query: `subscription($from: String) { pods(clusters: ["*"], resumeFrom: $from, coalesceMs: 10) {
          reset synced changes { type object { clusterName name } } } }`,
        variables: { from: pods.resumeToken },
      },
      {
        next: ({ data }) => data != null && frames.push(data.pods),
        error: () => undefined,
        complete: () => undefined,
      },
    )
    await expect.poll(() => frames.at(-1)?.synced, wait).toBe(true)
    await created(shared.simulators[2]!, podsPath, podOf('resumed'))
    const told = (): unknown =>
      frames.flatMap(({ reset, changes }) => [
        ...(reset ? ['reset'] : []),
        ...changes.map(
          ({ type, object }: Fields) => `${type} ${object.clusterName}/${object.name}`,
        ),
      ])
    await expect.poll(told, wait).toEqual(['ADDED c-2/resumed'])
    leave()
  }, 180_000)
})

import { expect, it } from 'vitest'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { type CountedServer, startCountedServer } from './counted-server.ts'
import { reads, startSmallWorld } from './small-world.ts'

const alice = caller('alice')

interface SilentFleet extends AsyncDisposable {
  readonly served: ViewedGateway
  /** In front of the second cluster, whose answers to access reviews it holds. */
  readonly server: CountedServer
}

/** Two clusters of which the second answers no access review. Alice may see everything of both. */
async function startSilentFleet(): Promise<SilentFleet> {
  await using stack = new AsyncDisposableStack()
  const { promise, resolve } = Promise.withResolvers<CountedServer>()
  const first = stack.use(await startSmallWorld())
  const second = stack.use(
    await startSmallWorld(async (url) => {
      const between = await startCountedServer(url)
      resolve(between)
      return between.url
    }),
  )
  const server = stack.use(await promise)
  for (const world of [first, second])
    await world.allowEverywhere('alice', 'alice', [reads('*', '*')])
  const served = stack.use(
    await serveViewers({
      clusters: [
        { ...first.selection, name: 'c0' },
        { ...second.selection, name: 'c1' },
      ],
      // The reviews outlast the test.
      access: { reviewDeadlineMs: 120_000 },
    }),
  )
  server.hold('subjectaccessreviews')
  const held = stack.move()
  return { served, server, [Symbol.asyncDispose]: () => held[Symbol.asyncDispose]() }
}

const fields = ['pods', 'problems', 'search', 'objects']

it('a cluster that does not say what the viewer may see is left out of an answer over clusters', async () => {
  await using fleet = await startSilentFleet()
  const { served, server } = fleet
  const parts = 'totalCount incomplete { cluster code }'
  const query = `{
    pods(clusters: ["*"]) { ${parts} }
    problems(clusters: ["*"]) { ${parts} }
    search(text: "shop", clusters: ["*"]) { ${parts} }
    objects: kubernetesObjects(kinds: ["Pod", "Service"], clusters: ["*"]) { ${parts} }
  }`
  const { data, errors = [] } = await served.query(alice, query)
  for (const field of fields) {
    const { incomplete } = data[field]
    expect(new Set(incomplete.map(({ cluster }: { cluster: string }) => cluster))).toEqual(
      new Set(['c1']),
    )
    expect(new Set(incomplete.map(({ code }: { code: string }) => code))).toEqual(
      new Set(['CLUSTER_UNREACHABLE']),
    )
  }
  expect(data.pods.totalCount).toBe(2)
  expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(
    new Set(['CLUSTER_UNREACHABLE']),
  )
  server.release()
  await expect
    .poll(async () => (await served.query(alice, query)).data.pods)
    .toEqual({ totalCount: 4, incomplete: [] })
})

it('a live list begins without such a cluster, and has its rows once it answers', async () => {
  await using fleet = await startSilentFleet()
  const { served, server } = fleet
  interface Frame {
    readonly incomplete: readonly { readonly cluster: string; readonly code: string }[]
    readonly reset: boolean
    readonly changes: readonly { readonly object: { readonly clusterName: string } }[]
  }
  const frames: Frame[] = []
  const query = `subscription { pods(clusters: ["*"], coalesceMs: 10) {
    reset incomplete { cluster code } changes { type object { clusterName } } } }`
  const leave = served.connect(alice).subscribe<{ readonly pods: Frame }>(
    { query },
    {
      next: ({ data }) => void (data && frames.push(data.pods)),
      error: () => {},
      complete: () => {},
    },
  )
  const clusters = (): readonly string[] =>
    frames
      .slice(frames.findLastIndex(({ reset }) => reset))
      .flatMap(({ changes }) => changes.map(({ object }) => object.clusterName))
      .toSorted()
  await expect.poll(clusters).toEqual(['c0', 'c0'])
  expect(frames[0]?.incomplete).toEqual([{ cluster: 'c1', code: 'CLUSTER_UNREACHABLE' }])
  server.release()
  await expect.poll(clusters).toEqual(['c0', 'c0', 'c1', 'c1'])
  await expect.poll(() => frames.at(-1)?.incomplete).toEqual([])
  leave()
})

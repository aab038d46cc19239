import { expect, it } from 'vitest'
import { caller, serveViewers } from '../support/viewed-gateway.ts'
import { type CountedServer, startCountedServer } from './counted-server.ts'
import { reads, startSmallWorld } from './small-world.ts'

const alice = caller('alice')
const fields = ['pods', 'problems', 'search', 'objects']

it('a cluster that does not say what the viewer may see is left out of an answer over clusters', async () => {
  let between: CountedServer | undefined
  await using first = await startSmallWorld()
  await using second = await startSmallWorld(async (url) => {
    between = await startCountedServer(url)
    return between.url
  })
  await using server = between
  for (const world of [first, second])
    await world.allowEverywhere('alice', 'alice', [reads('*', '*')])
  await using served = await serveViewers({
    clusters: [
      { ...first.selection, name: 'c0' },
      { ...second.selection, name: 'c1' },
    ],
    // The review outlasts the request.
    access: { reviewDeadlineMs: 120_000 },
  })
  server?.hold('subjectaccessreviews')
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
  server?.release()
  await expect
    .poll(async () => (await served.query(alice, query)).data.pods, { timeout: 20_000 })
    .toEqual({ totalCount: 4, incomplete: [] })
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { kubeconfigText } from './test-cluster.ts'

it('each cluster of a source is in one shard, and one shard more moves no others', async () => {
  await using simulator = await startSimulator()
  const dir = await mkdtemp(join(tmpdir(), 'informerql-shards-'))
  const names = Array.from({ length: 12 }, (_, number) => `c-${number}`)
  for (const name of names) {
    await writeFile(join(dir, `${name}.yaml`), kubeconfigText(simulator.url, 'token'))
  }
  const clusters = [{ name: 'hub', server: simulator.url }]
  const clusterSources = [{ type: 'directory' as const, path: dir }]
  const served = async (shard?: { index: number; count: number }): Promise<readonly string[]> => {
    const sharing = shard === undefined ? {} : { shard }
    await using gateway = await serveGateway({ clusters, clusterSources, ...sharing })
    const { gatewayClusters } = await gateway.data('{ gatewayClusters { name } }')
    const [hub, ...others] = gatewayClusters.map(({ name }: { name: string }) => name)
    // The clusters of the configuration are in every shard.
    expect(hub).toBe('hub')
    return others
  }
  const of = (index: number, count: number) => served({ index, count })
  try {
    expect(await served()).toHaveLength(names.length)
    const halves = await Promise.all([of(0, 2), of(1, 2)])
    expect(halves.flat().toSorted()).toEqual(names.toSorted())
    const thirds = await Promise.all([of(0, 3), of(1, 3), of(2, 3)])
    expect(thirds.flat().toSorted()).toEqual(names.toSorted())
    expect(halves[0]).toEqual(expect.arrayContaining([...thirds[0]]))
    expect(halves[1]).toEqual(expect.arrayContaining([...thirds[1]]))
    await expect(of(2, 2)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'

const log = { info() {}, warn() {}, error() {} }

it('a relation of the SDL that goes in a circle fails the start, and names the circle', async () => {
  await using simulator = await startSimulator({ bookmarkIntervalMs: 0 })
  const directory = await mkdtemp(join(tmpdir(), 'informerql-circle-'))
  try {
    await writeFile(
      join(directory, 'circle.graphql'),
      'extend type Node { a: PodConnection @through(path: "a.node.pods") }',
    )
    const clusters = [{ name: 'test', server: simulator.url }]
    await expect(createGateway({ clusters, log, schema: directory })).rejects.toMatchObject({
      code: 'SCHEMA_SDL',
      problem: 'circle',
      message: expect.stringContaining('Node.a → Node.a'),
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'

const log = { info() {}, warn() {}, error() {} }

it.each([
  ['@uses(kind: "Secret")', 'needs kind and path, or as'],
  ['@uses(as: "Pod", kind: "Secret")', 'needs kind and path, or as'],
  ['@uses(as: "Pod")', 'it has nothing at any path of Pod'],
  ['@uses(as: "Podd", at: "spec.template")', 'there is no type Podd'],
  ['@uses(as: "Pod", at: "spec.temlate")', 'it has nothing at spec.temlate'],
  ['@uses(kind: "Secret", path: "spec.secretNam")', 'has nothing at spec.secretNam'],
  ['@uses(kind: "Secret", path: "metadata.name", pattern: "a:{nam}")', 'a pattern without {name}'],
])('a declaration with an error fails the start, and says why: %s', async (directive, why) => {
  await using simulator = await startSimulator({ bookmarkIntervalMs: 0 })
  const directory = await mkdtemp(join(tmpdir(), 'informerql-uses-'))
  try {
    await writeFile(join(directory, 'own.graphql'), `extend type Deployment ${directive}`)
    const clusters = [{ name: 'test', server: simulator.url }]
    await expect(createGateway({ clusters, log, schema: directory })).rejects.toMatchObject({
      code: 'SCHEMA_SDL',
      message: expect.stringContaining(why),
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

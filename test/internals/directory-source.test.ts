// Imports internals: a gateway would connect to thousands of clusters.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DirectorySource } from '../../src/gateway/sources/directory-source.ts'

it('a directory of more kubeconfigs than are read says so, until it has fewer', async () => {
  const path = await mkdtemp(join(tmpdir(), 'informerql-many-'))
  try {
    const files = Array.from({ length: 2_001 }, (_, at) => join(path, `${10_000 + at}.yaml`))
    await Promise.all(files.map(async (file) => writeFile(file, '')))
    const stop = new AbortController()
    const source = new DirectorySource({ type: 'directory', path })
    const states = source.follow(stop.signal)[Symbol.asyncIterator]()
    const { value: first } = await states.next()
    expect(first.clusters).toHaveLength(2_000)
    expect(first.problem).toMatchObject({
      code: 'TOO_MANY_CLUSTERS',
      message: 'has 2001 kubeconfigs, of which the first 2000 by name are read',
    })
    await rm(files[0] ?? '')
    const { value: second } = await states.next()
    expect(second).toMatchObject({ problem: undefined })
    expect(second.clusters).toHaveLength(2_000)
    stop.abort()
  } finally {
    await rm(path, { recursive: true, force: true })
  }
})

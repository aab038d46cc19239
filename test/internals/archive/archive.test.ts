// Imports internals: what the archive is told and answers is of the gateway's own parts.
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../../../src/archive/archive.ts'
import { batchOf, configMaps, listOf, objectsOf, pods } from './batches.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'informerql-archive-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const namesOf = async (...of: Parameters<typeof objectsOf>) =>
  (await objectsOf(...of)).map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)

describe('The archive', () => {
  it.each(['file:', 'memory:'])(
    'has the rows and the position of what was written: %s',
    async (url) => {
      await using archive = await openArchive({ url: url === 'file:' ? `file:${dir}/a.db` : url })
      const kind = await archive.kind(configMaps)
      expect(kind).toMatchObject({ position: undefined, objects: 0 })
      await archive.write(
        listOf(kind.id, [
          { name: 'one', version: 1 },
          { name: 'two', version: 2 },
        ]),
      )
      await archive.write(
        batchOf(kind.id, [
          { name: 'two', version: 3, rest: { data: { a: '1' } } },
          { type: 'ADDED', name: 'three', version: 4 },
          { type: 'REMOVED', name: 'one', version: 5 },
        ]),
      )
      expect(await namesOf(archive, kind.id)).toEqual(['three@4', 'two@3'])
      expect(await archive.kind(configMaps)).toMatchObject({ position: '5', objects: 2 })
      expect(await archive.state()).toMatchObject({ objects: 2, changes: 3 })
    },
  )

  it('is a file for its owner only, and is there after it was closed', async () => {
    const url = `file:${dir}/a.db`
    {
      await using archive = await openArchive({ url })
      const { id } = await archive.kind(configMaps)
      await archive.write(listOf(id, [{ name: 'one', version: 7 }]))
    }
    expect((await stat(join(dir, 'a.db'))).mode & 0o777).toBe(0o600)
    await using archive = await openArchive({ url })
    const { id, position } = await archive.kind(configMaps)
    expect(position).toBe('7')
    expect(await namesOf(archive, id)).toEqual(['one@7'])
  })

  it('takes a list in parts, removes what no part names, and has no position between them', async () => {
    await using archive = await openArchive({ url: 'memory:' })
    const { id } = await archive.kind(pods)
    await archive.write(
      listOf(id, [
        { name: 'one', version: 1 },
        { name: 'two', version: 2 },
        { name: 'three', version: 3 },
      ]),
    )
    const { position: _, ...first } = listOf(id, [{ name: 'one', version: 1 }], {
      list: { number: 99, isLast: false },
    })
    await archive.write(first)
    expect((await archive.kind(pods)).position).toBeUndefined()
    await archive.write(
      listOf(id, [{ name: 'four', version: 9 }], { list: { number: 99, isLast: true } }),
    )
    expect(await namesOf(archive, id)).toEqual(['four@9', 'one@1'])
    expect(await archive.state()).toMatchObject({ changes: 3, gaps: 1 })
  })

  it('refuses changes of a kind of which it has no whole list', async () => {
    await using archive = await openArchive({ url: 'memory:' })
    const { id } = await archive.kind(pods)
    const change = batchOf(id, [{ name: 'one', version: 1 }])
    await expect(archive.write(change)).rejects.toMatchObject({ code: 'ARCHIVE_BEHIND' })
    await archive.write(listOf(id, []))
    await archive.write(batchOf(id, [{ name: 'one', version: 2 }]))
    expect(await namesOf(archive, id)).toEqual(['one@2'])
  })
})

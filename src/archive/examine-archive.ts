/*
 * Whether an archive can be used, for `doctor`: opens it, and makes or changes the tables in a transaction that is rolled
 * back. A file that is not there is not made.
 */

import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  archiveDefaults,
  ArchiveError,
  type ArchiveOptions,
  archivePlace,
  withoutPassword,
} from './archive-options.ts'
import { type Engine, migrateWithin } from './store/engine.ts'
import { openPostgres } from './store/postgres-engine.ts'
import { openSqliteFile } from './store/sqlite-engine.ts'

/** Resolves with a sentence that says what there is. Rejects with `ArchiveError`. */
export async function examineArchive(options: ArchiveOptions): Promise<string> {
  const place = archivePlace(options.url)
  if (place.form === 'memory') return 'SQLite in memory, which ends with the process'
  const name = place.form === 'file' ? `SQLite at ${place.path}` : withoutPassword(place.url)
  try {
    if (place.form === 'postgres')
      return said(name, await writableBytes(await openPostgres(place.url)))
    if (existsSync(place.path)) {
      const maxBytes = options.maxBytes ?? archiveDefaults.maxBytes
      return said(name, await writableBytes(await openSqliteFile(place.path, maxBytes)))
    }
    let folder = dirname(place.path)
    while (!existsSync(folder)) folder = dirname(folder)
    if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`)
    accessSync(folder, constants.W_OK)
    return `${name}, which is made at the start`
  } catch (error) {
    if (error instanceof ArchiveError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new ArchiveError(
      'ARCHIVE_UNREACHABLE',
      `${name} cannot be used: ${why}`,
      place.form === 'file'
        ? 'give the process a folder that it may write, on a disk with room'
        : 'look whether the server runs, and what the user of the address may do',
      error,
    )
  }
}

/** How many bytes an archive has that can be written. */
async function writableBytes(engine: Engine): Promise<number> {
  const undo = new Error('undone')
  try {
    await engine
      .transaction(async (statements) => {
        await migrateWithin(engine, statements)
        throw undo
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error
      })
    return await engine.bytes()
  } finally {
    await engine.close()
  }
}

function said(name: string, bytes: number): string {
  return `${name}, ${Math.ceil(bytes / 2 ** 20)} MiB, can be written`
}

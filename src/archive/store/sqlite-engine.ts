/*
 * The archive in a file, or in memory, by `node:sqlite`. There is one connection, and one writer: whoever reads waits while
 * a transaction runs. The file is in WAL mode, so a crash loses at most the transactions of the last moment and never a
 * part of one. It is for its owner only (0600), and for one process: SQLite's own lock on it is kept until it is closed.
 */

import { DamagedTextError } from './bodies.ts'
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import type * as sqlite from 'node:sqlite'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { ArchiveError } from '../archive-options.ts'
import {
  replacing,
  type Engine,
  type Failure,
  type SqlRow,
  type SqlValue,
  type Transaction,
} from './engine.ts'

/** At most so many bytes; beyond them it is full, as a disk. */
export async function openSqliteMemory(maxBytes: number): Promise<Engine> {
  const { DatabaseSync } = await sqliteModule()
  const database = new DatabaseSync(':memory:')
  database.exec(`PRAGMA max_page_count = ${Math.floor(maxBytes / pageBytes)}`)
  return new SqliteEngine(database, undefined)
}

/**
 * Opens the file. One that is damaged is put aside, and `warn` is told its new name; without `warn` it is left. Rejects with
 * ARCHIVE_IN_USE, or as SQLite and the file system do.
 */
export async function openSqliteFile(
  path: string,
  maxBytes: number,
  warn?: (message: string) => void,
): Promise<Engine> {
  try {
    return await openFile(path, maxBytes)
  } catch (error) {
    if (warn === undefined || failureOf(error) !== 'damaged') throw error
    putAside(path, warn)
    return openFile(path, maxBytes)
  }
}

async function openFile(path: string, maxBytes: number): Promise<Engine> {
  const { DatabaseSync } = await sqliteModule()
  mkdirSync(dirname(path), { recursive: true })
  ownerOnly(path)
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // The lock is taken by the first read, and kept: no other process reads or writes beside this one.
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304;
      PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;
      PRAGMA max_page_count = ${Math.floor(maxBytes / pageBytes)}; BEGIN IMMEDIATE; COMMIT`)
    for (const suffix of ['', '-wal']) ownerOnly(path + suffix)
    return new SqliteEngine(database, path)
  } catch (error) {
    database.close()
    throw sqliteCode(error) === sqliteCodes.busy ? inUse(path, error) : error
  }
}

const pageBytes = 4_096

/** Renames a damaged file. It must be closed. */
export function putAside(path: string, warn: (message: string) => void): void {
  const aside = `${path}.damaged-${new Date().toISOString().replaceAll(':', '')}`
  for (const suffix of ['', '-wal']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
  }
  warn(`the archive ${path} was damaged; it is kept as ${aside}, and a new one begins`)
}

/** Node says once per process that `node:sqlite` is experimental. The archive says nothing; other warnings go through. */
async function sqliteModule(): Promise<typeof sqlite> {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = (warning: string | Error, ...rest: readonly unknown[]) => {
    if (!String(warning).startsWith('SQLite is an experimental feature')) {
      Reflect.apply(emitWarning, process, [warning, ...rest])
    }
  }
  try {
    return await import('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

function ownerOnly(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
}

function failureOf(error: unknown): Failure {
  const code = sqliteCode(error)
  if (code !== undefined) {
    if (code === sqliteCodes.corrupt || code === sqliteCodes.notADatabase) return 'damaged'
    return passing.has(code) ? 'away' : 'other'
  }
  return error instanceof DamagedTextError ? 'damaged' : 'other'
}

/** https://www.sqlite.org/rescode.html */
const sqliteCodes = { busy: 5, corrupt: 11, notADatabase: 26 }
/** Busy, locked, out of memory, read-only, an error of the disk, a full disk, a file that cannot be opened. */
const passing: ReadonlySet<number> = new Set([5, 6, 7, 8, 10, 13, 14])

/** The primary result code. */
function sqliteCode(error: unknown): number | undefined {
  const code = error instanceof Error ? (error as { errcode?: unknown }).errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}

function inUse(path: string, cause: unknown): ArchiveError {
  return new ArchiveError(
    'ARCHIVE_IN_USE',
    `another process has the archive ${path} open`,
    'end the other process, or give this one a file of its own',
    cause,
  )
}

class SqliteEngine implements Engine {
  readonly dialect = 'sqlite'
  readonly #database: sqlite.DatabaseSync
  readonly #path: string | undefined
  readonly #prepared = new Map<string, sqlite.StatementSync>()
  /** Ends when the transaction that runs, and those that wait, have ended. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(database: sqlite.DatabaseSync, path: string | undefined) {
    this.#database = database
    this.#path = path
  }

  async rows(sql: string, parameters: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    await this.#turn
    return this.#rows(sql, parameters)
  }

  urgent(sql: string, parameters?: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.rows(sql, parameters)
  }

  // No other process has the file.
  notify(): Promise<void> {
    return Promise.resolve()
  }

  async *chunks(
    sql: string,
    parameters: readonly SqlValue[],
    size: number,
  ): AsyncIterable<readonly SqlRow[]> {
    await this.#turn
    yield* this.#chunks(sql, parameters, size)
  }

  async upsert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    key?: readonly string[],
    replaced?: readonly string[],
  ): Promise<void> {
    await this.#turn
    this.#upsert(table, columns, rows, key, replaced)
  }

  transaction<T>(work: (statements: Transaction) => Promise<T>): Promise<T> {
    const run = async () => {
      this.#database.exec('BEGIN IMMEDIATE')
      try {
        const result = await work(this.#within)
        this.#database.exec('COMMIT')
        return result
      } catch (error) {
        // After some errors, as of a full disk, SQLite has rolled back already.
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
        throw error
      }
    }
    const result = this.#turn.then(run)
    this.#turn = result.catch(() => undefined)
    return result
  }

  async bytes(): Promise<number> {
    const [row] = await this.rows(
      `SELECT (page_count - freelist_count) * page_size AS bytes
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    )
    return Number(row?.['bytes'] ?? 0)
  }

  async giveBack(): Promise<boolean> {
    await this.#turn
    if (this.#path === undefined) return false
    this.#database.exec('PRAGMA incremental_vacuum(256)')
    const [row] = this.#rows('SELECT freelist_count AS pages FROM pragma_freelist_count', [])
    return Number(row?.['pages'] ?? 0) > 256
  }

  failure(error: unknown): Failure {
    return failureOf(error)
  }

  // No other process writes.
  listen(): void {}

  async close(): Promise<void> {
    await this.#turn
    this.#database.close()
  }

  /** The statements of the transaction that runs: they wait for nobody. */
  readonly #within: Transaction = {
    ordered: () => Promise.resolve(),
    rows: async (sql, parameters = []) => this.#rows(sql, parameters),
    chunks: (sql, parameters, size) => this.#chunks(sql, parameters, size),
    upsert: async (table, columns, rows, key, replaced) =>
      this.#upsert(table, columns, rows, key, replaced),
  }

  #rows(sql: string, parameters: readonly SqlValue[]): readonly SqlRow[] {
    return this.#statement(sql).all(...parameters)
  }

  async *#chunks(
    sql: string,
    parameters: readonly SqlValue[],
    size: number,
  ): AsyncIterable<readonly SqlRow[]> {
    // Not a kept statement: others may run the same one before this one has ended.
    const rows = this.#database.prepare(numbered(sql)).iterate(...parameters)
    let chunk: SqlRow[] = []
    for (const row of rows) {
      chunk.push(row)
      if (chunk.length < size) continue
      yield chunk
      chunk = []
    }
    if (chunk.length > 0) yield chunk
  }

  #upsert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    key: readonly string[] | undefined,
    replaced: readonly string[] | undefined,
  ): void {
    const values = columns.map(() => '?').join(', ')
    const statement = this.#statement(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})${replacing(columns, key, replaced)}`,
    )
    for (const row of rows) statement.run(...row)
  }

  #statement(sql: string): sqlite.StatementSync {
    return getOrInsert(this.#prepared, sql, () => {
      if (this.#prepared.size >= 200) this.#prepared.clear()
      return this.#database.prepare(numbered(sql))
    })
  }
}

/** `$1` is a name to SQLite, `?1` a place. */
function numbered(sql: string): string {
  return sql.replaceAll(/\$(\d+)/g, '?$1')
}

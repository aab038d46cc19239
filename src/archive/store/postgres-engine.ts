/*
 * The archive in Postgres, by the library `pg`, which is loaded only here. A pool has one connection that writes and a few
 * that answer. Many rows are written as one statement over arrays (`unnest`). The sessions have deadlines, so that a program
 * that stands still in the middle of a transaction loses it, and holds up nobody.
 *
 * The address may leave out the password: `pg` looks into PGPASSWORD and the file that PGPASSFILE names, whenever it connects.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Topic } from '../archive-calls.ts'
import { DamagedTextError } from './bodies.ts'
import type { Pool, PoolClient } from 'pg'
import {
  replacing,
  type Engine,
  type Failure,
  type SqlRow,
  type SqlValue,
  type Statements,
  type Transaction,
} from './engine.ts'

/** One of them listens. */
const sessions = 5
/** Those that may be taken for rows in chunks. A start asks for hundreds of kinds at once, and each takes its time. */
const chunkSessions = 2
const channel = 'informerql_archive'
const listenAgainMs = 1_000
const deadlines = {
  connectionTimeoutMillis: 5_000,
  statement_timeout: 30_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
  // Of the client: a server that answers no more, as behind a cut cable.
  query_timeout: 40_000,
}
/** The same for questions, whose callers wait for less. */
const questionTimeoutMs = 8_000

const urgentDeadlines = {
  ...deadlines,
  connectionTimeoutMillis: 3_000,
  statement_timeout: 3_000,
  query_timeout: 3_000,
}

/** Connects with the first statement. */
export async function openPostgres(url: string): Promise<Engine> {
  const { default: pg } = await import('pg')
  const poolOf = (max: number, times: typeof deadlines): Pool => {
    const pool = new pg.Pool({
      connectionString: url,
      application_name: 'informerql',
      max,
      keepAlive: true,
      ...times,
      types: { getTypeParser: parserOf },
    })
    // A connection that breaks while no statement runs. The next statement notices it, or the pool makes another one.
    pool.on('error', () => undefined)
    pool.on('connect', (session) => session.on('error', () => undefined))
    return pool
  }
  return new PostgresEngine(poolOf(sessions, deadlines), poolOf(1, urgentDeadlines))
}

/** Integers and sums are numbers, bytes are bytes, all else is text. */
function parserOf(type: number): (value: string) => SqlValue {
  if (type === int8 || type === int4 || type === numeric) return Number
  if (type === bytea) return (value) => Buffer.from(value.slice(2), 'hex')
  return (value) => value
}
const [int8, int4, numeric, bytea] = [20, 23, 1700, 17]

/** Of the columns whose values are no texts. */
const columnTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bigint:
      'kind_id created changed time after dictionary begins ends written since_change objects object_bytes changes change_bytes',
    integer: 'type field_count whole namespaced',
    bytea: 'body detail',
  }).flatMap(([type, columns]) => columns.split(' ').map((column) => [column, type] as const)),
)

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const [missingTable, missingRight] = ['42P01', '42501']

class PostgresEngine implements Engine {
  readonly dialect = 'postgres'
  readonly #pool: Pool
  readonly #urgent: Pool
  readonly #closing = new AbortController()
  #chunked = 0
  readonly #waiting: (() => void)[] = []
  /** Ends when the transaction that runs, and those that wait, have ended. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(pool: Pool, urgent: Pool) {
    this.#pool = pool
    this.#urgent = urgent
  }

  rows(sql: string, parameters: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return this.#withSession((session) => rowsOf(session, sql, parameters, questionTimeoutMs))
  }

  urgent(sql: string, parameters: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return withSession(this.#urgent, (session) => rowsOf(session, sql, parameters))
  }

  async notify(topic: Topic): Promise<void> {
    await this.urgent(`SELECT pg_notify('${channel}', '${topic}')`)
  }

  async *chunks(
    sql: string,
    parameters: readonly SqlValue[],
    size: number,
  ): AsyncIterable<readonly SqlRow[]> {
    // The turn of one that ends goes to the next.
    if (this.#chunked < chunkSessions) this.#chunked += 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let session: PoolClient | undefined
    let hasEnded = false
    try {
      session = await this.#pool.connect()
      // A reader may take its time with each chunk.
      await session.query('BEGIN READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0')
      yield* chunksOf(session, sql, parameters, size)
      await session.query('COMMIT')
      hasEnded = true
    } finally {
      session?.release(!hasEnded)
      const next = this.#waiting.shift()
      if (next === undefined) this.#chunked -= 1
      else next()
    }
  }

  upsert(...parameters: Parameters<Statements['upsert']>): Promise<void> {
    return this.#withSession((session) => upsert(session, ...parameters))
  }

  transaction<T>(work: (statements: Transaction) => Promise<T>): Promise<T> {
    const run = () =>
      this.#withSession(async (session) => {
        await session.query('BEGIN')
        const result = await work({
          rows: (sql, parameters = []) => rowsOf(session, sql, parameters),
          chunks: (sql, parameters, size) => chunksOf(session, sql, parameters, size),
          upsert: (...parameters) => upsert(session, ...parameters),
          ordered: async (topic) => {
            await session.query(
              `SELECT pg_advisory_xact_lock(7377263), pg_notify('${channel}', '${topic}')`,
            )
          },
        })
        await session.query('COMMIT')
        return result
      })
    const result = this.#turn.then(run)
    this.#turn = result.catch(() => undefined)
    return result
  }

  async bytes(): Promise<number> {
    const tables = 'holders kinds dictionaries objects changes gaps apis api_documents'.split(' ')
    const sizes = tables.map(
      (table) => `COALESCE(pg_total_relation_size(to_regclass('${table}')), 0)`,
    )
    const [row] = await this.rows(`SELECT ${sizes.join(' + ')} AS bytes`)
    return Number(row?.['bytes'] ?? 0)
  }

  // Autovacuum makes room for the rows that follow.
  giveBack(): Promise<boolean> {
    return Promise.resolve(false)
  }

  failure(error: unknown): Failure {
    if (error instanceof DamagedTextError) return 'other'
    const { code } = error as { readonly code?: unknown }
    if (typeof code !== 'string') {
      // A connection that broke or came to its deadline says so by a message only.
      return error instanceof TypeError || error instanceof RangeError ? 'other' : 'away'
    }
    if (code === missingTable || code === missingRight) return 'away'
    // Values (22), constraints (23), statements (42) that are wrong are wrong the next time, too.
    return /^(22|23|42)...$/.test(code) ? 'other' : 'away'
  }

  listen(listener: (topic: Topic | undefined) => void): void {
    const { signal } = this.#closing
    const follow = async (session: PoolClient): Promise<void> => {
      const ended = new Promise<void>((resolve) => {
        session.once('error', resolve).once('end', resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      session.on('notification', ({ payload }) => listener(payload as Topic))
      await session.query(`LISTEN ${channel}`)
      // What others wrote before.
      listener(undefined)
      await ended
    }
    const run = async (): Promise<void> => {
      while (!signal.aborted) {
        const session = await this.#pool.connect().catch(() => undefined)
        if (session !== undefined) {
          await follow(session).catch(() => undefined)
          session.release(true)
        }
        await sleep(listenAgainMs, undefined, { signal }).catch(() => undefined)
      }
    }
    void run()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#turn
    await Promise.all([this.#pool.end(), this.#urgent.end()])
  }

  #withSession<T>(work: (session: PoolClient) => Promise<T>): Promise<T> {
    return withSession(this.#pool, work)
  }
}

/** After an error the session ends: it may be that of a server which is read-only now, or half in a transaction. */
async function withSession<T>(pool: Pool, work: (session: PoolClient) => Promise<T>): Promise<T> {
  const session = await pool.connect()
  try {
    const result = await work(session)
    session.release()
    return result
  } catch (error) {
    session.release(true)
    throw error
  }
}

async function rowsOf(
  session: PoolClient,
  text: string,
  values: readonly SqlValue[],
  timeoutMs: number = deadlines.query_timeout,
): Promise<readonly SqlRow[]> {
  const query = { text, values: values.map(withoutNul), query_timeout: timeoutMs }
  const { rows } = await session.query<SqlRow>(query)
  return rows
}

/** Postgres refuses texts with NUL. Names have none, so that a question about such a text finds nothing. */
function withoutNul(value: SqlValue): SqlValue {
  return typeof value === 'string' ? value.replaceAll('\u0000', '\uFFFD') : value
}

async function* chunksOf(
  session: PoolClient,
  sql: string,
  parameters: readonly SqlValue[],
  size: number,
): AsyncIterable<readonly SqlRow[]> {
  const cursor = `rows_${cursors++}`
  await session.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, [...parameters])
  for (;;) {
    const rows = await rowsOf(session, `FETCH ${size} FROM ${cursor}`, [])
    if (rows.length > 0) yield rows
    if (rows.length < size) break
  }
  await session.query(`CLOSE ${cursor}`)
}
let cursors = 0

async function upsert(
  session: PoolClient,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly SqlValue[])[],
  key?: readonly string[],
  replaced?: readonly string[],
): Promise<void> {
  const arrays = columns.map((column, at) => `$${at + 1}::${columnTypes.get(column) ?? 'text'}[]`)
  await session.query(
    `INSERT INTO ${table} (${columns.join(', ')}) SELECT * FROM unnest(${arrays.join(', ')})${replacing(columns, key, replaced)}`,
    columns.map((_, at) => rows.map((row) => row[at])),
  )
}

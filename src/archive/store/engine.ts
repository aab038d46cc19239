/*
 * A database as the archive needs it. The statements are written once, in the SQL that SQLite and Postgres share, with
 * parameters `$1`, `$2`, …; times and ids are integers, texts TEXT, bytes BLOB (`bytea`), flags integers. Each engine runs
 * them in its own way, and writes many rows at once in its own way.
 */

export type SqlValue = string | number | bigint | Uint8Array | null
export type SqlRow = Readonly<Record<string, SqlValue>>

export interface Statements {
  /** Runs one statement, and returns its rows. */
  rows(sql: string, parameters?: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** Runs a statement, some rows at a time. */
  chunks(
    sql: string,
    parameters: readonly SqlValue[],
    size: number,
  ): AsyncIterable<readonly SqlRow[]>
  /**
   * Inserts rows, or replaces those with the same values in `key`. All rows have the same columns. Without `key`: inserts.
   */
  upsert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    key?: readonly string[],
  ): Promise<void>
}

export interface Engine extends Statements {
  readonly dialect: 'sqlite' | 'postgres'
  /** Runs `work` in one transaction: all of it counts, or nothing. One at a time. */
  transaction<T>(work: (statements: Statements) => Promise<T>): Promise<T>
  /** The bytes on disk, or in memory. */
  bytes(): Promise<number>
  close(): Promise<void>
}

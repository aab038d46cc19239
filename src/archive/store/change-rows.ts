/*
 * Rows of changes in the order of their ids, newest first or, for those who follow, oldest first, as far as SQL can tell that
 * they are asked for. They are looked at in windows, so that a filter that nothing matches costs a bounded number of rows. Few
 * objects, or few kinds, are read by an index each and merged; many kinds in the order of all changes.
 */

import type { ChangesQuestion } from '../archive-calls.ts'
import { recordTypes } from '../archive-calls.ts'
import { type Engine, places, type SqlRow, type SqlValue, type Statements } from './engine.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { askedKeys, askedNamespaces, type PastKind } from './past-kinds.ts'
import { manyPaths, marksOf } from './paths.ts'

/** Whether a row is one of those asked for. */
export type ChangeFilter = (row: SqlRow) => Promise<boolean>

/** Where a walk ended because it had looked at enough: changes from this id on, in its direction, were not looked at. */
interface Unseen {
  readonly unseen: number
}

const maxLookedAt = 100_000
/** Comparing a row with so many paths takes as long as looking at it. */
const pathsPerRow = 25
const maxObjectWalks = 64
const maxKindWalks = 16
/** More values of a filter are compared when the rows are read. */
const maxValues = 500
const newestId: number = Number.MAX_SAFE_INTEGER

const columns =
  'id, kind_id, namespace, name, uid, time, after, type, version, manager, paths, field_count, dictionary, detail'

/** How many rows are looked at to turn a time into an id: more than are written while a clock jumps back. */
const maxJump = 20_000

/** A range of ids that holds all changes of a time. */
export async function idsWithin(
  statements: Statements,
  sinceMs: number | undefined,
  untilMs: number | undefined,
): Promise<{ readonly oldest: number; readonly newest: number }> {
  let [oldest, newest] = [0, newestId]
  if (sinceMs !== undefined) {
    const [row] = await statements.rows(
      `SELECT MIN(id) AS id FROM
         (SELECT id FROM changes WHERE time >= $1 ORDER BY time LIMIT ${maxJump}) AS looked`,
      [Math.ceil(sinceMs)],
    )
    oldest = Number(row?.['id'] ?? newestId)
  }
  if (untilMs !== undefined) {
    const [row] = await statements.rows(
      `SELECT MAX(id) AS id FROM
         (SELECT id FROM changes WHERE time < $1 ORDER BY time DESC LIMIT ${maxJump}) AS looked`,
      [Math.ceil(untilMs)],
    )
    newest = Number(row?.['id'] ?? 0)
  }
  return { oldest, newest }
}

export async function* changeRows(
  engine: Engine,
  kinds: ReadonlyMap<number, PastKind>,
  question: ChangesQuestion,
): AsyncGenerator<SqlRow | Unseen, void> {
  const { sinceMs, untilMs, before, following, limit } = question
  const sources = sourcesOf(kinds)
  const { oldest, newest: newestInTime } = await idsWithin(engine, sinceMs, untilMs)
  // A statement reads one source, and the archive may write between two statements. So all sources end at the same change:
  // a reader that continues after the newest row must have read all rows before it.
  const isOpen = untilMs === undefined && before === undefined
  const newest = isOpen && sources.length > 1 ? await newestOf(engine) : newestInTime
  const isForward = following !== undefined
  const begin = isForward
    ? Math.max(Number(following), oldest - 1)
    : Math.min(Number(before ?? newestId), newest + 1)
  const walk: Walk = {
    engine,
    isForward,
    begin,
    end: isForward ? newest : oldest,
    filter: sqlOf(engine, kinds, question),
    atOnce: Math.ceil((2 * limit) / sources.length) + 1,
    budget: { left: maxLookedAt / (1 + (question.paths?.length ?? 0) / pathsPerRow) },
  }
  const walks = sources.map((source) => rowsOf(walk, source))
  const heads = await Promise.all(walks.map((rows) => rows.next()))
  while (true) {
    let first = -1
    for (const [at, head] of heads.entries()) {
      if (head.done === true) continue
      if (first < 0 || isSooner(idOf(head.value), idOf(heads[first]?.value as SqlRow), isForward)) {
        first = at
      }
    }
    const head = heads[first]?.value
    if (head === undefined) return
    yield head
    if ('unseen' in head) return
    heads[first] = (await walks[first]?.next()) ?? { done: true, value: undefined }
  }
}

/** All changes up to this one can be read: ids grow as transactions commit. */
async function newestOf(statements: Statements): Promise<number> {
  const [row] = await statements.rows('SELECT MAX(id) AS id FROM changes')
  return Number(row?.['id'] ?? 0)
}

function isSooner(id: number, other: number, isForward: boolean): boolean {
  return isForward ? id < other : id > other
}

/** A row that was not looked at may be the next one. */
function idOf(head: SqlRow | Unseen): number {
  return Number('unseen' in head ? head.unseen : head['id'])
}

interface Sql {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

interface Walk {
  readonly engine: Engine
  readonly isForward: boolean
  /** Exclusive. */
  readonly begin: number
  /** Inclusive. */
  readonly end: number
  readonly filter: (first: number) => Sql
  readonly atOnce: number
  readonly budget: { left: number }
}

/** Rows that an index gives in order, and what is compared of each. */
interface Source {
  readonly rows: Sql
  readonly others?: (first: number) => Sql
}

function sourcesOf(kinds: ReadonlyMap<number, PastKind>): readonly Source[] {
  const objects: Source[] = []
  for (const kind of kinds.values()) {
    const keys = askedKeys(kind, maxObjectWalks)
    if (keys === undefined || objects.length + keys.length > maxObjectWalks) {
      objects.length = 0
      break
    }
    for (const key of keys) {
      const { namespace, name } = splitObjectKey(key)
      const sql = 'kind_id = $1 AND namespace = $2 AND name = $3'
      objects.push({ rows: { sql, values: [kind.id, namespace, name] } })
    }
  }
  if (objects.length > 0) return objects
  const ids = [...kinds.keys()]
  if (ids.length <= maxKindWalks) {
    return ids.map((id) => ({ rows: { sql: 'kind_id = $1', values: [id] } }))
  }
  const rows: Sql = { sql: '1 = 1', values: [] }
  if (ids.length > maxValues) return [{ rows }]
  return [
    // The sign keeps databases from reading all rows of these kinds by their index, to sort them.
    { rows, others: (first) => ({ sql: `+kind_id IN (${places(ids, first)})`, values: ids }) },
  ]
}

async function* rowsOf(
  { engine, isForward, begin, end, filter, atOnce, budget }: Walk,
  { rows: { sql, values }, others }: Source,
): AsyncGenerator<SqlRow | Unseen, void> {
  const [past, upTo, edge, order] = isForward
    ? (['>', '<=', 'MAX', 'ASC'] as const)
    : (['<', '>=', 'MIN', 'DESC'] as const)
  const [from, to] = [values.length + 1, values.length + 2]
  const kinds = others?.(to + 1)
  const filters = filter(to + 1 + (kinds?.values.length ?? 0))
  const conditions = [sql, kinds?.sql, filters.sql].filter((one) => one !== undefined && one !== '')
  let next = begin
  for (let size = 1_000; ; size = Math.min(2 * size, 20_000)) {
    if (budget.left <= 0) {
      yield { unseen: next }
      return
    }
    const [window] = await engine.rows(
      `SELECT ${edge}(id) AS edge, COUNT(*) AS count FROM
         (SELECT id FROM changes WHERE ${sql} AND id ${past} $${from} AND id ${upTo} $${to}
          ORDER BY id ${order} LIMIT ${size}) AS looked`,
      [...values, next, end],
    )
    const count = Number(window?.['count'] ?? 0)
    if (count === 0) return
    budget.left -= count
    const last = Number(window?.['edge'])
    for (let top = next; ;) {
      const rows = await engine.rows(
        `SELECT ${columns} FROM changes
         WHERE id ${past} $${from} AND id ${upTo} $${to} AND ${conditions.join(' AND ')}
         ORDER BY id ${order} LIMIT ${atOnce}`,
        [...values, top, last, ...(kinds?.values ?? []), ...filters.values],
      )
      yield* rows
      if (rows.length < atOnce) break
      top = Number(rows.at(-1)?.['id'])
    }
    if (count < size) return
    next = last
  }
}

/** The conditions of a question as SQL; `first`: the number of its first parameter. */
function sqlOf(
  { dialect }: Engine,
  kinds: ReadonlyMap<number, PastKind>,
  { sinceMs, untilMs, types, managers, paths, names }: ChangesQuestion,
): (first: number) => Sql {
  return (first) => {
    const conditions: string[] = []
    const values: SqlValue[] = []
    const place = (value: SqlValue): string => `$${first + values.push(value) - 1}`
    const among = (column: string, of: readonly SqlValue[] | undefined): void => {
      if (of === undefined || of.length > maxValues) return
      conditions.push(of.length === 0 ? '1 = 0' : `${column} IN (${of.map(place).join(', ')})`)
    }
    if (sinceMs !== undefined) conditions.push(`time >= ${place(Math.ceil(sinceMs))}`)
    if (untilMs !== undefined) conditions.push(`time < ${place(Math.ceil(untilMs))}`)
    among(
      'type',
      types?.map((type) => recordTypes.indexOf(type)),
    )
    among('manager', managers)
    among('name', names)
    among('namespace', askedNamespaces(kinds.values(), maxValues))
    const marks = paths?.flatMap(marksOf)
    if (marks !== undefined && marks.length <= maxValues) {
      const find = dialect === 'sqlite' ? 'instr' : 'strpos'
      const any = marks.map((mark) => `${find}(paths, ${place(mark)}) > 0`)
      conditions.push(`(${[`paths = '${manyPaths}'`, ...any].join(' OR ')})`)
    }
    return { sql: conditions.join(' AND '), values }
  }
}

/*
 * Writes batches: finds the states before, compares, and makes of them rows of objects, rows of changes, and the positions,
 * in the transaction of the caller. What this process wrote last is kept in memory (`StateCache`), so that a busy object's
 * state before needs no read. What is remembered of kinds and states changes only after the commit.
 */

import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { ArchiveBatch, ArchivedKind } from '../archive-calls.ts'
import { ArchiveError } from '../archive-options.ts'
import { KeptTexts, lost, packedText, unlessLost } from './bodies.ts'
import { tuples, type SqlValue, type Statements, type Transaction } from './engine.ts'
import {
  type BatchOfKind,
  keyOf,
  namespaceAndName,
  namespacesAfter,
  remember,
  type WrittenKind,
  writtenAfter,
} from './kind-rows.ts'
import { keptChange, keptState, type KeptChange, lostChange } from './kept-state.ts'

/** What a transaction wrote. `bytes`: of the changes. */
export interface Written {
  readonly rows: number
  readonly gaps: number
  readonly bytes: number
  readonly commit: () => void
}

interface State {
  /** `undefined`: it is damaged. */
  readonly text: string | undefined
  readonly uid: string
  readonly version: string
  /** What its row counts. */
  readonly bytes: number
}

/** A record of a batch. */
interface RecordOfKind extends BatchOfKind {
  readonly key: string
  /** The position of its change; `null` until a list has ended. */
  readonly position: string | null
}

const objectColumns =
  'kind_id namespace name uid version created changed health labels dictionary body'.split(' ')
const changeColumns =
  'kind_id namespace name uid time after type version position manager paths field_count whole dictionary detail'.split(
    ' ',
  )
const [added, modified, removed] = [0, 1, 2]

/** What a row takes besides its texts: columns of numbers, and its entries in indexes. */
export const rowBytes = 200

export class BatchWriter {
  readonly #cache: StateCache
  readonly texts: KeptTexts = new KeptTexts()
  /** The dictionary of each kind for new bodies. */
  readonly #newest = new Map<number, number>()

  constructor(cacheBytes: number) {
    this.#cache = new StateCache(cacheBytes)
  }

  /** Forgets what it remembers: after a failed transaction, or when another process may have written. */
  forget(): void {
    this.#cache.clear()
    this.texts.forget()
    this.#newest.clear()
  }

  /**
   * Writes batches in their order. A part of a list stands alone; kinds of other batches have a position. Returns what to call
   * after the commit, and how much was written.
   */
  async write(statements: Transaction, works: readonly BatchOfKind[]): Promise<Written> {
    const before = await this.#statesBefore(statements, namedBy(works))
    const rows = new WrittenRows(before)
    for (const work of works) await this.#add(statements, rows, work)
    await rows.flush(statements)
    await updateKinds(statements, works, rows)
    const { states } = rows
    return {
      ...rows.written,
      commit: () => {
        for (const [place, state] of states) this.#cache.set(place, state)
        for (const { kind, batch } of works) remember(kind, batch)
      },
    }
  }

  async #add(statements: Statements, rows: WrittenRows, work: BatchOfKind): Promise<void> {
    const { kind, batch } = work
    const decoder = new TextDecoder()
    const named = batch.list === undefined ? undefined : namedUntilNow(kind, batch.list.number)
    let from = 0
    for (const [at, key] of batch.keys.entries()) {
      const to = batch.ends[at] ?? from
      const text = decoder.decode(batch.bytes.subarray(from, to))
      from = to
      const position = batch.positions?.[at] ?? batch.position ?? kind.position ?? null
      const record = { ...work, key, position: batch.list === undefined ? position : null }
      if (batch.types[at] === removed) {
        await this.#remove(statements, rows, record, text)
      } else {
        named?.add(key)
        await this.#put(statements, rows, record, text)
      }
    }
    if (named === undefined || batch.list?.isLast !== true) return
    rows.gaps += await noteGap(statements, work)
    const gone = await keysBesides(statements, kind.id, named)
    const before = await this.#statesBefore(statements, new Map([[kind.id, gone]]))
    for (const [place, state] of before) rows.states.set(place, state)
    for (const key of gone) {
      await this.#remove(statements, rows, { ...work, key, position: null }, '')
    }
  }

  async #put(
    statements: Statements,
    rows: WrittenRows,
    record: RecordOfKind,
    text: string,
  ): Promise<void> {
    const { kind, batch, key } = record
    const place = placeOf(kind.id, key)
    const before = rows.states.get(place)
    const after = keptState(kind.archived, text, before?.text)
    if (before?.text === after.text && before.version === after.version) return
    const isSame = before?.uid === after.uid
    if (before !== undefined && !isSame) await this.#remove(statements, rows, record, '')
    // The first list tells what there is, not what happened.
    if (kind.beginsMs !== undefined) {
      const isLost = isSame && before.text === undefined
      const known = isSame ? before.text : undefined
      const change = isLost ? lostChange : keptChange(kind.archived, known, after)
      const type = isSame ? modified : added
      if (change !== undefined) {
        await this.#change(statements, rows, record, type, after.uid, after.version, change)
      }
    }
    const dictionary = await this.#dictionaryOf(statements, kind, after.text)
    const body = packedText(after.text, dictionary.body)
    const [namespace, name] = namespaceAndName(key)
    const { uid, version, created, health, labels } = after
    rows.put(
      place,
      { text: after.text, uid, version, bytes: body.length + labels.length + rowBytes },
      [
        kind.id,
        namespace,
        name,
        uid,
        version,
        created,
        batch.timeMs,
        health,
        labels,
        dictionary.id,
        body,
      ],
    )
  }

  async #remove(
    statements: Statements,
    rows: WrittenRows,
    record: RecordOfKind,
    text: string,
  ): Promise<void> {
    const { kind, key } = record
    const place = placeOf(kind.id, key)
    const before = rows.states.get(place)
    if (before === undefined) return
    const last = text === '' ? undefined : keptState(kind.archived, text)
    const isLost = before.text === undefined
    const change = isLost ? lostChange : keptChange(kind.archived, before.text, undefined)
    if (change !== undefined) {
      const version = last?.version ?? before.version
      await this.#change(statements, rows, record, removed, before.uid, version, change)
    }
    rows.remove(place, kind.id, key)
  }

  async #change(
    statements: Statements,
    rows: WrittenRows,
    record: RecordOfKind,
    type: number,
    uid: string,
    version: string,
    { manager, paths, fieldCount, whole, detail }: KeptChange,
  ): Promise<void> {
    const { kind, batch, key, position } = record
    const dictionary = await this.#dictionaryOf(statements, kind, detail)
    const packed = packedText(detail, dictionary.body)
    const [namespace, name] = namespaceAndName(key)
    const after = batch.list === undefined ? (batch.afterMs ?? null) : knownUntil(record)
    rows.change(kind.id, packed.length + paths.length + 2 * key.length + rowBytes, [
      kind.id,
      namespace,
      name,
      uid,
      batch.timeMs,
      after,
      type,
      version,
      position,
      manager,
      paths,
      fieldCount,
      whole,
      dictionary.id,
      packed,
    ])
  }

  /** The dictionary of a kind; the first text becomes it. */
  async #dictionaryOf(
    statements: Statements,
    kind: WrittenKind,
    text: string,
  ): Promise<{ readonly id: number; readonly body: Uint8Array }> {
    let id = this.#newest.get(kind.id)
    if (id === undefined) {
      const [found] = await statements.rows(
        'SELECT MAX(id) AS id FROM dictionaries WHERE kind_id = $1',
        [kind.id],
      )
      const [row] =
        found?.['id'] === null
          ? await statements.rows(
              'INSERT INTO dictionaries (kind_id, body) VALUES ($1, $2) RETURNING id',
              [kind.id, new TextEncoder().encode(text.slice(0, maxDictionaryBytes))],
            )
          : [found]
      id = Number(row?.['id'])
      this.#newest.set(kind.id, id)
    }
    const body = await this.texts.dictionary(statements, id)
    return { id, body: body ?? new Uint8Array() }
  }

  /** The states of objects as the rows have them, by place. */
  async #statesBefore(
    statements: Statements,
    keysByKind: ReadonlyMap<number, Iterable<string>>,
  ): Promise<Map<string, State | undefined>> {
    const states = new Map<string, State | undefined>()
    for (const [kind, keys] of keysByKind) {
      const unknown = new Set<string>()
      for (const key of keys) {
        const place = placeOf(kind, key)
        const state = this.#cache.get(place)
        if (state === undefined) unknown.add(key)
        else states.set(place, state)
      }
      for (const some of inGroups([...unknown], keysAtOnce)) {
        const rows = await statements.rows(
          `SELECT namespace, name, uid, version, labels, dictionary, body FROM objects
           WHERE kind_id = $1 AND (namespace, name) IN (${tuples(some.length, 2, 2)})`,
          [kind, ...some.flatMap(namespaceAndName)],
        )
        for (const row of rows) {
          const labels = String(row['labels'])
          const body = row['body'] as Uint8Array
          const text = await unlessLost(this.texts.text(statements, row))
          states.set(placeOf(kind, keyOf(row)), {
            // The object of a damaged row is written anew, and nothing leads back from it.
            text: text === lost ? undefined : text,
            uid: String(row['uid']),
            version: String(row['version']),
            bytes: body.length + labels.length + rowBytes,
          })
        }
      }
    }
    return states
  }
}

const maxDictionaryBytes = 32_768
/** SQLite takes at most 32,766 parameters. */
const keysAtOnce = 500

/** What a transaction writes, until it is flushed. */
class WrittenRows {
  /** The states as they will be; `undefined`: none. */
  readonly states: Map<string, State | undefined>
  readonly #objects = new Map<string, readonly SqlValue[]>()
  readonly #removed = new Map<number, Set<string>>()
  readonly #changes: (readonly SqlValue[])[] = []
  readonly counts = new Map<number, Counts>()
  #changeBytes = 0
  gaps = 0

  constructor(states: Map<string, State | undefined>) {
    this.states = states
  }

  get written(): Omit<Written, 'commit'> {
    const rows = this.#objects.size + this.#changes.length
    return { rows, gaps: this.gaps, bytes: this.#changeBytes }
  }

  put(place: string, state: State, row: readonly SqlValue[]): void {
    const kind = Number(row[0])
    const before = this.states.get(place)
    const counts = this.#countsOf(kind)
    counts.objects += before === undefined ? 1 : 0
    counts.objectBytes += state.bytes - (before?.bytes ?? 0)
    this.states.set(place, state)
    this.#objects.set(place, row)
  }

  remove(place: string, kind: number, key: string): void {
    const counts = this.#countsOf(kind)
    counts.objects -= 1
    counts.objectBytes -= this.states.get(place)?.bytes ?? 0
    this.states.set(place, undefined)
    this.#objects.delete(place)
    getOrInsert(this.#removed, kind, () => new Set()).add(key)
  }

  change(kind: number, bytes: number, row: readonly SqlValue[]): void {
    const counts = this.#countsOf(kind)
    counts.changes += 1
    counts.changeBytes += bytes
    this.#changeBytes += bytes
    this.#changes.push(row)
  }

  /** Removals first: an object that was made anew is put after it. Changes last: their ids grow as transactions commit. */
  async flush(statements: Transaction): Promise<void> {
    for (const [kind, keys] of this.#removed) {
      for (const some of inGroups([...keys], keysAtOnce)) {
        await statements.rows(
          `DELETE FROM objects WHERE kind_id = $1 AND (namespace, name) IN (${tuples(some.length, 2, 2)})`,
          [kind, ...some.flatMap(namespaceAndName)],
        )
      }
    }
    const objects = [...this.#objects.values()]
    if (objects.length > 0) {
      await statements.upsert('objects', objectColumns, objects, ['kind_id', 'namespace', 'name'])
    }
    if (this.#changes.length === 0) return
    await statements.ordered('changes')
    await statements.upsert('changes', changeColumns, this.#changes)
  }

  #countsOf(kind: number): Counts {
    return getOrInsert(this.counts, kind, () => ({
      objects: 0,
      objectBytes: 0,
      changes: 0,
      changeBytes: 0,
    }))
  }
}

interface Counts {
  objects: number
  objectBytes: number
  changes: number
  changeBytes: number
}

/** Until when the states that a list is compared with were known to be those of the cluster. */
function knownUntil({ kind, batch }: BatchOfKind): number {
  return Math.min(batch.afterMs ?? kind.writtenMs, batch.timeMs)
}

/** What happened between the last known states and a list, other than what came of it, was not seen. */
async function noteGap(statements: Statements, work: BatchOfKind): Promise<number> {
  const { kind, batch } = work
  const from = knownUntil(work)
  if (kind.beginsMs === undefined || from >= batch.timeMs) return 0
  await statements.upsert('gaps', ['kind_id', 'begins', 'ends'], [[kind.id, from, batch.timeMs]])
  return 1
}

async function updateKinds(
  statements: Statements,
  works: readonly BatchOfKind[],
  rows: WrittenRows,
): Promise<void> {
  const byKind = Map.groupBy(works, ({ kind }) => kind)
  const updates = [...byKind].flatMap(([kind, own]) => {
    const last = own.at(-1)?.batch
    if (last === undefined) return []
    const counts = rows.counts.get(kind.id)
    const namespaces = own.reduce((all, { batch }) => namespacesAfter(all, batch), kind.namespaces)
    const update: readonly SqlValue[] = [
      kind.id,
      positionAfter(own, kind) ?? null,
      namespaces === undefined ? null : JSON.stringify(namespaces),
      last.incarnation,
      writtenAfter(kind, last),
      counts?.objects ?? 0,
      counts?.objectBytes ?? 0,
      counts?.changes ?? 0,
      counts?.changeBytes ?? 0,
    ]
    return [update]
  })
  for (const some of inGroups(updates, kindsAtOnce)) {
    const values = some.map((_, at) => {
      const casts = kindColumnTypes.map(
        (type, column) => `CAST($${at * kindColumnTypes.length + column + 1} AS ${type})`,
      )
      return `(${casts.join(', ')})`
    })
    await statements.rows(
      `UPDATE kinds SET position = given.column2, namespaces = given.column3, incarnation = given.column4,
         written = given.column5, objects = objects + given.column6, object_bytes = object_bytes + given.column7,
         changes = changes + given.column8, change_bytes = change_bytes + given.column9
       FROM (VALUES ${values.join(', ')}) AS given WHERE kinds.id = given.column1`,
      some.flat(),
    )
  }
  for (const [kind, own] of byKind) {
    const last = own.at(-1)?.batch
    if (last?.list?.isLast === true) await endList(statements, kind, last)
  }
}

/** Of the values of a kind that is updated. */
const kindColumnTypes = 'BIGINT TEXT TEXT TEXT BIGINT BIGINT BIGINT BIGINT BIGINT'.split(' ')
const kindsAtOnce = 500

/**
 * Gives the changes that the list has found its position. No row tells of an object that came and went before the list, so no
 * reader can go on from an earlier position by the rows.
 */
async function endList(
  statements: Statements,
  kind: WrittenKind,
  batch: ArchiveBatch,
): Promise<void> {
  const position = batch.position ?? null
  await statements.rows(
    'UPDATE changes SET position = $2 WHERE kind_id = $1 AND position IS NULL',
    [kind.id, position],
  )
  await statements.rows(
    `UPDATE kinds SET begins = COALESCE(begins, $2), since_position = $3,
       since_change = COALESCE((SELECT MAX(id) FROM changes WHERE kind_id = $1), 0) WHERE id = $1`,
    [kind.id, batch.timeMs, position],
  )
}

/** Of a list before its last part: none, since its rows are of two moments. */
function positionAfter(own: readonly BatchOfKind[], kind: WrittenKind): string | undefined {
  if (own.some(({ batch }) => batch.list !== undefined)) return own.at(-1)?.batch.position
  return own.findLast(({ batch }) => batch.position !== undefined)?.batch.position ?? kind.position
}

function namedUntilNow(kind: WrittenKind, number: number): Set<string> {
  if (kind.list?.number !== number) kind.list = { number, named: new Set() }
  return kind.list.named
}

function namedBy(works: readonly BatchOfKind[]): ReadonlyMap<number, Set<string>> {
  const keysByKind = new Map<number, Set<string>>()
  for (const { kind, batch } of works) {
    const keys = getOrInsert(keysByKind, kind.id, () => new Set())
    for (const key of batch.keys) keys.add(key)
  }
  return keysByKind
}

async function keysBesides(
  statements: Statements,
  kind: number,
  named: ReadonlySet<string>,
): Promise<readonly string[]> {
  const gone: string[] = []
  const chunks = statements.chunks(
    'SELECT namespace, name FROM objects WHERE kind_id = $1',
    [kind],
    5_000,
  )
  for await (const rows of chunks) {
    for (const row of rows) {
      const key = keyOf(row)
      if (!named.has(key)) gone.push(key)
    }
  }
  // The plan of the database decides in which order it returns them. Changes must not depend on that.
  return gone.toSorted()
}

/** The states that were written or read last, up to some bytes of text. */
class StateCache {
  readonly #states = new Map<string, State>()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(place: string): State | undefined {
    const state = this.#states.get(place)
    if (state === undefined) return undefined
    this.#states.delete(place)
    this.#states.set(place, state)
    return state
  }

  set(place: string, state: State | undefined): void {
    this.#bytes -= this.#states.get(place)?.text?.length ?? 0
    this.#states.delete(place)
    if (state === undefined) return
    this.#states.set(place, state)
    this.#bytes += state.text?.length ?? 0
    for (const [oldest, { text = '' }] of this.#states) {
      if (this.#bytes <= this.#maxBytes) break
      this.#states.delete(oldest)
      this.#bytes -= text.length
    }
  }

  clear(): void {
    this.#states.clear()
    this.#bytes = 0
  }
}

export function behind(kind: ArchivedKind): ArchiveError {
  return new ArchiveError(
    'ARCHIVE_BEHIND',
    `the archive lacks changes of ${kind.resource} of the cluster ${kind.cluster}`,
    'write a whole list next',
  )
}

function placeOf(kind: number, key: string): string {
  return `${kind} ${key}`
}

function inGroups<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const groups: T[][] = []
  for (let at = 0; at < items.length; at += size) groups.push(items.slice(at, at + size))
  return groups
}

/*
 * What a start asks about each kind: its row, and its objects. Whoever takes clusters over asks this for thousands of kinds,
 * most of them small, so what is asked in one turn is one statement. The objects of a large kind are read by themselves, in
 * chunks.
 */

import DataLoader from 'dataloader'
import {
  type ArchivedKind,
  type BaseMark,
  joinedTexts,
  type ObjectChunk,
} from '../archive-calls.ts'
import { ArchiveError } from '../archive-options.ts'
import type { KeptTexts } from './bodies.ts'
import { type Engine, places, type SqlRow } from './engine.ts'
import { kindPlace, kindRows, namespacesOf, textOf, type WrittenKind } from './kind-rows.ts'
import { readableText } from './kept-state.ts'

/** Up to here, the objects of a kind are read together with those of others. */
const fewObjects = 50
const kindsAtOnce = 100
const objectsAtOnce = 500

export class KindReads {
  readonly #engine: () => Promise<Engine>
  readonly #texts: KeptTexts
  readonly #rows: DataLoader<ArchivedKind, SqlRow | undefined>
  readonly #small: DataLoader<WrittenKind, ObjectChunk>

  constructor(engine: () => Promise<Engine>, texts: KeptTexts) {
    this.#engine = engine
    this.#texts = texts
    this.#rows = collected((kinds) => this.#rowsOf(kinds))
    this.#small = collected((kinds) => this.#chunksOf(kinds))
  }

  /** The row of a kind, with the `mark` of its holder. */
  row(archived: ArchivedKind): Promise<SqlRow | undefined> {
    return this.#rows.load(archived)
  }

  /** The objects of a kind, as they are at one moment. */
  async *objects(kind: WrittenKind): AsyncIterable<ObjectChunk> {
    if (kind.objects <= fewObjects) {
      yield await this.#small.load(kind)
      return
    }
    const engine = await this.#engine()
    for await (const rows of engine.chunks(objectsSql([kind.id]), [kind.id], objectsAtOnce)) {
      yield await this.#chunk(engine, kind, rows, rows.length < objectsAtOnce)
    }
  }

  async #rowsOf(kinds: readonly ArchivedKind[]): Promise<readonly (SqlRow | undefined)[]> {
    const rows = await kindRows(await this.#engine(), kinds)
    return kinds.map((kind) => rows.get(kindPlace(kind)))
  }

  async #chunksOf(kinds: readonly WrittenKind[]): Promise<readonly (ObjectChunk | Error)[]> {
    const engine = await this.#engine()
    const ids = [...new Set(kinds.map(({ id }) => id))]
    const rows = await engine.rows(objectsSql(ids), ids)
    await this.#texts.fetch(
      engine,
      rows.map((row) => row['dictionary']),
    )
    const byKind = Map.groupBy(rows, (row) => Number(row['kind_id']))
    const chunks: (ObjectChunk | Error)[] = []
    for (const kind of kinds) {
      const chunk = this.#chunk(engine, kind, byKind.get(kind.id) ?? [], true)
      chunks.push(await chunk.catch((error: unknown) => error as Error))
    }
    return chunks
  }

  /** `rows`: the first one of a kind is the kind's own. */
  async #chunk(
    engine: Engine,
    { archived }: WrittenKind,
    rows: readonly SqlRow[],
    isLast: boolean,
  ): Promise<ObjectChunk> {
    const of = rows.find((row) => row['body'] === null)
    const texts: Uint8Array[] = []
    for (const row of rows) {
      if (row !== of) texts.push(storable(await this.#texts.bytes(engine, row), archived.keysOnly))
    }
    const mark: BaseMark = {
      lastChange: Number(of?.['last_change'] ?? 0),
      sincePosition: textOf(of?.['since_position']) ?? null,
    }
    return {
      position: textOf(of?.['position']),
      namespaces: namespacesOf(of),
      mark,
      incarnation: String(of?.['incarnation']),
      isLast,
      ...joinedTexts(texts),
    }
  }
}

/** One statement, since another process may be writing. */
function objectsSql(ids: readonly number[]): string {
  return `SELECT id AS kind_id, position, namespaces, incarnation, NULL AS dictionary, NULL AS body, since_position,
      (SELECT MAX(id) FROM changes WHERE kind_id = kinds.id) AS last_change
    FROM kinds WHERE id IN (${places(ids, 1)})
    UNION ALL SELECT kind_id, NULL, NULL, NULL, dictionary, body, NULL, NULL
    FROM objects WHERE kind_id IN (${places(ids, 1)})`
}

function collected<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
): DataLoader<Key, Value> {
  return new DataLoader(load, {
    cache: false,
    maxBatchSize: kindsAtOnce,
    batchScheduleFn: setImmediate,
  })
}

/** A body as a store takes it: of a Secret the metadata. Throws if it lacks what is not kept. */
function storable(body: Buffer, keysOnly: boolean): Uint8Array {
  const end = body.indexOf('\n')
  const json = end < 0 ? body : body.subarray(0, end)
  if (!keysOnly) return json
  const { data: _, ...kept } = JSON.parse(json.toString()) as { readonly data?: unknown }
  const text = JSON.stringify(kept)
  if (readableText(text) === text) return Buffer.from(text)
  const problem = 'the archive has not all annotations of Secrets: some hold a copy of the Secret'
  throw new ArchiveError('ARCHIVE_BEHIND', problem, 'nothing is to be done: Secrets are listed')
}

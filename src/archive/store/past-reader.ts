/*
 * Reads rows of changes and the states that they lead to. A state is not kept for each time: `stateAfter` walks back from the
 * newest one.
 */

import { splitObjectKey } from '../../kubernetes/object.ts'
import {
  type ArchivedChange,
  type ArchivedKind,
  type FieldDifference,
  recordTypes,
  type RecordType,
} from '../archive-calls.ts'
import { type ArchiveOptions, maskedPaths } from '../archive-options.ts'
import { KeptTexts } from './bodies.ts'
import { idsWithin } from './change-rows.ts'
import type { Engine, SqlRow, SqlValue } from './engine.ts'
import { stateBefore } from './kept-state.ts'
import { withheldFields } from './masks.ts'
import { namespaceAndName, numberIn } from './kind-rows.ts'
import type { PastKind } from './past-kinds.ts'

export interface PastOptions extends Pick<ArchiveOptions, 'masked'> {
  /** Whether this process writes a cluster; `undefined`: no other one has the database. */
  readonly holds: (cluster: string) => boolean | undefined
}

export class PastReader {
  readonly engine: Engine
  readonly holds: PastOptions['holds']
  readonly maskedOf: (kind: Pick<ArchivedKind, 'group' | 'kind'>) => readonly string[]
  readonly #texts = new KeptTexts()

  constructor(engine: Engine, options: PastOptions) {
    this.engine = engine
    this.holds = options.holds
    this.maskedOf = (kind) => maskedPaths(options, kind)
  }

  text(row: SqlRow, column: 'detail' | 'body'): Promise<string> {
    return this.#texts.text(this.engine, row, column)
  }

  /** The last change of an object at or before a time. */
  async changeAt(kind: PastKind, key: string, timeMs: number): Promise<SqlRow | undefined> {
    const { newest } = await idsWithin(this.engine, undefined, timeMs + 1)
    const [row] = await this.engine.rows(
      `SELECT ${plainColumns} FROM changes WHERE ${ofObject} AND time <= $4 AND id <= $5
       ORDER BY id DESC LIMIT 1`,
      [...placeOf(kind, key), Math.floor(timeMs), newest],
    )
    return row
  }

  /** The first change of an object behind another one. */
  async changeBehind(kind: PastKind, key: string, id: number): Promise<SqlRow | undefined> {
    const [row] = await this.engine.rows(
      `SELECT ${plainColumns} FROM changes WHERE ${ofObject} AND id > $4 ORDER BY id LIMIT 1`,
      [...placeOf(kind, key), id],
    )
    return row
  }

  /**
   * The kept state of an object after the change `id` (0: before its oldest one); `undefined`: there was none. Walks back from
   * the newest state, or from a change that has the whole state before it.
   */
  async stateAfter(kind: PastKind, key: string, id: number): Promise<string | undefined> {
    const place = placeOf(kind, key)
    const [whole] = await this.engine.rows(
      `SELECT id FROM changes WHERE ${ofObject} AND id > $4 AND whole = 1 ORDER BY id LIMIT 1`,
      [...place, id],
    )
    // One statement, so that no change comes between the newest state and what leads back from it.
    const rows = await this.engine.rows(
      `SELECT id, dictionary, detail AS body FROM changes WHERE ${ofObject} AND id > $4 AND id <= $5
       UNION ALL SELECT ${newestId} AS id, dictionary, body FROM objects WHERE ${ofObject}
       ORDER BY id DESC LIMIT ${maxSteps}`,
      [...place, id, whole === undefined ? newestId - 1 : Number(whole['id'])],
    )
    let state: string | undefined
    for (const row of rows) {
      const text = await this.text(row, 'body')
      state = Number(row['id']) === newestId ? text : stateBefore(state, text)
    }
    return state
  }
}

const newestId: number = Number.MAX_SAFE_INTEGER
/** Every 32nd change, about, has the whole state before it. */
const maxSteps = 5_000
export const ofObject = 'kind_id = $1 AND namespace = $2 AND name = $3'
const plainColumns = 'id, uid, time, after, type, version, manager, paths'

export function placeOf(kind: PastKind, key: string): readonly SqlValue[] {
  return [kind.id, ...namespaceAndName(key)]
}

export function typeOf(row: SqlRow): RecordType {
  return recordTypes[Number(row['type'])] ?? 'MODIFIED'
}

/** A row of a change, as the callers get it. */
export function changeOf(
  kind: PastKind,
  key: string,
  row: SqlRow,
  fields: readonly FieldDifference[],
  own: Partial<Pick<ArchivedChange, 'type' | 'manager' | 'fieldCount' | 'repeats'>> = {},
): ArchivedChange {
  const { cluster, group, version, resource, kind: name } = kind.archived
  const manager = row['manager']
  return {
    id: String(row['id']),
    timeMs: Number(row['time']),
    afterMs: numberIn(row['after']),
    type: typeOf(row),
    cluster,
    group,
    version,
    resource,
    kind: name,
    ...splitObjectKey(key),
    uid: String(row['uid']),
    resourceVersion: String(row['version']),
    manager: manager === null || manager === undefined ? undefined : String(manager),
    fields: withheldFields(kind.archived.masked, fields),
    fieldCount: Number(row['field_count'] ?? fields.length),
    repeats: 1,
    ...own,
  }
}

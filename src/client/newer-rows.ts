/**
 * Answers to queries that are older than frames which have arrived before them. A cache would overwrite rows with older ones
 * until their next change, and take deleted objects in again. So adapters pass the answers of all queries, and the frames of
 * all subscriptions, through {@link NewerRows} on their way to the cache: rows whose frames have come since the query was
 * sent are put into its answer, by their response keys. A frame that is older than the answer does no harm: another one follows.
 */
import type { Frame } from './frame-fold.ts'

type Values = Readonly<Record<string, unknown>>

/** Rows by id as frames have brought them; null for those that are gone. */
type Rows = Map<string, Values | null>

/** An operation that has been sent. */
export interface SentOperation {
  /** A result on its way to the cache: the answer of a query gets the newer rows. */
  readonly pass: <Result>(result: Result) => Result
  /** No further result will come. */
  readonly end: () => void
}

/** The rows that have come while queries are under way. */
export class NewerRows {
  readonly #sent = new Set<Rows>()
  /** Whether all objects say their type, so that one that does not is a map, such as `labels`. */
  #areTyped = false

  /** `kind`: `query`, `mutation` or `subscription`. */
  send(kind: string): SentOperation {
    const rows: Rows = new Map()
    if (kind === 'query') this.#sent.add(rows)
    return {
      pass: (result) => {
        const { data } = result as { readonly data?: unknown }
        if (kind === 'subscription') this.#receive(data)
        return rows.size === 0 ? result : { ...result, data: this.#corrected(data, rows) }
      },
      end: () => void this.#sent.delete(rows),
    }
  }

  #receive(data: unknown): void {
    if (this.#sent.size === 0) return
    for (const frame of Object.values(data ?? {})) {
      if (!isObject(frame)) continue
      this.#areTyped = '__typename' in frame
      const { changes = [] } = frame as Partial<Frame<Values>>
      for (const { removal, objectId, object = null } of changes) {
        const isOver = removal === 'DELETED' || removal === 'HIDDEN'
        if (!isOver && object === null) continue
        for (const rows of this.#sent) rows.set(objectId, isOver ? null : object)
      }
    }
  }

  /** A part of an answer with newer rows in it. Connections lose those that are gone. */
  #corrected(part: unknown, rows: Rows): unknown {
    if (Array.isArray(part)) return part.map((one) => this.#corrected(one, rows))
    if (!isObject(part)) return part
    const own = Object.entries(part).map(([key, value]) => {
      const isList = (key === 'nodes' || key === 'edges') && Array.isArray(value)
      const left = isList ? value.filter((one) => !isGone(one, rows)) : value
      return [key, this.#corrected(left, rows)]
    })
    const row: Values = Object.fromEntries(own)
    const newer = rows.get(row['id'] as string)
    if (newer === undefined || newer === null) return row
    // A reference to an object has its id, and is of another type.
    const [type, other] = [row['__typename'], newer['__typename']]
    return type !== undefined && other !== undefined && type !== other
      ? row
      : this.#merged(row, newer)
  }

  /** The value as `newer` has it. What this does not select stays as it is. */
  #merged(value: unknown, newer: unknown): unknown {
    if (Array.isArray(value) && Array.isArray(newer)) {
      const [one, other]: unknown[] = [value[0], newer[0]]
      const isLess =
        isObject(one) && isObject(other) && Object.keys(one).some((key) => !(key in other))
      return isLess ? value : newer
    }
    if (!isObject(value) || !isObject(newer) || value['id'] !== newer['id']) return newer
    if (this.#areTyped && !('__typename' in value)) return newer
    const own = Object.entries(value).filter(([key]) => key in newer)
    const changed = own.map(([key, before]) => [key, this.#merged(before, newer[key])])
    return { ...value, ...newer, ...Object.fromEntries(changed) }
  }
}

/** Whether a row, or the row of an edge, is gone. */
function isGone(item: unknown, rows: Rows): boolean {
  if (!isObject(item)) return false
  const { id } = isObject(item['node']) && !('id' in item) ? item['node'] : item
  return typeof id === 'string' && rows.get(id) === null
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import DataLoader from 'dataloader'
import type {
  DirectApi,
  DirectColumn,
  DirectResource,
  DirectTable,
  DirectTableRow,
} from '../../cache/direct-api.ts'
import { objectKey } from '../../kubernetes/object.ts'
import type { PrinterColumn } from '../schema/read-context.ts'
import { ClientError } from './client-error.ts'
import type { ClusterKind } from './kind-view.ts'
import { failedRead, lateRead } from './live-errors.ts'
import type { ServedSchema } from './served-schema.ts'

/** An object of which a row is wanted. */
interface RowKey {
  readonly at: ClusterKind
  readonly object: { readonly namespace?: string; readonly name: string }
}

type Row = readonly PrinterColumn[] | null

const pageSize = 500
/** Of one kind, as many objects as fit into so many pages. */
const maxPages = 20

/**
 * Rows of tables that the API server prints, for one operation: those that several fields ask in one tick are read together, a
 * single object by itself, several of a kind as a list. Rejects with `ClientError`.
 */
export class LiveTableLoader {
  readonly #served: ServedSchema
  readonly #deadlineMs: number
  readonly #isViewer: boolean
  readonly #loader: DataLoader<RowKey, Row, string>

  constructor(served: ServedSchema, deadlineMs: number, isViewer: boolean) {
    this.#isViewer = isViewer
    this.#served = served
    this.#deadlineMs = deadlineMs
    this.#loader = new DataLoader((keys) => this.#readAll(keys), {
      cacheKeyFn: ({ at, object }) =>
        JSON.stringify([at.cluster, at.kind.typeName, objectKey(object)]),
    })
  }

  /** All columns of an object, the wide ones too; `null` where it is not there any more. */
  columns(at: ClusterKind, object: RowKey['object']): Promise<Row> {
    return this.#loader.load({ at, object })
  }

  /** The rows, or why there is none, in the order of the keys. */
  async #readAll(keys: readonly RowKey[]): Promise<(Row | Error)[]> {
    const signal = AbortSignal.timeout(this.#deadlineMs)
    const byKind = Map.groupBy(keys, ({ at }) => `${at.cluster}/${at.kind.typeName}`)
    const outcomes = new Map<RowKey, Row | Error>()
    await Promise.all(
      Array.from(byKind.values(), async (same) => {
        const [first] = same
        if (first === undefined) return
        const { at } = first
        const rows = await this.#rowsOf(at, same, signal).catch((error: unknown) => {
          if (error instanceof ClientError) return error
          return signal.aborted
            ? lateRead(at, this.#deadlineMs)
            : failedRead(at, error, this.#isViewer)
        })
        for (const key of same) {
          const row = rows instanceof Error ? rows : rows.get(objectKey(key.object))
          outcomes.set(key, row ?? null)
        }
      }),
    )
    return keys.map((key) => outcomes.get(key) ?? null)
  }

  async #rowsOf(
    at: ClusterKind,
    keys: readonly RowKey[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Row>> {
    const { cluster, kind } = at
    const api: DirectApi | undefined = this.#served.clusters.get(cluster)?.direct(kind.resource)
    if (api === undefined) throw new TypeError(`there is no cluster ${cluster}`)
    const of: DirectResource = { resource: kind.resource, metadataOnly: kind.metadataOnly }
    const rows = new Map<string, Row>()
    const keep = ({ columns, rows: found }: DirectTable): void => {
      for (const row of found) rows.set(objectKey(row), rowOf(columns, row))
    }
    const [only, ...others] = keys
    if (only !== undefined && others.length === 0) {
      const table = await api.table(of, only.object, signal)
      if (table !== undefined) keep(table)
      return rows
    }
    const missing = new Set(keys.map(({ object }) => objectKey(object)))
    const namespaces = new Set(keys.map(({ object }) => object.namespace))
    const [namespace] = namespaces.size === 1 ? namespaces : []
    const where = { limit: pageSize, ...(namespace === undefined ? {} : { namespace }) }
    let next: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const table = await api.table(of, next === undefined ? where : { ...where, next }, signal)
      if (table === undefined) return rows
      keep(table)
      for (const key of rows.keys()) missing.delete(key)
      next = table.continue
      if (next === undefined || missing.size === 0) return rows
    }
    throw tooMany(at)
  }
}

function rowOf(columns: readonly DirectColumn[], row: DirectTableRow): Row {
  return columns.map(({ name, type, format, priority }, at) => {
    const value = row.cells[at] ?? null
    // The server has counted until now; whoever shows it counts on.
    const isAge = name === 'Age' && row.creationTimestamp !== undefined
    const since = isAge ? row.creationTimestamp : type === 'date' ? value : null
    const isTime = typeof since === 'string' && !Number.isNaN(Date.parse(since))
    return isTime
      ? { name, type: 'date', format, priority, value: since, since }
      : { name, type, format, priority, value, since: null }
  })
}

function tooMany({ cluster, kind }: ClusterKind): ClientError {
  const most = pageSize * maxPages
  const message = `printerColumns: of ${kind.typeName} the API server is asked, and has more than ${most}`
  const hint = 'ask for objects of one namespace, or for single ones'
  return new ClientError('QUERY_TOO_COSTLY', message, { cluster, kind: kind.typeName, hint })
}

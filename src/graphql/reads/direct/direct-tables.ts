import type { DirectApi } from '../../../cache/direct-api.ts'
import type { DirectColumn, DirectTable, DirectTableRow } from '../../../cache/direct-api.ts'
import { objectKey } from '../../../kubernetes/object.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import type { PrinterColumn } from '../../schema/read-context.ts'
import { failedRead, lateRead } from '../../prepare/read-failures.ts'

/** The name of an object; `namespace` is absent for cluster-scoped objects. */
export interface ObjectPlace {
  readonly namespace?: string
  readonly name: string
}

/** An object with parts that are read directly. */
export interface DirectObject extends ClusterKind, ObjectPlace {
  readonly uid: string
}

type Row = readonly PrinterColumn[] | null

export interface DirectReadMeans {
  readonly served: ServedSchema
  readonly deadlineMs: number
  /** Whether a viewer asks. Errors then leave out the account of the gateway. */
  readonly isViewer: boolean
}

const pageSize = 500
/** The most pages that are read of one kind. */
const maxPages = 20

/**
 * The rows that the API server prints for some objects, with all columns; `null` for objects that are gone. Reads a
 * single object of a kind by name, and several as a list.
 */
export async function readTables(
  objects: readonly DirectObject[],
  means: DirectReadMeans,
): Promise<ReadonlyMap<DirectObject, Row | Error>> {
  const signal = AbortSignal.timeout(means.deadlineMs)
  const byKind = Map.groupBy(objects, ({ cluster, kind }) => `${cluster}/${kind.typeName}`)
  const outcomes = new Map<DirectObject, Row | Error>()
  await Promise.all(
    Array.from(byKind.values(), async (same) => {
      const [at] = same
      if (at === undefined) return
      const rows = await rowsOf(at, same, means, signal).catch((error: unknown) => {
        if (error instanceof ClientError) return error
        return signal.aborted
          ? lateRead(at, means.deadlineMs)
          : failedRead(at, error, means.isViewer)
      })
      for (const object of same) {
        outcomes.set(object, rows instanceof Error ? rows : (rows.get(objectKey(object)) ?? null))
      }
    }),
  )
  return outcomes
}

async function rowsOf(
  { cluster, kind }: ClusterKind,
  objects: readonly DirectObject[],
  { served }: DirectReadMeans,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Row>> {
  const api: DirectApi | undefined = served.clusters.get(cluster)?.direct(kind.resource)
  if (api === undefined) throw new TypeError(`there is no cluster ${cluster}`)
  const of = { resource: kind.resource, metadataOnly: kind.metadataOnly }
  const rows = new Map<string, Row>()
  const keep = ({ columns, rows: found }: DirectTable): void => {
    for (const row of found) rows.set(objectKey(row), rowOf(columns, row))
  }
  const namespaces = new Set(objects.map(({ namespace }) => namespace))
  const [namespace] = namespaces.size === 1 ? namespaces : []
  const place = namespace === undefined ? {} : { namespace }
  const [only, ...others] = objects
  if (only !== undefined && others.length === 0) {
    const table = await api.table(of, { ...place, name: only.name }, signal)
    if (table !== undefined) keep(table)
    return rows
  }
  const missing = new Set(objects.map((object) => objectKey(object)))
  const where = { limit: pageSize, ...place }
  let next: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const table = await api.table(of, next === undefined ? where : { ...where, next }, signal)
    if (table === undefined) return rows
    keep(table)
    for (const key of rows.keys()) missing.delete(key)
    next = table.continue
    if (next === undefined || missing.size === 0) return rows
  }
  throw tooMany({ cluster, kind })
}

function rowOf(columns: readonly DirectColumn[], row: DirectTableRow): Row {
  return columns.map(({ name, type, format, priority }, at) => {
    const value = row.cells[at] ?? null
    // The server counts an age up to now. The client counts on from the creation time.
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

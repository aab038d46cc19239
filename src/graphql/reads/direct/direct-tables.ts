/*
 * The rows that the API server prints for objects of one kind, as `kubectl get` shows them: one object by its name,
 * several objects by pages of their list.
 */

import type { DirectApi, DirectTable } from '../../../cache/direct-api.ts'
import { objectKey } from '../../../kubernetes/object.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import type { PrinterColumn } from '../../schema/gateway-types.ts'

/** The name of an object; `namespace` is absent for cluster-scoped objects. */
export interface ObjectPlace {
  readonly namespace?: string
  readonly name: string
}

export interface IdentifiedPlace extends ObjectPlace {
  readonly uid: string
}

export interface DirectObject extends ClusterKind, IdentifiedPlace {}

const pageSize = 500
const maxPages = 20

/**
 * The rows that the API server prints for objects of one kind, by key, with all columns. Objects that are gone have
 * none. Reads a single object by name, and several as a list. Throws `ClientError` if there are too many.
 */
export async function printedRows(
  api: DirectApi,
  { cluster, kind }: ClusterKind,
  objects: readonly ObjectPlace[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly PrinterColumn[]>> {
  const of = { resource: kind.resource, metadataOnly: kind.metadataOnly }
  const rows = new Map<string, readonly PrinterColumn[]>()
  const keep = ({ columns, rows: found }: DirectTable): void => {
    for (const row of found) {
      const printed = columns.map(({ name, type, format, priority }, at): PrinterColumn => {
        const value = row.cells[at] ?? null
        // The server's age ends now, so the column has the creation time, from which the client counts on.
        const isAge = name === 'Age' && row.creationTimestamp !== undefined
        const since = isAge ? row.creationTimestamp : type === 'date' ? value : null
        const isTime = typeof since === 'string' && !Number.isNaN(Date.parse(since))
        return isTime
          ? { name, type: 'date', format, priority, value: since, since }
          : { name, type, format, priority, value, since: null }
      })
      rows.set(objectKey(row), printed)
    }
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
  const most = pageSize * maxPages
  const message = `printerColumns: the server prints at most ${most} objects of ${kind.typeName}, and there are more`
  const hint = 'ask for the objects of one namespace, or for one object'
  throw new ClientError('QUERY_TOO_COSTLY', message, { cluster, type: kind.typeName, hint })
}

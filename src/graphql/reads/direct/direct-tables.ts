/*
 * The rows that the API server prints for objects of one kind, as `kubectl get` shows them: one object by its name,
 * several objects by pages of their list.
 */

import type { DirectApi, DirectTable } from '../../../cache/direct-api.ts'
import { ownedDataKeys } from '../../../kubernetes/field-changes.ts'
import { itemsOf, numberOf, textOf } from '../../../kubernetes/fields.ts'
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

/** What a Secret is, without any of its values. */
export interface SecretOutline {
  readonly type: string | null
  /** `null` if the server does not say. */
  readonly keyCount: number | null
  /** Sorted. Fewer than `keyCount` if no manager owns some of them. */
  readonly keys: readonly string[]
}

/**
 * The type of a Secret and its keys; `undefined` if it is gone. The server prints the type and the number of keys, and the
 * managers of the fields name the keys, so no value leaves the API server. By a list of one, which needs no more than the
 * cache of Secrets does: `list`.
 */
export async function secretOutline(
  api: DirectApi,
  { kind: { resource, metadataOnly } }: ClusterKind,
  { namespace = '', name, uid }: IdentifiedPlace,
  signal: AbortSignal,
): Promise<SecretOutline | undefined> {
  const one = { namespace, limit: 1, fieldSelector: `metadata.name=${name}` }
  const { columns, rows = [] } = (await api.table({ resource, metadataOnly }, one, signal)) ?? {}
  const row = rows.find(
    (found) => found.name === name && (uid === '' || found.metadata['uid'] === uid),
  )
  if (columns === undefined || row === undefined) return undefined
  const cell = (title: string): unknown =>
    row.cells[columns.findIndex((column) => column.name === title)]
  const keyCount = numberOf(cell('Data')) ?? null
  const managers = itemsOf(row.metadata['managedFields'])
  const owned = ownedDataKeys(managers, 'data')
  // Whoever applies `stringData` owns that, though the server has made `data` of it.
  const all = [...new Set([...owned, ...ownedDataKeys(managers, 'stringData')])].toSorted()
  const keys = all.length === keyCount ? all : owned
  return { type: textOf(cell('Type')) ?? null, keyCount, keys }
}

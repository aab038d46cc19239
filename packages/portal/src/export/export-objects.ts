import { plainText, printed, textOfCell } from '../kinds/cells.tsx'
import type { TableColumn } from '../kinds/columns.ts'
import {
  ExportedNamesDocument,
  ExportedObjectsDocument,
  ExportedRowsDocument,
  type TableRowFragment as TableRow,
  type TypedDocumentString,
} from '../gateway/documents.ts'
import { type Gateway, GatewayError } from '../gateway/gateway.ts'
import { isUsageColumn, usageNumbers } from '../usage/usage-column.tsx'
import { objectUsage, type ObjectUsage, usageDocument } from '../usage/usage.ts'
import { words } from '../words.ts'
import type { NamedObject } from './kubectl.ts'

export type ExportForm = 'csv' | 'yaml' | 'json'

export interface ExportOptions {
  readonly gateway: Gateway
  readonly ids: readonly string[]
  readonly signal: AbortSignal
  /** The number of objects that are read. */
  readonly told: (read: number) => void
}

/** A text with objects. */
export interface Exported {
  readonly text: string
  /** How many objects it has. Others are gone meanwhile. */
  readonly objects: number
}

/** The most objects of one question. */
const mostAsked = 100

/** Objects as `kubectl get -o yaml` and `-o json` write them: documents, and a List. */
export async function exportObjects(
  form: 'yaml' | 'json',
  options: ExportOptions,
): Promise<Exported> {
  const found = await read(options, ExportedObjectsDocument, {})
  const objects = found.map(({ json }) => json)
  if (form === 'json') {
    const list = { apiVersion: 'v1', kind: 'List', items: objects }
    return { text: `${JSON.stringify(list, undefined, 2)}\n`, objects: objects.length }
  }
  const { yamlOf } = await import('../object/yaml-text.ts')
  return { text: objects.map(yamlOf).join('---\n'), objects: objects.length }
}

/**
 * The cells of rows, by the columns that are shown (RFC 4180). Times are whole, as ages of yesterday say nothing, and what is
 * used are numbers, to be added up.
 */
export async function exportRows(
  {
    kind,
    columns,
    hasColumns,
    wide,
  }: { kind: string; columns: readonly TableColumn[]; hasColumns: boolean; wide: boolean },
  options: ExportOptions,
): Promise<Exported> {
  const rows = await read(options, ExportedRowsDocument, { columns: hasColumns, wide })
  const isUsed = columns.some(({ id }) => isUsageColumn(id))
  const used = isUsed ? await read(options, usageDocument(kind), {}) : []
  const use = new Map(used.map((object) => [object.id, objectUsage(object)]))
  const written = columns.flatMap((column) => fileColumns(column, kind, rows))
  // A column of requests may stand beside that of what is used, which has them, too.
  const distinct = [...new Map(written.map((column) => [column.title, column])).values()]
  const lines = [
    distinct.map(({ title }) => title),
    ...rows.map((row) => distinct.map(({ textOf }) => textOf(row, use.get(row.id)))),
  ]
  const text = lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
  return { text, objects: rows.length }
}

/** The names of objects. */
export async function namesOf(options: ExportOptions): Promise<readonly NamedObject[]> {
  return await read(options, ExportedNamesDocument, {})
}

/** Reads objects, some at a time, and fewer where they cost too much. Those that are gone are left out. */
async function read<One, Variables>(
  { gateway, ids, signal, told }: ExportOptions,
  document: TypedDocumentString<
    { readonly objects: readonly (One | null)[] | null },
    Variables & { readonly ids: string | number | readonly (string | number)[] }
  >,
  variables: object,
): Promise<readonly One[]> {
  const found: One[] = []
  let size = mostAsked
  for (let at = 0; at < ids.length;) {
    const asked = { ...variables, ids: ids.slice(at, at + size) } as never
    try {
      const { data, errors } = await gateway.ask(document, asked, signal)
      if (data.objects === null) throw new GatewayError(errors)
      found.push(...data.objects.filter((one) => one !== null))
    } catch (error) {
      const isTooMuch = error instanceof GatewayError && error.code === 'QUERY_TOO_COSTLY'
      if (!isTooMuch || size === 1) throw error
      size = Math.ceil(size / 2)
      continue
    }
    at += size
    told(Math.min(at, ids.length))
  }
  return found
}

/** A column of a file. */
interface FileColumn {
  readonly title: string
  readonly textOf: (row: TableRow, use: ObjectUsage | undefined) => string
}

function fileColumns(
  column: TableColumn,
  kind: string,
  rows: readonly TableRow[],
): readonly FileColumn[] {
  const { id, title } = column
  if (isUsageColumn(id)) {
    return usageNumbers(id, kind).map(({ title: of, read: numberOf }) => ({
      title: of,
      textOf: (_, use) => (use === undefined ? '' : numberOf(use)),
    }))
  }
  if (id === 'age') return [{ title, textOf: (row) => row.creationTimestamp ?? '' }]
  const sinceOf = (row: TableRow): string => printed(row, column)?.since ?? ''
  const valueOf = (row: TableRow): string =>
    sinceOf(row) === '' ? textOfCell(row, column) : plainText(printed(row, column)?.value)
  // A number of restarts and when the last one was: two columns, as a spreadsheet sorts each.
  const hasBoth = rows.some((row) => sinceOf(row) !== '' && valueOf(row) !== '')
  return hasBoth
    ? [
        { title, textOf: valueOf },
        { title: words.export.lastOf(title), textOf: sinceOf },
      ]
    : [{ title, textOf: (row) => valueOf(row) || sinceOf(row) }]
}

/**
 * A cell of CSV. A text that a spreadsheet would take for a formula gets an apostrophe before it (the characters that OWASP
 * names for "CSV Injection"), and one with any character that separates cells, in any country, stands in quotes.
 */
function csvCell(text: string): string {
  const isFormula = /^[=+\-@\t\r\n＝＋－＠]/u.test(text) && !/^[-+]?[\d.]+$/u.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",;\t\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

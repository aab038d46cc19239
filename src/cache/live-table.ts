import { fieldsOf, itemsOf, numberOf, textOf } from '../kubernetes/fields.ts'

/** A column of a table that the API server has printed. */
export interface LiveColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly priority: number
}

/** A row of such a table. */
export interface LiveTableRow {
  readonly namespace: string
  readonly name: string
  readonly creationTimestamp: string | undefined
  readonly cells: readonly unknown[]
}

/** Objects as the API server prints them, `kubectl get`'s columns and rows. */
export interface LiveTable {
  readonly columns: readonly LiveColumn[]
  readonly rows: readonly LiveTableRow[]
  /** The server's `continue`; absent at the end. */
  readonly continue: string | undefined
}

/** What asks a server for a table. */
export const tableType = 'application/json;as=Table;g=meta.k8s.io;v=v1'

/** Reads the answer of a server; `undefined` where it is no table, as of servers that make none. */
export function readTable(answer: unknown): LiveTable | undefined {
  const table = fieldsOf(answer)
  if (table['kind'] !== 'Table') return undefined
  return {
    columns: itemsOf(table['columnDefinitions']).map(({ name, type, format, priority }) => ({
      name: textOf(name) ?? '',
      type: textOf(type) ?? 'string',
      format: textOf(format) ?? '',
      priority: numberOf(priority) ?? 0,
    })),
    rows: itemsOf(table['rows']).map(({ cells, object }) => {
      const { name, namespace, creationTimestamp } = fieldsOf(fieldsOf(object)['metadata'])
      return {
        namespace: textOf(namespace) ?? '',
        name: textOf(name) ?? '',
        creationTimestamp: textOf(creationTimestamp),
        cells: Array.isArray(cells) ? cells : [],
      }
    }),
    continue: textOf(fieldsOf(table['metadata'])['continue']),
  }
}

import { isRawJson } from '../../lib/json.ts'
import { ageColumn, type Cell, type Column, nameColumn, type PrintedKind } from './column.ts'
import { type JsonPath, parseJsonPath, valuesAt } from './json-path.ts'

/** A printer column as a CustomResourceDefinition declares it. */
export interface DeclaredColumn {
  readonly name: string
  /** `string`, `integer`, `number`, `boolean`, `date`. */
  readonly type: string
  readonly format?: string | undefined
  readonly priority?: number | undefined
  readonly jsonPath: string
}

/** What `kubectl get` shows of a custom kind: its name, and the columns of its definition, or else its age. */
export function customColumns(declared: readonly DeclaredColumn[]): PrintedKind {
  if (declared.length === 0) {
    return { columns: [nameColumn(), ageColumn] }
  }
  const paths = declared.map(({ jsonPath }) => parseJsonPath(jsonPath))
  return {
    declared,
    columns: [nameColumn(), ...declared.map((one, at) => customColumn(one, paths[at] ?? []))],
  }
}

function customColumn(declared: DeclaredColumn, path: JsonPath): Column {
  const { name, type, format = '', priority = 0 } = declared
  const cellOf = cells[type]
  const cell = (object: object): Cell => {
    const [value] = valuesAt(object, path)
    return value === undefined || value === null ? { value: null } : (cellOf?.(value) ?? empty)
  }
  // A date that is not there is an empty cell in tables of custom kinds.
  return { name, type: type as Column['type'], format, priority, absent: null, cell }
}

const empty: Cell = { value: null }

/** How a value of each type is shown; of another type it is not. */
const cells: Readonly<Record<string, (value: unknown) => Cell>> = {
  string: (value) => ({ value: typeof value === 'string' ? value : JSON.stringify(value) }),
  integer: (value) => {
    if (isRawJson(value)) return { value }
    return typeof value === 'number' ? { value: Math.trunc(value) } : empty
  },
  number: (value) => (typeof value === 'number' || isRawJson(value) ? { value } : empty),
  boolean: (value) => (typeof value === 'boolean' ? { value } : empty),
  date: (value) => ({ value: null, since: String(value) }),
}

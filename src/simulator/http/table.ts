import type { Unstructured } from '../../kubernetes/object.ts'
import { isRawJson } from '../../lib/raw-json.ts'
import type { CapturedApi } from '../api/captured-api.ts'
import { metadataSchema } from '../api/kind-schema.ts'
import type { PrinterColumn, ServedResource } from '../api/served-resource.ts'
import { parseJsonPath, valuesAt } from './json-path.ts'

/** The columns of a table, and how its cells are filled. */
export interface TableColumns {
  readonly definitions: readonly object[]
  readonly cellsOf: (object: Unstructured) => readonly unknown[]
}

/**
 * The columns of a resource's tables: the name, then those that its definition declares, or else the age. Built-in kinds
 * have no others here, though a kube-apiserver prints more of them.
 */
export function tableColumns(captured: CapturedApi, served: ServedResource): TableColumns {
  const fields = metadataSchema(captured).root?.['properties'] as
    | Readonly<Record<string, { readonly description?: string }>>
    | undefined
  const description = (field: string): string => fields?.[field]?.description ?? ''
  const age = {
    name: 'Age',
    type: 'date',
    format: '',
    description: description('creationTimestamp'),
    priority: 0,
    jsonPath: '.metadata.creationTimestamp',
  }
  const columns = served.columns ?? [age]
  const readers = columns.map(cellReader)
  return {
    definitions: [
      {
        name: 'Name',
        type: 'string',
        format: 'name',
        description: description('name'),
        priority: 0,
      },
      ...columns.map(({ jsonPath, ...column }) => ({
        ...column,
        description:
          column.description === ''
            ? `Custom resource definition column (in JSONPath format): ${jsonPath}`
            : column.description,
      })),
    ],
    cellsOf: (object) => [object.metadata.name, ...readers.map((read) => read(object))],
  }
}

function cellReader({ type, jsonPath }: PrinterColumn): (object: Unstructured) => unknown {
  const path = parseJsonPath(jsonPath)
  const cell = cells[type]
  return (object) => {
    const [value] = valuesAt(object, path)
    return value === undefined || value === null ? null : (cell?.(value) ?? null)
  }
}

/** How a value of each type is shown; `null` for one of another type. */
const cells: Readonly<Record<string, (value: unknown) => unknown>> = {
  string: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  integer: (value) => {
    if (isRawJson(value)) return value
    return typeof value === 'number' ? Math.trunc(value) : null
  },
  number: (value) => (typeof value === 'number' || isRawJson(value) ? value : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  date: (value) => {
    const sinceMs = Date.parse(String(value))
    return Number.isNaN(sinceMs) ? '<invalid>' : humanDuration(Date.now() - sinceMs)
  },
}

/** A length of time as kubectl shows ages: two units while it is short, one when it is long. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return twoUnits(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return days < 2920 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`
}

function twoUnits(first: number, unit: string, second: number, smaller: string): string {
  return second === 0 ? `${first}${unit}` : `${first}${unit}${second}${smaller}`
}

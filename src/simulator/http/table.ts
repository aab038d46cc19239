import { type Column, printedCell } from '../../kubernetes/printing/column.ts'
import { nameAndAge } from '../../kubernetes/printing/core-columns.ts'
import { customColumns } from '../../kubernetes/printing/custom-columns.ts'
import { printedKindOf } from '../../kubernetes/printing/printed-kinds.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import type { CapturedApi } from '../api/captured-api.ts'
import { metadataSchema } from '../api/kind-schema.ts'
import type { ServedResource } from '../api/served-resource.ts'

/** The columns of a table, and how its cells are filled. */
export interface TableColumns {
  readonly definitions: readonly object[]
  readonly cellsOf: (object: Unstructured) => readonly unknown[]
}

/**
 * The columns of a resource's tables: those that its definition declares, or those that a kube-apiserver prints of a built-in
 * kind, as far as they are known; else the name and the age.
 */
export function tableColumns(captured: CapturedApi, served: ServedResource): TableColumns {
  const builtIn = served.columns === undefined ? printedKindOf(served) : undefined
  const { columns } =
    builtIn ?? (served.columns === undefined ? nameAndAge : customColumns(served.columns))
  const described = descriptions(captured, served)
  return {
    definitions: columns.map((column, at) => ({
      name: column.name,
      type: builtIn === undefined || column.asTime === true ? column.type : tableType(column),
      format: column.format,
      description: described(column, at),
      priority: column.priority,
    })),
    cellsOf: (object) => {
      const nowMs = Date.now()
      return columns.map((column) => printedCell(column, column.cell(object), nowMs))
    },
  }
}

/** Ages of built-in kinds are texts that are ready. */
function tableType({ type }: Column): string {
  return type === 'date' ? 'string' : type
}

function descriptions(
  captured: CapturedApi,
  served: ServedResource,
): (column: Column, at: number) => string {
  const fields = metadataSchema(captured).root?.['properties'] as
    | Readonly<Record<string, { readonly description?: string }>>
    | undefined
  return ({ name }, at) => {
    if (at === 0 && name === 'Name') return fields?.['name']?.description ?? ''
    const declared = served.columns?.[at - 1]
    if (declared === undefined) {
      return name === 'Age' ? (fields?.['creationTimestamp']?.description ?? '') : ''
    }
    return declared.description === ''
      ? `Custom resource definition column (in JSONPath format): ${declared.jsonPath}`
      : declared.description
  }
}

import type { FieldNode, GraphQLObjectType } from 'graphql'
import type { SelectedValue } from '../../informer/codec/projection.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import { printedColumns } from '../schema/object-fields.ts'
import type { PrinterColumn } from '../schema/read-context.ts'
import { memberWriters } from './member-writers.ts'

/** Writes the columns that `kubectl get` shows for an object. */
export function printerColumnsValue(
  printed: PrintedKind,
  wide: boolean,
  type: GraphQLObjectType,
  fields: Iterable<readonly [string, readonly FieldNode[]]>,
): SelectedValue {
  const write = memberWriters<PrinterColumn>(type, fields, columnMembers)
  return {
    form: 'made',
    make: (object) => `[${printedColumns(printed, object, wide).map(write).join(',')}]`,
  }
}

export const columnMembers = ['name', 'type', 'format', 'priority', 'value', 'since'] as const

import type { FieldNode, GraphQLObjectType } from 'graphql'
import { parseHeld } from '../../informer/codec/leaf-writer.ts'
import type { SelectedValue } from '../../informer/codec/projection.ts'
import { fieldsOf } from '../../kubernetes/fields.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import { printedColumns } from '../schema/printer-column-type.ts'
import type { PrinterColumn } from '../schema/read-context.ts'
import { memberWriters } from './member-writers.ts'
import { selectionOfPaths } from './path-selection.ts'

/** Writes what `kubectl get` shows of an object, of those parts of it that the columns are made of. */
export function printerColumnsValue(
  printed: PrintedKind,
  wide: boolean,
  type: GraphQLObjectType,
  fields: Iterable<readonly [string, readonly FieldNode[]]>,
): SelectedValue {
  const write = memberWriters<PrinterColumn>(type, fields, columnMembers)
  return {
    form: 'made',
    of: selectionOfPaths(printed.reads),
    write(json) {
      const object = fieldsOf(json === undefined ? undefined : parseHeld(json))
      return `[${printedColumns(printed, object, wide).map(write).join(',')}]`
    },
  }
}

const columnMembers = ['name', 'type', 'format', 'priority', 'value', 'since'] as const

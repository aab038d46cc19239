import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql'
import type { Fields } from '../../kubernetes/fields.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import { GraphQLDateTime, GraphQLJson } from './scalars.ts'
import { ownFields } from './field-source.ts'
import type { PrinterColumn } from './read-context.ts'

const text = new GraphQLNonNull(GraphQLString)

/** What `kubectl get` shows of an object, or `kubectl get -o wide`. */
export function printedColumns(
  { columns }: PrintedKind,
  object: Fields,
  wide: boolean | null | undefined,
): readonly PrinterColumn[] {
  return columns.flatMap(({ name, type, format, priority, cell }) => {
    if (priority > 0 && wide !== true) return []
    const { value, since = null } = cell(object)
    const shown = type === 'date' ? since : (value ?? null)
    return [{ name, type, format, priority, value: shown, since }]
  })
}

/** `PrinterColumn`. Its source is a `PrinterColumn`. */
export function buildPrinterColumnType(): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'PrinterColumn',
    description: 'One column of what `kubectl get` shows of an object.',
    fields: ownFields<'printerColumn', PrinterColumn, unknown>('printerColumn', {
      name: { type: text, description: 'The heading of the column: `READY`, `Age`.' },
      type: {
        type: text,
        description:
          '`string`, `integer`, `number`, `boolean` or `date`; of a date, kubectl shows how long ago it was.',
      },
      format: { type: text, description: "`name` for the object's own name, or empty." },
      priority: {
        type: new GraphQLNonNull(GraphQLInt),
        description: '0, or more for a column that only `kubectl get -o wide` shows.',
      },
      value: { type: GraphQLJson, description: 'What stands in it, of a date the time.' },
      since: {
        type: GraphQLDateTime,
        description:
          'From when on kubectl counts until now: the age of a date, the duration of what has no value yet, or behind a value `(5m ago)`.',
      },
    }),
  })
}

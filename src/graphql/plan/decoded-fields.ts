/**
 * Own fields of an object, read from the decoded object. Plans write own fields by a projection of the held text, which
 * stops at a value that GraphQL refuses: a list where the schema has an object, a number that is none. Such an object is
 * decoded and written field by field, so that the answer has an error at the value itself, and the rest of the object.
 */
import { objectKey, type KubernetesObject, type Unstructured } from '../../kubernetes/object.ts'
import { isRecord } from '../../lib/json.ts'
import { ruledHealth } from '../../kubernetes/health/health.ts'
import { valueAt, valuesAt } from '../../query/index/path.ts'
import { podAmountsOf } from '../../query/index/pod-total.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { FieldSource, ValueShape } from '../schema/field-source.ts'
import { readPath } from './json-path.ts'
import { printedColumns } from '../schema/object-fields.ts'

type Arguments = Readonly<Record<string, unknown>>

/**
 * Reads a field of a kind's type from a decoded object, or one of a JSON type from its value. `undefined`: it is no such
 * field.
 */
export function decodedMember(
  source: FieldSource | undefined,
): ((value: unknown, args: Arguments, part?: KindView) => unknown) | undefined {
  switch (source?.form) {
    case 'property': {
      const { within = [], property, shape, otherwise } = source
      const path = [...within, property]
      return (value) => converted(path.reduce(memberOf, value), shape) ?? otherwise
    }
    case 'mapValue':
      return (value, args) =>
        memberOf(memberOf(value, source.property), String(args[source.argument]))
    case 'entryKey':
      return (value) => memberOf(value, 'key')
    case 'entryValue':
      return (value) => memberOf(value, 'value')
    case 'json':
      return (object, { [source.argument]: path }) => {
        if (path === undefined || path === null) return object
        const read = readPath(path as string)
        return read.many ? valuesAt(read, object) : valueAt(read, object)
      }
    case 'id':
      return (object, _args, part) => {
        const { metadata } = object as KubernetesObject
        const place = { key: objectKey(metadata), uid: metadata.uid ?? '' }
        return part && objectIdOf(part, place)
      }
    case 'clusterName':
      return (_object, _args, part) => part?.cluster
    case 'constant':
      return () => source.value
    case 'health':
      return (object) => ruledHealth(source.rule, object as Unstructured)
    case 'podAmounts':
      return (pod) => podAmountsOf(source.list, pod as Unstructured)
    case 'printerColumns': {
      const { printed, argument } = source
      return (object, args) =>
        printed && printedColumns(printed, object as Unstructured, args[argument] === true)
    }
    default:
      return undefined
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}

/** A JSON value as the value of its GraphQL type: maps become lists of entries, in the order of the document. */
function converted(value: unknown, shape: ValueShape): unknown {
  if (shape.form === 'list') {
    return Array.isArray(value) ? value.map((item) => converted(item, shape.items)) : value
  }
  if (shape.form !== 'entries') return value
  return isRecord(value)
    ? Object.entries(value).map(([key, one]) => ({ key, value: converted(one, shape.value) }))
    : null
}

/*
 * The own fields of an object, which depend on the object alone. `ownSelection` makes a projection of them: paths of the
 * held JSON, each with the writer of its value. It also notes, line by line, everything besides the object that the text
 * depends on, so that plans with the same selection share the kept texts. Computed fields, such as health, decode the
 * object and go through the value writer, which reads decoded objects by `decodedReader` and `jsonReader`.
 */

import {
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import {
  type LeafWriter,
  type ObjectSelection,
  parseHeld,
  type SelectedEntryField,
  type SelectedField,
  type SelectedValue,
  writeBoolean,
  writeFloat,
  writeInt,
  writeInt64,
  writeJson,
  writeString,
} from '../../informer/codec/projection.ts'
import { LRUCache } from 'lru-cache'
import { ruledHealth } from '../../kubernetes/health/health.ts'
import { objectKey, type Unstructured } from '../../kubernetes/object.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { valuesAt, parsePath, type Path, PathError, valueAt } from '../../query/index/path.ts'
import { podAmountsOf } from '../../query/index/pod-total.ts'
import type { Kind } from '../model/kind.ts'
import {
  encodeObjectId,
  nameIdOf,
  objectIdOf,
  pastIdOf,
  type PastMoment,
} from '../model/object-id.ts'
import {
  type FieldSource,
  fieldSourceOf,
  semanticNonNullLevels,
  type ScalarForm,
  type ValueShape,
} from '../schema/field-source.ts'
import { printedColumns } from '../schema/object-fields.ts'
import {
  type CollectContext,
  type CollectedFields,
  collectFields,
  selectionsOf,
} from './plan-compiler.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import { isRecord } from '../../lib/json.ts'

export interface OwnFieldsContext {
  readonly kind: Kind
  readonly cluster: string
  /** Whether a direct read supplies the objects, which may then lack a UID. */
  readonly isDirect: boolean
  /** Of objects in a past state: when. */
  readonly past?: PastMoment | undefined
  readonly collect: CollectContext
  readonly argumentsOf: (
    field: GraphQLField<unknown, unknown>,
    node: FieldNode,
  ) => Readonly<Record<string, unknown>>
  /** Compiles the text of a value that is computed from the decoded object. */
  readonly written: (
    field: GraphQLField<unknown, unknown>,
    nodes: readonly FieldNode[],
  ) => (value: unknown) => string
  /** Receives, line by line, everything besides the object that the text depends on. */
  readonly note: (line: string) => void
  /** Charges the number of extra fields that a costly field is worth. */
  readonly charge: (fields: number) => void
}

/** The charge for a `json` path through a list: each object's list is found, compared and walked. */
export const fieldsPerJsonPath = 65

/** The charges for values that are computed from the decoded object. */
const fieldsPerDecoded = { health: 26, nameId: 20, podAmounts: 30, printerColumns: 40 } as const

/**
 * Selects an object's own fields, which depend on the object alone: fields of a kind's type, or of a plain JSON type
 * within it.
 */
export function ownSelection(
  type: GraphQLObjectType,
  fields: Iterable<readonly [string, readonly FieldNode[]]>,
  context: OwnFieldsContext,
): ObjectSelection {
  const selected: SelectedField[] = []
  for (const [key, nodes] of fields) {
    const field = ownField(type, nodes, context)
    const { value } = field
    context.note(`${key} ${JSON.stringify(field.path)} ${value.form === 'text' ? value.text : ''}`)
    selected.push({ key, ...field })
  }
  context.note('}')
  return { fields: selected }
}

type FieldSelection = Pick<SelectedField, 'path' | 'value'>

/** Whether a field of a kind's type depends on the object alone. */
export function isOwnField(type: GraphQLObjectType, name: string): boolean {
  const field = type.getFields()[name]
  if (field === undefined) return true
  const source = fieldSourceOf(field)
  return source.form === 'printerColumns' ? source.printed !== undefined : ownForms.has(source.form)
}

const ownForms: ReadonlySet<string> = new Set([
  'id',
  'nameId',
  'clusterName',
  'constant',
  'health',
  'json',
  'mapValue',
  'podAmounts',
  'property',
])

function ownField(
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  context: OwnFieldsContext,
): FieldSelection {
  const [node] = nodes
  const name = node?.name.value ?? ''
  if (name === '__typename') return whole(constant(type.name))
  const field = type.getFields()[name]
  if (node === undefined || field === undefined)
    throw new TypeError(`no writer of ${type.name}.${name}`)
  const source = fieldSourceOf(field)
  switch (source.form) {
    case 'id': {
      if (!context.isDirect) {
        return { path: ['metadata', 'uid'], value: { form: 'leaf', write: idWriter(context) } }
      }
      const read = decodedReader(source)
      return made((object) => JSON.stringify(read?.(object, {}, context)))
    }
    case 'nameId': {
      const read = decodedReader(source)
      context.charge(fieldsPerDecoded.nameId)
      return made((object) => JSON.stringify(read?.(object, {}, context)))
    }
    case 'clusterName':
      return whole(constant(context.cluster))
    case 'constant':
      return whole(constant(source.value))
    case 'health':
    case 'podAmounts':
    case 'printerColumns': {
      const read = decodedReader(source)
      const inner = getNamedType(field.type)
      if (read === undefined || !isObjectType(inner)) break
      const args = context.argumentsOf(field, node)
      const of = source.form === 'podAmounts' ? source.list : null
      const declared = source.form === 'printerColumns' ? source.printed?.declared : null
      const selected = Array.from(collectedOf(inner, nodes, context), ([key, [one]]) => [
        key,
        one?.name.value,
      ])
      context.note(`${source.form} ${JSON.stringify([args, of, declared ?? null, selected])}`)
      context.charge(fieldsPerDecoded[source.form])
      const write = context.written(field, nodes)
      return made((object) => write(read(object, args, context)))
    }
    case 'json': {
      const { [source.argument]: path } = context.argumentsOf(field, node)
      context.note(`json ${JSON.stringify(path)}`)
      const { isThroughList, ...selected } = jsonField(path as string | null | undefined)
      if (isThroughList) context.charge(fieldsPerJsonPath)
      return selected
    }
    case 'mapValue': {
      const { [source.argument]: key } = context.argumentsOf(field, node)
      const shape = { form: 'scalar', scalar: 'string' } as const
      return {
        path: [source.property, String(key)],
        value: valueOf(field.type, shape, { nodes, levels: [] }, context),
      }
    }
    case 'property': {
      const { property, within = [], otherwise, shape } = source
      const path = [...within, property]
      const levels = semanticNonNullLevels(field)
      const value = valueOf(field.type, shape, { nodes, levels }, context)
      if (otherwise === undefined || value.form !== 'leaf') return { path, value }
      context.note(`otherwise ${otherwise}`)
      return { path, value: { form: 'leaf', write: writeOr(value.write, otherwise) } }
    }
    default:
      break
  }
  throw new TypeError(`no writer of ${type.name}.${name}`)
}

interface SelectedNodes {
  readonly nodes: readonly FieldNode[]
  /** Where null needs an error although the type allows it, counted from this value. */
  readonly levels: readonly number[]
}

function valueOf(
  type: GraphQLOutputType,
  shape: ValueShape,
  { nodes, levels }: SelectedNodes,
  context: OwnFieldsContext,
): SelectedValue {
  const required = isNonNullType(type) || levels.includes(0)
  const inner = getNullableType(type)
  context.note(`${shape.form} ${String(type)}`)
  switch (shape.form) {
    case 'scalar':
      if (isLeafType(inner)) return { form: 'leaf', write: leafWriter(shape.scalar, required) }
      break
    case 'object':
      if (isObjectType(inner)) {
        const selection = ownSelection(inner, collectedOf(inner, nodes, context), context)
        return { form: 'object', selection, required }
      }
      break
    case 'list':
      if (isListType(inner)) {
        const items = { nodes, levels: levels.map((level) => level - 1) }
        return { form: 'list', of: valueOf(inner.ofType, shape.items, items, context), required }
      }
      break
    case 'entries':
      if (isListType(inner)) {
        const entry = getNullableType(inner.ofType)
        if (isObjectType(entry)) {
          return { form: 'entries', fields: entryFields(entry, nodes, context), required }
        }
      }
  }
  throw new TypeError(`no writer of ${String(type)} of the form ${shape.form}`)
}

function entryFields(
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  context: OwnFieldsContext,
): readonly SelectedEntryField[] {
  const fields: SelectedEntryField[] = []
  for (const [key, same] of collectedOf(type, nodes, context)) {
    const name = same[0]?.name.value ?? ''
    const field = type.getFields()[name]
    context.note(`${key} ${name}`)
    if (name === '__typename') fields.push({ key, value: constant(type.name) })
    else if (field !== undefined) {
      const source = fieldSourceOf(field)
      if (source.form === 'entryKey') fields.push({ key, value: 'key' })
      else if (source.form === 'entryValue') {
        const levels = semanticNonNullLevels(field)
        const value = valueOf(field.type, source.shape, { nodes: same, levels }, context)
        fields.push({ key, value })
      } else throw new TypeError(`no writer of ${type.name}.${name}`)
    }
  }
  return fields
}

function collectedOf(
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  { collect }: OwnFieldsContext,
): CollectedFields {
  return collectFields(selectionsOf(nodes), new Set([type.name]), collect)
}

function constant(value: string): SelectedValue {
  return { form: 'text', text: JSON.stringify(value) }
}

function whole(value: SelectedValue): FieldSelection {
  return { path: [], value }
}

function made(make: (object: Unstructured) => string): FieldSelection {
  return whole({ form: 'made', make: (object) => make(object as Unstructured) })
}

/** Reads an own field from the decoded object; `undefined` for any other field. */
export function decodedReader(
  source: FieldSource,
):
  | ((
      object: Unstructured,
      args: Readonly<Record<string, unknown>>,
      at: Pick<OwnFieldsContext, 'kind' | 'cluster' | 'past'>,
    ) => unknown)
  | undefined {
  switch (source.form) {
    case 'id':
      return ({ metadata }, _args, at) => {
        const id = objectIdOf(at, { key: objectKey(metadata), uid: metadata.uid ?? '' })
        return at.past === undefined ? id : pastIdOf(id, at.past)
      }
    case 'nameId':
      return ({ metadata: { namespace, name } }, _args, { cluster, kind }) =>
        nameIdOf({ ...kind.resource, cluster, namespace, name })
    case 'clusterName':
      return (_object, _args, { cluster }) => cluster
    case 'constant':
      return () => source.value
    case 'json':
      return (object, args) => jsonAt(object, args[source.argument] as string | null | undefined)
    case 'health':
      return (object) => ruledHealth(source.rule, object)
    case 'podAmounts':
      return (object) => podAmountsOf(source.list, object)
    case 'printerColumns': {
      const { printed, argument } = source
      return printed && ((object, args) => printedColumns(printed, object, args[argument] === true))
    }
    default:
      return jsonReader(source)
  }
}

/**
 * The object itself without a path, a list for a path with `[*]`, null if the path leads to nothing. Throws
 * `ArgumentError` for a path that cannot be parsed.
 */
export function jsonAt(object: object, path: string | null | undefined): unknown {
  if (path === undefined || path === null) return object
  const read = readPath(path)
  return read.many ? valuesAt(read, object) : valueAt(read, object)
}

/** Scalars whose coercion keeps every value use `writeJson`. */
const leafWriters: Readonly<Record<ScalarForm, LeafWriter>> = {
  string: writeString,
  boolean: writeBoolean,
  int: writeInt,
  int64: writeInt64,
  float: writeFloat,
  dateTime: writeJson,
  quantity: writeJson,
  intOrString: writeJson,
  json: writeJson,
  stringMap: writeJson,
  quantityMap: writeJson,
}

function writeOr(write: LeafWriter, otherwise: string): LeafWriter {
  const text = JSON.stringify(otherwise)
  return (json) => (json === undefined || json === 'null' ? text : write(json))
}

const requiredWriters = new Map<LeafWriter, LeafWriter>()

/** Writes values of a scalar as GraphQL does; `undefined` for values that GraphQL refuses and for `required` nulls. */
function leafWriter(scalar: ScalarForm, required: boolean): LeafWriter {
  const write = leafWriters[scalar]
  if (!required) return write
  return getOrInsert(
    requiredWriters,
    write,
    () => (json) => (json === undefined || json === 'null' ? undefined : write(json)),
  )
}

/** Writes the `id` of an object from its UID. Returns `undefined` without a UID: the object must be decoded. */
function idWriter({ kind, cluster }: Pick<OwnFieldsContext, 'kind' | 'cluster'>): LeafWriter {
  const { group, kind: name } = kind.resource
  return (json) => {
    if (
      json !== undefined &&
      json === lastId.uid &&
      kind === lastId.kind &&
      cluster === lastId.cluster
    )
      return lastId.text
    const uid: unknown = json === undefined ? undefined : JSON.parse(json)
    if (typeof uid !== 'string' || uid === '') return undefined
    const text = `"${encodeObjectId({ cluster, group, kind: name, object: { uid } })}"`
    lastId = { uid: json, kind, cluster, text }
    return text
  }
}

interface WrittenId {
  readonly uid: string | undefined
  readonly kind: Kind | undefined
  readonly cluster: string
  readonly text: string
}

/** One answer often contains an object's `id` several times in a row: it is encoded once. */
let lastId: WrittenId = { uid: undefined, kind: undefined, cluster: '', text: '' }

interface JsonField extends FieldSelection {
  /** Whether the path goes through a list: the writer then parses the list. */
  readonly isThroughList: boolean
}

/** Selects an object or the value at a path. Throws `PathError`. */
export function jsonField(path: string | null | undefined): JsonField {
  const plain = { value: { form: 'leaf', write: writeJson }, isThroughList: false } as const
  if (path === undefined || path === null) return { path: [], ...plain }
  const { steps } = readPath(path)
  const each = steps.findIndex(({ form }) => form !== 'field')
  const names = steps
    .slice(0, each < 0 ? steps.length : each)
    .flatMap((step) => (step.form === 'field' ? [step.name] : []))
  if (each < 0) return { path: names, ...plain }
  // Parses the value from the first list on.
  const rest = { text: path, steps: steps.slice(each), many: true }
  const write: LeafWriter = (json) =>
    JSON.stringify(json === undefined ? [] : valuesAt(rest, parsed(json)))
  return { path: names, value: { form: 'leaf', write }, isThroughList: true }
}

let last: { readonly text: string; readonly value: unknown } = { text: 'null', value: null }

/** Paths of one object often share a beginning: the list that they go through is parsed once. */
function parsed(text: string): unknown {
  if (text !== last.text) last = { text, value: parseHeld(text) }
  return last.value
}

type Arguments = Readonly<Record<string, unknown>>

/** Reads a field of a type whose values are plain JSON; `undefined` for any other field. */
export function jsonReader(
  source: FieldSource,
): ((value: unknown, args: Arguments) => unknown) | undefined {
  switch (source.form) {
    case 'property': {
      const { property, within = [], otherwise, shape } = source
      const path = [...within, property]
      return (value) => entriesIn(path.reduce(memberOf, value) ?? otherwise, shape)
    }
    case 'mapValue': {
      const { property, argument } = source
      return (value, args) => memberOf(memberOf(value, property), String(args[argument]))
    }
    case 'entryKey':
      return (entry) => memberOf(entry, 'key')
    case 'entryValue':
      return (entry) => memberOf(entry, 'value')
    default:
      return undefined
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Turns maps into lists of entries where the shape says so, in the order of the document. */
function entriesIn(value: unknown, shape: ValueShape): unknown {
  if (shape.form === 'list') {
    return Array.isArray(value) ? value.map((item) => entriesIn(item, shape.items)) : value
  }
  if (shape.form !== 'entries') return value
  if (!isRecord(value)) return null
  return Object.entries(value).map(([key, one]) => ({ key, value: entriesIn(one, shape.value) }))
}

/** Parsed paths, or their errors, by text: a list uses the same few paths for all objects. */
const paths = new LRUCache<string, Path | ArgumentError>({
  maxSize: 100_000,
  sizeCalculation: (_path, text) => Math.max(1, text.length),
  memoMethod(text) {
    try {
      return parsePath(text)
    } catch (error) {
      if (!(error instanceof PathError)) throw error
      const { message, hint } = error
      const details = { value: text, ...(hint === undefined ? {} : { hint }) }
      return new ArgumentError('path', message, details)
    }
  },
})

/** Throws {@link ArgumentError} for a path that cannot be parsed. */
function readPath(text: string): Path {
  const read = paths.memo(text)
  if (read instanceof ArgumentError) throw read
  return read
}

import {
  type FieldNode,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import type {
  ObjectSelection,
  SelectedEntryField,
  SelectedField,
  SelectedValue,
} from '../../informer/codec/projection.ts'
import type { Kind } from '../model/kind.ts'
import { fieldSourceOf, type ValueShape } from '../schema/field-source.ts'
import {
  type CollectContext,
  type CollectedFields,
  collectFields,
  selectionsOf,
} from './collected-fields.ts'
import { healthValue } from './health-field.ts'
import { leafWriter } from './leaf-writer.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { printerColumnsValue } from './printer-columns-field.ts'
import { idValue, idWriter, jsonField } from './object-writers.ts'

/** The context that selects the own fields of an object. */
export interface OwnFieldsContext {
  readonly kind: Kind
  readonly cluster: string
  /** Whether a direct read supplies the objects: they may lack a UID. */
  readonly isDirect: boolean
  readonly collect: CollectContext
  readonly argumentsOf: (
    field: GraphQLField<unknown, unknown>,
    node: FieldNode,
  ) => Readonly<Record<string, unknown>>
  /** Receives, line by line, everything besides the object that the text depends on. */
  readonly note: (line: string) => void
  /** Charges the number of extra fields that a costly field is worth. */
  readonly charge: (fields: number) => void
}

/** For a `json` path through a list: each object's list is found, compared and walked. */
const fieldsPerJsonPath = 65

/** For `printerColumns`: each object is decoded and printed. */
const fieldsPerPrintedRow = 40

/** For `health`: each object is decoded and evaluated. */
const fieldsPerHealth = 26

/**
 * Selects an object's own fields, which depend on the object alone: fields of a kind's type, or of a plain JSON type
 * within it. Throws {@link NotCoveredError} for a field that plans do not cover.
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

/** Whether a field of a kind's type depends on the object alone. */
export function isOwnField(type: GraphQLObjectType, name: string): boolean {
  const field = type.getFields()[name]
  if (field === undefined) return true
  const source = fieldSourceOf(field)
  return source.form === 'printerColumns' ? source.printed !== undefined : ownForms.has(source.form)
}

const ownForms: ReadonlySet<string> = new Set([
  'id',
  'clusterName',
  'constant',
  'health',
  'json',
  'mapValue',
  'property',
])

function ownField(
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  context: OwnFieldsContext,
): Pick<SelectedField, 'path' | 'value'> {
  const [node] = nodes
  const name = node?.name.value ?? ''
  if (name === '__typename') return { path: [], value: constant(type.name) }
  const field = type.getFields()[name]
  if (node === undefined || field === undefined) throw new NotCoveredError(`${type.name}.${name}`)
  const source = fieldSourceOf(field)
  switch (source.form) {
    case 'id': {
      if (context.isDirect) return { path: [], value: idValue(context.kind, context.cluster) }
      const write = idWriter(context.kind, context.cluster)
      return { path: ['metadata', 'uid'], value: { form: 'leaf', write } }
    }
    case 'clusterName':
      return { path: [], value: constant(context.cluster) }
    case 'constant':
      return { path: [], value: constant(source.value) }
    case 'health': {
      const health = getNullableType(field.type)
      if (!isObjectType(health)) break
      context.note(`health ${nodesText(collectedOf(health, nodes, context))}`)
      context.charge(fieldsPerHealth)
      const fields = collectedOf(health, nodes, context)
      return { path: [], value: healthValue(source.rule, health, fields) }
    }
    case 'printerColumns': {
      const { printed, argument } = source
      const list = getNullableType(field.type)
      const columnType = isListType(list) ? getNullableType(list.ofType) : undefined
      if (printed === undefined || !isObjectType(columnType)) break
      const wide = context.argumentsOf(field, node)[argument] === true
      const fields = collectedOf(columnType, nodes, context)
      const declared = JSON.stringify(printed.declared ?? null)
      context.note(`printerColumns ${wide} ${declared} ${nodesText(fields)}`)
      context.charge(fieldsPerPrintedRow)
      return { path: [], value: printerColumnsValue(printed, wide, columnType, fields) }
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
        value: valueOf(field.type, shape, nodes, context),
      }
    }
    case 'property':
      return { path: [source.property], value: valueOf(field.type, source.shape, nodes, context) }
    default:
      break
  }
  throw new NotCoveredError(`${type.name}.${name}`)
}

/** The signature of fields without arguments. */
function nodesText(fields: CollectedFields): string {
  return JSON.stringify(Array.from(fields, ([key, [node]]) => [key, node?.name.value]))
}

function valueOf(
  type: GraphQLOutputType,
  shape: ValueShape,
  nodes: readonly FieldNode[],
  context: OwnFieldsContext,
): SelectedValue {
  const required = isNonNullType(type)
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
        return { form: 'list', of: valueOf(inner.ofType, shape.items, nodes, context), required }
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
  throw new NotCoveredError(`${String(type)} of the form ${shape.form}`)
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
        fields.push({ key, value: valueOf(field.type, source.shape, same, context) })
      } else throw new NotCoveredError(`${type.name}.${name}`)
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

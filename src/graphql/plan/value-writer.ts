/*
 * How a value becomes text: a value of the gateway's own types, of introspection or of an extension. A selection over a
 * type is compiled once, into a writer for each field. The writer reads the member and completes it by the GraphQL
 * specification: null, list, leaf, object, or one of several types. Row writers, which read the caches, write objects of
 * kinds within a value.
 */

import {
  getNamedType,
  getNullableType,
  type GraphQLAbstractType,
  GraphQLBoolean,
  GraphQLError,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLString,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { JsonText } from '../../lib/json.ts'
import { ClientError } from '../errors/client-error.ts'
import { type ExtensionParent, StoredObject } from '../reads/direct/direct-reads.ts'
import { keptOfNode } from '../reads/graph/graph-read.ts'
import { foundByKey, OfObject, referenced } from '../reads/object-read.ts'
import { memberNeeds } from '../reads/query-values.ts'
import {
  type ExtensionField,
  type FieldSource,
  semanticNonNullLevels,
} from '../schema/field-source.ts'
import { ObjectRef } from '../schema/object-ref.ts'
import { anyRowWriter, type PlanField, writtenMembers } from './plan-compiler.ts'
import { jsonReader } from './own-fields.ts'
import {
  type PlanRun,
  planRunOf,
  fieldsPerRead,
  refusedBeside,
  leastLengthOf,
  listText,
  objectText,
  type ValueRun,
  type QuickText,
  type WrittenMember,
} from './plan-run.ts'

/**
 * Writes a value as JSON text. A field is read as graphql-js reads it by default: the member of its name, or the result
 * of calling that member with the coerced arguments and the run. Introspection fields have resolvers, and extension
 * fields may have them. The result is completed as section 6.4.3 of the GraphQL specification says, with the error texts
 * of graphql-js. Errors in the member `failures` of an own value stand beside the answer. `cluster`: the cluster of the
 * object of a kind around the value, for extensions.
 */
export type ValueWriter = ((run: ValueRun, value: unknown, cluster?: string) => string) & {
  /** The least length of a text that is not null, so that lists of objects can be refused before they are written. */
  readonly leastLength?: number
  readonly quick?: QuickText
  /** Of objects whose members are all plain: writes one, unless it needs more. Lists of them are long. */
  readonly quickItem?: ((run: ValueRun, value: unknown) => string | undefined) | undefined
}

/** Compiles the value of a field: its completion, and the errors that an own value, such as a connection, has beside it. */
export function valueWriter(field: PlanField): ValueWriter {
  const write = completed(field.type, field)
  const { nodes } = field
  const source = sourceOf(field)
  // The values of JSON and of extensions may have a member of this name.
  const isOwn = source !== undefined && source.form !== 'extension' && !jsonReader(source)
  if (!isOwn || !isObjectType(getNullableType(field.type))) return write
  return (run, value, cluster) => {
    const { failures } = (value ?? {}) as { readonly failures?: readonly Error[] }
    if (failures !== undefined) run.errors.beside(failures, nodes)
    return write(run, value, cluster)
  }
}

function sourceOf({ definition }: PlanField): FieldSource | undefined {
  return (definition.extensions as { readonly source?: FieldSource }).source
}

/** Compiles one item of a field that is a list, or its value. */
export function itemWriter(field: PlanField): ValueWriter {
  return presentWriter(getNamedType(field.type) as GraphQLOutputType, field, 0)
}

/**
 * Compiles a field of a value. A resolver's field is charged before the call. Members of the gateway's own values were
 * charged by the reads that made them.
 */
export function memberWriter(field: PlanField): ValueWriter {
  const { args, definition, compiler } = field
  const { served, scope } = compiler
  const needs = memberNeeds[placeOf(field)]
  if (needs !== undefined && definition.args.length > 0) {
    compiler.asks({ args, needs: (values, cluster) => needs(served, values, cluster) })
  } else if (needs !== undefined) {
    // Without arguments they are known now, so that a live list follows them.
    for (const { kind, indexes } of needs(served, {}, '')) compiler.reads(kind, indexes)
  }
  const before = scope.writtenBefore?.(field)
  if (before !== undefined) return before as ValueWriter
  const extension = extensionOf(field)
  if (extension !== undefined) {
    const called = extensionWriter(extension, field)
    return (run, value, cluster) => {
      const reads = planRunOf(run)
      return called(reads, reads.extensions.of(value, cluster))
    }
  }
  const write = valueWriter(field)
  const source = sourceOf(field)
  const read = source && jsonReader(source)
  if (read !== undefined) {
    return (run, value, cluster) => {
      run.budget.spend('fields', 1)
      return write(run, read(value, run.argumentsOf(args)), cluster)
    }
  }
  const { resolve } = definition
  if (resolve !== undefined) {
    const info = { schema: served.schema } as GraphQLResolveInfo
    return (run, value, cluster) => {
      run.budget.spend('fields', 1)
      return write(run, resolve(value, run.argumentsOf(args), run, info), cluster)
    }
  }
  if (scope.isLive && field.name === 'staleSince' && source?.form === 'connection') {
    return () => {
      const message = 'the rows of a subscription do not follow staleSince'
      const hint =
        'select staleSince of the frame: it is about all kinds that the subscription reads'
      throw new ClientError('UNSUPPORTED', message, { hint })
    }
  }
  return ownMemberWriter(field, write)
}

/**
 * Compiles a member of an own value. Most members hold what their type prints as it is, and need no completion: `quick`
 * writes them. It reads a getter once, since a cursor, for example, is made when it is read.
 */
function ownMemberWriter(field: PlanField, write: ValueWriter): ValueWriter {
  const { args, name } = field
  const type = getNullableType(field.type)
  const isText = type === GraphQLString || type === GraphQLID
  const isNullable = type === field.type
  const quick: QuickText = (run, value, before) => {
    try {
      const member = (value as Readonly<Record<string, unknown>>)[name]
      if (member instanceof JsonText) return member.after(before)
      switch (typeof member) {
        case 'string': {
          if (!isText) return undefined
          const text = JSON.stringify(member)
          if (text.length > longText) run.budget.spend('bytes', text.length)
          return before + text
        }
        case 'number':
          return type === GraphQLInt && member === (member | 0) ? before + member : undefined
        case 'boolean':
          return type === GraphQLBoolean ? before + member : undefined
        default:
          return isNullable && (member ?? null) === null ? `${before}null` : undefined
      }
    } catch {
      // It is read again where its failure is reported.
      return undefined
    }
  }
  const writeOwn: ValueWriter = (run, value, cluster) => {
    const values = value as Readonly<Record<string, unknown>>
    const member = values[name]
    const own =
      typeof member === 'function' ? member.call(values, run.argumentsOf(args), run) : member
    return write(run, own, cluster)
  }
  const isPlain = isText || type === GraphQLInt || type === GraphQLBoolean
  return isPlain ? Object.assign(writeOwn, { quick }) : writeOwn
}

/** Stands for an extension's call that is not made yet. The run is repeated, so the text does not matter. */
const unanswered = 'null'

/** Compiles a field that a program adds, whose value is written once its resolver has been called. */
export function extensionWriter(
  extension: ExtensionField,
  field: PlanField,
): (run: PlanRun, parent: ExtensionParent) => string {
  const { args, nodes, compiler } = field
  // Resolvers know their caller. Rows of a subscription do not change with what they read.
  compiler.dependsOnViewer()
  const { needs } = extension
  if (needs.length > 0 && !compiler.scope.isLive) {
    for (const kind of compiler.served.kinds.values()) {
      const isNeeded = needs.includes(kind.listField) || needs.includes(kind.typeName)
      if (isNeeded && !kind.uncached) compiler.reads(kind)
    }
  }
  const write = valueWriter(field)
  const isCalled = extension.resolve !== undefined
  return (run, parent) => {
    const { budget, extensions } = run
    if (isCalled) budget.report?.called()
    budget.spend('fields', isCalled ? extension.weight * fieldsPerRead : 1)
    const answered = extensions.value(extension, run.argumentsOf(args), parent, nodes)
    return answered === undefined ? unanswered : write(run, answered.value, parent.cluster)
  }
}

function extensionOf(field: PlanField): ExtensionField | undefined {
  const source = sourceOf(field)
  return source?.form === 'extension' ? source.field : undefined
}

function completed(type: GraphQLOutputType, field: PlanField, level = 0): ValueWriter {
  if (!isNonNullType(type)) {
    const write = presentWriter(type, field, level)
    const { leastLength = 0, quickItem } = write
    const isPromised = semanticNonNullLevels(field.definition).includes(level)
    const nullable: ValueWriter = (run, value, cluster) => {
      if (value === null || value === undefined) {
        if (!isPromised || run.isLacking) return 'null'
        throw new GraphQLError(`${placeOf(field)} is required, and this object has none.`)
      }
      if (value instanceof Error) throw value
      return write(run, value, cluster)
    }
    return Object.assign(nullable, { leastLength, quickItem })
  }
  const write = completed(type.ofType, field, level)
  const { leastLength = 0, quickItem } = write
  const nonNull: ValueWriter = (run, value, cluster) => {
    const text = write(run, value, cluster)
    // The text of a run that will be repeated does not matter.
    if (text === 'null' && !run.isLacking) {
      throw new Error(`Cannot return null for non-nullable field ${placeOf(field)}.`)
    }
    return text
  }
  return Object.assign(nonNull, { leastLength, quickItem })
}

function presentWriter(type: GraphQLOutputType, field: PlanField, level: number): ValueWriter {
  if (isListType(type)) return listWriter(type.ofType, field, level + 1)
  if (isLeafType(type)) return leafWriter(type)
  const { served } = field.compiler
  const named = getNamedType(type)
  if (anyKind.has(named.name) || served.kinds.has(named.name)) return kindWriter(field)
  return isAbstractType(type)
    ? abstractWriter(type, field)
    : objectWriter(type as GraphQLObjectType, field)
}

const anyKind: ReadonlySet<string> = new Set(['KubernetesObject', '_Entity'])

function listWriter(of: GraphQLOutputType, field: PlanField, level: number): ValueWriter {
  const write = completed(of, field, level)
  const { quickItem } = write
  const isNonNull = isNonNullType(of)
  const leastLength = isNonNull ? write.leastLength : 0
  const isOwn = field.definition.resolve === undefined && extensionOf(field) === undefined
  // The members of an own object note their errors, and the list must fail with the object.
  const failsWithin = isOwn && isNonNull && !isLeafType(of.ofType)
  return (run, value, cluster) => {
    if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) {
      throw new Error(`Expected Iterable, but did not find one for field "${placeOf(field)}".`)
    }
    const items = paidItems(run, value as Iterable<unknown>, isOwn ? 0 : 1)
    const item = failsWithin
      ? (one: unknown): string => quickItem?.(run, one) ?? write(run, one, cluster)
      : (one: unknown): string =>
          run.errors.item(field.nodes, () => write(run, one, cluster), isNonNull)
    return listText(run, items, item, leastLength)
  }
}

/** The items of a list, each paid before the next one is taken: an iterable may have no end. */
function paidItems(
  { budget }: ValueRun,
  iterable: Iterable<unknown>,
  price: number,
): readonly unknown[] {
  if (Array.isArray(iterable)) {
    budget.spend('fields', price * iterable.length)
    return iterable
  }
  const items: unknown[] = []
  for (const item of iterable) {
    budget.spend('fields', price)
    items.push(item)
  }
  return items
}

/** Texts of this length are paid before they are joined. The object or list around them pays for shorter ones. */
const longText = 256

function leafWriter(type: GraphQLLeafType): ValueWriter {
  const isText = type === GraphQLString || type === GraphQLID
  return (run, value) => {
    if (value instanceof JsonText) return value.text
    const output = isText && typeof value === 'string' ? value : type.coerceOutputValue(value)
    const text = JSON.stringify(output) as string | undefined
    if (text === undefined || text === 'null') throw new Error(`${type.name} has no such value`)
    if (text.length > longText) run.budget.spend('bytes', text.length)
    return text
  }
}

/** Compiles an object of a kind: the value names it, and the caches have it as the caller may see it. */
function kindWriter(field: PlanField): ValueWriter {
  const kind = field.compiler.served.kinds.get(getNamedType(field.type).name)
  const write = anyRowWriter(field, kind && [kind])
  const refused = refusedBeside(field)
  return (valueRun, value, cluster) => {
    const run = planRunOf(valueRun)
    if (value instanceof StoredObject) return write(run, value.part, value.id)
    if (value instanceof ObjectRef) {
      const named = referenced(run, value, refused)
      return named === undefined ? 'null' : write(run, named.part, named.id)
    }
    const place = run.extensions.placeOf(value, cluster)
    if (place === undefined || (kind !== undefined && place.at.kind !== kind)) {
      throw new TypeError(`${placeOf(field)}: its resolver gives no ${kind?.typeName ?? 'object'}`)
    }
    const found = foundByKey(run, place.at, place.key)
    return found === undefined ? 'null' : write(run, found.part, found.id)
  }
}

type Members = readonly (WrittenMember<[unknown, string | undefined]> & { readonly name: string })[]

/** The members that depend on nothing but the version of an object, by type. Their text is kept with the version. */
const keptMembers: Readonly<Record<string, ReadonlySet<string>>> = { GraphNode: keptOfNode }

/** The types whose values have errors beside them also as items of a list: the payloads of `apply`. */
const failingItems: ReadonlySet<string> = new Set(['WritePayload'])

/** The types whose values are charged when they are written, since the reads that make them charge nothing. */
const pricedTypes: ReadonlySet<string> = new Set(['ObjectRef'])

function objectWriter(type: GraphQLObjectType, field: PlanField): ValueWriter {
  const members = membersOf(type, field)
  const leastLength = leastLengthOf(members)
  if (failingItems.has(type.name) && isListType(getNullableType(field.type))) {
    return (run, value, cluster) => {
      const { failures } = value as { readonly failures?: readonly Error[] }
      if (failures !== undefined) run.errors.beside(failures, field.nodes)
      return objectText(run, members, value, cluster)
    }
  }
  if (pricedTypes.has(type.name)) {
    const writePriced: ValueWriter = (run, value, cluster) => {
      run.budget.spend('fields', members.length)
      return objectText(run, members, value, cluster)
    }
    return Object.assign(writePriced, { leastLength })
  }
  const kept = keptMembers[type.name]
  if (kept !== undefined && members.every(({ name }) => kept.has(name))) {
    const texts = `${type.name} ${members.map(({ before, name }) => before + name).join('')}`
    const writeKept: ValueWriter = (run, value, cluster) => {
      if (!(value instanceof OfObject)) return objectText(run, members, value, cluster)
      const { part, id } = value.about
      const memo = planRunOf(run).memoOf(texts, part)
      const held = part.view.held(id)
      let text = memo.get(id, held)
      if (text === undefined) memo.set(id, held, (text = objectText(run, members, value, cluster)))
      return text
    }
    return Object.assign(writeKept, { leastLength })
  }
  const write: ValueWriter = (run, value, cluster) => objectText(run, members, value, cluster)
  const quicks = members.flatMap(({ before, quick }) => (quick ? { before, quick } : []))
  if (quicks.length < members.length) return Object.assign(write, { leastLength })
  const quickItem = (run: ValueRun, value: unknown): string | undefined => {
    if (typeof value !== 'object' || value === null) return undefined
    let text = '{'
    for (const { before, quick } of quicks) {
      const member = quick(run, value, before)
      if (member === undefined) return undefined
      text += member
    }
    return `${text}}`
  }
  return Object.assign(write, { leastLength, quickItem })
}

function membersOf(
  type: GraphQLObjectType,
  { selections, compiler }: PlanField,
  abstract: readonly string[] = [],
): Members {
  return writtenMembers<ValueWriter>(type, selections, compiler, memberWriter, abstract)
}

/** Compiles an interface or a union: each of its types, on first use. */
function abstractWriter(type: GraphQLAbstractType, field: PlanField): ValueWriter {
  const { schema } = field.compiler.served
  const possible = schema.getPossibleTypes(type)
  const writers = new Map(
    possible.map((one) => [one.name, membersOf(one, field, [type.name])] as const),
  )
  const resolveType = type.resolveType as ((value: unknown) => string | undefined) | undefined
  return (run, value, cluster) => {
    const members = writers.get(resolveType?.(value) ?? '')
    if (members === undefined) {
      throw new TypeError(`${placeOf(field)}: give __typename, or __resolveType for ${type.name}`)
    }
    return objectText(run, members, value, cluster)
  }
}

function placeOf({ parent, name }: PlanField): string {
  return `${parent.name}.${name}`
}

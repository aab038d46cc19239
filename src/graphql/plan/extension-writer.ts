import {
  getNamedType,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql'
import type { Kind } from '../model/kind.ts'
import type { ExtensionParent } from '../reads/direct/direct-reads.ts'
import { foundByKey } from '../reads/object-read.ts'
import type { ExtensionField, FieldSource } from '../schema/field-source.ts'
import { rowsByKind } from './any-row-writer.ts'
import { writtenMembers } from './plain-writer.ts'
import type { PlanField, RootWriter, RowWriter } from './plan-compiler.ts'
import { type PlanRun, plannedFields, type WrittenMember } from './plan-run.ts'

/** Compiles a field that a program adds to the type of a kind. */
export function extensionRowWriter(extension: ExtensionField, field: PlanField): RowWriter {
  const write = calledWriter(extension, field)
  return (run, part, id) => write(run, run.extensions.ofRow(part, id))
}

/** Compiles a field that a program adds to `Query`. */
export function extensionRoot(extension: ExtensionField, field: PlanField): RootWriter {
  const write = calledWriter(extension, field)
  return { write: (run) => write(run, run.extensions.of(undefined, undefined)) }
}

/** Compiles a field that a program adds to `Subscription`, as each event answers it. */
export function extensionEvent(extension: ExtensionField, field: PlanField): RootWriter {
  const write = calledWriter(extension, field)
  return { write: (run) => write(run, run.extensions.of(run.event, undefined)) }
}

/** Compiles a field with its resolver, whose value is written once it has been called. */
function calledWriter(
  extension: ExtensionField,
  field: PlanField,
): (run: PlanRun, parent: ExtensionParent) => string {
  const { args, nodes, compiler } = field
  // Resolvers know their caller. Rows of a subscription do not change with what they read.
  compiler.dependsOnViewer()
  if (!compiler.scope.isLive) {
    for (const kind of kindsNeeded(compiler.served.kinds.values(), extension)) compiler.reads(kind)
  }
  const write = valueWriter(field.type, field)
  return (run, parent) => {
    const { budget } = run
    budget.report?.called()
    budget.spend('fields', extension.weight * plannedFields)
    const answered = run.extensions.value(extension, run.argumentsOf(args), parent, nodes)
    return answered === undefined ? unanswered : write(run, answered.value, parent.cluster)
  }
}

/** The text of a call that is still to be made. The run is repeated, so it does not matter. */
const unanswered = 'null'

/** The served kinds that an extension says it reads. */
function kindsNeeded(kinds: Iterable<Kind>, { needs }: ExtensionField): readonly Kind[] {
  if (needs.length === 0) return []
  return [...kinds].filter(
    ({ listField, typeName, uncached }) =>
      !uncached && (needs.includes(listField) || needs.includes(typeName)),
  )
}

/** Writes a value. `cluster`: that of the object of a kind around it. */
type ValueWriter = (run: PlanRun, value: unknown, cluster: string | undefined) => string

/** Compiles the completion of a value (GraphQL specification, section 6.4.3). */
function valueWriter(type: GraphQLOutputType, field: PlanField): ValueWriter {
  if (isNonNullType(type)) {
    const write = presentWriter(type.ofType, field)
    return (run, value, cluster) => {
      const text = value === null || value === undefined ? 'null' : write(run, value, cluster)
      // The text of a run that is to be repeated does not matter.
      if (text === 'null' && !run.parts.isLacking) throw nullFor(field)
      return text
    }
  }
  const write = presentWriter(type, field)
  return (run, value, cluster) =>
    value === null || value === undefined ? 'null' : write(run, value, cluster)
}

function presentWriter(type: GraphQLOutputType, field: PlanField): ValueWriter {
  if (isListType(type)) return listWriter(type.ofType, field)
  if (isLeafType(type)) return leafWriter(type, field)
  const { served } = field.compiler
  const named = getNamedType(type)
  if (named.name === 'KubernetesObject' || served.kinds.has(named.name)) return kindWriter(field)
  return isAbstractType(type)
    ? abstractWriter(type, field)
    : objectWriter(type as GraphQLObjectType, field)
}

function listWriter(of: GraphQLOutputType, field: PlanField): ValueWriter {
  const write = valueWriter(of, field)
  const isNonNull = isNonNullType(of)
  const item = (run: PlanRun, value: unknown, cluster: string | undefined): string => {
    if (value instanceof Error) throw value
    return write(run, value, cluster)
  }
  return (run, value, cluster) => {
    if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) {
      throw new TypeError(`${placeOf(field)} is a list, and its resolver gives none`)
    }
    return run.list(paidItems(run, value as Iterable<unknown>), (one) =>
      run.errors.item(field.nodes, () => item(run, one, cluster), isNonNull),
    )
  }
}

/** The items of a list, each paid as a field before the next one is taken: an iterable may have no end. */
function paidItems({ budget }: PlanRun, iterable: Iterable<unknown>): readonly unknown[] {
  if (Array.isArray(iterable)) {
    budget.spend('fields', iterable.length)
    return iterable
  }
  const items: unknown[] = []
  for (const item of iterable) {
    budget.spend('fields', 1)
    items.push(item)
  }
  return items
}

function leafWriter(type: GraphQLLeafType, field: PlanField): ValueWriter {
  return (run, value) => {
    let text: string | undefined
    try {
      text = JSON.stringify(type.coerceOutputValue(value))
    } catch (cause) {
      throw new TypeError(`${placeOf(field)} is no ${type.name}: ${String(cause)}`, { cause })
    }
    run.budget.spend('bytes', text?.length ?? 0)
    return text ?? 'null'
  }
}

/** Compiles an object of a kind: the resolver names it, and the caches have it as the caller may see it. */
function kindWriter(field: PlanField): ValueWriter {
  const rows = rowsByKind(field)
  const kind = field.compiler.served.kinds.get(getNamedType(field.type).name)
  if (kind !== undefined) {
    field.compiler.needs(rows.needs(kind))
    if (!kind.uncached) field.compiler.reads(kind)
  }
  return (run, value, cluster) => {
    const place = run.extensions.placeOf(value, cluster)
    if (place === undefined || (kind !== undefined && place.at.kind !== kind)) {
      throw new TypeError(`${placeOf(field)}: its resolver gives no ${kind?.typeName ?? 'object'}`)
    }
    const found = foundByKey(run, place.at, place.key)
    return found === undefined ? 'null' : rows.write(run, found.part, found.id)
  }
}

type Members = readonly WrittenMember<[unknown, string | undefined]>[]

function objectWriter(type: GraphQLObjectType, field: PlanField): ValueWriter {
  const members = membersOf(type, field)
  return (run, value, cluster) => run.object(members, value, cluster)
}

function membersOf(
  type: GraphQLObjectType,
  { selections, compiler }: PlanField,
  abstract: readonly string[] = [],
): Members {
  return writtenMembers<ValueWriter>(type, selections, compiler, memberWriter, abstract)
}

function memberWriter(field: PlanField): ValueWriter {
  const { field: extension } = field.source as FieldSource & { readonly form: 'extension' }
  const { args, nodes } = field
  const write = valueWriter(field.type, field)
  const price = extension.resolve === undefined ? 1 : extension.weight * plannedFields
  return (run, source, cluster) => {
    run.budget.spend('fields', price)
    const { extensions } = run
    const parent = extensions.of(source, cluster)
    const answered = extensions.value(extension, run.argumentsOf(args), parent, nodes)
    return answered === undefined ? unanswered : write(run, answered.value, cluster)
  }
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
    return run.object(members, value, cluster)
  }
}

function placeOf({ parent, name }: PlanField): string {
  return `${parent.name}.${name}`
}

function nullFor(field: PlanField): TypeError {
  const given = 'null, or an object that is gone or that the caller may not see'
  return new TypeError(`${placeOf(field)} may not be null, and its resolver gives ${given}`)
}

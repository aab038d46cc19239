/*
 * The parts of the schema that were removed or changed since the gateway started, by schema coordinate (`Pod.spec`). They
 * explain why a document that was valid once is not valid now.
 */

import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  type GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind as NodeKind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { LazySchema, RootType } from '../schema/lazy-schema.ts'

/** The number of remembered coordinates. Further ones replace the oldest. */
const maxRemembered = 20_000

interface PastChange {
  readonly what: 'removed' | 'changed'
  readonly at: Date
}

export class SchemaHistory {
  readonly #past = new Map<string, PastChange>()

  /** The hint for a validation error about a removed or changed coordinate; otherwise `undefined`. */
  hint(schema: GraphQLSchema, document: DocumentNode, error: GraphQLError): string | undefined {
    const [node] = error.nodes ?? []
    const coordinate =
      this.#past.size === 0 || node === undefined ? undefined : coordinateOf(schema, document, node)
    const past = coordinate === undefined ? undefined : this.#past.get(coordinate)
    if (past === undefined) return undefined
    const happened = past.what === 'removed' ? 'was removed' : 'changed its type'
    return `the schema has changed: ${coordinate} ${happened} at ${past.at.toISOString()}; read the schema again`
  }

  /** Records the changes from one schema to the next. Yields between steps, so that other work can run. */
  *followInSteps(before: GraphQLSchema, now: GraphQLSchema): Generator<void, void> {
    const at = new Date()
    for (const coordinate of this.#past.keys()) {
      if (this.#past.get(coordinate)?.what !== 'removed') continue
      const [name = '', field] = coordinate.split('.')
      const type = now.getType(name)
      const exists = field === undefined ? type !== undefined : Object.hasOwn(fieldsOf(type), field)
      if (exists) this.#past.delete(coordinate)
    }
    for (const [name, type] of yield* changedTypes(before, now)) {
      const next = now.getType(name)
      if (next === undefined) this.#remember(name, { what: 'removed', at })
      const fields = fieldTypes(type)
      const nextFields = fieldTypes(next)
      for (const [field, fieldType] of Object.entries(fields)) {
        const nextType = nextFields[field]
        const what = nextType === undefined ? 'removed' : 'changed'
        const isSame =
          nextType === fieldType ||
          (fieldType === unmade && nextType !== undefined) ||
          nextType === unmade
        if (!isSame) this.#remember(`${name}.${field}`, { what, at })
      }
      yield
    }
  }

  #remember(coordinate: string, change: PastChange): void {
    this.#past.delete(coordinate)
    this.#past.set(coordinate, change)
    if (this.#past.size <= maxRemembered) return
    const [oldest] = this.#past.keys()
    if (oldest !== undefined) this.#past.delete(oldest)
  }
}

/** The types of the first schema, without the parts that are equal in the other one. */
function* changedTypes(
  before: GraphQLSchema,
  now: GraphQLSchema,
): Generator<void, readonly (readonly [name: string, type: GraphQLNamedType])[]> {
  if (!(before instanceof LazySchema) || !(now instanceof LazySchema)) {
    return Object.entries(before.getTypeMap())
  }
  const equal = new Set<string>()
  for (const [kind, part] of before.lazy.config.parts) {
    const other = now.lazy.config.parts.get(kind)
    if (other !== undefined && other.madeOf() === part.madeOf()) equal.add(kind)
    else {
      yield* before.lazy.makeInSteps(kind)
      yield* now.lazy.makeInSteps(kind)
    }
    yield
  }
  return Object.entries(before.lazy.made).filter(([name]) => !equal.has(before.lazy.partOf(name)))
}

/** The type of a root field that is not made: no document has named it, so none can miss its type of before. */
const unmade = ''

function fieldTypes(type: GraphQLNamedType | undefined): Readonly<Record<string, string>> {
  if (type instanceof RootType) {
    const { all, made } = type.lazy
    const names = Reflect.ownKeys(all).map(String)
    return Object.fromEntries(names.map((name) => [name, String(made[name]?.type ?? unmade)]))
  }
  return Object.fromEntries(
    Object.entries(fieldsOf(type)).map(([name, field]) => [name, String(field.type)]),
  )
}

function fieldsOf(type: GraphQLNamedType | undefined): Readonly<Record<string, { type: unknown }>> {
  const hasFields = isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
  return hasFields ? type.getFields() : {}
}

function coordinateOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  wanted: ASTNode,
): string | undefined {
  const types = new TypeInfo(schema)
  let found: string | undefined
  visit(
    document,
    visitWithTypeInfo(types, {
      enter(node) {
        if (node !== wanted) return undefined
        if (node.kind === NodeKind.NAMED_TYPE) found = node.name.value
        if (node.kind === NodeKind.FIELD)
          found = `${String(types.getParentType())}.${node.name.value}`
        if (node.kind === NodeKind.OBJECT_FIELD) {
          found = `${String(types.getParentInputType())}.${node.name.value}`
        }
        return BREAK
      },
    }),
  )
  return found
}

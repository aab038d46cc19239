/*
 * Prints a schema as SDL, in the order of names, so that two versions can be compared line by line. It is printed type by
 * type, with pauses: the schema of a cluster with many custom kinds has some megabytes. Directives that graphql-js does not
 * print are added: `@semanticNonNull` and `@fetchable` for clients, or, for a subgraph of Apollo Federation, the keys of its
 * entities. A schema is printed once. What is held for clients that fetch it is the compressed text.
 */

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import {
  type ASTVisitor,
  type ConstDirectiveNode,
  type DocumentNode,
  type GraphQLSchema,
  type InterfaceTypeDefinitionNode,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  Kind,
  type NameNode,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  printSchema,
  printType,
  visit,
} from 'graphql'
import { atOnce, inSlices } from '../../lib/event-loop.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { semanticNonNullLevels } from './field-source.ts'
import { typesInSteps } from './lazy-schema.ts'
import { type EntityKeys, fetchableDirective, isFetchable } from './protocol-fields.ts'
import { semanticNonNullDirective } from './open-api-types.ts'

/** The schema as SDL. A schema with `_service` is printed as the subgraph that composition reads. */
export function printSchemaSdl(schema: GraphQLSchema): string {
  return getOrInsert(texts, schema, () => atOnce(schemaSdlInSteps(schema)))
}

const texts = new WeakMap<GraphQLSchema, string>()

/** The SDL of a schema for clients that fetch it: compressed by Brotli, and a tag that tells it from others. */
export interface HeldSdl {
  readonly brotli: Buffer
  readonly etag: string
}

/** Prints a schema in slices, once for all who ask. Resolves with the same text as {@link printSchemaSdl}. */
export function heldSdl(schema: GraphQLSchema): Promise<HeldSdl> {
  return getOrInsert(heldTexts, schema, () => compressedSdl(schema))
}

const heldTexts = new WeakMap<GraphQLSchema, Promise<HeldSdl>>()
const compressed = promisify(brotliCompress)
const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

async function compressedSdl(schema: GraphQLSchema): Promise<HeldSdl> {
  const text = (await inSlices(schemaSdlInSteps(schema), () => false)) ?? ''
  const etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`
  return { brotli: await compressed(text, compression), etag }
}

function* schemaSdlInSteps(schema: GraphQLSchema): Generator<void, string> {
  const isSubgraph = schema.getQueryType()?.getFields()['_service'] !== undefined
  const directed = isSubgraph ? subgraphDocument : clientDocument
  const parts = isSubgraph ? [federationLink] : []
  const add = (text: string): void => {
    if (text === '') return
    const document = directed(schema, sortedDocument(parse(text, { noLocation: true })))
    if (document.definitions.length > 0) parts.push(print(document))
  }
  const types = yield* typesInSteps(schema)
  const withoutTypes = { getTypeMap: { value: () => ({}) } }
  // The description of the schema, and its directives.
  add(printSchema(Object.create(schema, withoutTypes) as GraphQLSchema))
  for (const name of Object.keys(types).toSorted(compareNames)) {
    const type = types[name]
    if (type === undefined || isIntrospectionType(type) || isSpecifiedScalarType(type)) continue
    add(printType(type))
    yield
  }
  return `${parts.join('\n\n')}\n`
}

/** A document with everything that has a name in the order of names. */
function sortedDocument(document: DocumentNode): DocumentNode {
  const sorts: ASTVisitor = {
    DirectiveDefinition: (node) => ({ ...node, arguments: byName(node.arguments) }),
    FieldDefinition: (node) => ({ ...node, arguments: byName(node.arguments) }),
    ObjectTypeDefinition: (node) => ({
      ...node,
      interfaces: byName(node.interfaces),
      fields: byName(node.fields),
    }),
    InterfaceTypeDefinition: (node) => ({
      ...node,
      interfaces: byName(node.interfaces),
      fields: byName(node.fields),
    }),
    InputObjectTypeDefinition: (node) => ({ ...node, fields: byName(node.fields) }),
    EnumTypeDefinition: (node) => ({ ...node, values: byName(node.values) }),
    UnionTypeDefinition: (node) => ({ ...node, types: byName(node.types) }),
  }
  const definitions = document.definitions.toSorted((a, b) =>
    a.kind === Kind.DIRECTIVE_DEFINITION && b.kind === Kind.DIRECTIVE_DEFINITION
      ? compareNames(a.name.value, b.name.value)
      : 0,
  )
  return visit({ ...document, definitions }, sorts)
}

function byName<T extends { readonly name: NameNode }>(nodes: readonly T[] = []): T[] {
  return nodes.toSorted((a, b) => compareNames(a.name.value, b.name.value))
}

/** The order of graphql-js: `v9` before `v10`. */
function compareNames(a: string, b: string): number {
  const [left, right] = [a.split(/([0-9]+)/), b.split(/([0-9]+)/)]
  const at = left.findIndex((part, place) => part !== right[place])
  const [one = '', other = ''] = [left[at], right[at]]
  // The parts between are those of digits.
  return at % 2 === 1 ? Number(one) - Number(other) : one < other ? -1 : 1
}

/** A document with the directives that clients read. */
function clientDocument(schema: GraphQLSchema, document: DocumentNode): DocumentNode {
  return visit(document, {
    ObjectTypeDefinition(node) {
      const type = schema.getType(node.name.value)
      if (!isObjectType(type)) return undefined
      const known = type.getFields()
      const fails = type === schema.getMutationType() || type === schema.getSubscriptionType()
      const fields = node.fields?.map((field) => {
        const config = known[field.name.value]
        const levels = config === undefined ? [] : semanticNonNullLevels(config, fails)
        if (levels.length === 0) return field
        return { ...field, directives: [...(field.directives ?? []), ...semanticNonNull(levels)] }
      })
      const relay = isFetchable(type.name, schema.getQueryType()) ? fetchable : []
      const directives = [...(node.directives ?? []), ...relay]
      return { ...node, directives, ...(fields === undefined ? {} : { fields }) }
    },
  })
}

/**
 * A document of a subgraph with the keys of its entities, and without the fields of the protocol. `@semanticNonNull` and
 * `@fetchable` are left out, since routers do not know them; `@oneOf` is defined, since Apollo's composition does not
 * know it. `PageInfo` is shareable, since every subgraph with Relay's connections has it.
 */
function subgraphDocument(schema: GraphQLSchema, document: DocumentNode): DocumentNode {
  const keys = (schema.getType('_Entity')?.extensions['keys'] ?? new Map()) as EntityKeys
  const withKeys = <T extends ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode>(
    node: T,
  ): T => {
    const { value: name } = node.name
    const text = (keys.get(name) ?? []).map((key) => `@key(fields: ${JSON.stringify(key)})`)
    if (name === 'PageInfo') text.push('@shareable')
    return { ...node, directives: [...(node.directives ?? []), ...directivesOf(text.join(' '))] }
  }
  return visit(document, {
    DirectiveDefinition: () => null,
    ObjectTypeDefinition(node) {
      if (node.name.value === '_Service') return null
      const fields = node.fields?.filter(({ name }) => !protocolFields.has(name.value))
      return withKeys(node.name.value === schema.getQueryType()?.name ? { ...node, fields } : node)
    },
    InterfaceTypeDefinition: withKeys,
    UnionTypeDefinition: (node) => (node.name.value === '_Entity' ? null : undefined),
    ScalarTypeDefinition: (node) => (node.name.value === '_Any' ? null : undefined),
  })
}

const protocolFields = new Set(['_service', '_entities'])

/** Version 2.3 is the first with keys of interfaces. */
const federationLink = `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])

directive @oneOf on INPUT_OBJECT`

const fetchable = directivesOf(`@${fetchableDirective.name}(field_name: "id")`)
/** The directive, with its levels unless they are those of the field alone. */
function semanticNonNull(levels: readonly number[]): readonly ConstDirectiveNode[] {
  const text = levels.join()
  return getOrInsert(promises, text, () => {
    const written = text === '0' ? '' : `(levels: [${levels.join(', ')}])`
    return directivesOf(`@${semanticNonNullDirective.name}${written}`)
  })
}

const promises = new Map<string, readonly ConstDirectiveNode[]>()

function directivesOf(text: string): readonly ConstDirectiveNode[] {
  const [node] = parse(`scalar S ${text}`, { noLocation: true }).definitions
  return node?.kind === Kind.SCALAR_TYPE_DEFINITION ? (node.directives ?? []) : []
}

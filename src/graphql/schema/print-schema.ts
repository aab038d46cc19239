/*
 * Prints a schema as SDL, in the order of names, so that two versions can be compared line by line. Directives that
 * graphql-js does not print are added afterwards: `@semanticNonNull` and `@fetchable` for clients, or, for a subgraph of
 * Apollo Federation, the keys of its entities. A schema is printed once.
 */

import {
  type ConstDirectiveNode,
  type DocumentNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isListType,
  isNonNullType,
  type InterfaceTypeDefinitionNode,
  isObjectType,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql'
import { semanticNonNullLevels } from './field-source.ts'
import { type EntityKeys, fetchableDirective, isFetchable } from './protocol-fields.ts'
import { semanticNonNullDirective } from './open-api-types.ts'
import { sortedSchema } from './scalars.ts'

/** The schema as SDL. A schema with `_service` is printed as the subgraph that composition reads. */
export function printSchemaSdl(schema: GraphQLSchema): string {
  let text = texts.get(schema)
  if (text === undefined) texts.set(schema, (text = schemaSdl(schema)))
  return text
}

const texts = new WeakMap<GraphQLSchema, string>()

function schemaSdl(schema: GraphQLSchema): string {
  const document = parse(printSchema(sortedSchema(schema)), { noLocation: true })
  if (schema.getQueryType()?.getFields()['_service'] !== undefined) {
    return subgraphSdl(schema, document)
  }
  const marked = visit(document, {
    ObjectTypeDefinition(node) {
      const type = schema.getType(node.name.value)
      if (!isObjectType(type)) return undefined
      const known = type.getFields()
      const fields = node.fields?.map((field) => {
        const config = known[field.name.value]
        const levels = config === undefined ? [] : promisedLevels(schema, type, config)
        if (levels.length === 0) return field
        return { ...field, directives: [...(field.directives ?? []), ...semanticNonNull(levels)] }
      })
      const relay = isFetchable(type.name, schema.getQueryType()) ? fetchable : []
      const directives = [...(node.directives ?? []), ...relay]
      return { ...node, directives, ...(fields === undefined ? {} : { fields }) }
    },
  })
  return `${print(marked)}\n`
}

/**
 * Prints a subgraph with the keys of its entities, and without the fields of the protocol. `@semanticNonNull` and
 * `@fetchable` are left out, since routers do not know them; `@oneOf` is defined, since Apollo's composition does not
 * know it. `PageInfo` is shareable, since every subgraph with Relay's connections has it.
 */
function subgraphSdl(schema: GraphQLSchema, document: DocumentNode): string {
  const keys = (schema.getType('_Entity')?.extensions['keys'] ?? new Map()) as EntityKeys
  const withKeys = <T extends ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode>(
    node: T,
  ): T => {
    const { value: name } = node.name
    const text = (keys.get(name) ?? []).map((key) => `@key(fields: ${JSON.stringify(key)})`)
    if (name === 'PageInfo') text.push('@shareable')
    return { ...node, directives: [...(node.directives ?? []), ...directivesOf(text.join(' '))] }
  }
  const printed = visit(document, {
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
  return `${federationLink}\n\n${print(printed)}\n`
}

const protocolFields = new Set(['_service', '_entities'])

/** Version 2.3 is the first with keys of interfaces. */
const federationLink = `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])

directive @oneOf on INPUT_OBJECT`

const fetchable = directivesOf(`@${fetchableDirective.name}(field_name: "id")`)
/** Fields of the other roots fail as a whole, and the items of lists there, too. */
function promisedLevels(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
): readonly number[] {
  const isRoot = type === schema.getMutationType() || type === schema.getSubscriptionType()
  if (!isRoot) return semanticNonNullLevels(field)
  const item = isListType(field.type) ? field.type.ofType : undefined
  return [
    ...(isNonNullType(field.type) ? [] : [0]),
    ...(item === undefined || isNonNullType(item) ? [] : [1]),
  ]
}

/** The directive, with its levels unless they are those of the field alone. */
function semanticNonNull(levels: readonly number[]): readonly ConstDirectiveNode[] {
  const text = levels.join()
  let known = promises.get(text)
  if (known === undefined) {
    const written = text === '0' ? '' : `(levels: [${levels.join(', ')}])`
    known = directivesOf(`@${semanticNonNullDirective.name}${written}`)
    promises.set(text, known)
  }
  return known
}

const promises = new Map<string, readonly ConstDirectiveNode[]>()

function directivesOf(text: string): readonly ConstDirectiveNode[] {
  const [node] = parse(`scalar S ${text}`, { noLocation: true }).definitions
  return node?.kind === Kind.SCALAR_TYPE_DEFINITION ? (node.directives ?? []) : []
}

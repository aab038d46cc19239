import {
  type ConstDirectiveNode,
  type GraphQLSchema,
  isObjectType,
  Kind,
  lexicographicSortSchema,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql'
import { isSemanticNonNull } from './field-source.ts'
import { fetchableDirective, isFetchable } from './relay-fields.ts'
import { semanticNonNullDirective } from './open-api-types.ts'

/**
 * The schema as SDL in the order of names, so that two versions can be compared line by line. Fields that are null only if they
 * have an error carry `@semanticNonNull`.
 */
export function printSchemaSdl(schema: GraphQLSchema): string {
  const document = parse(printSchema(lexicographicSortSchema(schema)), { noLocation: true })
  const directive = directiveNode(semanticNonNullDirective.name)
  const marked = visit(document, {
    ObjectTypeDefinition(node) {
      const type = schema.getType(node.name.value)
      if (!isObjectType(type)) return undefined
      const known = type.getFields()
      const fields = node.fields?.map((field) => {
        const config = known[field.name.value]
        if (config === undefined || !isSemanticNonNull(config)) return field
        return { ...field, directives: [...(field.directives ?? []), directive] }
      })
      const relay = isFetchable(type.name, schema.getQueryType()) ? [fetchable] : []
      const directives = [...(node.directives ?? []), ...relay]
      return { ...node, directives, ...(fields === undefined ? {} : { fields }) }
    },
  })
  return `${print(marked)}\n`
}

const fetchable = directiveNode(fetchableDirective.name, { field_name: 'id' })

function directiveNode(
  name: string,
  args: Readonly<Record<string, string>> = {},
): ConstDirectiveNode {
  return {
    kind: Kind.DIRECTIVE,
    name: { kind: Kind.NAME, value: name },
    arguments: Object.entries(args).map(([argument, value]) => ({
      kind: Kind.ARGUMENT,
      name: { kind: Kind.NAME, value: argument },
      value: { kind: Kind.STRING, value },
    })),
  }
}

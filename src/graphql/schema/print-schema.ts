import {
  type ConstDirectiveNode,
  type GraphQLSchema,
  isObjectType,
  Kind,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql'
import { isSemanticNonNull } from './field-source.ts'
import { fetchableDirective, isFetchable } from './relay-fields.ts'
import { semanticNonNullDirective } from './open-api-types.ts'
import { sortedSchema } from './scalars.ts'

/**
 * The schema as SDL in the order of names, so that two versions can be compared line by line. Fields that are null only
 * if they have an error carry `@semanticNonNull`.
 */
export function printSchemaSdl(schema: GraphQLSchema): string {
  const document = parse(printSchema(sortedSchema(schema)), { noLocation: true })
  const marked = visit(document, {
    ObjectTypeDefinition(node) {
      const type = schema.getType(node.name.value)
      if (!isObjectType(type)) return undefined
      const known = type.getFields()
      const fields = node.fields?.map((field) => {
        const config = known[field.name.value]
        if (config === undefined || !isSemanticNonNull(config)) return field
        return { ...field, directives: [...(field.directives ?? []), ...semanticNonNull] }
      })
      const relay = isFetchable(type.name, schema.getQueryType()) ? fetchable : []
      const directives = [...(node.directives ?? []), ...relay]
      return { ...node, directives, ...(fields === undefined ? {} : { fields }) }
    },
  })
  return `${print(marked)}\n`
}

const fetchable = directivesOf(`@${fetchableDirective.name}(field_name: "id")`)
const semanticNonNull = directivesOf(`@${semanticNonNullDirective.name}`)

function directivesOf(text: string): readonly ConstDirectiveNode[] {
  const [node] = parse(`scalar S ${text}`, { noLocation: true }).definitions
  return node?.kind === Kind.SCALAR_TYPE_DEFINITION ? (node.directives ?? []) : []
}

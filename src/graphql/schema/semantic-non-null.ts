import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql'
import type { OpenApiSchema } from '../../kubernetes/open-api.ts'
import { isBuiltInGroup } from '../../kubernetes/api-resource.ts'
import type { ValueShape } from './field-source.ts'

/** `@semanticNonNull`, as Apollo, Relay and their tools read it. */
export const semanticNonNullDirective: GraphQLDirective = new GraphQLDirective({
  name: 'semanticNonNull',
  description: 'The field is null only where there is an error for it.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLInt))),
      default: { value: [0] },
    },
  },
})

/**
 * Whether the API promises that a property of an object is never null. Those of Kubernetes itself that it requires are there,
 * but its Go types write an empty list, map or time as null.
 */
export function isNeverNull(
  parent: OpenApiSchema,
  property: string,
  { group, shape }: { readonly group: string; readonly shape: ValueShape },
): boolean {
  if (parent.required?.includes(property) !== true) return false
  if (parent.properties?.[property]?.nullable === true) return false
  if (!isBuiltInGroup(group)) return true
  if (shape.form === 'list' || shape.form === 'entries') return false
  if (shape.form === 'object') return true
  return !['dateTime', 'json', 'stringMap', 'quantityMap'].includes(shape.scalar)
}

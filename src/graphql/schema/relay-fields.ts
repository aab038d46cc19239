import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLID,
  GraphQLNonNull,
  type GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import type { Kind } from '../model/kind.ts'
import { type FieldConfigs, fromSource } from './field-source.ts'
import type { SchemaTypes } from './own-types.ts'

/**
 * `@fetchable`, as relay-compiler reads it: an object of the type is fetched again by `fetch__Pod(id:)`. Relay's other
 * way, an interface `Node`, is not open here, since `Node` is a Kubernetes node.
 */
export const fetchableDirective: GraphQLDirective = new GraphQLDirective({
  name: 'fetchable',
  description: 'For Relay: `fetch__` and the name of the type fetch an object by this field.',
  locations: [DirectiveLocation.OBJECT],
  args: { field_name: { type: new GraphQLNonNull(GraphQLString) } },
})

/** `fetch__Pod` and the like, which relay-compiler's refetchable fragments select. */
export function relayFields(kinds: readonly Kind[], types: SchemaTypes): FieldConfigs {
  const fields: FieldConfigs = {}
  for (const kind of kinds) {
    fields[fetchFieldOf(kind.typeName)] = {
      type: types.objectType(kind),
      description: `One ${kind.resource.kind} of ${kind.apiVersion} by its \`id\`, for Relay; null where it is gone.`,
      args: { id: { type: new GraphQLNonNull(GraphQLID) } },
      deprecationReason: kind.deprecation,
      ...fromSource({ form: 'objectById' }),
    }
  }
  return fields
}

/** The error of a field for objects of one type, with the `id` of an object of another type. */
export function ofAnotherKind(id: string, typeName: string): ArgumentError {
  return new ArgumentError('id', `is that of an object of another kind than ${typeName}`, {
    value: id,
    hint: '`object(id:)` finds objects of any kind',
  })
}

/** Whether Relay may fetch objects of the type again: whether `Query` has the field for it. */
export function isFetchable(
  typeName: string,
  query: GraphQLObjectType | null | undefined,
): boolean {
  return query?.getFields()[fetchFieldOf(typeName)] !== undefined
}

function fetchFieldOf(typeName: string): string {
  return `fetch__${typeName}`
}

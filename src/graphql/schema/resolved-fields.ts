import {
  getNamedType,
  type GraphQLNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'

/**
 * Makes the fields of all types that these lead to, which are made when they are first asked for; pauses after each type. What
 * then puts the types together into a schema finds them made.
 */
export function* resolveFields(roots: readonly GraphQLNamedType[]): Generator<void, void> {
  const seen = new Set<GraphQLNamedType>(roots)
  // A set goes on to what is added to it on the way.
  for (const type of seen) {
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const one of type.getInterfaces()) seen.add(one)
      for (const field of Object.values(type.getFields())) {
        seen.add(getNamedType(field.type))
        for (const argument of field.args) seen.add(getNamedType(argument.type))
      }
    } else if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) seen.add(getNamedType(field.type))
    }
    yield
  }
}

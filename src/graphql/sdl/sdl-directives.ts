/*
 * The directives of the SDL of indexes and relations, from `schema/directives.graphql`. `directive-arguments.ts` has the
 * types of their arguments, which a generator writes from the same file.
 */

import { readFileSync } from 'node:fs'
import {
  buildASTSchema,
  DirectiveLocation,
  type GraphQLDirective,
  type GraphQLEnumType,
  isEnumType,
  isSpecifiedDirective,
  parse,
} from 'graphql'
import { packageSchemaDirectory } from './sdl-source.ts'

const vocabulary = buildASTSchema(
  parse(readFileSync(new URL('directives.graphql', packageSchemaDirectory), 'utf8')),
)

/** All directives of the SDL. */
export const sdlDirectives: readonly GraphQLDirective[] = vocabulary
  .getDirectives()
  .filter((directive) => !isSpecifiedDirective(directive))

export const sdlEnums: readonly GraphQLEnumType[] = Object.values(vocabulary.getTypeMap()).filter(
  (type) => isEnumType(type) && !type.name.startsWith('__'),
) as GraphQLEnumType[]

// Code has the values in camel case: `DATE_TIME` is `dateTime`.
for (const value of sdlEnums.flatMap((type) => type.getValues())) {
  value.value = value.name
    .toLowerCase()
    .replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

export const indexType: GraphQLEnumType = vocabulary.getType('IndexType') as GraphQLEnumType

/** The directives on types, and the directives that make a field a relation. */
export const typeDirectives: readonly GraphQLDirective[] = directivesOn(DirectiveLocation.OBJECT)
export const fieldDirectives: readonly GraphQLDirective[] = directivesOn(
  DirectiveLocation.FIELD_DEFINITION,
)

function directivesOn(location: DirectiveLocation): readonly GraphQLDirective[] {
  return sdlDirectives.filter(({ locations }) => locations.includes(location))
}

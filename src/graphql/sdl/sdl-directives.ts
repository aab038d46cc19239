/*
 * The directives of the SDL of indexes and relations, from `schema/directives.graphql`, and the TypeScript types of their
 * arguments.
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
import type { IndexReduction } from '../../query/index/index-definition.ts'
import type { IndexType } from '../../query/index/index-key.ts'
import { packageSchemaDirectory } from './sdl-source.ts'

export interface IndexArguments {
  readonly name: string
  readonly path: readonly string[]
  readonly type: IndexType
  readonly reduce?: IndexReduction | null
  readonly searchable?: boolean | null
  readonly description?: string | null
}

export interface EndedArguments {
  readonly path: readonly string[]
  readonly in: readonly string[]
}

export interface UsesArguments {
  readonly kind?: string | null
  readonly path?: readonly string[] | null
  readonly namespacePath?: readonly string[] | null
  readonly namespaceOtherwise?: string | null
  readonly namespace?: string | null
  readonly kindPath?: readonly string[] | null
  readonly groupPath?: readonly string[] | null
  readonly defaultKind?: boolean | null
  readonly pattern?: string | null
  readonly as?: string | null
  readonly at?: string | null
}

/** The arguments of the directives whose fields lead to objects of any kind. */
export interface AnyKindArguments {
  readonly objectRef: {
    readonly path: readonly string[]
    readonly category?: readonly string[] | null
    readonly topmost?: boolean | null
    readonly kindAt?: string | null
    readonly uses?: boolean | null
  }
  readonly sameLabel: { readonly key: string }
  readonly chooses: {
    readonly path: string
    readonly kindAt: string
    readonly uses?: boolean | null
  }
  readonly chosenBy: { readonly of: readonly string[] }
}

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

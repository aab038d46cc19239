import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLEnumType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql'
import type { IndexType } from '../../query/index-key.ts'

/** The arguments of `@index`. */
export interface IndexArguments {
  readonly name: string
  readonly path: string
  readonly type: IndexType
  readonly ordered?: boolean | null
}

/** The arguments of the directives that make a field a relation, by directive. */
export interface RelationDirectiveArguments {
  readonly reference: {
    readonly path: readonly string[]
    readonly namespacePath?: readonly string[] | null
  }
  readonly reverse: { readonly of: string }
  readonly selects: {
    readonly path: string
    readonly selector: 'map' | 'labelSelector'
    readonly whenAbsent: 'nothing' | 'everything'
  }
  readonly owned: { readonly through?: readonly string[] | null }
  readonly owner: { readonly through?: readonly string[] | null }
}

/** The directives that make a field a relation. */
export type RelationDirective = keyof RelationDirectiveArguments

const text = new GraphQLNonNull(GraphQLString)
const texts = new GraphQLList(text)

const enumType = (name: string, values: Readonly<Record<string, string>>): GraphQLEnumType =>
  new GraphQLEnumType({
    name,
    values: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { value }])),
  })

const indexType = enumType('IndexType', {
  STRING: 'string',
  INT: 'int',
  BOOLEAN: 'boolean',
  DATE_TIME: 'dateTime',
  QUANTITY: 'quantity',
} satisfies Record<string, IndexType>)

const selectorForm = enumType('SelectorForm', { MAP: 'map', LABEL_SELECTOR: 'labelSelector' })
const selected = enumType('Selected', { NOTHING: 'nothing', EVERYTHING: 'everything' })

/** `@index`, on a type: a field of `where`, and the index behind it. */
export const indexDirective: GraphQLDirective = new GraphQLDirective({
  name: 'index',
  locations: [DirectiveLocation.OBJECT],
  isRepeatable: true,
  args: {
    name: { type: text },
    path: { type: text },
    type: { type: new GraphQLNonNull(indexType), default: { value: 'STRING' } },
    ordered: { type: GraphQLBoolean },
  },
})

const onField = (
  name: RelationDirective,
  args: Readonly<Record<string, { type: GraphQLInputType; default?: { value: unknown } }>>,
): GraphQLDirective =>
  new GraphQLDirective({ name, locations: [DirectiveLocation.FIELD_DEFINITION], args })

/** The directives that make a field a relation, by name. */
export const relationDirectives: Readonly<Record<RelationDirective, GraphQLDirective>> = {
  reference: onField('reference', {
    path: { type: new GraphQLNonNull(texts) },
    namespacePath: { type: texts },
  }),
  reverse: onField('reverse', { of: { type: text } }),
  selects: onField('selects', {
    path: { type: text },
    selector: { type: new GraphQLNonNull(selectorForm), default: { value: 'MAP' } },
    whenAbsent: { type: new GraphQLNonNull(selected), default: { value: 'NOTHING' } },
  }),
  owned: onField('owned', { through: { type: texts } }),
  owner: onField('owner', { through: { type: texts } }),
}

/** Whether a directive of this name makes a field a relation. */
export function isRelationDirective(name: string): name is RelationDirective {
  return Object.hasOwn(relationDirectives, name)
}

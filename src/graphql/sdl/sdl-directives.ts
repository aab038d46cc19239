import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql'
import type { IndexType } from '../../query/index/index-key.ts'

/** The arguments of `@index`. */
export interface IndexArguments {
  readonly name: string
  readonly path: readonly string[]
  readonly type: IndexType
  readonly reduce?: 'sum' | 'first' | null
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
  readonly objectRef: { readonly path: string }
}

/** The directives that make a field a relation. */
export type RelationDirective = keyof RelationDirectiveArguments

const text = new GraphQLNonNull(GraphQLString)
const texts = new GraphQLList(text)

type Values = Readonly<Record<string, { readonly value: string; readonly description?: string }>>

const enumType = (name: string, description: string, values: Values): GraphQLEnumType =>
  new GraphQLEnumType({ name, description, values })

const indexType = enumType('IndexType', 'What the values of an index are.', {
  STRING: { value: 'string' },
  INT: { value: 'int' },
  BOOLEAN: { value: 'boolean' },
  DATE_TIME: { value: 'dateTime' },
  QUANTITY: { value: 'quantity' },
} satisfies Record<string, { value: IndexType }>)

const indexReduction = enumType('IndexReduction', 'What becomes of several values.', {
  SUM: { value: 'sum', description: 'Of numbers and quantities; 0 where there are none.' },
  FIRST: { value: 'first', description: 'The first one, in the order of the paths.' },
})

const selectorForm = enumType('SelectorForm', 'How a selector is written.', {
  MAP: {
    value: 'map',
    description: 'Label values by key, as in a Service; an empty one selects nothing.',
  },
  LABEL_SELECTOR: {
    value: 'labelSelector',
    description: '`matchLabels` and `matchExpressions`; an empty one selects the whole namespace.',
  },
})

const selected = enumType('Selected', 'What an absent selector selects.', {
  NOTHING: { value: 'nothing' },
  EVERYTHING: { value: 'everything', description: 'All of the namespace.' },
})

/** `@index`, on a type: a field of `where`, and the index behind it. */
export const indexDirective: GraphQLDirective = new GraphQLDirective({
  name: 'index',
  description: 'An index over what stands at a path of each object, and a field of `where`.',
  locations: [DirectiveLocation.OBJECT],
  isRepeatable: true,
  args: {
    name: { type: text, description: 'The name of the field of `where`.' },
    path: {
      type: new GraphQLNonNull(texts),
      description:
        'Dots, `[*]`, `["quoted.key"]` and `[member="value"]`: `spec.containers[*].image`; several where the API has several places.',
    },
    type: { type: new GraphQLNonNull(indexType), default: { value: 'STRING' } },
    reduce: {
      type: indexReduction,
      description: 'One value made of all that stands at the paths; else each of them is a value.',
    },
  },
})

const onField = (
  name: RelationDirective,
  description: string,
  args: GraphQLFieldConfigArgumentMap,
): GraphQLDirective =>
  new GraphQLDirective({
    name,
    description,
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args,
  })

/** The directives that make a field a relation, by name. */
export const relationDirectives: Readonly<Record<RelationDirective, GraphQLDirective>> = {
  reference: onField('reference', 'The object names those that it means.', {
    path: {
      type: new GraphQLNonNull(texts),
      description: 'Where the names stand; several where the API has several places.',
    },
    namespacePath: {
      type: texts,
      description:
        "Where their namespaces stand, one for each path; else they are in the object's own.",
    },
  }),
  reverse: onField('reverse', 'A `@reference` or `@selects` read backwards.', {
    of: { type: text, description: 'The relation, as in `Pod.node`.' },
  }),
  selects: onField('selects', 'The object selects others of its namespace by their labels.', {
    path: { type: text, description: 'Where the selector stands.' },
    selector: { type: new GraphQLNonNull(selectorForm), default: { value: 'MAP' } },
    whenAbsent: { type: new GraphQLNonNull(selected), default: { value: 'NOTHING' } },
  }),
  owned: onField('owned', 'The objects that have this one among their owners.', {
    through: { type: texts, description: 'The types in between, from this one downwards.' },
  }),
  owner: onField('owner', 'The owner of the object.', {
    through: { type: texts, description: 'The types in between, from this one upwards.' },
  }),
  objectRef: onField('objectRef', 'The object says which one it means, of whatever kind.', {
    path: {
      type: text,
      description:
        'Where `kind` and `name` stand, with `apiVersion`, `apiGroup` or `group`, and `namespace` unless it is the own one.',
    },
  }),
}

/** All directives of the SDL. */
export const sdlDirectives: readonly GraphQLDirective[] = [
  indexDirective,
  ...Object.values(relationDirectives),
]

/** The enumerations of their arguments. */
export const sdlEnums: readonly GraphQLEnumType[] = [
  indexType,
  indexReduction,
  selectorForm,
  selected,
]

/** Whether a directive of this name makes a field a relation. */
export function isRelationDirective(name: string): name is RelationDirective {
  return Object.hasOwn(relationDirectives, name)
}

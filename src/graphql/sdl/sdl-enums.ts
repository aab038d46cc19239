import { GraphQLEnumType } from 'graphql'
import type { IndexType } from '../../query/index/index-key.ts'

type Values = Readonly<Record<string, { readonly value: string; readonly description?: string }>>

const enumType = (name: string, description: string, values: Values): GraphQLEnumType =>
  new GraphQLEnumType({ name, description, values })

/** What the values of an index are. */
export const indexType: GraphQLEnumType = enumType(
  'IndexType',
  'What the values of an index are. Text counts where it is written like one, as labels and annotations write numbers and times; what is not of the type is passed over.',
  {
    STRING: { value: 'string' },
    INT: { value: 'int' },
    BOOLEAN: { value: 'boolean' },
    DATE_TIME: { value: 'dateTime' },
    QUANTITY: { value: 'quantity' },
  } satisfies Record<string, { value: IndexType }>,
)

/** What becomes of several values. */
export const indexReduction: GraphQLEnumType = enumType(
  'IndexReduction',
  'What becomes of several values.',
  {
    SUM: { value: 'sum', description: 'Of numbers and quantities; 0 where there are none.' },
    FIRST: { value: 'first', description: 'The first one, in the order of the paths.' },
  },
)

/** How a selector is written. */
export const selectorForm: GraphQLEnumType = enumType(
  'SelectorForm',
  'How a selector is written.',
  {
    MAP: {
      value: 'map',
      description: 'Label values by key, as in a Service; an empty one selects nothing.',
    },
    LABEL_SELECTOR: {
      value: 'labelSelector',
      description:
        '`matchLabels` and `matchExpressions`; an empty one selects the whole namespace.',
    },
  },
)

/** What an absent selector selects. */
export const selected: GraphQLEnumType = enumType('Selected', 'What an absent selector selects.', {
  NOTHING: { value: 'nothing' },
  EVERYTHING: { value: 'everything', description: 'All of the namespace.' },
})

/** The enumerations of their arguments. */
export const sdlEnums: readonly GraphQLEnumType[] = [
  indexType,
  indexReduction,
  selectorForm,
  selected,
]

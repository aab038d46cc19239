import {
  DirectiveLocation,
  GraphQLBoolean,
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
  readonly searchable?: boolean | null
}

/** The arguments of `@ended`. */
export interface EndedArguments {
  readonly path: readonly string[]
  readonly in: readonly string[]
}

/** The arguments of the directives that make a field a relation, by directive. */
export interface RelationDirectiveArguments {
  readonly reference: {
    readonly path?: readonly string[] | null
    readonly namespacePath?: readonly string[] | null
    readonly kindPath?: readonly string[] | null
    readonly groupPath?: readonly string[] | null
    readonly defaultKind?: boolean | null
    readonly as?: string | null
    readonly at?: string | null
    readonly otherwise?: string | null
    readonly uses?: boolean | null
    readonly category?: readonly string[] | null
    /** The arguments of the `@named` beside it. */
    readonly names?: RelationDirectiveArguments['named']
  }
  readonly named: {
    readonly name: readonly string[]
    readonly namespace?: string | null
    readonly namespacePath?: string | null
  }
  readonly uid: { readonly path: readonly string[] }
  readonly through: { readonly path: string }
  readonly reverse: { readonly of: string; readonly one?: boolean | null }
  readonly selects: {
    readonly path: string
    readonly selector: 'map' | 'labelSelector'
    readonly whenAbsent: 'nothing' | 'everything'
    readonly namespaceSelector?: string | null
    readonly namespaceLabels?: string | null
  }
  readonly same: { readonly text: readonly string[]; readonly as: readonly string[] }
  readonly sameLabel: { readonly key: string }
  readonly chooses: { readonly path: string; readonly kindAt: string }
  readonly chosenBy: { readonly of: readonly string[] }
  readonly owned: { readonly through?: readonly string[] | null }
  readonly owner: { readonly through?: readonly string[] | null }
  readonly objectRef: {
    readonly path: readonly string[]
    readonly category?: readonly string[] | null
    readonly topmost?: boolean | null
    readonly kindAt?: string | null
  }
}

/** The directives that make a field a relation. */
export type RelationDirective = keyof RelationDirectiveArguments

/** The type of the values of an index. */
export const indexType: GraphQLEnumType = new GraphQLEnumType({
  name: 'IndexType',
  description:
    'The type of the values of an index. Text is read as the type, as labels and annotations hold numbers and times; values of another type are left out.',
  values: {
    STRING: { value: 'string' },
    INT: { value: 'int' },
    BOOLEAN: { value: 'boolean' },
    DATE_TIME: { value: 'dateTime' },
    QUANTITY: { value: 'quantity' },
  } satisfies Record<string, { value: IndexType }>,
})

const indexReduction = new GraphQLEnumType({
  name: 'IndexReduction',
  description: 'How an index makes one value of several.',
  values: {
    SUM: { value: 'sum', description: 'The sum of numbers or quantities; 0 if there are none.' },
    FIRST: { value: 'first', description: 'The first one, in the order of the paths.' },
  },
})

const selectorForm = new GraphQLEnumType({
  name: 'SelectorForm',
  description: 'How a selector is written.',
  values: {
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
})

const selected = new GraphQLEnumType({
  name: 'Selected',
  description: 'What an absent selector selects.',
  values: {
    NOTHING: { value: 'nothing' },
    EVERYTHING: { value: 'everything', description: 'The whole namespace.' },
  },
})

/** The enumerations of the directives' arguments. */
export const sdlEnums: readonly GraphQLEnumType[] = [
  indexType,
  indexReduction,
  selectorForm,
  selected,
]

const text = new GraphQLNonNull(GraphQLString)
const texts = new GraphQLList(text)

/** `@index`, on a type: an index, and the field of `where` that it answers. */
export const indexDirective: GraphQLDirective = new GraphQLDirective({
  name: 'index',
  description: 'An index of the values at a path of each object, and a field of `where`.',
  locations: [DirectiveLocation.OBJECT],
  isRepeatable: true,
  args: {
    name: { type: text, description: 'The name of the field of `where`.' },
    path: {
      type: new GraphQLNonNull(texts),
      description:
        'Dots, `[*]`, `["quoted.key"]`, `[member="value"]` and `[member]`: `spec.containers[*].image`; several if the API has the value in several places.',
    },
    type: { type: new GraphQLNonNull(indexType), default: { value: 'STRING' } },
    reduce: {
      type: indexReduction,
      description:
        'How to make one value of all values at the paths; if absent, each is a value of its own.',
    },
    searchable: {
      type: GraphQLBoolean,
      description: 'Whether `search` looks into its values. For strings only.',
    },
  },
})

/** `@ended`, on a type: which objects no longer use anything. */
export const endedDirective: GraphQLDirective = new GraphQLDirective({
  name: 'ended',
  description: 'Which objects have ended, so that they no longer use anything.',
  locations: [DirectiveLocation.OBJECT],
  args: {
    path: { type: new GraphQLNonNull(texts), description: 'Where the object has its state.' },
    in: {
      type: new GraphQLNonNull(texts),
      description: 'The states that mean the end: one of these, at one of the paths.',
    },
  },
})

const category = {
  type: texts,
  description:
    'For a field of every kind: only kinds whose CRD names this category, or one of several.',
}

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
  reference: onField('reference', 'The object names the objects that it refers to.', {
    path: {
      type: texts,
      description: 'The paths of the names.',
    },
    namespacePath: {
      type: texts,
      description:
        "The paths of the namespaces, one for each path; if absent, the object's own namespace.",
    },
    kindPath: {
      type: texts,
      description:
        'The paths of the kinds, one for each path, if a path may hold names of several kinds: names of other kinds are left out.',
    },
    groupPath: {
      type: texts,
      description:
        'The paths of the API groups of the kinds, or of their `apiVersion`; an absent value matches any group.',
    },
    defaultKind: {
      type: GraphQLBoolean,
      description:
        'Whether a name without a kind refers to this kind; if not, the name is left out.',
    },
    as: {
      type: GraphQLString,
      description: 'Another `@reference` whose paths to use: `Pod.configMaps`.',
    },
    at: {
      type: GraphQLString,
      description: 'The beginning of those paths in this type: `spec.template`.',
    },
    otherwise: {
      type: GraphQLString,
      description:
        'The name to use if none of the paths has one, as in `@named`: `{metadata.name}`.',
    },
    uses: {
      type: GraphQLBoolean,
      description:
        'Whether the object uses what it names: `usedBy` of the named object lists it. With `as`, the default is that of the other `@reference`.',
    },
    category,
  }),
  named: onField('named', 'A rule gives the names of the objects that the object refers to.', {
    name: {
      type: new GraphQLNonNull(texts),
      default: { value: ['{metadata.name}'] },
      description:
        '`{metadata.name}-{spec.volumes[*].name}`: text, and paths in braces; `#` at the end stands for any number. All of several rules count.',
    },
    namespace: { type: GraphQLString, description: 'The namespace, if it is always the same.' },
    namespacePath: {
      type: GraphQLString,
      description: "The path of the namespace; if absent, the object's own namespace.",
    },
  }),
  uid: onField('uid', 'The object has the UIDs of the objects that it refers to.', {
    path: {
      type: new GraphQLNonNull(texts),
      description: 'The paths of the UIDs.',
    },
  }),
  through: onField('through', 'Several relations, one after the other.', {
    path: {
      type: text,
      description: 'The fields of the relations, starting at this type, with dots: `pods.node`.',
    },
  }),
  reverse: onField(
    'reverse',
    'A `@reference`, `@named`, `@uid`, `@same`, `@selects` or `@objectRef` read backwards.',
    {
      of: { type: text, description: 'The relation: `Pod.node`.' },
      one: {
        type: GraphQLBoolean,
        description:
          'Whether the field is one object instead of a connection; of several objects it is the first by namespace and name.',
      },
    },
  ),
  selects: onField('selects', 'The object selects objects of its namespace by their labels.', {
    path: {
      type: text,
      description:
        'The path of the selector. With `[*]` there are several selectors, and an object must match one of them.',
    },
    selector: { type: new GraphQLNonNull(selectorForm), default: { value: 'MAP' } },
    whenAbsent: { type: new GraphQLNonNull(selected), default: { value: 'NOTHING' } },
    namespaceSelector: {
      type: GraphQLString,
      description:
        'The path of `any` or `matchNames`, which name the namespaces that it selects from; without both, its own namespace.',
    },
    namespaceLabels: {
      type: GraphQLString,
      description:
        'The path of a label selector for the namespaces that it selects from: an empty one means all, an absent one its own.',
    },
  }),
  same: onField('same', 'The object and the others have a text in common.', {
    text: {
      type: new GraphQLNonNull(texts),
      description:
        'The texts of this object: text, and paths in braces, as in `@named`. `{path | argoApplication}` reads a tracking id of Argo CD, `{metadata.name | argoPlainName}` the name of an application in the namespace of Argo CD itself.',
    },
    as: {
      type: new GraphQLNonNull(texts),
      description: 'The texts of the others, in the same form.',
    },
  }),
  sameLabel: onField(
    'sameLabel',
    'The objects of any kind that share a label with this one: those of its namespace, and cluster-scoped ones.',
    { key: { type: text, description: 'The key of the label.' } },
  ),
  chooses: onField(
    'chooses',
    'The object chooses others by a name or by labels; another object has their kind.',
    {
      path: {
        type: text,
        description:
          'The path of `name` or `selector`, and `namespace`; without `namespace`, any namespace.',
      },
      kindAt: {
        type: text,
        description:
          'The place of `apiVersion` and `kind`: a relation to one object, then a path of that object: `policy.spec.paramKind`.',
      },
    },
  ),
  chosenBy: onField('chosenBy', 'The objects that choose this one by `@chooses`.', {
    of: {
      type: new GraphQLNonNull(texts),
      description: 'The fields: `ValidatingAdmissionPolicyBinding.paramObjects`.',
    },
  }),
  owned: onField('owned', 'The objects that name this one among their owners.', {
    through: { type: texts, description: 'The types in between, from this type downwards.' },
  }),
  owner: onField('owner', 'The owner of the object.', {
    through: { type: texts, description: 'The types in between, from this type upwards.' },
  }),
  objectRef: onField('objectRef', 'The object refers to an object of any kind.', {
    path: {
      type: new GraphQLNonNull(texts),
      description:
        "The paths of objects with `kind` and `name`, with `apiVersion`, `apiGroup` or `group`, and `namespace` unless it is the object's own.",
    },
    topmost: {
      type: GraphQLBoolean,
      description:
        'For `metadata.ownerReferences`: the owner of the owner and so on, up to the last kind of Kubernetes itself.',
    },
    kindAt: {
      type: GraphQLString,
      description:
        'Another place of `apiVersion` and `kind`: a relation to one object, then a path of that object: `policy.spec.paramKind`.',
    },
    category,
  }),
}

/** All directives of the SDL. */
export const sdlDirectives: readonly GraphQLDirective[] = [
  indexDirective,
  endedDirective,
  ...Object.values(relationDirectives),
]

export function isRelationDirective(name: string): name is RelationDirective {
  return Object.hasOwn(relationDirectives, name)
}

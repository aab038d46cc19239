import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  type GraphQLFieldConfigArgumentMap,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql'
import type { IndexType } from '../../query/index/index-key.ts'
import { indexReduction, indexType, selected, selectorForm } from './sdl-enums.ts'

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
    /** Of the `@named` beside it. */
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

const text = new GraphQLNonNull(GraphQLString)
const texts = new GraphQLList(text)

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
        'Dots, `[*]`, `["quoted.key"]`, `[member="value"]` and `[member]`: `spec.containers[*].image`; several where the API has several places.',
    },
    type: { type: new GraphQLNonNull(indexType), default: { value: 'STRING' } },
    reduce: {
      type: indexReduction,
      description: 'One value made of all that stands at the paths; else each of them is a value.',
    },
    searchable: {
      type: GraphQLBoolean,
      description: 'Whether `search` looks at its values. Of strings only.',
    },
  },
})

/** `@ended`, on a type: which objects use nothing any more. */
export const endedDirective: GraphQLDirective = new GraphQLDirective({
  name: 'ended',
  description: 'Which objects have come to their end, so that they use nothing any more.',
  locations: [DirectiveLocation.OBJECT],
  args: {
    path: { type: new GraphQLNonNull(texts), description: 'Where an object says so.' },
    in: {
      type: new GraphQLNonNull(texts),
      description: 'What it says: one of these, at one of the paths.',
    },
  },
})

/** Of declarations of every kind: which of them. */
const category = {
  type: texts,
  description:
    'Of what every kind has: only kinds whose CRD counts them among this category, or one of several.',
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
  reference: onField('reference', 'The object names those that it means.', {
    path: {
      type: texts,
      description: 'Where the names stand; several where the API has several places.',
    },
    namespacePath: {
      type: texts,
      description:
        "Where their namespaces stand, one for each path; else they are in the object's own.",
    },
    kindPath: {
      type: texts,
      description:
        'Where their kinds stand, one for each path, where names of several kinds stand at the same place: those of other kinds are not meant.',
    },
    groupPath: {
      type: texts,
      description:
        'Where the API groups of the kinds stand, or their `apiVersion`; one that is absent may be any.',
    },
    defaultKind: {
      type: GraphQLBoolean,
      description: 'Whether a name without a kind means this kind; else it means none.',
    },
    as: {
      type: GraphQLString,
      description: 'Another `@reference`, as in `Pod.configMaps`, whose paths are taken instead.',
    },
    at: {
      type: GraphQLString,
      description: 'What those paths begin with: `spec.template`.',
    },
    otherwise: {
      type: GraphQLString,
      description: 'The name where none of the paths has one, as in `@named`: `{metadata.name}`.',
    },
    uses: {
      type: GraphQLBoolean,
      description:
        'Whether the object makes use of what it names: it is in `usedBy` of that. As in the other `@reference` where one is taken by `as`.',
    },
    category,
  }),
  named: onField('named', 'The names of those that are meant are put together by a rule.', {
    name: {
      type: new GraphQLNonNull(texts),
      default: { value: ['{metadata.name}'] },
      description:
        '`{metadata.name}-{spec.volumes[*].name}`: text, and paths in braces; `#` at the end stands for any number. Of several, all are meant.',
    },
    namespace: { type: GraphQLString, description: 'The namespace, where it is always the same.' },
    namespacePath: {
      type: GraphQLString,
      description: "Where the namespace stands; else it is the object's own.",
    },
  }),
  uid: onField('uid', 'The object says the UIDs of those that it means.', {
    path: {
      type: new GraphQLNonNull(texts),
      description: 'Where the UIDs stand; several where the API has several places.',
    },
  }),
  through: onField('through', 'Relations one after the other.', {
    path: {
      type: text,
      description: 'The names of their fields, from this type on, with dots: `pods.node`.',
    },
  }),
  reverse: onField(
    'reverse',
    'A `@reference`, `@named`, `@uid`, `@same`, `@selects` or `@objectRef` read backwards.',
    {
      of: { type: text, description: 'The relation, as in `Pod.node`.' },
      one: {
        type: GraphQLBoolean,
        description:
          'Whether at most one object is expected, so that the field is no connection; of several it is the first one by namespace and name.',
      },
    },
  ),
  selects: onField('selects', 'The object selects others of its namespace by their labels.', {
    path: {
      type: text,
      description: 'Where the selector stands, or with `[*]` several, of which one is enough.',
    },
    selector: { type: new GraphQLNonNull(selectorForm), default: { value: 'MAP' } },
    whenAbsent: { type: new GraphQLNonNull(selected), default: { value: 'NOTHING' } },
    namespaceSelector: {
      type: GraphQLString,
      description:
        'Where `any` or `matchNames` say which other namespaces it reaches; where neither does, its own.',
    },
    namespaceLabels: {
      type: GraphQLString,
      description:
        'Where a label selector says which namespaces it reaches, by their labels: with an empty one all, without one its own.',
    },
  }),
  same: onField(
    'same',
    'The object and the others say the same: one of its texts is one of theirs.',
    {
      text: {
        type: new GraphQLNonNull(texts),
        description:
          'What this object says: text, and paths in braces, as in `@named`. `{path | argoApplication}` reads a tracking id of Argo CD, `{metadata.name | argoPlainName}` the name of an application where it runs itself.',
      },
      as: { type: new GraphQLNonNull(texts), description: 'The same of the others.' },
    },
  ),
  sameLabel: onField(
    'sameLabel',
    'The objects of any kind that have a label in common with this one, in its namespace or in none.',
    { key: { type: text, description: 'The key of the label.' } },
  ),
  chooses: onField(
    'chooses',
    'The object chooses others by a name or by labels, of the kind that another object says.',
    {
      path: {
        type: text,
        description: 'Where `name` or `selector` stand, and `namespace`; without one it is any.',
      },
      kindAt: {
        type: text,
        description:
          'Where `apiVersion` and `kind` stand: behind a relation to one object, a path of that one: `policy.spec.paramKind`.',
      },
    },
  ),
  chosenBy: onField('chosenBy', 'The objects that choose this one by `@chooses`.', {
    of: {
      type: new GraphQLNonNull(texts),
      description: 'The fields, as in `ValidatingAdmissionPolicyBinding.paramObjects`.',
    },
  }),
  owned: onField('owned', 'The objects that have this one among their owners.', {
    through: { type: texts, description: 'The types in between, from this one downwards.' },
  }),
  owner: onField('owner', 'The owner of the object.', {
    through: { type: texts, description: 'The types in between, from this one upwards.' },
  }),
  objectRef: onField('objectRef', 'The object says which one it means, of whatever kind.', {
    path: {
      type: new GraphQLNonNull(texts),
      description:
        'Where `kind` and `name` stand, with `apiVersion`, `apiGroup` or `group`, and `namespace` unless it is the own one; several where the API has several places.',
    },
    topmost: {
      type: GraphQLBoolean,
      description:
        'Of `metadata.ownerReferences`: the owner of the owner and so on, as far as kinds of Kubernetes itself reach.',
    },
    kindAt: {
      type: GraphQLString,
      description:
        'Where `apiVersion` and `kind` stand instead: behind a relation to one object, a path of that one: `policy.spec.paramKind`.',
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

/** Whether a directive of this name makes a field a relation. */
export function isRelationDirective(name: string): name is RelationDirective {
  return Object.hasOwn(relationDirectives, name)
}

import { cluster, clusters, connection, severalKinds } from './kind-types-sdl.ts'

/** The fields of `Query` that search, and that complete the text of a search. */
export const searchFields: string = `  """
  Objects of any kind that have all words of a text in the name, a label or a searchable index. Names
  come first; whole values come before beginnings, and beginnings before parts; then workloads come
  before their parts.
  """
  search(
    """
    The words to find, with spaces between them: \`cart "two words"\`. Case does not matter.
    \`kind:pod\` and \`namespace:shop\` (or \`ns:shop\`) narrow it, as does a label: \`team=payments\`, or
    \`team=\` for any value.
    """
    text: String!
    """
    The types to look into: \`["Pod", "Service"]\`. If neither these nor \`kind:\` names any, the common
    kinds, and those in memory except Events.
    """
    types: [String!]
    "Only objects of these namespaces."
    namespaces: [String!]${cluster}${clusters}
    "The number of results, at most; 100 if absent."
    first: Int
    "Only results after this cursor, which is the \`endCursor\` of a page."
    after: String
  ): SearchResultConnection
  """
  Ways to complete the word at the end of a search text: names, namespaces, label keys, label values and
  kinds that begin with it, of objects that the viewer may list. The words before narrow it by
  \`kind:\` and \`namespace:\`. Names of workloads come before those of their parts.
  """
  complete(
    "The text of the search, up to the place where words are typed. May be empty."
    text: String!
    """
    What the word may become. If absent, all that fits: without a letter, no names, and label values only
    behind \`team=\`.
    """
    terms: [CompletionTerm!]
    """
    The types to look into: \`["Pod", "Service"]\`. If neither these nor \`kind:\` names any, the common
    kinds, and those in memory except Events.
    """
    types: [String!]
    "Only objects of these namespaces."
    namespaces: [String!]${cluster}${clusters}
    "The number of completions, at most 100; 10 if absent. Several terms share it evenly."
    first: Int
  ): Completions
`

/** What they return. */
export const searchTypes: string = `${connection(
  'SearchResult',
  `  "The number of results of each type, the most frequent first."
  counts: [TypeCount!]!
${severalKinds}`,
)}
"One object, and why it was found."
type SearchResult {
  "The object."
  object: ObjectRef!
  """
  The place of a word: \`name\`, \`labels["app"]\`, or the name of an index. Of several words, it is
  that of the one that matches worst. For words of labels, namespaces and kinds alone, it is the label, \`namespace\` or \`kind\`.
  """
  matched: String!
  "The value at that place."
  value: String!
}

"The number of objects of one type."
type TypeCount {
  "The type of the kind in this schema: \`Pod\`."
  type: String!
  "The number of objects."
  count: Int!
}

"The ways to complete a search text."
type Completions {
  "The first ones, by term."
  completions: [Completion!]!
  "The place in the text, in UTF-16 code units, where the word begins that they replace."
  from: Int!
  "Whether there are more."
  hasMore: Boolean!
  """
  Since when the terms may be out of date, because the gateway has lost the watch of a kind that it
  looked into; null while it has not.
  """
  staleSince: DateTime
  "What is missing of the clusters, or may be out of date because the cluster cannot be reached."
  incomplete: [ClusterGap!]!
${severalKinds}
}

"One way to complete a word: a term that at least one object has."
type Completion {
  "What the word becomes."
  term: CompletionTerm!
  "The name, the namespace, the key, the value or the kind."
  text: String!
  "What to put in the place of the word: \`namespace:shop\`, \`team=\`, \`team=payments\`."
  insert: String!
  "The type of the objects: of several, the first in the order of results."
  type: String!
  "The number of objects that have it; 1000 stands for more, too."
  count: Int!
}

"What a word of a search text may become."
enum CompletionTerm {
  "The name of an object."
  NAME
  "A namespace: \`namespace:shop\`."
  NAMESPACE
  "The key of a label: \`team=\`."
  LABEL_KEY
  "A label: \`team=payments\`."
  LABEL_VALUE
  "A kind: \`kind:Pod\`."
  KIND
}

`

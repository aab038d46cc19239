import { clusters, connection, namespaces } from './kind-types-sdl.ts'

const filters = `
    "The name of the cluster; the default cluster if absent."
    cluster: String${clusters}${namespaces}
    """
    Only problems of objects of these types, or of what such objects own. Types that are not looked at by
    default are loaded, and looked at as well.
    """
    types: [String!]
    "Only problems of these severities."
    severity: [ProblemSeverity!]
    "The keys of the order, the most significant first; the worst and then the newest if absent."
    orderBy: [ProblemOrder!]`

/** `Query.problems`, as SDL. */
export const problemsField: string = `  """
  What is wrong, of all kinds that are looked at: a row for each topmost owner and reason. One cause is
  one row: the pods of a Deployment, or those on a node that is down. See docs/problems.md.
  """
  problems(${filters}
    "The number of problems, at most; 100 if absent."
    first: Int
    "Only problems after this cursor, which is the \`endCursor\` of a page."
    after: String
  ): ProblemConnection`

/** `Subscription.problems`, as SDL. */
export const problemFramesField: string = `  """
  The first problems in an order, then their changes. Rows change with the problems themselves: select
  other facts of an object by its own subscription.
  """
  problems(${filters}
    "The number of problems, at most; 100 if absent."
    first: Int
    "Collects changes for this many milliseconds."
    coalesceMs: Int
  ): ProblemFrame`

/** The types of problems, as SDL, in the form of `kindTypesSdl`. */
export const problemTypesSdl: string = `${connection(
  'Problem',
  `  "The number of problems by severity and the kind of the object, the most frequent first."
  counts: [ProblemCount!]!
  "The types of the kinds that were looked at."
  lookedAt: [String!]!
  "Whether every kind was looked at that should be: \`notLookedAt\` is empty."
  complete: Boolean!
  """
  The types of the kinds that were not looked at although they should be: they cannot be read, or the
  viewer may not list them.
  """
  notLookedAt: [String!]!`,
)}
"Something that is wrong: an object, a reason, and those of the objects that it owns that have it."
type Problem {
  "Opaque; the same as long as the problem lasts."
  id: ID!
  "The name of the cluster."
  cluster: String!
  """
  The topmost owner of the objects that have the problem, as \`rootOwner\` finds it, or the one object
  itself. The Node for pods on a node that is down.
  """
  object: ObjectRef!
  "The kind of \`object\` as the API writes it: \`Deployment\`."
  kind: String!
  "The type of that kind in this schema; null if it is not served."
  type: String
  "How bad it is."
  severity: ProblemSeverity!
  "The reason in one word: \`CrashLoopBackOff\`."
  reason: String!
  "The reason as text for people: of the object that has had it for the longest."
  message: String
  "Since when, as far as the objects say."
  since: DateTime
  "The number of objects that have the problem. Owners do not count if what they own has it."
  count: Int!
  "The objects that have the problem, by kind, namespace and name."
  objects(
    "The number of objects, at most; 10 if absent."
    first: Int
  ): [ObjectRef!]
  "The newest Warning Event about \`object\` or the objects that have the problem."
  lastEvent: ProblemEvent
}

"The changes since the previous frame. The first frame brings the existing problems."
type ProblemFrame {
  "Whether to drop all problems before applying the changes."
  reset: Boolean!
  "Whether the snapshot is complete: large ones come in several frames."
  synced: Boolean!
  "One change for each changed problem: the new ones in the order of the list."
  changes: [ProblemChange!]!
  "The number of problems, those beyond the first ones too."
  totalCount: Int!
  "The number of problems by severity and the kind of the object, the most frequent first."
  counts: [ProblemCount!]!
  "The types of the kinds that were looked at."
  lookedAt: [String!]!
  "Whether every kind was looked at that should be: \`notLookedAt\` is empty."
  complete: Boolean!
  "The types of the kinds that were not looked at although they should be."
  notLookedAt: [String!]!
  "What is missing of clusters, or was last known. A frame comes when that changes."
  incomplete: [ClusterGap!]!
  "Since when the problems may be out of date; null while they are not."
  staleSince: DateTime
}

"One change of a ProblemFrame."
type ProblemChange {
  "What happened to the problem."
  type: ChangeType!
  """
  Why the problem was REMOVED: it is over (\`DELETED\`), no longer among the first ones (\`UNMATCHED\`), or of
  a cluster that is no longer served (\`CLUSTER_REMOVED\`).
  """
  removal: Removal
  "The \`id\` of the problem."
  objectId: ID!
  "The problem. A REMOVED problem is in its last known state."
  object: Problem
}

"How bad a problem is."
enum ProblemSeverity {
  "Something does not work."
  CRITICAL
  "Something works worse than intended, or has not worked for a while."
  WARNING
}

"One key of an order of problems. Equal problems are ordered by cluster and object."
input ProblemOrder @oneOf {
  "\`DESC\`: the worst first."
  severity: SortDirection
  "\`DESC\`: the newest first. Problems of unknown age come last."
  since: SortDirection
  "\`DESC\`: those that most objects have first."
  count: SortDirection
}

"The number of problems of one severity and kind."
type ProblemCount {
  "The severity."
  severity: ProblemSeverity!
  "The type of the kind in this schema; null if it is not served."
  type: String
  "The kind as the API writes it: \`Deployment\`."
  kind: String!
  "The number of problems."
  count: Int!
}

"A Warning Event about an object that has a problem."
type ProblemEvent {
  "The reason in one word: \`BackOff\`."
  reason: String!
  "What happened, as text for people."
  message: String
  "How often it has happened."
  count: Int!
  "When it happened last."
  lastSeen: DateTime
}
`

/** A connection, without its edge. */
export const connectionOf = (node: string, further: string, name: string = node): string => `
"A page of a list, and facts about the whole list."
type ${name}Connection {
  "The objects of the page."
  nodes: [${node}!]!
  "The objects of the page, each with its cursor."
  edges: [${node}Edge!]!
  "Where the page stands in the list."
  pageInfo: PageInfo!
  "The number of objects on all pages."
  totalCount: Int!
  """
  Since when the page may be out of date, because the gateway has lost the watch of a kind that
  decides what is on it; null while it has not. In a subscription, select that of the frame.
  """
  staleSince: DateTime
  """
  The clusters that are missing on the page, or whose objects may be out of date because the cluster
  cannot be reached, or of which the gateway caches some namespaces only. Empty if the page is complete.
  """
  incomplete: [ClusterGap!]!
${further}
}
`

/** A connection and its edge. */
export const connection = (node: string, further: string): string => `${connectionOf(node, further)}
"One object of a ${node}Connection, with its place in the list."
type ${node}Edge {
  "The place of the object, for \`after\` and \`before\`."
  cursor: String!
  "The object."
  node: ${node}!
}`

/** The frames of a list, and their changes. */
export const frames = (object: string): string => `
"The changes since the previous frame. The first frames bring the existing objects."
type ${object}Frame {
  "Whether to drop all objects before applying the changes."
  reset: Boolean!
  "Whether the snapshot is complete: true from then on until the next reset."
  synced: Boolean!
  "One change for each changed object. Apply them in this order."
  changes: [${object}Change!]!
  """
  Where to continue after this frame: pass it as \`resumeFrom\`. A token from within a snapshot
  starts the snapshot again.
  """
  resumeToken: String!
  """
  The position in the history of the resource up to which all changes are sent; empty within a
  snapshot.
  """
  resourceVersion: String!
  """
  Since when the objects may be out of date, because the gateway has lost the watch of a kind that
  they are read from; null while it has not. If selected, a frame comes when that begins and when
  it ends, even without a change.
  """
  staleSince: DateTime
  """
  The clusters that are missing at this time, or whose objects may be out of date because the cluster
  cannot be reached. If selected, a frame comes when this changes, even without another change.
  """
  incomplete: [ClusterGap!]!
}

"One change of a ${object}Frame."
type ${object}Change {
  "What happened to the object."
  type: ChangeType!
  "Why the object is REMOVED; null for other changes."
  removal: Removal
  "The \`id\` of the object, also if the viewer may no longer see it."
  objectId: ID!
  "The object. A REMOVED object is in its last known state; a HIDDEN one is null."
  object: ${object}
  "The object before the change, or the value at a path of it."
  previous(${path}): JSON
  "False if the gateway missed the deletion: the object is in its last known state."
  finalStateKnown: Boolean!
}`

/** The frames of a live page, and their steps. */
export const livePage = (object: string): string => `
"The steps from the previous state of the page to its current one."
type ${object}Page {
  "Whether to drop all rows before applying the steps."
  reset: Boolean!
  "Whether the page is complete: true from then on until the next reset."
  synced: Boolean!
  "The number of objects of the list, on all pages."
  totalCount: Int!
  "The steps. Apply them in this order."
  changes: [${object}PageChange!]!
  """
  Where to continue after these steps: pass it as \`resumeFrom\`. A token from within a page starts
  the page again.
  """
  resumeToken: String!
  "The position of the page in the history of the resource."
  resourceVersion: String!
  """
  Since when the page may be out of date, because the gateway has lost the watch of a kind that it
  is read from; null while it has not. If selected, steps come when that begins and when it ends,
  even if there are none.
  """
  staleSince: DateTime
  """
  The clusters that are missing at this time, or whose objects may be out of date because the cluster
  cannot be reached. If selected, steps come when this changes, even if there are none.
  """
  incomplete: [ClusterGap!]!
}

"One step of a ${object}Page."
type ${object}PageChange {
  "The step."
  step: PageStep!
  "The row of the step; the first row is 0."
  index: Int!
  "The old row of a MOVE; null for other steps."
  from: Int
  "The \`id\` of the object."
  objectId: ID!
  "The object of an INSERT or UPDATE; null for other steps."
  object: ${object}
}`

/** The fields of an answer about several kinds that say where the gateway looked. */
export const severalKinds: string = `  "The types of the kinds that the gateway looked into."
  types: [String!]!
  "Whether the gateway looked into every kind that may hold more: \`notLookedAt\` is empty."
  complete: Boolean!
  """
  The types of the kinds that may hold more, which the gateway did not look into: they are not
  loaded, or the viewer may not list them. Name them in the arguments to load them.
  """
  notLookedAt: [String!]!`

/** The fields of a page of objects of one kind. */
export const oneKind: string = `  "The distribution of the objects on all pages over the values of indexes."
  facets(
    """Indexes, by their names in \`where\`, labels: \`labels["app"]\`, or \`cluster\`."""
    by: [String!]!
    "The number of values of each, at most; 10 if absent."
    top: Int
    """Indexes of numbers or quantities to add up for each value: \`cpuRequests\`."""
    sum: [String!]
  ): [Facet!]
  "The sums of indexes over the objects on all pages."
  sum(
    """Indexes of numbers or quantities, by their names in \`where\`: \`cpuRequests\`."""
    of: [String!]!
  ): [IndexSum!]
  """
  The position of the page in the history of the resource; empty for a list over several clusters.
  """
  resourceVersion: String!
  "Where a subscription continues after this page: pass it as \`resumeFrom\`."
  resumeToken: String!`

/** The argument that names one cluster. */
export const cluster: string = `
    "The name of the cluster; the default cluster if absent."
    cluster: String`

/** The arguments that name several clusters. */
export const clusters: string = `
    """
    The names of clusters, instead of \`cluster\`: one list over all of them. \`["*"]\` stands for all
    clusters.
    """
    clusters: [String!]
    """
    A selector over the labels of the clusters, instead of \`cluster\`: \`env=production,region!=us\`. One
    list over all that match.
    """
    clusterSelector: String`

/** The namespaces of a list. */
export const namespaces: string = `
    "Only objects of this namespace."
    namespace: String
    "Only objects of these namespaces."
    namespaces: [String!]`

const labelSelector = `
    "A selector in the syntax of kubectl: \`app=web,tier!=cache,env in (dev,prod)\`."
    labelSelector: String`

const matching = `${labelSelector}
    "Conditions that the objects must all meet. Indexes answer them."
    where: KindWhere`

const ids = `
    "Only the objects with these \`id\`s."
    ids: [ID!]`

const filters = `${namespaces}${ids}${matching}`

const order = `
    """
    The keys of the order, the most significant first; namespace and name if absent. Over several
    clusters, the name of the cluster comes before those.
    """
    orderBy: [KindOrder!]`

/** The size of a page. */
export const first: string = `
    "The number of objects from the beginning, at most; 100 if \`last\` is absent, too."
    first: Int`

/** The arguments of a page. */
export const page: string = `${first}
    "Only objects after this cursor, which is the \`endCursor\` of a page."
    after: String
    "The number of objects from the end, at most. Not with \`first\`."
    last: Int
    "Only objects before this cursor, which is the \`startCursor\` of a page."
    before: String`

/** The argument that jumps to a place in a list. */
export const offset: string = `
    """
    The number of objects to skip from the beginning of the list, to jump to a place: go on from there with
    \`after\`. Not with \`after\`, \`last\` or \`before\`.
    """
    offset: Int`

const object = `${cluster}
    "The namespace of the object."
    namespace: String!
    "The \`metadata.name\` of the object."
    name: String!`

/** How often a subscription sends counts, and of what. */
export const facetArguments: string = `
    """Indexes to count by, by their names in \`where\`, or labels: \`labels["app"]\`."""
    by: [String!]
    "The number of values of each, at most; 10 if absent."
    top: Int
    """Indexes of numbers or quantities to add up, in all and for each value: \`cpuRequests\`."""
    sum: [String!]
    "Sends a frame once in this many milliseconds, at most."
    coalesceMs: Int`

/** Where a subscription continues, and how often it sends. */
export const stream: string = `
    """
    The \`resumeToken\` of the last applied frame, or of a connection. If the gateway cannot continue
    there, the first frame resets.
    """
    resumeFrom: String
    "Collects changes for this many milliseconds, and sends only the last state of each object."
    coalesceMs: Int`

/** The arguments that name several kinds and filter their list. */
export const anyKindsFilters: string = `
    """
    The kinds: \`"Deployment"\`, or a type or a resource; \`"*.example.com"\` for all kinds of the group
    and its subgroups; \`"*"\` for the common kinds and those in memory except Events.
    """
    kinds: [String!]!${cluster}${clusters}${namespaces}${labelSelector}
    "Conditions that the objects must all meet. Indexes answer them."
    where: KubernetesObjectWhere`

/** The argument that orders a list of several kinds. */
export const anyKindsOrder: string = `
    "The keys of the order, the most significant first; cluster, type, namespace and name if absent."
    orderBy: [KubernetesObjectOrder!]`

/** The arguments that name a kind and filter its list. */
export const objectListFilters: string = `
    """
    The API group of the kind, \`""\` for the core group; needed if several groups have the kind.
    """
    group: String
    "The kind as the API writes it: \`Deployment\`; or the resource: \`deployments\`."
    kind: String!${cluster}${namespaces}${ids}${labelSelector}
    """
    Conditions that the objects must all meet, as the list of the kind takes them:
    \`{"phase": {"eq": "Running"}}\`.
    """
    where: JSON`

/** The argument that orders the list of a kind that the arguments name. */
export const objectListOrder: string = `
    """
    The keys of the order, the most significant first, as the list of the kind takes them:
    \`[{"restarts": "DESC"}]\`.
    """
    orderBy: [JSON!]`

/** The arguments of a page of the list of a kind that they name. */
export const objectListArguments: string = `${objectListFilters}${clusters}${objectListOrder}${page}${offset}`

/** The argument `verb`. */
export const verb: string = `
    "The verb: \`get\`, \`list\`, \`create\`, \`update\`, \`patch\`, \`delete\`, …"
    verb: String!`

const path = `
    """
    Dots, \`[*]\` for each item, \`["quoted.key"]\`; the whole object if absent. With \`[*]\` the value is
    a list. It is null if the path leads to nothing.
    """
    path: String`

/**
 * What every kind has, as SDL. `Kind` at the beginning of a name stands for the name of the kind's type, and `{kind}`,
 * `{resources}` and `{apiVersion}` in a description for those of the kind. A line break within a description is a space.
 * `KindFields` are the fields of `Query`, of `Subscription` and of relations to a kind.
 */
export const kindTypesSdl: string = `
type KindFields {
  "Lists {resources} of {apiVersion}."
  list(${cluster}${clusters}${filters}${order}${page}${offset}): KindConnection
  "One {kind} of {apiVersion}; null if it does not exist."
  lookup(${object}
    "Whether to read the object from the API server instead of the cache."
    live: Boolean
  ): Kind
  "The {resources} that match, then their changes."
  listFrames(${cluster}${clusters}${filters}${stream}): KindFrame
  "One {kind}, then its changes."
  lookupFrames(${object}${stream}): KindFrame
  "The first {resources} in an order, then their changes: see docs/subscriptions.md."
  livePages(${cluster}${clusters}${filters}${order}${first}${stream}): KindPage
  "How many {resources} match, counted by the values of indexes: anew whenever that changes."
  facetFrames(${cluster}${clusters}${filters}${facetArguments}): FacetsFrame
  """
  What the containers of pods have written last, in the order of time: see docs/logs.md. A subscription goes
  on with what they write, and with the pods that come.
  """
  logs(${cluster}${clusters}${namespaces}
    """
    The \`id\`s of pods, or of objects that have pods: a Deployment, a Job, a Service. Instead of all arguments
    that filter pods.
    """
    ids: [ID!]${matching}
    "Only containers of this name; all containers of the pods if absent, init containers too."
    container: String
    "Whether to read the run before the last restart."
    previous: Boolean
    """
    The last lines of each container, at most, before \`contains\` looks at them; 100 if absent and \`since\` is
    absent, too.
    """
    tailLines: Int
    "Only lines since then: a time, \`2026-01-31T12:00:00Z\`, or a duration before now: \`90s\`, \`15m\`, \`2h\`, \`1d\`."
    since: String
    "Whether \`text\` begins with the time of the line, as \`kubectl logs --timestamps\` writes it."
    timestamps: Boolean
    "Only lines that contain this text, in the same case."
    contains: String
  ): PodLogs
  relation(${namespaces}${matching}${order}${page}): KindConnection
  "The Events about the object."
  events(
    "Whether to include events about other objects that name this one as related."
    related: Boolean${matching}${order}${page}
  ): KindConnection
}

"An object of any kind."
interface KubernetesObject {
  "An opaque id. A recreated object has another id."
  id: ID!
  "The name of the cluster that the object is in."
  clusterName: String!
  "The cluster that the object is in."
  cluster: GatewayCluster
  "The group and version that the object is served in: \`apps/v1\`, \`v1\`."
  apiVersion: String!
  "The kind as the API writes it: \`Deployment\`."
  kind: String!
  "The metadata of the object: name, labels, owners."
  metadata: ObjectMeta!
  "The \`metadata.name\` of the object."
  name: String!
  "The \`metadata.namespace\` of the object; null for cluster-scoped objects."
  namespace: String
  """
  The \`metadata.uid\` of the object; empty for the few kinds that the server computes and does not
  store, such as PodMetrics.
  """
  uid: String!
  """
  The \`metadata.creationTimestamp\` of the object; \`0001-01-01T00:00:00Z\` for kinds that the
  server computes and does not store, such as ComponentStatus.
  """
  creationTimestamp: DateTime!
  "The \`metadata.labels\` of the object."
  labels: StringMap
  """
  The object as the gateway caches it, or the value at a path of it: \`spec.containers[*].image\`,
  \`metadata.labels["app.example/tier"]\`.
  """
  json(${path}): JSON
  """
  The health of the object, read from the object alone: from its status, as \`kubectl rollout
  status\` reads it, or from its conditions.
  """
  health: Health!
  "The columns of the object in \`kubectl get\`."
  printerColumns(
    "Whether to include the columns of \`kubectl get -o wide\`."
    wide: Boolean
  ): [PrinterColumn!]
  "The objects that own this one."
  owners: [KubernetesObject!]
  """
  The chain of owners, the nearest first. Each step leads to the controller, or to the first owner
  if none is the controller.
  """
  ownerChain: [ObjectRef!]
  "The last of \`ownerChain\`; null if the object has no owner."
  rootOwner: ObjectRef
  """
  Whether the viewer may do this to the object, as the API server decides; null if it does not
  answer. If the gateway does not authenticate users, the viewer may read, and write if the gateway allows writes.
  """
  can(${verb}
    "The subresource: \`log\`, \`exec\`, \`scale\`, …"
    subresource: String
  ): Boolean
  """
  The objects that this one owns directly. The gateway looks into the kinds that its kind is known
  to own, the cached kinds, and the types in \`types\`.
  """
  owned(
    """Further types to look into: \`["Pod", "ConfigMap"]\`."""
    types: [String!]${page}
  ): KubernetesObjectConnection
  """
  The objects that use this one and have not ended. Null for kinds that nothing uses; null with an
  error if a kind that may use it cannot be read: name the other types in \`types\`.
  """
  usedBy(
    "The types to look into; all types that may use the object if absent."
    types: [String!]${page}
  ): UsedByConnection
}

"The distribution of the objects of a list over the values of an index."
type Facet {
  "The index or label."
  by: String!
  "The most frequent values, in this order."
  values: [FacetValue!]!
  "The number of all values, including those that are not shown."
  distinctCount: Int!
  "The number of objects without a value."
  missingCount: Int!
}

"One value of an index, and how many objects of the list have it."
type FacetValue {
  "A string, number or boolean, as the index has it."
  value: JSON!
  "The number of objects that have the value."
  count: Int!
  "The sums of the indexes in \`sum\` over these objects, in the same order."
  sums: [IndexSum!]!
}

"The counts and sums of a list. Each frame has all of them, and takes the place of the one before."
type FacetsFrame {
  "The number of objects of the list."
  totalCount: Int!
  "The sums of the indexes in \`sum\` over all objects, in the same order."
  sums: [IndexSum!]!
  "The distribution of the objects over the values of each index in \`by\`."
  facets: [Facet!]!
  "The position of the counts in the history of the resource; empty over several clusters."
  resourceVersion: String!
  """
  Since when the counts may be out of date, because the gateway has lost the watch of a kind that they
  are read from; null while it has not. If selected, a frame comes when that begins and when it ends.
  """
  staleSince: DateTime
  """
  The clusters that are missing in the counts, or whose objects may be out of date because the cluster
  cannot be reached. If selected, a frame comes when that changes.
  """
  incomplete: [ClusterGap!]!
}

"The sum of an index over some objects."
type IndexSum {
  "The index."
  of: String!
  "The exact sum, as Kubernetes writes a quantity: \`1500m\`, \`3Gi\`, \`42\`."
  value: Quantity!
  "The sum as a number: in cores, in bytes. Rounded beyond 15 digits."
  number: Float!
  "The number of objects that have a value; the others add nothing."
  count: Int!
}

${connection('Kind', oneKind)}

${frames('Kind')}

${livePage('Kind')}

"Conditions on the {resources} that a relation leads to and the viewer may see, all of which must hold."
input KindWhereMany {
  "At least one meets this."
  some: KindWhere
  "None meets this; with \`{}\`, there is none at all."
  none: KindWhere
  "Each one meets this; true if there is none at all."
  every: KindWhere
}

"Conditions on the {kind} that a relation leads to, all of which must hold."
input KindWhereOne {
  "It exists and meets this."
  is: KindWhere
  "It does not exist or does not meet this; with \`{}\`, it does not exist."
  isNot: KindWhere
}
`

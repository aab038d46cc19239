import { problemFramesField, problemsField } from './problem-types-sdl.ts'
import {
  anyKindsFilters,
  anyKindsOrder,
  connection,
  connectionOf,
  facetArguments,
  first,
  frames,
  livePage,
  objectListArguments,
  clusters,
  objectListFilters,
  objectListOrder,
  offset,
  oneKind,
  page,
  severalKinds,
  stream,
  verb,
} from './kind-types-sdl.ts'
import { searchFields, searchTypes } from './search-sdl.ts'

/** The fields that name the object of a reference, and of a node of a graph. */
const kindAndName = `"The kind as the API writes it: \`Deployment\`."
  kind: String!
  "Null for cluster-scoped objects."
  namespace: String
  "The \`metadata.name\` of the object."
  name: String!`

/** The arguments that name one object. */
const reference = `
    "The name of the cluster; the default cluster if absent."
    cluster: String
    "The group and version; any version of the group works."
    apiVersion: String!
    "The kind as the API writes it: \`Deployment\`."
    kind: String!
    "The namespace; required for namespaced kinds."
    namespace: String
    "The \`metadata.name\` of the object."
    name: String!`

/** The types of the gateway itself, and its fields of `Query` and
 * `Subscription`, as SDL, in the form of {@link kindTypesSdl}. */
export const gatewayTypesSdl: string = `
type Query {
  "The user that sent the request; null if the gateway does not authenticate users."
  viewer: Viewer
  """
  Whether the viewer may do something, as the API server decides; null if it does not answer. If the
  gateway does not authenticate users, the viewer may read, and write if the gateway allows writes.
  """
  can(${verb}
    "The name of a type: \`Deployment\`."
    type: String
    "The resource as kubectl writes it, instead of \`type\`: \`deployments.apps\`."
    resource: String
    "The subresource: \`log\`, \`exec\`, \`scale\`, …"
    subresource: String
    "The namespace; all namespaces if absent."
    namespace: String
    "The name of the object; any object if absent."
    name: String
    "The name of the cluster; the default cluster if absent."
    cluster: String
  ): Boolean
  "The clusters, and the state of their caches."
  gatewayClusters: [GatewayCluster!]
  "One object by its \`id\`; null if it no longer exists."
  object(
    "The \`id\` of the object."
    id: ID!
  ): KubernetesObject
  "Objects by their \`id\`s, in the same order; null for objects that no longer exist."
  objects(
    "The \`id\`s of the objects."
    ids: [ID!]!
  ): [KubernetesObject]
  "One object by API group, kind, namespace and name; null if it does not exist."
  objectByRef(${reference}): KubernetesObject
  """
  Lists the objects of the kind that the arguments name, as the field of the kind does: for clients
  that do not know all kinds.
  """
  objectList(${objectListArguments}): ObjectListConnection
  """
  Lists objects of several kinds as one list, in any order, over any clusters.
  """
  kubernetesObjects(
    ${anyKindsFilters}${anyKindsOrder}${page}${offset}
  ): KubernetesObjectConnection
  """
  The objects around some objects, of any kind, and their relations. The gateway follows relations
  in both directions, the nearest first.
  """
  graph(
    "The \`id\`s of the objects to start from."
    roots: [ID!]!
    "The number of steps from the roots, at most; 3 if absent."
    depth: Int
    """
    The relations to follow, by the names of fields: \`Pod.node\`, or \`pods\` of every type. If
    absent, all relations between the common kinds and those in memory, except those to Namespaces and Events, those by a
    common text, and those of several steps.
    """
    relations: [String!]
    "The number of objects, at most; 500 if absent."
    maxNodes: Int
  ): Graph
${problemsField}
${searchFields}}

type Subscription {
  """
  All clusters, and all of them again whenever one comes, goes, or changes its state, labels, source or API.
  \`resources\` and \`permissions\` are those of that moment: follow their objects by their own fields.
  """
  gatewayClusters(
    "Waits for this many milliseconds after a change, and sends only the last state."
    coalesceMs: Int
  ): [GatewayCluster!]
${problemFramesField}
  """
  One object by its \`id\`, then its changes. An object that is deleted and created again has another
  \`id\`: follow it by \`objectByRef\` to see the new one.
  """
  object(
    "The \`id\` of the object."
    id: ID!${stream}
  ): KubernetesObjectFrame
  """
  Objects of any kinds and clusters by their \`id\`s, then their changes. The position and the frames
  are those of all of them together.
  """
  objects(
    "The \`id\`s of the objects, of at most 32 kinds and clusters."
    ids: [ID!]!${stream}
  ): KubernetesObjectFrame
  """
  One object by API group, kind, namespace and name, then its changes, also if it does not exist yet or
  is created again.
  """
  objectByRef(${reference}${stream}): KubernetesObjectFrame
  "The objects of the kind that the arguments name and that match, then their changes."
  objectList(${objectListFilters}${clusters}${stream}): KubernetesObjectFrame
  "The first objects of the kind that the arguments name, in an order, then their changes."
  objectListPage(
    ${objectListFilters}${clusters}${objectListOrder}${first}${stream}
  ): KubernetesObjectPage
  """
  The objects of several kinds and clusters that match, then their changes. The kinds of a pattern are
  those that the clusters serve when the subscription begins.
  """
  kubernetesObjects(${anyKindsFilters}${stream}): KubernetesObjectFrame
  "The first objects of several kinds and clusters in an order, then their changes."
  kubernetesObjectsPage(
    ${anyKindsFilters}${anyKindsOrder}${first}${stream}
  ): KubernetesObjectPage
  """
  How many objects of the kind that the arguments name match, counted by the values of indexes: anew
  whenever that changes.
  """
  objectListFacets(${objectListFilters}${clusters}${facetArguments}): FacetsFrame
}
${connection(
  'KubernetesObject',
  `  "The number of objects of each type on all pages, the most frequent first."
  counts: [TypeCount!]!
${severalKinds}`,
)}
${frames('KubernetesObject')}
${livePage('KubernetesObject')}
${connectionOf(
  'KubernetesObject',
  `  "The type of the kind in this schema: \`Pod\`."
  type: String!
${oneKind}`,
  'ObjectList',
)}
${connection('UsedBy', severalKinds)}
${searchTypes}"Where a page stands in its list."
type PageInfo {
  "Whether more objects follow the page: read them with \`after\` and its \`endCursor\`."
  hasNextPage: Boolean!
  "Whether more objects precede the page: read them with \`before\` and its \`startCursor\`."
  hasPreviousPage: Boolean!
  "The place of the first object of the page; null for an empty page."
  startCursor: String
  "The place of the last object of the page; null for an empty page."
  endCursor: String
}

"What an answer lacks of a cluster, or has from before the gateway lost it."
type ClusterGap {
  "The name of the cluster."
  cluster: String!
  "The type of the kind in this schema: \`Pod\`. Null for the whole cluster."
  type: String
  """
  Why: \`CLUSTER_UNREACHABLE\`, \`CLUSTER_UNAUTHORIZED\`, \`FORBIDDEN\`, \`NOT_SYNCED\`, or another code of
  errors; \`NOT_SERVED\` if the cluster does not serve the kind; \`NAMESPACE_NOT_CACHED\` if the gateway
  caches the kind in some namespaces only. All but these two are errors, too.
  """
  code: String!
  "The reason as text for people."
  message: String!
  """
  Since when the cluster cannot be reached, or its objects in the answer may be out of date; null for
  other gaps, or if the time is not known.
  """
  since: DateTime
}

"An object that uses another one."
type UsedBy {
  "The using object."
  object: ObjectRef!
  "Where the using object names the other one: \`spec.containers[0].envFrom[1].configMapRef.name\`."
  paths: [String!]!
}

"A reference to an object of any kind, whether or not the object exists."
type ObjectRef {
  """
  Finds the object by \`object(id:)\`. It differs from the \`id\` of the object if only its name is
  known.
  """
  id: ID!
  "Null if only the group is known."
  apiVersion: String
  ${kindAndName}
  "The object itself; null if it does not exist or its kind is not served."
  object: KubernetesObject
}

"""
The health of an object, read from the object alone: from its status, as \`kubectl rollout status\`
reads it, or from its conditions.
"""
type Health {
  "The health itself."
  status: HealthStatus!
  "The reason in one word: \`CrashLoopBackOff\`. Null if there is none."
  reason: String
  "The reason as text for people."
  message: String
}

"The health of an object, the worst first."
enum HealthStatus {
  "Something is wrong, and waiting alone does not repair it."
  DEGRADED
  "The component that reports about the object has stopped reporting."
  UNKNOWN
  "The object is moving to its desired state."
  PROGRESSING
  "The object is being deleted."
  TERMINATING
  "The object is stopped on purpose."
  SUSPENDED
  "The object is in its desired state, or done."
  HEALTHY
}

"Conditions on the \`status\` of \`health\`, all of which must hold."
input HealthStatusFilter {
  "Equals the status."
  eq: HealthStatus
  "Is one of the statuses. An empty list matches no object."
  in: [HealthStatus!]
  "Whether the object has a status: every object has."
  exists: Boolean
  "The conditions do not hold."
  not: HealthStatusFilter
}

"One column of an object in \`kubectl get\`."
type PrinterColumn {
  "The heading of the column: \`READY\`, \`Age\`."
  name: String!
  "\`string\`, \`integer\`, \`number\`, \`boolean\` or \`date\`; kubectl shows the age of a date."
  type: String!
  "\`name\` for the object's own name, or empty."
  format: String!
  "0, or more for a column that only \`kubectl get -o wide\` shows."
  priority: Int!
  "The value of the column; for a date, the time."
  value: JSON
  """
  The time from which kubectl counts until now: for the age of a date, for the duration of an
  unfinished job, or for the \`(5m ago)\` after a value.
  """
  since: DateTime
}

"What a pod requests, or its limits, counted as the scheduler counts them: with init containers, sidecars and overhead."
type ResourceAmounts {
  "The CPU; null where no part of the pod says."
  cpu: Quantity
  "The memory; null where no part of the pod says."
  memory: Quantity
}

"What a pod or a node used when metrics.k8s.io last measured it."
type ResourceUsage {
  "The CPU, of all containers of a pod together."
  cpu: Quantity
  "The memory, of all containers of a pod together: the working set, which limits count."
  memory: Quantity
  "The end of the window that the values are of."
  at: DateTime
  "The length of the window, as Kubernetes writes durations: \`15.5s\`."
  window: String
  "Each container of a pod; null for a node."
  containers: [ContainerUsage!]
}

"What a container used in the same window."
type ContainerUsage {
  "The name of the container."
  name: String!
  "The CPU."
  cpu: Quantity
  "The memory: the working set."
  memory: Quantity
}

"What happened to an object, from the point of view of the viewer."
enum ChangeType {
  "The object exists, or now matches the arguments."
  ADDED
  "The object has changed."
  MODIFIED
  "The object is no longer part of the result."
  REMOVED
}

"Why an object is no longer part of the result."
enum Removal {
  "The object was deleted."
  DELETED
  "The object no longer matches the arguments."
  UNMATCHED
  "The viewer may no longer see the object."
  HIDDEN
  "The cluster is no longer served, or no longer one of those that the arguments name."
  CLUSTER_REMOVED
}

"A step that changes the rows of a live page."
enum PageStep {
  "Remove the row at \`index\`."
  REMOVE
  "Remove the row at \`from\`, then insert it at \`index\`."
  MOVE
  "Insert \`object\` at \`index\`."
  INSERT
  "Replace the row at \`index\` with \`object\`."
  UPDATE
}

"The user that sent the request."
type Viewer {
  "The name that permissions refer to."
  username: String!
  "The groups that permissions refer to, by their names in the cluster."
  groups: [String!]!
  """
  The namespaces where the user may list a kind, sorted: for a picker. Null without an error if that is
  every namespace.
  """
  namespaces(
    "The name of a type: \`Pod\`. If absent, any of the common kinds that live in namespaces."
    type: String
    "The name of the cluster; the default cluster if absent."
    cluster: String
  ): [String!]
}

"Objects, and the relations between them."
type Graph {
  "The objects, the roots included, the nearest first."
  nodes: [GraphNode!]!
  "The relations between the objects, each once."
  edges: [GraphEdge!]!
  "Whether there are more objects than \`maxNodes\`."
  truncated: Boolean!
${severalKinds}
  "Relations to kinds that are not loaded. Name them in \`relations\` to load the kinds."
  notFollowed: [String!]!
}

"One object of a graph."
type GraphNode {
  "The \`id\` in \`from\` and \`to\` of edges."
  id: ID!
  "The name of the cluster of the object."
  clusterName: String!
  "The group and version that the object is served in: \`apps/v1\`, \`v1\`."
  apiVersion: String!
  ${kindAndName}
  "The number of steps from the nearest root."
  depth: Int!
  "The object itself."
  object: KubernetesObject
}

"One relation between two objects of a graph."
type GraphEdge {
  "The \`id\` of the object that has the relation."
  from: ID!
  "The \`id\` of the object that it leads to."
  to: ID!
  "The relation, in either direction: \`Pod.node\`."
  relation: String!
}

"Conditions on the objects that use an object, all of which must hold."
input UsedByWhereMany {
  "At least one such object uses it."
  some: UsedByWhere
  "No such object uses it."
  none: UsedByWhere
}

"Which of the objects that use an object count: all of them with \`{}\`."
input UsedByWhere {
  "Only objects of these types."
  types: [String!]
}
`

/** The types of `gatewayClusters`: clusters, their permissions, their kinds and the caches of these, as SDL. */
export const clusterTypesSdl = `
"One cluster, as this gateway sees it."
type GatewayCluster {
  "The name in arguments \`cluster\` and in \`clusterName\`."
  name: String!
  "The labels of the cluster: of its configuration, its kubeconfig or its Secret."
  labels: StringMap!
  "Where the cluster comes from: \`configuration\`, \`directory prod.yaml\`, \`argocd hub/argocd/prod\`."
  source: String!
  "Whether the gateway can read the cluster."
  state: GatewayClusterState!
  "Since when the cluster is in this state."
  since: DateTime!
  """
  The code of what is wrong with the cluster, or with the source of a connected one:
  \`CLUSTER_UNREACHABLE\`, \`CLUSTER_UNAUTHORIZED\`, \`CREDENTIALS_UNSUPPORTED\`. Null if nothing is.
  """
  problem: String
  "What is wrong, as text. Null if the gateway authenticates users: its log has the text."
  problemText: String
  "The version of Kubernetes."
  version: String
  """
  The UID of its namespace \`kube-system\`, which identifies the cluster; null if the gateway may
  not read it.
  """
  uid: String
  "Whether this gateway serves mutations that write to it. What the caller may do there, \`can\` says."
  writable: Boolean!
  "How the gateway follows permissions; null if it has not reviewed access yet."
  permissions: GatewayPermissions
  "The kinds of which the viewer may list any objects, and their caches."
  resources(
    "True: only kinds whose cache has started. False: only the others."
    loaded: Boolean
    """
    Counts only the objects of these namespaces in \`objects\` and \`facets\`. Objects in no namespace are
    counted all the same.
    """
    namespaces: [String!]
  ): [GatewayResource!]!
}

"Whether a cluster can be read."
enum GatewayClusterState {
  "The gateway knows the APIs that the cluster serves, and the API server answers."
  CONNECTED
  """
  The gateway has not reached the cluster yet, or the API server does not answer any more: then the
  caches show their last known state.
  """
  UNREACHABLE
  """
  The API server does not accept the gateway's own credentials (401), or they cannot be read. Caches
  follow changes only as long as their watches last, and no permission of a caller can be reviewed.
  """
  UNAUTHORIZED
  "What the configuration or the source says of the cluster cannot be used: \`problem\` says why."
  MISCONFIGURED
}

"How the gateway follows permissions."
type GatewayPermissions {
  "How soon the gateway notices a change."
  state: GatewayPermissionState!
  "The resources that permissions depend on, and how far the gateway has followed each."
  resources: [GatewayPermissionResource!]!
}

"How soon the gateway notices a change of permissions."
enum GatewayPermissionState {
  "The gateway has seen every change of RBAC, and has reviewed access again."
  FOLLOWING
  """
  RBAC has just changed: the gateway reviews access now, and once more when all API servers know of
  the change.
  """
  SETTLING
  "The gateway cannot watch all of RBAC: it notices a change when its cached reviews expire."
  EXPIRING
}

"A resource that permissions depend on."
type GatewayPermissionResource {
  "Its name: \`roles.rbac.authorization.k8s.io\`."
  resource: String!
  "The gateway has applied all changes up to this one."
  resourceVersion: String
}

"One kind of one cluster, and its cache."
type GatewayResource {
  "The type of the kind in this schema: \`Pod\`."
  type: String!
  "The API group: \`apps\`; empty for the core group."
  group: String!
  "The version of the group that the gateway reads: \`v1\`."
  version: String!
  "The group and version: \`apps/v1\`, \`v1\`."
  apiVersion: String!
  "The kind as the API writes it: \`Deployment\`."
  kind: String!
  "The resource as URLs and RBAC write it: \`deployments\`."
  resource: String!
  "Whether its objects live in namespaces."
  namespaced: Boolean!
  "The short names of kubectl: \`deploy\`."
  shortNames: [String!]!
  "The field of \`Query\` that lists the kind; null if the schema has none."
  listField: String
  "The indexes, which \`where\`, \`orderBy\` and \`facets\` name."
  indexes: [KindIndex!]!
  "The columns of \`kubectl get\`, as \`printerColumns\` has them; null if only the API server knows them."
  columns: [KindColumn!]
  """
  The distribution of the objects that the viewer may list over the values of indexes; null while the
  cache is not synced.
  """
  facets(
    """Indexes, by their names in \`where\`, or labels: \`labels["app"]\`."""
    by: [String!]!
    "The number of values of each, at most; 10 if absent."
    top: Int
  ): [Facet!]
  "The state of the cache."
  state: GatewayResourceState!
  "The number of objects in the cache that the viewer may list; null while it is not synced."
  objects: Int
  "The position of the cache in the history of the resource."
  resourceVersion: String
  "The time since the API server last sent anything about this kind, in milliseconds."
  lagMs: Int
  "Why the cache is not up to date, as text; null if it is."
  lastError: String
  """
  The namespaces whose objects the cache has, of those that the viewer may list; null if it has all of
  them but \`excludedNamespaces\`.
  """
  namespaces: [String!]
  "Why the cache does not have all namespaces; null if it has."
  namespacesReason: GatewayNamespacesReason
  "The namespaces that the configuration leaves out (\`cache.excludeNamespaces\`)."
  excludedNamespaces: [String!]!
  "Configured namespaces (\`cache.namespaces\`) that the gateway's account may not list."
  refusedNamespaces: [String!]!
}

"Why a cache does not have all namespaces."
enum GatewayNamespacesReason {
  "The gateway's account may list the kind in some namespaces only."
  ACCOUNT
  "The configuration names the namespaces to cache."
  CONFIGURED
  "The configuration leaves namespaces out."
  EXCLUDED
}

"The state of a cache."
enum GatewayResourceState {
  "The cache has not started."
  IDLE
  "The first list is on its way."
  LISTING
  "The first list has failed, and the gateway will try again."
  WAITING
  "The first list has arrived, and the gateway is storing it."
  WATCHING
  "The cache follows the API server."
  SYNCED
  "The gateway has lost the API server; the cache has the last known state."
  RECONNECTING
  "The cache has stopped."
  STOPPED
  "The kind has no cache: the gateway reads it from the API server for each answer."
  UNCACHED
}

"One index of a kind."
type KindIndex {
  "The name of the index in \`where\`, \`orderBy\` and \`facets\`."
  name: String!
  "The form of its values."
  form: IndexForm!
  "All values that it can have, if they are few: the phases of pods."
  values: [String!]
  "Whether \`sum\` takes it: its values are numbers, and an object has one at most."
  summable: Boolean!
  "What the values are: \`status.phase\` of the object."
  description: String!
}

"The form of the values of an index."
enum IndexForm {
  "A text."
  STRING
  "A 64-bit integer."
  INT
  "True or false."
  BOOLEAN
  "A moment, RFC 3339."
  DATE_TIME
  "A Kubernetes quantity: \`500m\`."
  QUANTITY
  "A \`HealthStatus\`."
  HEALTH_STATUS
}

"One column of a kind in \`kubectl get\`."
type KindColumn {
  "The heading of the column: \`READY\`, \`Age\`."
  name: String!
  "\`string\`, \`integer\`, \`number\`, \`boolean\` or \`date\`; kubectl shows the age of a date."
  type: String!
  "\`name\` for the object's own name, or empty."
  format: String!
  "0, or more for a column that only \`kubectl get -o wide\` shows."
  priority: Int!
}
`

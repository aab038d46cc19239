/** Names that start so and end like these belong to the gateway's types per kind: `PodConnection`, `PodFrame`. */
const suffixes = /(?:Connection|Edge|Where|WhereMany|WhereOne|Order|Frame|Change|LivePage)$/

/** The gateway's own types, those of GraphQL, and those that are planned. No type of an API may take one, ever. */
const ownTypes: ReadonlySet<string> = new Set([
  'Query',
  'Mutation',
  'Subscription',
  'String',
  'Int',
  'Float',
  'Boolean',
  'ID',
  'DateTime',
  'Quantity',
  'IntOrString',
  'Int64',
  'StringMap',
  'QuantityMap',
  'JSON',
  'KubernetesObject',
  'ObjectRef',
  'UsedBy',
  'PageInfo',
  'ChangeType',
  'Removal',
  'PageStep',
  'Facet',
  'FacetValue',
  'IndexType',
  'IndexReduction',
  'SelectorForm',
  'Selected',
  'StringFilter',
  'IntFilter',
  'DateTimeFilter',
  'QuantityFilter',
  'BooleanFilter',
  'LabelFilter',
  'GatewayCluster',
  'GatewayClusterState',
  'GatewayResource',
  'GatewayResourceState',
  'GatewayPermissions',
  'GatewayPermissionState',
  'GatewayPermissionResource',
  'SortDirection',
  'Viewer',
  'SearchResult',
  'SearchCount',
  'Graph',
  'GraphNode',
  'Permission',
  'Health',
  'HealthStatus',
  'PrinterColumn',
  'LogLine',
])

/** The gateway's own root fields, those that are planned included. */
const ownRootFields: ReadonlySet<string> = new Set([
  'gatewayClusters',
  'viewer',
  'can',
  'object',
  'objects',
  'objectByRef',
  'search',
  'graph',
])

/** A type name of an API as the schema may hold it: with a trailing `_` where it meets a reserved one. */
export function unreservedTypeName(name: string): string {
  return suffixes.test(name) || ownTypes.has(name) ? `${name}_` : name
}

/** A root field of a kind as the schema may hold it: with a trailing `_` where it meets one of the gateway's own. */
export function unreservedRootField(name: string): string {
  return ownRootFields.has(name) ? `${name}_` : name
}

import { words } from '../../lib/letter-case.ts'

/** Endings of the gateway's own types and root fields for each kind: `PodConnection`, `PodFrame`, `podsPage`, `podFacets`. */
const suffixes = /(?:Connection|Edge|Where|WhereMany|WhereOne|Order|Frame|Change|Page|Facets?)$/

/** Types of the gateway and of GraphQL, planned ones included. A type of an API never takes one of these names. */
const ownTypes: ReadonlySet<string> = new Set(
  words(`Query Mutation Subscription String Int Float Boolean ID DateTime Quantity IntOrString Int64
    StringMap QuantityMap JSON KubernetesObject ObjectList ObjectRef UsedBy PageInfo ChangeType Removal
    PageStep FacetValue FacetsFrame IndexSum IndexType IndexReduction SelectorForm Selected StringFilter
    IntFilter DateTimeFilter QuantityFilter BooleanFilter LabelFilter GatewayCluster
    GatewayClusterState GatewayResource GatewayResourceState GatewayNamespacesReason GatewayPermissions
    GatewayPermissionState GatewayPermissionResource SortDirection Viewer SearchResult
    TypeCount Completions Completion CompletionTerm Problem ProblemSeverity ProblemCount ProblemEvent Graph GraphNode KindIndex KindColumn IndexForm Permission Health HealthStatus HealthStatusFilter PrinterColumn PodLogs LogLine LogStream LogStreamState WritePayload
    PatchType Propagation FieldValidation DrainProgress DrainState DrainedPod DrainedPodState
    Workload WorkloadStrategy WorkloadCondition`),
)

/** The gateway's own root fields, planned ones included. */
const ownRootFields: ReadonlySet<string> = new Set(
  words(
    `gatewayClusters viewer can object objects objectByRef objectList objectListPage objectListFacets kubernetesObjects kubernetesObjectsPage search complete graph problems drain podLogs`,
  ),
)

/** The type name of an API's type: with a trailing `_` if the name is reserved. */
export function unreservedTypeName(name: string): string {
  return suffixes.test(name) || ownTypes.has(name) ? `${name}_` : name
}

/** The root field of a kind: with a trailing `_` if the gateway has a root field of the name. */
export function unreservedRootField(name: string): string {
  return ownRootFields.has(name) ? `${name}_` : name
}

/*
 * The names of kinds and of their fields, which depend on nothing but the names in the API and the configured aliases:
 * never on what a cluster has installed. A type name begins with the prefix of its API group, which keeps kinds of the same
 * name apart; a kind that begins with it already does not get it twice. Kubernetes' own groups have none. Well-known groups have a fixed prefix, and a configured alias wins over it.
 * Any other group is spelled out (`stable.example.com`: `StableExampleCom`). A name that the gateway or GraphQL has already
 * gets a trailing `_`.
 */

import { type ApiResource, isBuiltInGroup } from '../../kubernetes/api-resource.ts'
import { pluralOf } from '../../kubernetes/plural-name.ts'
import { capitalised, lowerCamelCase, words, pascalCaseOfDnsName } from '../../lib/letter-case.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { ownerOfBareKind } from './bare-kinds.ts'

/** The names of one kind in the schema. */
export interface KindNames {
  /** `Pod`, `StableExampleComWidget`. */
  readonly typeName: string
  /** The root field that lists: `pods`, `endpointsList`. */
  readonly listField: string
  /** The root field that looks up one object: `pod`, `endpoints`. */
  readonly lookupField: string
}

/**
 * The names of a kind. They depend on its group, kind, resource name and the configured aliases only, and where the kind
 * begins with the prefix of its group, on `siblings`, the kinds of the group.
 */
export function namesOfKind(
  resource: Pick<ApiResource, 'group' | 'kind' | 'resource'>,
  aliases: GroupAliases = {},
  siblings: ReadonlySet<string> = new Set(),
): KindNames {
  const kind = capitalised(graphqlNameOf(resource.kind))
  const prefix = prefixOfGroup(resource.group, aliases)
  const plainName = isPrefixed(kind, prefix, { aliases, siblings }) ? kind : `${prefix}${kind}`
  const typeName = unreservedTypeName(plainName)
  const reserved = typeName.slice(plainName.length)
  const singular = lowerCamelCase(plainName)
  const plural = pluralOf(singular, resource.kind, resource.resource)
  return {
    typeName,
    listField: unreservedRootField(`${plural === singular ? `${plural}List` : plural}${reserved}`),
    lookupField: unreservedRootField(`${singular}${reserved}`),
  }
}

/**
 * Whether a kind has the prefix of its group in its own name: `CiliumEndpoint` of cilium.io. The prefix is then not
 * written twice, unless the short name is that of another kind: a bare one, `Endpoint` of the same group, or one of a
 * group with a longer prefix (`IstioSecurity`).
 */
function isPrefixed(
  kind: string,
  prefix: string,
  { aliases, siblings }: { readonly aliases: GroupAliases; readonly siblings: ReadonlySet<string> },
): boolean {
  if (prefix === '' || !kind.startsWith(prefix)) return false
  const rest = kind.slice(prefix.length)
  // `Argo` is no word of `Argonaut`.
  if (!/^[A-Z0-9]/.test(rest) || ownerOfBareKind(kind) !== undefined) return false
  const isLonger = (other: string): boolean => other.length > prefix.length
  if (knownPrefixes(aliases).some((other) => isLonger(other) && kind.startsWith(other)))
    return false
  return !siblings.has(rest) && !siblings.has(`${rest.charAt(0).toLowerCase()}${rest.slice(1)}`)
}

/** Endings of the gateway's own types and root fields for each kind: `PodConnection`, `PodFrame`, `podsPage`, `podFacets`. */
export const kindTypeEndings: RegExp =
  /(?:Connection|Edge|Where|WhereMany|WhereOne|Order|Frame|Change|Page|Facets?)$/

/** Types of the gateway and of GraphQL, planned ones included. A type of an API never takes one of these names. */
const ownTypes: ReadonlySet<string> = new Set(
  words(`Query Mutation Subscription String Int Float Boolean ID DateTime Quantity IntOrString Int64
    StringMap QuantityMap JSON KubernetesObject ObjectList ObjectRef UsedBy PageInfo ChangeType Removal
    PageStep FacetValue FacetsFrame IndexSum IndexType IndexReduction SelectorForm Selected StringFilter
    IntFilter DateTimeFilter QuantityFilter BooleanFilter LabelFilter GatewayCluster
    GatewayClusterState GatewayResource GatewayResourceState GatewayNamespacesReason GatewayPermissions
    GatewayPermissionState GatewayPermissionResource SortDirection Viewer SearchResult
    TypeCount Completions Completion CompletionTerm Problem ProblemSeverity ProblemCount ProblemEvent ProblemAction ProblemActionName RevisionChange EndedLines Graph GraphNode KindIndex KindColumn IndexForm Permission Health HealthStatus HealthStatusFilter Visibility PrinterColumn PodLogs LogLine LogStream LogStreamState WritePayload
    ObjectPreview WriteError ErrorCode
    PatchType Propagation FieldValidation DrainProgress DrainState DrainedPod DrainedPodState DrainLoss
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
  return kindTypeEndings.test(name) || ownTypes.has(name) ? `${name}_` : name
}

/** The root field of a kind: with a trailing `_` if the gateway has a root field of the name. */
export function unreservedRootField(name: string): string {
  return ownRootFields.has(name) ? `${name}_` : name
}

/** The prefixes of well-known groups. They never change: a published name is permanent. */
const fixedAliases: ReadonlyMap<string, string> = new Map([
  ['gateway.networking.k8s.io', ''],
  ['metrics.k8s.io', ''],
  ['snapshot.storage.k8s.io', ''],
  ['cert-manager.io', 'CertManager'],
  ['acme.cert-manager.io', 'CertManagerAcme'],
  ['argoproj.io', 'Argo'],
  ['monitoring.coreos.com', 'Monitoring'],
  ['cluster.x-k8s.io', 'ClusterApi'],
  ['karpenter.sh', 'Karpenter'],
  ['keda.sh', 'Keda'],
  ['kustomize.toolkit.fluxcd.io', 'FluxKustomize'],
  ['helm.toolkit.fluxcd.io', 'FluxHelm'],
  ['source.toolkit.fluxcd.io', 'FluxSource'],
  ['notification.toolkit.fluxcd.io', 'FluxNotification'],
  ['image.toolkit.fluxcd.io', 'FluxImage'],
  ['external-secrets.io', 'ExternalSecrets'],
  ['networking.istio.io', 'Istio'],
  ['security.istio.io', 'IstioSecurity'],
  ['apiextensions.crossplane.io', 'Crossplane'],
  ['pkg.crossplane.io', 'CrossplanePkg'],
  ['kyverno.io', 'Kyverno'],
  ['tekton.dev', 'Tekton'],
  ['serving.knative.dev', 'Knative'],
  ['cilium.io', 'Cilium'],
  ['projectcalico.org', 'Calico'],
  ['velero.io', 'Velero'],
])

/** Configured prefixes by API group, which win over the fixed ones: `{ "stable.example.com": "Stable" }`. */
export type GroupAliases = Readonly<Record<string, string>>

export const groupAliasHint =
  'an alias is a capital letter followed by letters and digits, or "" for the bare kinds'

/** Whether an alias can begin a GraphQL name. */
export function isGroupAlias(alias: string): boolean {
  return /^(?:[A-Z][A-Za-z0-9]*)?$/.test(alias)
}

/** Checks that each alias can begin a GraphQL name. Throws `CodedError` `GROUP_ALIAS`. */
export function checkGroupAliases(aliases: GroupAliases): void {
  for (const [group, alias] of Object.entries(aliases)) {
    if (isGroupAlias(alias)) continue
    const message = `alias ${JSON.stringify(alias)} of the API group ${group}`
    throw new CodedError('GROUP_ALIAS', message, { value: alias, hint: groupAliasHint })
  }
}

/** The prefix of the names of a group's kinds, `''` for bare names. It depends on its arguments only. */
export function prefixOfGroup(group: string, aliases: GroupAliases = {}): string {
  if (Object.hasOwn(aliases, group)) return aliases[group] ?? ''
  if (isBuiltInGroup(group)) return ''
  return fixedAliases.get(group) ?? graphqlNameOf(pascalCaseOfDnsName(group))
}

/** The configured and the fixed prefixes, without the empty ones. */
export function knownPrefixes(aliases: GroupAliases = {}): readonly string[] {
  return [...Object.values(aliases), ...fixedAliases.values()].filter((prefix) => prefix !== '')
}

// A character that GraphQL does not allow in a name becomes `_xHH_`, with its code point in capital hexadecimal digits.
// Three more are escaped, so that the JSON name can be read back and no name starts with `__`, which GraphQL reserves: a
// leading digit; an underscore before `x` and a hexadecimal digit; the first underscore of a result that would start with
// two. The empty name becomes `_x_`; the underscore of a field that is called `_x_` is escaped as well.

const notAllowed = /^[0-9]|[^_A-Za-z0-9]|_(?=x[0-9A-F])/gu

/**
 * The GraphQL name of a JSON field: the same name, with the characters escaped that GraphQL does not allow (`$ref` ->
 * `_x24_ref`, `a-b` -> `a_x2D_b`, `3d` -> `_x33_d`, `__typename` -> `_x5F__typename`).
 */
export function graphqlNameOf(jsonName: string): string {
  if (jsonName === '') return '_x_'
  if (jsonName === '_x_') return '_x5F_x_'
  const name = jsonName.replaceAll(notAllowed, escaped)
  return name.startsWith('__') ? `${escaped('_')}${name.slice(1)}` : name
}

function escaped(character: string): string {
  return `_x${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}_`
}

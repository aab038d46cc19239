/*
 * The names of nested types, which come from the definitions of OpenAPI. Kinds keep their bare names; a nested type whose
 * name a kind, or a group of higher precedence, already has begins with the first label of its group. The rules use fixed
 * lists, so that a name does not depend on what a cluster has installed.
 */

import { graphqlNameOf } from './kind-name.ts'
import { capitalised, pascalCaseOfDnsName, words } from '../../lib/letter-case.ts'

/** The parts of an OpenAPI definition's name: `io.k8s.api.apps.v1.DeploymentSpec`. */
export interface DefinitionName {
  /** `apps`: the Go package, which for Kubernetes is the first label of the API group. */
  readonly label: string
  /** `v1`; `''` if the name has no version. */
  readonly version: string
  /** `DeploymentSpec`. */
  readonly name: string
  /** Whether Kubernetes itself publishes the definition. */
  readonly builtIn: boolean
}

const builtInPackages = [
  'io.k8s.api.',
  'io.k8s.apimachinery.',
  'io.k8s.apiextensions-apiserver.',
  'io.k8s.kube-aggregator.',
]

export function splitDefinitionName(definition: string): DefinitionName {
  const parts = definition.split('.')
  const name = parts.pop() ?? ''
  const last = parts.pop() ?? ''
  const versioned = /^v\d+(?:(?:alpha|beta)\d+)?$/.test(last)
  return {
    label: versioned ? (parts.pop() ?? '') : last,
    version: versioned ? last : '',
    name,
    builtIn: builtInPackages.some((prefix) => definition.startsWith(prefix)),
  }
}

/**
 * The groups that keep the bare name among definitions of the same name. The list is fixed, so that a cluster without
 * one of the groups has the same names. The order is core, apps, batch, then alphabetical; `Subject` is the exception.
 */
const bareOwners: ReadonlyMap<string, string> = new Map([
  ['EndpointPort', 'core'],
  ['EventSeries', 'core'],
  ['ServiceReference', 'admissionregistration'],
  ['Subject', 'rbac'],
  ['WebhookClientConfig', 'admissionregistration'],
])

const first = ['core', 'apps', 'batch']

/** Orders groups by precedence for a bare name: core, apps, batch, then alphabetical. */
export function compareGroupLabels(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || (a === b ? 0 : a < b ? -1 : 1)
}

function rankOf(label: string): number {
  const rank = first.indexOf(label)
  return rank < 0 ? first.length : rank
}

/**
 * The name of a nested type whose group has bare kinds: the OpenAPI name. The first label of the group precedes it if a
 * kind or a group of higher precedence has the name (`FlowcontrolSubject`). `rivals` are the labels of all groups with a
 * definition of the name; they decide only about names that are newer than the pinned version of Kubernetes.
 */
export function nestedTypeName(label: string, name: string, rivals: Iterable<string>): string {
  const owner =
    ownerOfBareKind(name) === undefined
      ? (bareOwners.get(name) ?? [label, ...rivals].toSorted(compareGroupLabels)[0])
      : undefined
  const plain = graphqlNameOf(capitalised(name))
  return owner === label ? plain : `${graphqlNameOf(pascalCaseOfDnsName(label))}${plain}`
}

/** The name of a nested type whose schema has no name, as in CRDs: the parent type's name and the property's. */
export function nestedTypeNameByPath(parent: string, property: string): string {
  return `${parent}${graphqlNameOf(capitalised(property))}`
}

/**
 * Kinds whose type name is the bare kind, by the first label of their group (`core` for the core group): the kinds of
 * kube-apiserver with all feature gates and of older versions, and the kinds of groups with an empty alias. A nested type
 * never takes one of these names, even if the kind is not served: no name depends on what a cluster has installed.
 */
const bareKinds: Readonly<Record<string, readonly string[]>> = {
  core: words(`Binding ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node
    PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController
    ResourceQuota Secret Service ServiceAccount`),
  admissionregistration:
    words(`MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration
    ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
    ValidatingWebhookConfiguration`),
  apiextensions: words(`CustomResourceDefinition`),
  apiregistration: words(`APIService`),
  apps: words(`ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet`),
  authentication: words(`SelfSubjectReview TokenRequest TokenReview`),
  authorization: words(`LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview
    SubjectAccessReview`),
  autoscaling: words(`HorizontalPodAutoscaler Scale`),
  batch: words(`CronJob Job`),
  certificates: words(`CertificateSigningRequest ClusterTrustBundle PodCertificateRequest`),
  coordination: words(`Lease LeaseCandidate`),
  discovery: words(`EndpointSlice`),
  flowcontrol: words(`FlowSchema PriorityLevelConfiguration`),
  gateway:
    words(`BackendLBPolicy BackendTLSPolicy GRPCRoute Gateway GatewayClass HTTPRoute ListenerSet
    ReferenceGrant TCPRoute TLSRoute UDPRoute`),
  internal: words(`StorageVersion`),
  metrics: words(`NodeMetrics PodMetrics`),
  networking: words(`ClusterCIDR IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR`),
  node: words(`RuntimeClass`),
  policy: words(`Eviction PodDisruptionBudget PodSecurityPolicy`),
  rbac: words(`ClusterRole ClusterRoleBinding Role RoleBinding`),
  resource:
    words(`DeviceClass DeviceTaintRule PodSchedulingContext ResourceClaim ResourceClaimParameters
    ResourceClaimTemplate ResourceClass ResourceClassParameters ResourcePoolStatusRequest
    ResourceSlice`),
  scheduling: words(`PodGroup PriorityClass Workload`),
  snapshot: words(`VolumeSnapshot VolumeSnapshotClass VolumeSnapshotContent`),
  storage: words(
    `CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass`,
  ),
  storagemigration: words(`StorageVersionMigration`),
}

const owners: ReadonlyMap<string, string> = new Map(
  Object.entries(bareKinds).flatMap(([label, kinds]) => kinds.map((kind) => [kind, label])),
)

/** The first label of the group of the kind with this bare name; `undefined` if no known kind has the name. */
export function ownerOfBareKind(name: string): string | undefined {
  return owners.get(name)
}

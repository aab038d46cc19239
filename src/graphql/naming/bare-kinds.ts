import { words } from '../../lib/letter-case.ts'

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

/**
 * Fields that a server writes as `null` where they are empty, which OpenAPI cannot say: lists, maps and pointers whose
 * Go field has no `omitempty`, and times held by value, which `omitempty` does not omit. Of these the fields that OpenAPI
 * calls optional, and three more that are empty in valid objects: the `eventTime` of an event made through the core API,
 * the `drivers` of a node without any, and the `creationTimestamp` of templates (until 1.34). Read from the struct tags of
 * k8s.io/api, k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator v0.36.3.
 */
const nullFields: Readonly<Record<string, readonly string[]>> = {
  'io.k8s.api.apps.v1.DaemonSetCondition': ['lastTransitionTime'],
  'io.k8s.api.apps.v1.DeploymentCondition': ['lastTransitionTime', 'lastUpdateTime'],
  'io.k8s.api.apps.v1.ReplicaSetCondition': ['lastTransitionTime'],
  'io.k8s.api.apps.v1.StatefulSetCondition': ['lastTransitionTime'],
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition': ['lastTransitionTime'],
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus': ['currentMetrics'],
  'io.k8s.api.batch.v1.JobCondition': ['lastProbeTime', 'lastTransitionTime'],
  'io.k8s.api.certificates.v1.CertificateSigningRequestCondition': [
    'lastTransitionTime',
    'lastUpdateTime',
  ],
  'io.k8s.api.core.v1.AzureFilePersistentVolumeSource': ['secretNamespace'],
  'io.k8s.api.core.v1.ContainerImage': ['names'],
  'io.k8s.api.core.v1.ContainerStateRunning': ['startedAt'],
  'io.k8s.api.core.v1.ContainerStateTerminated': ['finishedAt', 'startedAt'],
  'io.k8s.api.core.v1.Event': ['eventTime', 'firstTimestamp', 'lastTimestamp'],
  'io.k8s.api.core.v1.EventSeries': ['lastObservedTime'],
  'io.k8s.api.core.v1.GRPCAction': ['service'],
  'io.k8s.api.core.v1.NamespaceCondition': ['lastTransitionTime'],
  'io.k8s.api.core.v1.NodeCondition': ['lastHeartbeatTime', 'lastTransitionTime'],
  'io.k8s.api.core.v1.PersistentVolumeClaimCondition': ['lastProbeTime', 'lastTransitionTime'],
  'io.k8s.api.core.v1.PodCondition': ['lastProbeTime', 'lastTransitionTime'],
  'io.k8s.api.core.v1.ProjectedVolumeSource': ['sources'],
  'io.k8s.api.core.v1.ReplicationControllerCondition': ['lastTransitionTime'],
  'io.k8s.api.core.v1.TypedLocalObjectReference': ['apiGroup'],
  'io.k8s.api.core.v1.TypedObjectReference': ['apiGroup'],
  'io.k8s.api.discovery.v1.EndpointSlice': ['endpoints', 'ports'],
  'io.k8s.api.events.v1.Event': [
    'deprecatedFirstTimestamp',
    'deprecatedLastTimestamp',
    'eventTime',
  ],
  'io.k8s.api.flowcontrol.v1.FlowSchemaCondition': ['lastTransitionTime'],
  'io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration': ['nominalConcurrencyShares'],
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationCondition': ['lastTransitionTime'],
  'io.k8s.api.flowcontrol.v1.ResourcePolicyRule': ['namespaces'],
  'io.k8s.api.networking.v1.IngressClassParametersReference': ['scope'],
  'io.k8s.api.rbac.v1.ClusterRole': ['rules'],
  'io.k8s.api.rbac.v1.Role': ['rules'],
  'io.k8s.api.resource.v1.AllocatedDeviceStatus': ['conditions'],
  'io.k8s.api.resource.v1.CapacityRequestPolicy': ['default'],
  'io.k8s.api.resource.v1.DeviceClaim': ['requests'],
  'io.k8s.api.storage.v1.CSINodeDriver': ['topologyKeys'],
  'io.k8s.api.storage.v1.CSINodeSpec': ['drivers'],
  'io.k8s.api.storage.v1.VolumeError': ['time'],
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition': [
    'lastTransitionTime',
  ],
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus': [
    'conditions',
    'storedVersions',
  ],
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': ['creationTimestamp'],
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceCondition': ['lastTransitionTime'],
}

/** Whether a property of a definition may be `null`. */
export function mayBeNull(definition: string, property: string): boolean {
  return nullFields[definition]?.includes(property) ?? false
}

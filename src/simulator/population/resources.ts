/** A resource by its place in the API, without what discovery says about it. */
export interface GroupVersionResource {
  /** `''` for the core group. */
  readonly group: string
  readonly version: string
  /** The plural of the path, `pods`. */
  readonly resource: string
}

/** A resource of the population, with what its objects carry in `apiVersion` and `kind`. */
export interface PopulationResource extends GroupVersionResource {
  readonly kind: string
  readonly apiVersion: string
}

const core = (resource: string, kind: string): PopulationResource => ({
  group: '',
  version: 'v1',
  resource,
  kind,
  apiVersion: 'v1',
})

const grouped = (
  group: string,
  version: string,
  resource: string,
  kind: string,
): PopulationResource => ({ group, version, resource, kind, apiVersion: `${group}/${version}` })

/** The names of {@link resources}. */
export type ResourceName =
  | 'namespaces'
  | 'nodes'
  | 'pods'
  | 'services'
  | 'configMaps'
  | 'secrets'
  | 'serviceAccounts'
  | 'persistentVolumes'
  | 'persistentVolumeClaims'
  | 'resourceQuotas'
  | 'events'
  | 'deployments'
  | 'replicaSets'
  | 'statefulSets'
  | 'daemonSets'
  | 'controllerRevisions'
  | 'jobs'
  | 'cronJobs'
  | 'endpointSlices'
  | 'ingresses'
  | 'ingressClasses'
  | 'networkPolicies'
  | 'disruptionBudgets'
  | 'autoscalers'
  | 'leases'
  | 'priorityClasses'
  | 'storageClasses'
  | 'csiDrivers'
  | 'csiNodes'
  | 'roles'
  | 'roleBindings'
  | 'clusterRoles'
  | 'clusterRoleBindings'

/** Every resource that the population has objects of. */
export const resources: Readonly<Record<ResourceName, PopulationResource>> = {
  namespaces: core('namespaces', 'Namespace'),
  nodes: core('nodes', 'Node'),
  pods: core('pods', 'Pod'),
  services: core('services', 'Service'),
  configMaps: core('configmaps', 'ConfigMap'),
  secrets: core('secrets', 'Secret'),
  serviceAccounts: core('serviceaccounts', 'ServiceAccount'),
  persistentVolumes: core('persistentvolumes', 'PersistentVolume'),
  persistentVolumeClaims: core('persistentvolumeclaims', 'PersistentVolumeClaim'),
  resourceQuotas: core('resourcequotas', 'ResourceQuota'),
  events: core('events', 'Event'),
  deployments: grouped('apps', 'v1', 'deployments', 'Deployment'),
  replicaSets: grouped('apps', 'v1', 'replicasets', 'ReplicaSet'),
  statefulSets: grouped('apps', 'v1', 'statefulsets', 'StatefulSet'),
  daemonSets: grouped('apps', 'v1', 'daemonsets', 'DaemonSet'),
  controllerRevisions: grouped('apps', 'v1', 'controllerrevisions', 'ControllerRevision'),
  jobs: grouped('batch', 'v1', 'jobs', 'Job'),
  cronJobs: grouped('batch', 'v1', 'cronjobs', 'CronJob'),
  endpointSlices: grouped('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice'),
  ingresses: grouped('networking.k8s.io', 'v1', 'ingresses', 'Ingress'),
  ingressClasses: grouped('networking.k8s.io', 'v1', 'ingressclasses', 'IngressClass'),
  networkPolicies: grouped('networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy'),
  disruptionBudgets: grouped('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  autoscalers: grouped('autoscaling', 'v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'),
  leases: grouped('coordination.k8s.io', 'v1', 'leases', 'Lease'),
  priorityClasses: grouped('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass'),
  storageClasses: grouped('storage.k8s.io', 'v1', 'storageclasses', 'StorageClass'),
  csiDrivers: grouped('storage.k8s.io', 'v1', 'csidrivers', 'CSIDriver'),
  csiNodes: grouped('storage.k8s.io', 'v1', 'csinodes', 'CSINode'),
  roles: grouped('rbac.authorization.k8s.io', 'v1', 'roles', 'Role'),
  roleBindings: grouped('rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding'),
  clusterRoles: grouped('rbac.authorization.k8s.io', 'v1', 'clusterroles', 'ClusterRole'),
  clusterRoleBindings: grouped(
    'rbac.authorization.k8s.io',
    'v1',
    'clusterrolebindings',
    'ClusterRoleBinding',
  ),
}

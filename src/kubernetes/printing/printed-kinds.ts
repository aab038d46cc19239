import type { ApiResource } from '../api-resource.ts'
import type { PrintedKind } from './column.ts'
import {
  configMapColumns,
  eventColumns,
  nameAndAge,
  nameAndCreation,
  namespaceColumns,
  nodeColumns,
  resourceQuotaColumns,
  secretColumns,
} from './core-columns.ts'
import {
  endpointSliceColumns,
  ingressClassColumns,
  ingressColumns,
  networkPolicyColumns,
  serviceColumns,
} from './network-columns.ts'
import { podColumns } from './pod-columns.ts'
import {
  autoscalerColumns,
  disruptionBudgetColumns,
  leaseColumns,
  priorityClassColumns,
  roleBindingColumns,
  webhookColumns,
} from './policy-columns.ts'
import { claimColumns, storageClassColumns, volumeColumns } from './storage-columns.ts'
import {
  cronJobColumns,
  daemonSetColumns,
  deploymentColumns,
  jobColumns,
  replicaSetColumns,
  replicationControllerColumns,
  statefulSetColumns,
} from './workload-columns.ts'

const rbac = 'rbac.authorization.k8s.io'

/** By group and kind. */
const kinds: Readonly<Record<string, PrintedKind>> = {
  '/ConfigMap': configMapColumns,
  '/Event': eventColumns,
  '/LimitRange': nameAndCreation,
  '/Namespace': namespaceColumns,
  '/Node': nodeColumns,
  '/PersistentVolume': volumeColumns,
  '/PersistentVolumeClaim': claimColumns,
  '/Pod': podColumns,
  '/ReplicationController': replicationControllerColumns,
  '/ResourceQuota': resourceQuotaColumns,
  '/Secret': secretColumns,
  '/Service': serviceColumns,
  '/ServiceAccount': nameAndAge,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhookColumns,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookColumns,
  'apiextensions.k8s.io/CustomResourceDefinition': nameAndCreation,
  'apps/DaemonSet': daemonSetColumns,
  'apps/Deployment': deploymentColumns,
  'apps/ReplicaSet': replicaSetColumns,
  'apps/StatefulSet': statefulSetColumns,
  'autoscaling/HorizontalPodAutoscaler': autoscalerColumns,
  'batch/CronJob': cronJobColumns,
  'batch/Job': jobColumns,
  'coordination.k8s.io/Lease': leaseColumns,
  'discovery.k8s.io/EndpointSlice': endpointSliceColumns,
  'networking.k8s.io/Ingress': ingressColumns,
  'networking.k8s.io/IngressClass': ingressClassColumns,
  'networking.k8s.io/NetworkPolicy': networkPolicyColumns,
  'policy/PodDisruptionBudget': disruptionBudgetColumns,
  'scheduling.k8s.io/PriorityClass': priorityClassColumns,
  'storage.k8s.io/StorageClass': storageClassColumns,
  [`${rbac}/ClusterRole`]: nameAndCreation,
  [`${rbac}/ClusterRoleBinding`]: roleBindingColumns,
  [`${rbac}/Role`]: nameAndCreation,
  [`${rbac}/RoleBinding`]: roleBindingColumns,
}

/** The columns that `kubectl get` shows for a built-in kind; `undefined` if unknown here. */
export function printedKindOf({
  group,
  version,
  kind,
}: Pick<ApiResource, 'group' | 'version' | 'kind'>): PrintedKind | undefined {
  const name = `${group}/${kind}`
  if (!Object.hasOwn(kinds, name) || (group === 'autoscaling' && version !== 'v2')) return undefined
  return kinds[name]
}

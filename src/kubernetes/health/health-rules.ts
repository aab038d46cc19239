import type { ApiResource } from '../api-resource.ts'
import {
  cronJobHealth,
  daemonSetHealth,
  deploymentHealth,
  jobHealth,
  replicaSetHealth,
  statefulSetHealth,
} from './workload-health.ts'
import {
  claimHealth,
  disruptionBudgetHealth,
  namespaceHealth,
  nodeHealth,
  serviceHealth,
  volumeAttachmentHealth,
  volumeHealth,
} from './core-health.ts'
import { argoApplicationHealth, customHealth } from './custom-health.ts'
import {
  apiServiceHealth,
  autoscalerHealth,
  customResourceDefinitionHealth,
  flowSchemaHealth,
  ingressHealth,
  signingRequestHealth,
} from './extension-health.ts'
import { type HealthRule, healthy } from './health.ts'
import { podHealth } from './pod-health.ts'

/** A kind whose objects are always healthy. */
const presence: HealthRule = { of: () => healthy }

/** By group and kind. Conditions tell the health of other kinds. */
const rules: Readonly<Record<string, HealthRule>> = {
  '/Pod': podHealth,
  '/ReplicationController': replicaSetHealth,
  '/Node': nodeHealth,
  '/Namespace': namespaceHealth,
  '/Service': serviceHealth,
  '/PersistentVolumeClaim': claimHealth,
  '/PersistentVolume': volumeHealth,
  '/Event': presence,
  'apps/Deployment': deploymentHealth,
  'apps/ReplicaSet': replicaSetHealth,
  'apps/StatefulSet': statefulSetHealth,
  'apps/DaemonSet': daemonSetHealth,
  'batch/Job': jobHealth,
  'batch/CronJob': cronJobHealth,
  'autoscaling/HorizontalPodAutoscaler': autoscalerHealth,
  'policy/PodDisruptionBudget': disruptionBudgetHealth,
  'networking.k8s.io/Ingress': ingressHealth,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentHealth,
  'apiregistration.k8s.io/APIService': apiServiceHealth,
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinitionHealth,
  'certificates.k8s.io/CertificateSigningRequest': signingRequestHealth,
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaHealth,
  'argoproj.io/Application': argoApplicationHealth,
}

export function healthRuleOf({ group, kind }: Pick<ApiResource, 'group' | 'kind'>): HealthRule {
  const name = `${group}/${kind}`
  return (Object.hasOwn(rules, name) ? rules[name] : undefined) ?? customHealth
}

import type { JsonObject, OwnerReference, Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type {
  Container,
  PodSpec,
  PodTemplateSpec,
  VolumeMount,
} from '../../kubernetes/wire/core-v1.ts'
import {
  controllerManager,
  type Labels,
  managedBy,
  ownedFields,
  ownerReference,
  statusOf,
  withReport,
} from './object.ts'
import { type PodFacts, podFacts, podStatus, type PodState } from './pod-status.ts'
import { hexDigest } from './random.ts'

/** `spec.template` of a workload. */
export interface PodTemplate extends PodTemplateSpec {
  readonly spec: PodSpec
}

/** The template of a workload. Throws a TypeError without one, which a real API server refuses. */
export function templateOf(workload: { readonly [field: string]: unknown }): PodTemplate {
  const { template } = workload['spec'] as { readonly template: PodTemplate }
  return template
}

/** A pod template with additional labels. */
export function labelled(template: PodTemplate, labels: Labels): PodTemplate {
  const { metadata } = template
  return { ...template, metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } } }
}

/** The common parts of a controller's pods, derived once. A pod adds its identity and its state. */
export interface PodShape {
  readonly namespace: string
  readonly owner: OwnerReference
  readonly generateName: string
  readonly template: PodTemplate
  readonly priority: number
  readonly facts: PodFacts
  /** The fields that the controller sets, as FieldsV1. */
  readonly createdFields: JsonObject
}

/** The parts of a pod that differ from its siblings. */
export interface PodIdentity {
  readonly name: string
  readonly uid: string
  readonly createdAtMs: number
  readonly labels?: Labels
  /** Fields of `spec` that differ from the template's. */
  readonly spec?: Partial<PodSpec>
}

/** Derives the common parts of a controller's pods. `labels` are those that the controller adds. */
export function podShape(controller: Unstructured, labels: Labels, priority: number): PodShape {
  const owner = ownerReference(controller)
  const { namespace = '', name } = controller.metadata
  const generateName = `${name}-`
  const template = labelled(templateOf(controller), labels)
  const metadata = { generateName, ...template.metadata, ownerReferences: [owner] }
  const createdFields = ownedFields({ metadata, spec: template.spec })
  const facts = podFacts(template.spec)
  return { namespace, owner, generateName, template, priority, facts, createdFields }
}

/** A new pod, before it has a node. */
export function newPod(shape: PodShape, identity: PodIdentity): Unstructured {
  const { template, owner, namespace, generateName, facts } = shape
  const { name, uid, createdAtMs, labels } = identity
  const { annotations, labels: shared = {} } = template.metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName,
      namespace,
      uid,
      creationTimestamp: timestamp(createdAtMs),
      generation: 1,
      labels: labels === undefined ? shared : { ...shared, ...labels },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [owner],
      managedFields: [managedBy(controllerManager, 'v1', createdAtMs, shape.createdFields)],
    } as Unstructured['metadata'],
    spec: podSpec(shape, identity),
    status: { observedGeneration: 1, phase: 'Pending', qosClass: facts.qosClass },
  }
}

/**
 * The pod in another state: changes node, status and the kubelet's managed fields. `atMs` is the time of the kubelet's
 * report. `shape` saves the many pods of a controller from deriving its parts again.
 */
export function withPodState(
  pod: Unstructured,
  state: PodState,
  atMs: number,
  shape?: PodShape,
): Unstructured {
  const spec = pod['spec'] as PodSpec
  const facts = shape?.facts ?? podFacts(spec)
  const mount = shape === undefined ? undefined : tokenMount(pod.metadata.uid ?? '')
  const { status, fields } = podStatus(pod, facts, state, mount)
  const unscheduled = state.kind === 'unscheduled'
  const by = unscheduled ? scheduler : kubelet
  const reported = withReport(pod, status, { by, atMs, fields })
  return unscheduled ? reported : { ...reported, spec: { ...spec, nodeName: state.at.nodeName } }
}

const kubelet = statusOf({ manager: 'kubelet', operation: 'Update' })
const scheduler = statusOf({ manager: 'kube-scheduler', operation: 'Update' })

export function mainContainer(pod: Unstructured): Container {
  return (pod['spec'] as PodSpec).containers[0] ?? { name: '' }
}

function podSpec(shape: PodShape, { uid, spec: own = {} }: PodIdentity): PodSpec {
  const { spec } = shape.template
  const mount = tokenMount(uid)
  const mounted = (container: Container): Container => ({
    ...container,
    volumeMounts: [...(container.volumeMounts ?? []), mount],
  })
  const { initContainers } = spec
  return {
    ...spec,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    priority: shape.priority,
    ...own,
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(mounted) }),
    containers: spec.containers.map(mounted),
    tolerations: [...(spec.tolerations ?? []), ...defaultTolerations],
    volumes: [
      ...(own.volumes ?? []),
      ...(spec.volumes ?? []),
      { name: mount.name, projected: tokenProjection },
    ],
  }
}

/** A cluster uses a random name. Here the name follows from the UID, so that all states of a pod agree. */
const tokenMount = (uid: string): VolumeMount => ({
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
  name: `kube-api-access-${hexDigest(uid, 5)}`,
  readOnly: true,
})

const defaultTolerations = ['not-ready', 'unreachable'].map((condition) => ({
  effect: 'NoExecute',
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  tolerationSeconds: 300,
}))

const tokenProjection = {
  defaultMode: 420,
  sources: [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
    {
      downwardAPI: {
        items: [
          { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' },
        ],
      },
    },
  ],
}

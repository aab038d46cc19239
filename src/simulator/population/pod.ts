import type { JsonObject, OwnerReference, Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { type EventReport, managedBy, managers, ownedFields } from './object.ts'
import { type Container, type PodFacts, podFacts, podStatus, type PodState } from './pod-status.ts'
import { hexDigest } from './random.ts'

/** `spec.template` of a workload. */
export interface PodTemplate {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: PodSpec
}

/** The fields of a pod's `spec` that the simulator reads. */
export interface PodSpec {
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly serviceAccountName?: string
  readonly priorityClassName?: string
  readonly hostNetwork?: boolean
  readonly tolerations?: readonly object[]
  readonly volumes?: readonly { readonly name: string; readonly [source: string]: unknown }[]
  readonly [field: string]: unknown
}

/** The template of a workload. Throws a TypeError without one, which a real API server refuses. */
export function templateOf(workload: Unstructured): PodTemplate {
  const { template } = workload['spec'] as { readonly template: PodTemplate }
  return template
}

/** A pod template with additional labels. */
export function labelled(
  template: PodTemplate,
  labels: Readonly<Record<string, string>>,
): PodTemplate {
  const { metadata } = template
  return { ...template, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } }
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
  readonly labels?: Readonly<Record<string, string>>
  /** Fields of `spec` that differ from the template's. */
  readonly spec?: Readonly<Record<string, unknown>>
}

/** Derives the common parts of a controller's pods. `template` includes the labels that the controller adds. */
export function podShape(
  namespace: string,
  owner: OwnerReference,
  template: PodTemplate,
  priority: number,
  generateName: string,
): PodShape {
  const metadata = { generateName, ...template.metadata, ownerReferences: [owner] }
  const createdFields = ownedFields({ metadata, spec: template.spec })
  const facts = podFacts(template.spec)
  return { namespace, owner, generateName, template, priority, facts, createdFields }
}

/** A new pod, before it has a node. */
export function newPod(shape: PodShape, identity: PodIdentity): Unstructured {
  const { template, owner, namespace, generateName, facts } = shape
  const { name, uid, createdAtMs, labels } = identity
  const { annotations, labels: shared = {} } = template.metadata
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
      managedFields: [managedBy(managers.controller, 'v1', createdAtMs, shape.createdFields)],
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
  const { metadata } = pod
  const spec = pod['spec'] as PodSpec
  const facts = shape?.facts ?? podFacts(spec)
  const mount = shape === undefined ? undefined : tokenMount(metadata.uid ?? '')
  const { status, fields } = podStatus(pod, facts, state, mount)
  const { managedFields = [] } = metadata as { managedFields?: readonly { subresource?: string }[] }
  const others = managedFields.filter(({ subresource }) => subresource !== 'status')
  const reporter = state.kind === 'unscheduled' ? managers.scheduler : managers.kubeletStatus
  const reported = managedBy(reporter, 'v1', atMs, fields)
  return {
    ...pod,
    metadata: { ...metadata, managedFields: [...others, reported] } as Unstructured['metadata'],
    spec: state.kind === 'unscheduled' ? spec : { ...spec, nodeName: state.at.nodeName },
    status,
  }
}

/** The ordinal, the host name and the volumes of a StatefulSet's pod. */
export function statefulPodIdentity(
  statefulSet: Unstructured,
  ordinal: number,
): Pick<PodIdentity, 'name' | 'labels' | 'spec'> {
  const { name: owner } = statefulSet.metadata
  const { serviceName, volumeClaimTemplates = [] } = statefulSet['spec'] as {
    readonly serviceName?: string
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
  }
  const name = `${owner}-${ordinal}`
  const labels = {
    'apps.kubernetes.io/pod-index': String(ordinal),
    'statefulset.kubernetes.io/pod-name': name,
  }
  const volumes = volumeClaimTemplates.map(({ metadata }) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
  }))
  const subdomain = serviceName === undefined ? {} : { subdomain: serviceName }
  return { name, labels, spec: { hostname: name, ...subdomain, volumes } }
}

/** The common parts of a kubelet's Events about the first container. */
export function kubeletReport(
  pod: Unstructured,
  nodeName: string,
): Pick<EventReport, 'regarding' | 'type' | 'component' | 'host' | 'fieldPath'> {
  const fieldPath = `spec.containers{${mainContainer(pod).name}}`
  return { regarding: pod, type: 'Warning', component: 'kubelet', host: nodeName, fieldPath }
}

/** The report of a container in back-off. */
export function backOff(pod: Unstructured): Pick<EventReport, 'reason' | 'message'> {
  const { name, namespace = '', uid = '' } = pod.metadata
  const container = mainContainer(pod).name
  const message = `Back-off restarting failed container ${container} in pod ${name}_${namespace}(${uid})`
  return { reason: 'BackOff', message }
}

/** The first container of a pod. */
export function mainContainer(pod: Unstructured): {
  readonly name: string
  readonly image: string
} {
  return (pod['spec'] as PodSpec).containers[0] ?? { name: '', image: '' }
}

function podSpec(shape: PodShape, { uid, spec: own }: PodIdentity): PodSpec {
  const { spec } = shape.template
  const mount = tokenMount(uid)
  const mounted = (container: Container): Container => ({
    ...container,
    volumeMounts: [...(container.volumeMounts ?? []), mount],
  })
  const ownVolumes = (own?.['volumes'] ?? []) as NonNullable<PodSpec['volumes']>
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
      ...ownVolumes,
      ...(spec.volumes ?? []),
      { name: mount.name, projected: tokenProjection },
    ],
  }
}

/** A cluster uses a random name. Here the name follows from the UID, so that all states of a pod agree. */
const tokenMount = (uid: string) => ({
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

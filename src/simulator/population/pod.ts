import type { JsonObject, Unstructured, OwnerReference } from '../../kubernetes/object.ts'
import { rootCertificate } from './app-labels.ts'
import {
  type ContainerFacts,
  containerFacts,
  containerStatus,
  initContainerStatus,
  mountStatus,
} from './container-status.ts'
import { managedBy, managers, ownedFields } from './managed-fields.ts'
import { podConditions } from './pod-conditions.ts'
import { type Container, type PodTemplate, priorities } from './pod-spec.ts'
import { hasAddress, phaseOf, type PodState } from './pod-state.ts'
import { hexDigest } from './random.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'

/** What all pods of one controller share, derived once: a pod is this, its identity and its state. */
export interface PodShape {
  readonly namespace: string
  readonly owner: OwnerReference
  readonly generateName: string | undefined
  readonly template: PodTemplate
  readonly containers: readonly ContainerFacts[]
  readonly initContainers: readonly ContainerFacts[]
  readonly containerNames: string
  readonly qosClass: 'Guaranteed' | 'Burstable' | 'BestEffort'
  /** The fields that the controller sets, as FieldsV1. */
  readonly createdFields: JsonObject
  /** Those that the kubelet sets, by phase and whether there is an address; filled as states occur. */
  readonly statusFields: Map<string, JsonObject>
}

/** What tells a pod apart from its siblings. */
export interface PodIdentity {
  readonly name: string
  readonly uid: string
  readonly createdAtMs: number
  readonly labels?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  /** Fields of `spec` that differ from the template's. */
  readonly spec?: Readonly<Record<string, unknown>>
}

/** Derives what the pods of one controller share. `template` has the labels that the controller adds. */
export function podShape(
  namespace: string,
  owner: OwnerReference,
  template: PodTemplate,
  generateName?: string,
): PodShape {
  const { containers, initContainers = [] } = template.spec
  return {
    namespace,
    owner,
    generateName,
    template,
    containers: containers.map(containerFacts),
    initContainers: initContainers.map(containerFacts),
    containerNames: containers.map(({ name }) => name).join(' '),
    qosClass: qosClassOf(containers),
    createdFields: ownedFields({
      metadata: { generateName, ...template.metadata, ownerReferences: [owner] },
      spec: template.spec,
    }),
    statusFields: new Map(),
  }
}

/** A pod as its controller has just created it: nobody has scheduled it. */
export function newPod(shape: PodShape, identity: PodIdentity): Unstructured {
  const { template, owner, namespace, generateName } = shape
  const { name, uid, createdAtMs, labels, finalizers } = identity
  const { annotations } = template.metadata
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(generateName === undefined ? {} : { generateName }),
      namespace,
      uid,
      creationTimestamp: timestamp(createdAtMs),
      generation: 1,
      labels:
        labels === undefined
          ? template.metadata.labels
          : { ...template.metadata.labels, ...labels },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [owner],
      ...(finalizers === undefined ? {} : { finalizers }),
      managedFields: [managedBy(managers.controller, 'v1', createdAtMs, shape.createdFields)],
    } as Unstructured['metadata'],
    spec: podSpec(shape, identity),
    status: { observedGeneration: 1, phase: 'Pending', qosClass: shape.qosClass },
  }
}

/**
 * The pod in another state: node, status and the kubelet's managed fields change, all else stays. `atMs` is when the
 * kubelet reports it.
 */
export function withPodState(
  shape: PodShape,
  pod: Unstructured,
  state: PodState,
  atMs: number,
): Unstructured {
  const { metadata } = pod
  const createdAtMs = Date.parse(metadata.creationTimestamp ?? '')
  const status = podStatus(shape, metadata.uid ?? '', state, createdAtMs)
  const { managedFields = [] } = metadata as { managedFields?: readonly { subresource?: string }[] }
  const others = managedFields.filter(({ subresource }) => subresource !== 'status')
  const reporter = state.kind === 'unscheduled' ? managers.scheduler : managers.kubeletStatus
  const reported = managedBy(reporter, 'v1', atMs, statusFieldsOf(shape, state, status))
  const spec = pod['spec'] as object
  return {
    ...pod,
    metadata: {
      ...metadata,
      managedFields: [...others, reported],
    } as Unstructured['metadata'],
    spec: state.kind === 'unscheduled' ? spec : { ...spec, nodeName: state.at.nodeName },
    status,
  }
}

const tokenMountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

function podSpec(shape: PodShape, identity: PodIdentity): Record<string, unknown> {
  const { spec } = shape.template
  const tokenVolume = tokenVolumeName(identity.uid)
  const mount = { mountPath: tokenMountPath, name: tokenVolume, readOnly: true }
  const mounted = (container: Container): Container => ({
    ...container,
    volumeMounts: [...(container.volumeMounts ?? []), mount],
  })
  const ownVolumes = (identity.spec?.['volumes'] ?? []) as readonly object[]
  return {
    ...spec,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    priority: priorities[spec.priorityClassName ?? ''] ?? 0,
    ...identity.spec,
    ...(spec.initContainers === undefined
      ? {}
      : { initContainers: spec.initContainers.map(mounted) }),
    containers: spec.containers.map(mounted),
    tolerations: [...(spec.tolerations ?? []), ...defaultTolerations],
    volumes: [
      ...ownVolumes,
      ...(spec.volumes ?? []),
      { name: tokenVolume, projected: tokenProjection },
    ],
  }
}

/** The name is random in a cluster; here it follows from the UID, so that every state of a pod agrees on it. */
function tokenVolumeName(uid: string): string {
  return `kube-api-access-${hexDigest(uid, 5)}`
}

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
    { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: rootCertificate } },
    {
      downwardAPI: {
        items: [
          { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' },
        ],
      },
    },
  ],
}

function podStatus(
  shape: PodShape,
  uid: string,
  state: PodState,
  createdAtMs: number,
): Record<string, unknown> {
  const conditions = podConditions(state, createdAtMs, shape.containerNames)
  const phase = phaseOf(state)
  const { qosClass } = shape
  if (state.kind === 'unscheduled') {
    const reported = conditions.length === 0 ? {} : { conditions }
    return { ...reported, observedGeneration: 1, phase, qosClass }
  }
  const tokenMount = mountStatus({
    mountPath: tokenMountPath,
    name: tokenVolumeName(uid),
    readOnly: true,
  })
  const { hostIP, podIP } = state.at
  return {
    conditions,
    containerStatuses: shape.containers.map((facts, index) =>
      containerStatus(uid, facts, state, index === 0, tokenMount),
    ),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(shape.initContainers.length === 0
      ? {}
      : {
          initContainerStatuses: shape.initContainers.map((facts) =>
            initContainerStatus(uid, facts, state, tokenMount),
          ),
        }),
    observedGeneration: 1,
    phase,
    ...(hasAddress(state) ? { podIP, podIPs: [{ ip: podIP }] } : {}),
    qosClass,
    startTime: timestamp(createdAtMs),
  }
}

/** The set of fields is the same for all pods in like states, but for the address, which is a key in it. */
function statusFieldsOf(
  shape: PodShape,
  state: PodState,
  status: Readonly<Record<string, unknown>>,
): JsonObject {
  const key = `${state.kind}/${phaseOf(state)}/${state.kind === 'running' && state.ready}`
  let shared = shape.statusFields.get(key)
  if (shared === undefined) {
    const { qosClass: _setAtCreation, podIPs: _keyedByAddress, ...reported } = status
    shared = ownedFields({ status: reported })['f:status'] as JsonObject
    shape.statusFields.set(key, shared)
  }
  if (!hasAddress(state) || state.kind === 'unscheduled') return { 'f:status': shared }
  const address = { '.': {}, [`k:{"ip":"${state.at.podIP}"}`]: { '.': {}, 'f:ip': {} } }
  return { 'f:status': { ...shared, 'f:podIPs': address } }
}

function qosClassOf(containers: readonly Container[]): PodShape['qosClass'] {
  const every = (test: (resources: Container['resources']) => boolean): boolean =>
    containers.every(({ resources }) => test(resources))
  if (every(({ requests, limits }) => requests === undefined && limits === undefined))
    return 'BestEffort'
  return every(isGuaranteed) ? 'Guaranteed' : 'Burstable'
}

function isGuaranteed({ requests, limits }: Container['resources']): boolean {
  return ['cpu', 'memory'].every(
    (name) => limits?.[name] !== undefined && limits[name] === requests?.[name],
  )
}

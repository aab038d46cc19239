import type { Unstructured } from '../../kubernetes/object.ts'

/** The fields that a field selector may name besides `metadata.name` and `metadata.namespace`. */
export interface SelectableFields {
  readonly paths: readonly string[]
  /** The values of {@link paths} in an object, in the same order. */
  readonly valuesOf: (object: Unstructured) => readonly string[]
  /** The error message for any other path. */
  readonly unsupported: (path: string) => string
}

const onlyMetadata = (path: string): string =>
  `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`
const notSupported = (path: string): string => `field label not supported: ${path}`

/** A path. `from` is the path of the value if it differs; `missing` is the value of an absent field. */
type FieldSource =
  | string
  | { readonly path: string; readonly from?: string; readonly missing?: string }

function selectable(
  sources: readonly FieldSource[],
  unsupported: (path: string) => string = notSupported,
): SelectableFields {
  const fields = sources.map((source) => (typeof source === 'string' ? { path: source } : source))
  const readers = fields.map((field) => {
    const keys = ('from' in field ? (field.from ?? field.path) : field.path).split('.')
    const missing = 'missing' in field ? (field.missing ?? '') : ''
    return (object: Unstructured): string => textAt(object, keys) ?? missing
  })
  return {
    paths: fields.map(({ path }) => path),
    valuesOf: (object) => readers.map((read) => read(object)),
    unsupported,
  }
}

function textAt(object: object, keys: readonly string[]): string | undefined {
  let value: unknown = object
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** What the registry of a kube-apiserver does otherwise for one built-in kind than for most. */
export interface KindTraits {
  /** Whether writes are checked beyond their metadata: kinds that have been compared with a real server. */
  readonly isChecked: boolean
  /** Whether `metadata.generation` counts changes of the desired state. */
  readonly hasGeneration: boolean
  /** The status of new objects, in place of their creator's. */
  readonly firstStatus: object
  /** Whether DELETE answers with the object even if nothing holds it. */
  readonly isShownWhenDeleted: boolean
  readonly fields: SelectableFields
}

/**
 * By `resource.group`. Sources: the strategies of kube-apiserver's registry, its field label conversions and its
 * `MatchX` functions.
 */
const traits: Readonly<Record<string, Partial<KindTraits>>> = {
  pods: {
    isChecked: true,
    hasGeneration: true,
    firstStatus: { phase: 'Pending', qosClass: 'BestEffort' },
    isShownWhenDeleted: true,
    fields: selectable([
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      { path: 'spec.hostNetwork', missing: 'false' },
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ]),
  },
  nodes: { fields: selectable([{ path: 'spec.unschedulable', missing: 'false' }]) },
  namespaces: { firstStatus: { phase: 'Active' }, fields: selectable(['status.phase']) },
  configmaps: { isChecked: true },
  secrets: { isChecked: true, fields: selectable(['type']) },
  services: {
    isChecked: true,
    firstStatus: { loadBalancer: {} },
    fields: selectable(['spec.clusterIP', 'spec.type']),
  },
  persistentvolumes: { firstStatus: { phase: 'Pending' } },
  persistentvolumeclaims: { isChecked: true, firstStatus: { phase: 'Pending' } },
  replicationcontrollers: {
    hasGeneration: true,
    fields: selectable([{ path: 'status.replicas', missing: '0' }]),
  },
  events: {
    fields: selectable([
      'involvedObject.kind',
      'involvedObject.namespace',
      'involvedObject.name',
      'involvedObject.uid',
      'involvedObject.apiVersion',
      'involvedObject.resourceVersion',
      'involvedObject.fieldPath',
      'reason',
      'reportingComponent',
      { path: 'source', from: 'source.component' },
      'type',
    ]),
  },
  'deployments.apps': { isChecked: true, hasGeneration: true },
  'replicasets.apps': { isChecked: true, hasGeneration: true },
  'statefulsets.apps': { isChecked: true, hasGeneration: true },
  'daemonsets.apps': { isChecked: true, hasGeneration: true },
  'cronjobs.batch': { isChecked: true, hasGeneration: true },
  'jobs.batch': {
    isChecked: true,
    hasGeneration: true,
    fields: selectable(
      [{ path: 'status.successful', from: 'status.succeeded', missing: '0' }],
      (path) => `field label "${path}" not supported for Job`,
    ),
  },
  'ingresses.networking.k8s.io': { isChecked: true, hasGeneration: true },
  'ingressclasses.networking.k8s.io': { hasGeneration: true },
  'networkpolicies.networking.k8s.io': { hasGeneration: true },
  'endpointslices.discovery.k8s.io': { hasGeneration: true },
  'horizontalpodautoscalers.autoscaling': { isChecked: true },
  'poddisruptionbudgets.policy': { isChecked: true, hasGeneration: true },
  'roles.rbac.authorization.k8s.io': { isChecked: true },
  'clusterroles.rbac.authorization.k8s.io': { isChecked: true },
  'rolebindings.rbac.authorization.k8s.io': { isChecked: true },
  'clusterrolebindings.rbac.authorization.k8s.io': { isChecked: true },
  'leases.coordination.k8s.io': { isChecked: true },
  'customresourcedefinitions.apiextensions.k8s.io': {
    hasGeneration: true,
    isShownWhenDeleted: true,
  },
  'certificatesigningrequests.certificates.k8s.io': { fields: selectable(['spec.signerName']) },
  'flowschemas.flowcontrol.apiserver.k8s.io': { hasGeneration: true },
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': { hasGeneration: true },
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': { hasGeneration: true },
  'validatingwebhookconfigurations.admissionregistration.k8s.io': { hasGeneration: true },
  'mutatingadmissionpolicies.admissionregistration.k8s.io': { hasGeneration: true },
  'validatingadmissionpolicies.admissionregistration.k8s.io': { hasGeneration: true },
  'deviceclasses.resource.k8s.io': { hasGeneration: true },
  'resourceslices.resource.k8s.io': {
    hasGeneration: true,
    fields: selectable(
      ['spec.nodeName', 'spec.driver'],
      (path) => `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${path}`,
    ),
  },
}

const usual: KindTraits = {
  isChecked: false,
  hasGeneration: false,
  firstStatus: {},
  isShownWhenDeleted: false,
  fields: selectable([], onlyMetadata),
}

export const kindTraits = (groupResource: string): KindTraits => ({
  ...usual,
  ...traits[groupResource],
})

/** The fields that a definition of a custom kind makes selectable. */
export const customSelectableFields = (paths: readonly string[]): SelectableFields =>
  selectable(paths, onlyMetadata)

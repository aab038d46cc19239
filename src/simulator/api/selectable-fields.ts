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

/** By `resource.group`. Source: kube-apiserver's field label conversions and `MatchX` functions. */
const declared: Readonly<Record<string, SelectableFields>> = {
  pods: selectable([
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    { path: 'spec.hostNetwork', missing: 'false' },
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ]),
  nodes: selectable([{ path: 'spec.unschedulable', missing: 'false' }]),
  namespaces: selectable(['status.phase']),
  secrets: selectable(['type']),
  services: selectable(['spec.clusterIP', 'spec.type']),
  events: selectable([
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
  replicationcontrollers: selectable([{ path: 'status.replicas', missing: '0' }]),
  'jobs.batch': selectable(
    [{ path: 'status.successful', from: 'status.succeeded', missing: '0' }],
    (path) => `field label "${path}" not supported for Job`,
  ),
  'certificatesigningrequests.certificates.k8s.io': selectable(['spec.signerName']),
  'resourceslices.resource.k8s.io': selectable(
    ['spec.nodeName', 'spec.driver'],
    (path) => `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${path}`,
  ),
}

const none = selectable([], onlyMetadata)

export function selectableFields(groupResource: string): SelectableFields {
  return declared[groupResource] ?? none
}

export function customSelectableFields(paths: readonly string[]): SelectableFields {
  return selectable(paths, onlyMetadata)
}

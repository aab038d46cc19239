/*
 * What a resource is: how it is stored, how one version of its group serves it, and where its kind differs from most
 * (selectable fields, generation, first status). Versions of a kind share one store; `convert` leads from one to
 * another.
 */

import { apiVersionOf, groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import type { DeclaredColumn } from '../../kubernetes/printing/custom-columns.ts'
import { valueAt } from './json.ts'
import type { DiscoveredResource, Schema } from './captured-api.ts'
import type { Found } from './status-refusal.ts'

export interface ObjectRules {
  /** Fills in defaults and drops unknown fields. Adds the paths of dropped fields to `unknown`. */
  readonly settle: (object: Unstructured, unknown: string[]) => Unstructured
  /** The problems of an object, or of its status alone. Values that an update leaves unchanged have none. */
  readonly problems: (
    object: Unstructured,
    previous: Unstructured | undefined,
    part: 'object' | 'status',
  ) => Found
}

/** Dotted paths of the values of the scale subresource. */
export interface ScalePaths {
  readonly specReplicas: string
  readonly statusReplicas: string
  /** The path of a label selector, a text or an object; `undefined` if the kind has none. */
  readonly selector: string | undefined
}

export interface PrinterColumn extends Required<DeclaredColumn> {
  readonly description: string
}

interface NamedResource {
  readonly group: string
  readonly resource: string
  readonly kind: string
  readonly apiVersion: string
  readonly namespaced: boolean
}

/** How a resource is stored, in the form of one version. All versions that serve the resource share one. */
export interface StoredResource extends NamedResource, KindTraits {
  /** `pods`, `deployments.apps`: the key of its store. */
  readonly groupResource: string
  /** Whether the status is a subresource. Writes to the object itself leave the status unchanged. */
  readonly hasStatusSubresource: boolean
  readonly custom: boolean
  /** Converts an object of any version to another version of the kind. */
  readonly convert: (object: Unstructured, apiVersion: string) => Unstructured
}

/** A resource as one version of its group serves it. */
export interface ServedResource extends NamedResource {
  readonly version: string
  readonly verbs: ReadonlySet<string>
  readonly subresources: ReadonlyMap<string, ReadonlySet<string>>
  readonly stored: StoredResource
  readonly rules: ObjectRules | undefined
  /** The structural schema of a custom kind. */
  readonly schema: Schema | undefined
  readonly scale: ScalePaths | undefined
  /** The columns of its tables after the name; `undefined` for the age alone. */
  readonly columns: readonly PrinterColumn[] | undefined
  /** The warning in each answer; `undefined` for versions that are not deprecated. */
  readonly deprecation: string | undefined
}

/** Resources that two groups serve from one store, by their second name. */
const sharedStores: Readonly<
  Record<string, { readonly group: string; readonly apiVersion: string }>
> = {
  'events.events.k8s.io': { group: '', apiVersion: 'v1' },
}

/** Deprecation warnings, by group, version and resource. */
const deprecations: Readonly<Record<string, string>> = {
  '/v1/componentstatuses': 'v1 ComponentStatus is deprecated in v1.19+',
  '/v1/endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
}

/** All scalable built-in kinds keep their numbers at these paths. */
const builtInScale: ScalePaths = {
  specReplicas: 'spec.replicas',
  statusReplicas: 'status.replicas',
  selector: 'spec.selector',
}

/** The resources that discovery lists for one group and version. `preferred` is the version that the group stores. */
export function servedResources(
  list: readonly DiscoveredResource[],
  group: string,
  version: string,
  preferred: string,
): ServedResource[] {
  const apiVersion = apiVersionOf({ group, version })
  const own = list.filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'))
  return own.map(({ name: resource, kind, namespaced, verbs }) => {
    const parts = list.filter(({ name }) => name.startsWith(`${resource}/`))
    const subresources = new Map(
      parts.map((part) => [part.name.slice(resource.length + 1), new Set(part.verbs)]),
    )
    const shared = sharedStores[groupResourceOf({ group, resource })]
    const held = shared ?? { group, apiVersion: apiVersionOf({ group, version: preferred }) }
    const groupResource = groupResourceOf({ group: held.group, resource })
    const named = { group, resource, kind, apiVersion, namespaced }
    return {
      ...named,
      version,
      verbs: new Set(verbs),
      subresources,
      stored: {
        ...named,
        ...held,
        groupResource,
        ...kindTraits(groupResource),
        hasStatusSubresource: subresources.has('status'),
        custom: false,
        convert: converted,
      },
      rules: undefined,
      schema: undefined,
      scale: subresources.has('scale') ? builtInScale : undefined,
      columns: undefined,
      deprecation: deprecations[`${group}/${version}/${resource}`],
    }
  })
}

type Fields = Record<string, unknown>

/** The names of Event fields: in the core group, and in `events.k8s.io/v1`. */
const eventFields: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]

function renamed(object: Unstructured, names: ReadonlyMap<string, string>): Fields {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]),
  )
}

const toEvents = new Map(eventFields)
const toCore = new Map(eventFields.map(([core, events]) => [events, core]))

/** By `kind from to`. */
const conversions: Readonly<Record<string, (object: Unstructured) => Fields>> = {
  'Event v1 events.k8s.io/v1': (event) => renamed(event, toEvents),
  'Event events.k8s.io/v1 v1': (event) => renamed(event, toCore),
  // `autoscaling/v1` has one metric, the utilization of the CPU. Drops the others.
  'HorizontalPodAutoscaler autoscaling/v2 autoscaling/v1': ({ spec, ...object }) => {
    const { metrics = [], behavior: _, ...rest } = (spec ?? {}) as Fields & { metrics?: Fields[] }
    const cpu = metrics.find((metric) => valueAt(metric, 'resource.name') === 'cpu')
    const utilization = valueAt(cpu, 'resource.target.averageUtilization')
    const target = utilization === undefined ? {} : { targetCPUUtilizationPercentage: utilization }
    return { ...object, spec: { ...rest, ...target } }
  },
  'HorizontalPodAutoscaler autoscaling/v1 autoscaling/v2': ({ spec, ...object }) => {
    const { targetCPUUtilizationPercentage: averageUtilization, ...rest } = (spec ?? {}) as Fields
    if (averageUtilization === undefined) return { ...object, spec: rest }
    const target = { type: 'Utilization', averageUtilization }
    const metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }]
    return { ...object, spec: { ...rest, metrics } }
  },
}

/**
 * An object in another version of its kind. Kinds without a conversion change their `apiVersion` only, as custom
 * resources without a webhook do.
 */
function converted(object: Unstructured, apiVersion: string): Unstructured {
  if (object.apiVersion === apiVersion) return object
  const convert = conversions[`${object.kind} ${object.apiVersion} ${apiVersion}`]
  return { ...(convert?.(object) ?? object), apiVersion } as Unstructured
}

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
    return (object: Unstructured): string => {
      const value = valueAt(object, keys)
      if (typeof value === 'string') return value
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : missing
    }
  })
  return {
    paths: fields.map(({ path }) => path),
    valuesOf: (object) => readers.map((read) => read(object)),
    unsupported,
  }
}

/** What the registry of a kube-apiserver does otherwise for one built-in kind than for most. */
interface KindTraits {
  /** Whether writes are checked beyond their metadata: kinds that have been compared with a real server. */
  readonly isChecked: boolean
  /** Whether `metadata.generation` counts changes of the desired state. */
  readonly hasGeneration: boolean
  /** The status of new objects, in place of their creator's. Go writes required numbers and flags that are zero. */
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
    firstStatus: { replicas: 0 },
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
  'replicasets.apps': { isChecked: true, hasGeneration: true, firstStatus: { replicas: 0 } },
  'statefulsets.apps': { isChecked: true, hasGeneration: true, firstStatus: { replicas: 0 } },
  'daemonsets.apps': {
    isChecked: true,
    hasGeneration: true,
    firstStatus: {
      currentNumberScheduled: 0,
      desiredNumberScheduled: 0,
      numberMisscheduled: 0,
      numberReady: 0,
    },
  },
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
  'horizontalpodautoscalers.autoscaling': { isChecked: true, firstStatus: { desiredReplicas: 0 } },
  'poddisruptionbudgets.policy': {
    isChecked: true,
    hasGeneration: true,
    firstStatus: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  },
  'volumeattachments.storage.k8s.io': { firstStatus: { attached: false } },
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

const kindTraits = (groupResource: string): KindTraits => ({
  ...usual,
  ...traits[groupResource],
})

/** The fields that a definition of a custom kind makes selectable. */
export const customSelectableFields = (paths: readonly string[]): SelectableFields =>
  selectable(paths, onlyMetadata)

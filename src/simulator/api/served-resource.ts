import type { Unstructured } from '../../kubernetes/object.ts'
import { apiVersionOf, groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { ApiResourceList, DiscoveredResource, Schema } from './captured-api.ts'
import { converted } from './object-conversion.ts'
import type { FieldProblem } from './field-problem.ts'
import { type SelectableFields, selectableFields } from './selectable-fields.ts'

/** What a kind makes of its objects, beyond what is the same for all. */
export interface ObjectRules {
  /** The object with its defaults, without the fields that its kind does not have; `unknown` takes their paths. */
  readonly settle: (object: Unstructured, unknown: string[]) => Unstructured
  /** What is wrong with an object, or with its status alone; what an update leaves as it was is let pass. */
  readonly problems: (
    object: Unstructured,
    previous: Unstructured | undefined,
    part: 'object' | 'status',
  ) => readonly FieldProblem[]
}

/** Where the numbers of the scale subresource stand in an object; dotted paths. */
export interface ScalePaths {
  readonly specReplicas: string
  readonly statusReplicas: string
  /** A label selector, as text or as an object; `undefined` where there is none. */
  readonly selector: string | undefined
}

/** A column of a table of objects, by the path of its values. */
export interface PrinterColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
  readonly jsonPath: string
}

/** How the objects of a resource are stored; the versions that serve it share them. */
export interface StoredResource {
  readonly group: string
  readonly resource: string
  /** `pods`, `deployments.apps`: the key of its store. */
  readonly groupResource: string
  readonly kind: string
  /** The version in which objects are held. */
  readonly apiVersion: string
  readonly namespaced: boolean
  readonly fields: SelectableFields
  /** Whether `metadata.generation` counts the changes of the desired state. */
  readonly counted: boolean
  /** Whether the status is a subresource, which a write to the object itself leaves alone. */
  readonly statusApart: boolean
  readonly custom: boolean
  /** An object of any version as another version of the kind has it. */
  readonly convert: (object: Unstructured, apiVersion: string) => Unstructured
}

/** A resource as one version of its group serves it. */
export interface ServedResource {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly apiVersion: string
  readonly namespaced: boolean
  readonly verbs: ReadonlySet<string>
  /** The verbs of each subresource. */
  readonly subresources: ReadonlyMap<string, ReadonlySet<string>>
  readonly stored: StoredResource
  readonly rules: ObjectRules | undefined
  /** The structural schema of a custom kind. */
  readonly schema: Schema | undefined
  readonly scale: ScalePaths | undefined
  /** The columns of its tables beside the name; `undefined`: the age alone. */
  readonly columns: readonly PrinterColumn[] | undefined
  /** What every request is warned of; `undefined` for versions that stay. */
  readonly deprecation: string | undefined
}

/** Resources that keep a `metadata.generation`, by kube-apiserver's strategies. */
const countedResources = new Set([
  'pods',
  'replicationcontrollers',
  'daemonsets.apps',
  'deployments.apps',
  'replicasets.apps',
  'statefulsets.apps',
  'cronjobs.batch',
  'jobs.batch',
  'ingresses.networking.k8s.io',
  'ingressclasses.networking.k8s.io',
  'networkpolicies.networking.k8s.io',
  'poddisruptionbudgets.policy',
  'customresourcedefinitions.apiextensions.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'mutatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'deviceclasses.resource.k8s.io',
  'resourceslices.resource.k8s.io',
  'endpointslices.discovery.k8s.io',
])

/** Resources that two groups serve from one store: the second name and the first. */
const sharedStores: Readonly<
  Record<string, { readonly group: string; readonly apiVersion: string }>
> = {
  'events.events.k8s.io': { group: '', apiVersion: 'v1' },
}

/** What a kube-apiserver warns of, by group, version and resource. */
const deprecations: Readonly<Record<string, string>> = {
  '/v1/componentstatuses': 'v1 ComponentStatus is deprecated in v1.19+',
  '/v1/endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
}

/** All that are scaled keep their numbers in the same places. */
const builtInScale: ScalePaths = {
  specReplicas: 'spec.replicas',
  statusReplicas: 'status.replicas',
  selector: 'spec.selector',
}

/** The built-in resources of one group and version. `preferred` is the version of the group in which they are stored. */
export function builtInResources(
  list: ApiResourceList,
  group: string,
  version: string,
  preferred: string,
): ServedResource[] {
  return list.resources
    .filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'))
    .map((resource) => {
      const parts = list.resources.filter(({ name }) => name.startsWith(`${resource.name}/`))
      return builtInResource(resource, parts, { group, version, preferred })
    })
}

function builtInResource(
  { name, kind, namespaced, verbs }: DiscoveredResource,
  parts: readonly DiscoveredResource[],
  at: { readonly group: string; readonly version: string; readonly preferred: string },
): ServedResource {
  const { group, version } = at
  const shared = sharedStores[groupResourceOf({ group, resource: name })]
  const storedGroup = shared?.group ?? group
  const groupResource = groupResourceOf({ group: storedGroup, resource: name })
  const subresources = new Map(
    parts.map((part) => [part.name.slice(name.length + 1), new Set(part.verbs)]),
  )
  return {
    group,
    version,
    resource: name,
    kind,
    apiVersion: apiVersionOf({ group, version }),
    namespaced,
    verbs: new Set(verbs),
    subresources,
    stored: {
      group: storedGroup,
      resource: name,
      groupResource,
      kind,
      apiVersion: shared?.apiVersion ?? apiVersionOf({ group, version: at.preferred }),
      namespaced,
      fields: selectableFields(groupResource),
      counted: countedResources.has(groupResource),
      statusApart: subresources.has('status'),
      custom: false,
      convert: converted,
    },
    rules: undefined,
    schema: undefined,
    scale: subresources.has('scale') ? builtInScale : undefined,
    columns: undefined,
    deprecation: deprecations[`${group}/${version}/${name}`],
  }
}

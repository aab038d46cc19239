import { ownerOfBareKind } from './bare-kinds.ts'
import { graphqlNameOf } from './field-name.ts'
import { capitalised, pascalCaseOfDnsName } from './letter-case.ts'

/** The name of an OpenAPI definition, taken apart: `io.k8s.api.apps.v1.DeploymentSpec`. */
export interface DefinitionName {
  /** `apps`: the Go package, which for Kubernetes is the first label of the API group. */
  readonly label: string
  /** `v1`; `''` where there is none. */
  readonly version: string
  /** `DeploymentSpec`. */
  readonly name: string
  /** Whether Kubernetes itself defines it. */
  readonly builtIn: boolean
}

const builtInPackages = [
  'io.k8s.api.',
  'io.k8s.apimachinery.',
  'io.k8s.apiextensions-apiserver.',
  'io.k8s.kube-aggregator.',
]

/** Takes the name of an OpenAPI definition apart. */
export function splitDefinitionName(definition: string): DefinitionName {
  const parts = definition.split('.')
  const name = parts.pop() ?? ''
  const last = parts.pop() ?? ''
  const versioned = /^v\d+(?:(?:alpha|beta)\d+)?$/.test(last)
  return {
    label: versioned ? (parts.pop() ?? '') : last,
    version: versioned ? last : '',
    name,
    builtIn: builtInPackages.some((prefix) => definition.startsWith(prefix)),
  }
}

/**
 * Who keeps the bare name where definitions of two groups have the same: held here, so that a cluster that lacks one of
 * the groups has the same names. The order is core, apps, batch, then alphabetical, but for `Subject`: it is RBAC's.
 */
const bareOwners: ReadonlyMap<string, string> = new Map([
  ['EndpointPort', 'core'],
  ['EventSeries', 'core'],
  ['ServiceReference', 'admissionregistration'],
  ['Subject', 'rbac'],
  ['WebhookClientConfig', 'admissionregistration'],
])

const first = ['core', 'apps', 'batch']

/** Orders groups by who may keep a bare name: core, apps, batch, then alphabetical. */
export function compareGroupLabels(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || (a === b ? 0 : a < b ? -1 : 1)
}

function rankOf(label: string): number {
  const rank = first.indexOf(label)
  return rank < 0 ? first.length : rank
}

/**
 * The name of a nested type whose group has bare kinds: the OpenAPI name, with the first label of the group before it
 * where a kind, or a group that comes first, has the name (`FlowcontrolSubject`). `rivals` are the labels of all groups
 * with a definition of the name; they matter only for names that came after the pinned version of Kubernetes.
 */
export function nestedTypeName(label: string, name: string, rivals: Iterable<string>): string {
  const owner =
    ownerOfBareKind(name) === undefined
      ? (bareOwners.get(name) ?? [label, ...rivals].toSorted(compareGroupLabels)[0])
      : undefined
  const plain = graphqlNameOf(capitalised(name))
  return owner === label ? plain : `${graphqlNameOf(pascalCaseOfDnsName(label))}${plain}`
}

/** The name of a nested type by its path, for schemas without a name of their own (CRDs): parent and property. */
export function nestedTypeNameByPath(parent: string, property: string): string {
  const name = graphqlNameOf(capitalised(property))
  return `${parent}${name}`
}

/*
 * The names of nested types, which come from the definitions of OpenAPI. Kinds keep their bare names; a nested type whose
 * name a kind, or a group of higher precedence, already has begins with the first label of its group. The rules use fixed
 * lists, so that a name does not depend on what a cluster has installed.
 */

import { ownerOfBareKind } from './bare-kinds.ts'
import { graphqlNameOf } from './kind-name.ts'
import { capitalised, pascalCaseOfDnsName } from '../../lib/letter-case.ts'

/** The parts of an OpenAPI definition's name: `io.k8s.api.apps.v1.DeploymentSpec`. */
export interface DefinitionName {
  /** `apps`: the Go package, which for Kubernetes is the first label of the API group. */
  readonly label: string
  /** `v1`; `''` if the name has no version. */
  readonly version: string
  /** `DeploymentSpec`. */
  readonly name: string
  /** Whether Kubernetes itself publishes the definition. */
  readonly builtIn: boolean
}

const builtInPackages = [
  'io.k8s.api.',
  'io.k8s.apimachinery.',
  'io.k8s.apiextensions-apiserver.',
  'io.k8s.kube-aggregator.',
]

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
 * The groups that keep the bare name among definitions of the same name. The list is fixed, so that a cluster without
 * one of the groups has the same names. The order is core, apps, batch, then alphabetical; `Subject` is the exception.
 */
const bareOwners: ReadonlyMap<string, string> = new Map([
  ['EndpointPort', 'core'],
  ['EventSeries', 'core'],
  ['ServiceReference', 'admissionregistration'],
  ['Subject', 'rbac'],
  ['WebhookClientConfig', 'admissionregistration'],
])

const first = ['core', 'apps', 'batch']

/** Orders groups by precedence for a bare name: core, apps, batch, then alphabetical. */
export function compareGroupLabels(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || (a === b ? 0 : a < b ? -1 : 1)
}

function rankOf(label: string): number {
  const rank = first.indexOf(label)
  return rank < 0 ? first.length : rank
}

/**
 * The name of a nested type whose group has bare kinds: the OpenAPI name. The first label of the group precedes it if a
 * kind or a group of higher precedence has the name (`FlowcontrolSubject`). `rivals` are the labels of all groups with a
 * definition of the name; they decide only about names that are newer than the pinned version of Kubernetes.
 */
export function nestedTypeName(label: string, name: string, rivals: Iterable<string>): string {
  const owner =
    ownerOfBareKind(name) === undefined
      ? (bareOwners.get(name) ?? [label, ...rivals].toSorted(compareGroupLabels)[0])
      : undefined
  const plain = graphqlNameOf(capitalised(name))
  return owner === label ? plain : `${graphqlNameOf(pascalCaseOfDnsName(label))}${plain}`
}

/** The name of a nested type whose schema has no name, as in CRDs: the parent type's name and the property's. */
export function nestedTypeNameByPath(parent: string, property: string): string {
  return `${parent}${graphqlNameOf(capitalised(property))}`
}

/*
 * The resources of an API server, as discovery describes them, and the texts that follow from one: the `apiVersion` of its
 * objects, its name without the version, its URL paths.
 */

import { isRecord } from '../lib/json.ts'
import { InvalidOptionError } from '../lib/options.ts'
import type { KubernetesObject } from './object.ts'

/**
 * One resource of a group and version, as discovery describes it. Written by hand, the first five members are enough.
 */
export interface ApiResource {
  /** `''` for the core group. */
  readonly group: string
  readonly version: string
  /** The plural in the path, `pods`. Never contains a slash: subresources are in {@link subresources}. */
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  /** As in discovery, `pod`; may be `''`. */
  readonly singular?: string
  /** `get`, `list`, `watch`, `create`, … */
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  /** `status`, `scale`, `log`, … */
  readonly subresources?: readonly string[]
}

declare const objects: unique symbol

/**
 * A resource with the type of its objects, which only the compiler sees: informers and clients infer it. Any {@link
 * ApiResource} is one.
 */
export interface Resource<T extends KubernetesObject = KubernetesObject> extends ApiResource {
  readonly [objects]?: T
}

/** Throws `InvalidOptionError` unless the value is an {@link ApiResource}. */
export function requireResource(option: string, value: unknown): void {
  const { group, version, resource, kind, namespaced }: Record<string, unknown> = isRecord(value)
    ? value
    : {}
  const texts = [version, resource, kind]
  const isNamed =
    typeof group === 'string' && texts.every((one) => typeof one === 'string' && one !== '')
  if (isNamed && typeof namespaced === 'boolean') return
  throw new InvalidOptionError(
    option,
    value,
    'one of `resources`, such as resources.pods, or { group, version, resource, kind, namespaced }',
  )
}

/** The value of an object's `apiVersion`: `v1`, `apps/v1`. */
export function apiVersionOf(resource: Pick<ApiResource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
}

export function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** The resource's name without its version, as kubectl and RBAC write it: `pods`, `deployments.apps`. */
export function groupResourceOf(resource: Pick<ApiResource, 'group' | 'resource'>): string {
  return resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
}

/** The resource's name with its version: `v1/pods`, `apps/v1/deployments`. */
export function versionedResourceOf(
  resource: Pick<ApiResource, 'group' | 'version' | 'resource'>,
): string {
  return `${apiVersionOf(resource)}/${resource.resource}`
}

/** The URL path of a group and version: `/api/v1`, `/apis/apps/v1`. */
export function groupVersionPath(resource: Pick<ApiResource, 'group' | 'version'>): string {
  const version = encodeURIComponent(resource.version)
  return resource.group === ''
    ? `/api/${version}`
    : `/apis/${encodeURIComponent(resource.group)}/${version}`
}

/** The URL path of a collection, or of an object if `name` is given. */
export function resourcePath(
  resource: Pick<ApiResource, 'group' | 'version' | 'resource' | 'namespaced'>,
  at: { readonly namespace?: string; readonly name?: string } = {},
): string {
  const scope =
    resource.namespaced && at.namespace !== undefined && at.namespace !== ''
      ? `/namespaces/${encodeURIComponent(at.namespace)}`
      : ''
  const object = at.name === undefined ? '' : `/${encodeURIComponent(at.name)}`
  return `${groupVersionPath(resource)}${scope}/${resource.resource}${object}`
}

/** Whether both have the same group, version, resource and kind. */
export function isSameResource(one: ApiResource, other: ApiResource): boolean {
  return (
    one.group === other.group &&
    one.version === other.version &&
    one.resource === other.resource &&
    one.kind === other.kind
  )
}

/**
 * The groups that kube-apiserver itself serves, in any version and behind any feature gate. Fixed, because names in the
 * schema depend on it.
 */
const builtInGroups: ReadonlySet<string> = new Set([
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'extensions',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
  'storagemigration.k8s.io',
])

export function isBuiltInGroup(group: string): boolean {
  return builtInGroups.has(group)
}

import { isRecord } from '../lib/json.ts'
import { InvalidOptionError } from '../lib/options.ts'
import type { KubernetesObject } from './object.ts'

/** One resource of one group and version, as discovery describes it; by hand, the first five members are enough. */
export interface ApiResource {
  /** `''` for the core group. */
  readonly group: string
  readonly version: string
  /** The plural of the path, `pods`. Never contains a slash: subresources are in {@link subresources}. */
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  /** As discovery says it, `pod`; may be `''`. */
  readonly singular?: string
  /** `get`, `list`, `watch`, `create`, … */
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  /** `status`, `scale`, `log`, … */
  readonly subresources?: readonly string[]
}

declare const objects: unique symbol

/**
 * A resource that knows the type of its objects, for the compiler alone: informers and clients made from it need not be
 * told. Any {@link ApiResource} can stand where one is asked for.
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

/** `v1`, `apps/v1`: what stands in an object's `apiVersion`. */
export function apiVersionOf(resource: Pick<ApiResource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
}

/** The two parts of an `apiVersion`. */
export function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** `pods`, `deployments.apps`: the resource's name without its version, as kubectl and RBAC write it. */
export function groupResourceOf(resource: Pick<ApiResource, 'group' | 'resource'>): string {
  return resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
}

/** The URL path of a group and version: `/api/v1`, `/apis/apps/v1`. */
export function groupVersionPath(resource: Pick<ApiResource, 'group' | 'version'>): string {
  return resource.group === ''
    ? `/api/${resource.version}`
    : `/apis/${resource.group}/${resource.version}`
}

/** The URL path of a collection, or of one object when `name` is given. */
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

/** Whether both name the same group, version and resource, of the same kind. */
export function isSameResource(one: ApiResource, other: ApiResource): boolean {
  return (
    one.group === other.group &&
    one.version === other.version &&
    one.resource === other.resource &&
    one.kind === other.kind
  )
}

import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { PolicyRule } from '../../kubernetes/wire/rbac-v1.ts'
import { detailsOf, Refusal } from '../api/status-refusal.ts'
import type { Identity, SimulatorUser } from './authentication.ts'

export interface ResourceAttributes {
  readonly kind: 'resource'
  readonly verb: string
  /** `''` for the core group. */
  readonly group: string
  readonly resource: string
  /** `''` for the object itself. */
  readonly subresource: string
  /** `''` for cluster-scoped resources, and for all namespaces. */
  readonly namespace: string
  /** `''` for a collection. */
  readonly name: string
}

/** A request for resources, or for a path outside of resources. */
export type AccessAttributes =
  | ResourceAttributes
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }

export interface Decision {
  readonly allowed: boolean
  /** `''` for no reason. */
  readonly reason: string
}

export interface Authorizer {
  decide(identity: Identity, attributes: AccessAttributes): Decision
  /** The rules of a user in a namespace. */
  rules(identity: Identity, namespace: string): readonly PolicyRule[]
}

export const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** Allows everything except the resources in a user's `denied`. */
export function denyingAuthorizer(users: readonly SimulatorUser[]): Authorizer {
  const denied = new Map(users.map(({ user, denied: resources = [] }) => [user, resources]))
  return {
    decide: ({ name }, attributes) => ({
      allowed:
        attributes.kind === 'path' ||
        denied.get(name)?.includes(groupResourceOf(attributes)) !== true,
      reason: '',
    }),
    rules: () => everything,
  }
}

/** A 403 in the words of a kube-apiserver. */
export function forbidden(
  { name: user }: Identity,
  attributes: AccessAttributes,
  reason: string,
): Refusal {
  const because = reason === '' ? '' : `: ${reason}`
  const { verb } = attributes
  if (attributes.kind === 'path') {
    const message = `forbidden: User ${JSON.stringify(user)} cannot ${verb} path ${JSON.stringify(attributes.path)}${because}`
    return new Refusal(403, message, { details: {} })
  }
  const { group, resource, subresource, namespace, name } = attributes
  const groupResource = groupResourceOf(attributes)
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const subject = name === '' ? groupResource : `${groupResource} "${name}"`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const message = `${subject} is forbidden: User "${user}" cannot ${verb} resource "${what}" in API group "${group}" ${where}${because}`
  return new Refusal(403, message, {
    details: detailsOf(attributes),
  })
}

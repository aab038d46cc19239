import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { type GroupAliases, prefixOfGroup } from './api-groups.ts'
import { graphqlNameOf } from './field-name.ts'
import { capitalised, lowerCamelCase } from './letter-case.ts'
import { unreservedRootField, unreservedTypeName } from './reserved-names.ts'

/** The names of one kind in the schema. */
export interface KindNames {
  /** `Pod`, `StableExampleComWidget`. */
  readonly typeName: string
  /** The root field that lists: `pods`, `endpointsList`. */
  readonly listField: string
  /** The root field that looks up one object: `pod`, `endpoints`. */
  readonly lookupField: string
}

/** The names of a kind. They depend on its group, kind, resource name and the configured aliases only. */
export function namesOfKind(
  resource: Pick<ApiResource, 'group' | 'kind' | 'resource'>,
  aliases: GroupAliases = {},
): KindNames {
  const kind = capitalised(graphqlNameOf(resource.kind))
  const plainName = `${prefixOfGroup(resource.group, aliases)}${kind}`
  const typeName = unreservedTypeName(plainName)
  const reserved = typeName.slice(plainName.length)
  const singular = lowerCamelCase(plainName)
  const plural = pluralOf(singular, resource.kind, resource.resource)
  return {
    typeName,
    listField: unreservedRootField(`${plural === singular ? `${plural}List` : plural}${reserved}`),
    lookupField: unreservedRootField(`${singular}${reserved}`),
  }
}

/** How the ending of a kind changes in the name of its resource; longer endings come first. */
const endings: readonly (readonly [kind: string, resource: string])[] = [
  ['ex', 'ices'],
  ['ix', 'ices'],
  ['fe', 'ves'],
  ['is', 'es'],
  ['us', 'i'],
  ['um', 'a'],
  ['on', 'a'],
  ['f', 'ves'],
  ['y', 'ies'],
  ['a', 'ae'],
  ['', 'es'],
  ['', 's'],
  ['', ''],
]

/**
 * The plural of a field name, formed as the API forms the resource name from the kind: `networkPolicy` of NetworkPolicy
 * and `networkpolicies` becomes `networkPolicies`. If the resource name is not formed from the kind (`pods` of
 * PodMetrics), it appends `s` unless the name ends in one. Singular and plural may coincide.
 */
export function pluralOf(fieldName: string, kind: string, resource: string): string {
  const singular = kind.toLowerCase()
  const ending = endings.find(
    ([from, to]) =>
      singular.endsWith(from) &&
      `${singular.slice(0, singular.length - from.length)}${to}` === resource,
  )
  if (ending === undefined) return fieldName.endsWith('s') ? fieldName : `${fieldName}s`
  const [from, to] = ending
  return `${fieldName.slice(0, fieldName.length - from.length)}${to}`
}

import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { pluralOf } from '../../kubernetes/plural-name.ts'
import { type GroupAliases, prefixOfGroup } from './api-groups.ts'
import { graphqlNameOf } from './field-name.ts'
import { capitalised, lowerCamelCase } from '../../lib/letter-case.ts'
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

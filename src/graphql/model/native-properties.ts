import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { graphqlNameOf } from '../naming/field-name.ts'
import type { Definitions } from './definitions.ts'
import type { Kind } from './kind.ts'

/** Fields that every kind has. An API's own top-level fields of these names are reached by `json`. */
const injected: ReadonlySet<string> = new Set([
  'id',
  'clusterName',
  'cluster',
  'apiVersion',
  'kind',
  'metadata',
  'json',
  'health',
  'printerColumns',
  'can',
  'owners',
  'ownerChain',
  'rootOwner',
  'owned',
  'events',
])

/** Whether the gateway gives kinds a field of this name: all of them, or (`namespace`) the namespaced ones. */
export function isInjectedField(name: string, { namespaced }: ApiResource): boolean {
  return injected.has(name) || (namespaced && name === 'namespace')
}

/** The top-level properties of a kind that become fields, by their JSON names. */
export function nativePropertiesOf(
  kind: Pick<Kind, 'resource' | 'metadataOnly'>,
  definitions: Definitions,
): readonly string[] {
  if (kind.metadataOnly) return []
  return Object.keys(definitions.schemaOf(kind.resource)?.properties ?? {}).filter(
    (property) => !isInjectedField(graphqlNameOf(property), kind.resource),
  )
}

import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'
import { parsePath, type PathStep } from '../../query/index/path.ts'
import type { Definitions, DefinitionScope } from './definitions.ts'
import { objectMetaDefinition } from './fallback-definitions.ts'
import type { Kind } from './kind.ts'

/** What the API says of what stands at a path of its objects. */
export type SchemaAtPath =
  | { readonly form: 'described'; readonly schema: OpenApiSchema }
  /** There may be anything: the API describes it no further, or not at all. */
  | { readonly form: 'undescribed' }
  /** Nothing is ever there. */
  | { readonly form: 'absent' }

const undescribed: SchemaAtPath = { form: 'undescribed' }
const absent: SchemaAtPath = { form: 'absent' }

/** Follows a path through the schema of a kind. Throws `PathError`. */
export function schemaAtPath(
  kind: Pick<Kind, 'resource' | 'metadataOnly'>,
  path: string,
  definitions: Definitions,
): SchemaAtPath {
  const { steps } = parsePath(path)
  const [first, ...rest] = steps
  if (first?.form === 'field' && first.name === 'metadata') {
    const metadata = definitions.shared.find(objectMetaDefinition) ?? {}
    return follow(metadata, rest, definitions.shared)
  }
  if (kind.metadataOnly) return absent
  const schema = definitions.schemaOf(kind.resource)
  return schema === undefined
    ? undescribed
    : follow(schema, steps, definitions.scopeOf(kind.resource))
}

function follow(
  start: OpenApiSchema,
  steps: readonly PathStep[],
  scope: DefinitionScope,
): SchemaAtPath {
  let schema = start
  for (const step of steps) {
    const at = resolved(schema, scope)
    if (at === undefined || isOpen(at)) return undescribed
    const inner = step.form === 'field' ? memberOf(at, step.name) : itemsOf(at)
    if (inner === undefined) return absent
    schema = inner
  }
  return { form: 'described', schema }
}

function resolved(schema: OpenApiSchema, scope: DefinitionScope): OpenApiSchema | undefined {
  const definition = definitionNameOf(schema)
  return definition === undefined ? schema : scope.find(definition)
}

/** Whether it may hold more than it says. */
function isOpen({
  type,
  properties,
  additionalProperties,
  items,
  ...rest
}: OpenApiSchema): boolean {
  if (rest['x-kubernetes-preserve-unknown-fields'] === true) return true
  if (rest['x-kubernetes-embedded-resource'] === true) return true
  if (additionalProperties === true) return true
  if (type !== undefined && type !== 'object') return false
  return properties === undefined && additionalProperties === undefined && items === undefined
}

function memberOf(
  { properties, additionalProperties }: OpenApiSchema,
  name: string,
): OpenApiSchema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

function itemsOf({ items, additionalProperties }: OpenApiSchema): OpenApiSchema | undefined {
  return items ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
}

import { type ApiResource, apiVersionOf } from '../../kubernetes/api-resource.ts'
import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { isRecord } from '../../lib/json.ts'

/** Bounds of the schema of one kind with its definitions: a thousand times what most kinds have. */
export const schemaBounds = { properties: 20_000, depth: 100 } as const

/** A schema that cannot become types. Its kind is served with the common fields only. */
export class KindSchemaError extends CodedError {
  constructor(resource: ApiResource, path: string, problem: string, hint: string) {
    const what = `${resource.kind} of ${apiVersionOf(resource)}`
    const place = path === '' ? 'its schema' : `${path} of its schema`
    super('KIND_SCHEMA', `${what} has the common fields only: ${place} ${problem}`, {
      value: what,
      hint,
    })
  }
}

interface KnownDefinitions {
  find(definition: string): OpenApiSchema | undefined
}

interface Place {
  readonly schema: unknown
  readonly path: string
  readonly depth: number
}

/**
 * Why the schema of a kind cannot become types: a part is no schema, or there are more parts than the bounds allow;
 * `undefined` if it can. The walk does not recurse, so that depth costs no stack.
 */
export function schemaProblem(
  resource: ApiResource,
  start: OpenApiSchema,
  scope: KnownDefinitions,
): KindSchemaError | undefined {
  const seen = new Set<string>()
  const rest: Place[] = [{ schema: start, path: '', depth: 0 }]
  let properties = 0
  for (let place = rest.pop(); place !== undefined; place = rest.pop()) {
    const { schema, path, depth } = place
    const fail = (problem: string, hint = 'correct the schema of its CRD'): KindSchemaError =>
      new KindSchemaError(resource, path, problem, hint)
    if (!isRecord(schema)) return fail('is no schema')
    const malformed = malformedKeyword(schema)
    if (malformed !== undefined) return fail(`has a malformed \`${malformed}\``)
    if (depth > schemaBounds.depth) return fail(`is more than ${schemaBounds.depth} deep`)
    const inner = partsOf(place, schema)
    properties += inner.length
    if (properties > schemaBounds.properties) {
      const hint = 'exclude the kind, or fields of it, by the profile of the schema'
      return fail(`has more than ${schemaBounds.properties} parts`, hint)
    }
    for (const part of inner) rest.push(part)
    const definition = definitionNameOf(schema)
    if (definition === undefined || seen.has(definition)) continue
    seen.add(definition)
    const found = scope.find(definition)
    if (found !== undefined) rest.push({ schema: found, path: definition, depth: 0 })
  }
  return undefined
}

function malformedKeyword(schema: Readonly<Record<string, unknown>>): string | undefined {
  const { type, properties, additionalProperties, items, required, allOf } = schema
  if (!isAbsentOr(type, (value) => typeof value === 'string')) return 'type'
  if (!isAbsentOr(properties, isRecord)) return 'properties'
  if (!isAbsentOr(items, isRecord)) return 'items'
  if (!isAbsentOr(required, Array.isArray)) return 'required'
  if (!isAbsentOr(allOf, (value) => Array.isArray(value) && value.every(isRecord))) return 'allOf'
  if (typeof additionalProperties !== 'boolean' && !isAbsentOr(additionalProperties, isRecord)) {
    return 'additionalProperties'
  }
  return ['format', 'pattern', 'description', '$ref'].find(
    (keyword) => !isAbsentOr(schema[keyword], (value) => typeof value === 'string'),
  )
}

function partsOf(
  { path, depth }: Place,
  { properties, additionalProperties, items }: OpenApiSchema,
): readonly Place[] {
  const at = (schema: unknown, step: string): Place => ({
    schema,
    path: path === '' ? step : `${path}.${step}`,
    depth: depth + 1,
  })
  return [
    ...Object.entries(properties ?? {}).map(([name, schema]) => at(schema, name)),
    ...(items === undefined ? [] : [at(items, '[*]')]),
    ...(typeof additionalProperties === 'object' ? [at(additionalProperties, '[*]')] : []),
  ]
}

function isAbsentOr(value: unknown, test: (value: unknown) => boolean): boolean {
  return value === undefined || test(value)
}

/*
 * `kindFields`: what the OpenAPI documents of the clusters say about the fields of a kind, for editors of manifests. The
 * viewer sees it of kinds that the viewer may create or list. Each place is found by the steps of its path, so that a
 * schema that contains itself has no end, and an answer has the fields that were asked for only.
 */

import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import {
  definitionNameOf,
  hasProperties,
  type OpenApiSchema,
  scalarFormOf,
  type SchemaScalar,
} from '../../kubernetes/open-api.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import type { DefinitionScope } from '../model/definitions.ts'
import { clusterNamed } from '../prepare/kind-view.ts'
import { forbidden } from '../prepare/read-failures.ts'
import type { KindFieldsArguments, DescribedField } from '../schema/gateway-types.ts'
import { kindNamed } from '../served/named-kinds.ts'
import { canAnywhere } from './permissions.ts'
import type { ReadRun } from './read-run.ts'

/** The places of one question. */
const maxPaths = 100
/** A step to a place takes as long as so many tests. */
const testsPerStep = 10

/**
 * The fields at the places of a kind, in the order of the places; `undefined` while an access review is missing. Throws
 * `ArgumentError` for a kind that is not served, and `ClientError` FORBIDDEN.
 */
export function readKindFields(
  run: ReadRun,
  { apiVersion, kind: name, namespace, cluster: named, paths }: KindFieldsArguments,
): readonly DescribedField[] | undefined {
  const { served, limits, budget } = run
  if (paths.length > maxPaths) {
    const hint = 'ask for the rest in another field'
    throw new ArgumentError('paths', `more than ${maxPaths} places`, { value: paths.length, hint })
  }
  const cluster = clusterNamed(served, named)
  const { group, version } = splitApiVersion(apiVersion)
  const kind = kindNamed(served, { group, kind: name }, limits)
  const { typeName: type } = kind
  const rights = ['create', 'list'].map((verb) =>
    canAnywhere(run, { verb, type, namespace: namespace ?? null, cluster }),
  )
  if (!rights.includes(true)) {
    if (rights.includes(undefined)) return undefined
    throw forbidden({ cluster, kind }, 'create or list')
  }
  const { definitions } = served
  const resource = { ...kind.resource, version }
  const root = definitions.schemaOf(resource)
  if (root === undefined) return []
  const scope = definitions.scopeOf(resource)
  return [...new Set(paths)].flatMap((path) => {
    const steps = path.replaceAll('[*]', '.[*]').split('.')
    budget.spend('tests', testsPerStep * steps.length)
    const place = schemaAt(root, steps, scope)
    const fields = place === undefined ? [] : fieldsOf(place, path, scope)
    budget.spend('rows', 1 + fields.length)
    return fields
  })
}

/** The schema at a place; `undefined` if there is none. */
function schemaAt(
  root: OpenApiSchema,
  steps: readonly string[],
  scope: DefinitionScope,
): OpenApiSchema | undefined {
  let at: OpenApiSchema | undefined = root
  for (const step of steps) {
    if (step === '') continue
    const { properties, items, additionalProperties: values } = defined(at, scope)
    if (step !== '[*]') at = properties?.[step]
    else at = items ?? (typeof values === 'object' ? values : undefined)
    if (at === undefined) return undefined
  }
  return at
}

function fieldsOf(
  schema: OpenApiSchema,
  place: string,
  scope: DefinitionScope,
): readonly DescribedField[] {
  const { properties = {}, required } = defined(schema, scope)
  const needed = new Set(required)
  return Object.entries(properties).map(([name, property]) => {
    const whole = defined(property, scope)
    const values = (property.enum ?? whole.enum)?.filter((value) => typeof value === 'string')
    return {
      path: place === '' ? name : `${place}.${name}`,
      name,
      type: typeOf(property, scope),
      required: needed.has(name),
      values: values === undefined || values.length === 0 ? null : values,
      description: property.description ?? whole.description ?? null,
    }
  })
}

/** The definition that a schema refers to, or the schema itself. */
function defined(schema: OpenApiSchema, scope: DefinitionScope): OpenApiSchema {
  const definition = definitionNameOf(schema)
  return definition === undefined ? schema : (scope.find(definition) ?? {})
}

const scalars: Readonly<Record<SchemaScalar, string>> = {
  string: 'string',
  boolean: 'boolean',
  int: 'integer',
  int64: 'integer',
  float: 'number',
  dateTime: 'Time',
  quantity: 'Quantity',
  intOrString: 'IntOrString',
}

/** A type as `kubectl explain` writes it: `[]Object`. `any`: the schema leaves it open. */
function typeOf(schema: OpenApiSchema, scope: DefinitionScope): string {
  const form = scalarFormOf(schema)
  if (form !== undefined) return scalars[form]
  if (definitionNameOf(schema) !== undefined) return typeOf(defined(schema, scope), scope)
  const { type, items, additionalProperties: values } = schema
  if (type === 'array') return `[]${items === undefined ? 'any' : typeOf(items, scope)}`
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return 'any'
  if (hasProperties(schema)) return 'Object'
  return typeof values === 'object' ? `map[string]${typeOf(values, scope)}` : 'any'
}

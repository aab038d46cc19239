/*
 * The OpenAPI documents of the clusters as definitions that `$ref`s find. All documents share the definitions of
 * Kubernetes itself; the copies of aggregated servers are often older and are ignored. Every other definition is looked
 * up in the document that refers to it. The schema of a custom kind is checked once. A malformed or unbounded schema is
 * refused, and its kind has the common fields only.
 *
 * The APIs of several clusters are merged into one first (`mergedApis`). Each kind has the first version that all clusters
 * with the kind serve. Its schema has the properties of every cluster, and is open where their types differ.
 */

import {
  type ApiResource,
  apiVersionOf,
  groupVersionPath,
  isBuiltInGroup,
  groupResourceOf,
} from '../../kubernetes/api-resource.ts'
import {
  definitionNameOf,
  type OpenApiDocument,
  type OpenApiDocuments,
  type OpenApiGroupVersionKind,
  type OpenApiSchema,
} from '../../kubernetes/open-api.ts'
import { compareGroupLabels, splitDefinitionName } from '../naming/nested-name.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { isRecord } from '../../lib/json.ts'

/** The definition of every object's `metadata`. */
export const objectMetaDefinition = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

export interface DefinitionScope {
  find(definition: string): OpenApiSchema | undefined
  /** Whether a definition contains itself, directly or indirectly. */
  isRecursive(definition: string): boolean
}

/** The definitions of all documents. */
export class Definitions {
  readonly #documents: OpenApiDocuments
  readonly #shared = new Map<string, OpenApiSchema>()
  #sharedScope: DefinitionScope | undefined
  readonly #scopes = new Map<string, DefinitionScope>()
  readonly #byName: ReadonlyMap<string, readonly string[]>
  readonly #ofKinds = new Map<string, OpenApiSchema | 'none'>()

  constructor(documents: OpenApiDocuments) {
    this.#documents = documents
    for (const path of Object.keys(documents).toSorted(compareDocumentPaths)) {
      for (const [definition, schema] of Object.entries(schemasOf(documents[path]))) {
        if (!splitDefinitionName(definition).builtIn || this.#shared.has(definition)) continue
        this.#shared.set(definition, schema)
      }
    }
    for (const [definition, schema] of Object.entries(fallbackDefinitions)) {
      if (!this.#shared.has(definition)) this.#shared.set(definition, schema)
    }
    this.#byName = Map.groupBy(
      this.#shared.keys(),
      (definition) => splitDefinitionName(definition).name,
    )
  }

  /** The definitions of Kubernetes itself. */
  get shared(): DefinitionScope {
    return (this.#sharedScope ??= definitionScope((definition) => this.#shared.get(definition)))
  }

  /** The definitions of Kubernetes itself whose names end in this name. */
  namesakes(name: string): readonly string[] {
    return this.#byName.get(name) ?? []
  }

  /** The schema of a kind; `undefined` if the server publishes none, or {@link refuseUnfit} has refused it. */
  schemaOf(resource: ApiResource): OpenApiSchema | undefined {
    const name = keyOf(resource)
    let schema = this.#ofKinds.get(name)
    if (schema === undefined) {
      schema = this.#publishedSchemaOf(resource) ?? 'none'
      this.#ofKinds.set(name, schema)
    }
    return schema === 'none' ? undefined : schema
  }

  /** Drops the schema of a kind if it is malformed or too large, and returns the reason. */
  refuseUnfit(resource: ApiResource): KindSchemaError | undefined {
    // Kubernetes' own schemas are fit, and all documents share them.
    if (isBuiltInGroup(resource.group)) return undefined
    const schema = this.schemaOf(resource)
    if (schema === undefined) return undefined
    const problem = schemaProblem(resource, schema, this.scopeOf(resource))
    if (problem !== undefined) this.#ofKinds.set(keyOf(resource), 'none')
    return problem
  }

  #publishedSchemaOf(resource: ApiResource): OpenApiSchema | undefined {
    const { group, version, kind } = resource
    const schemas = schemasOf(this.#documents[documentPathOf(resource)])
    return Object.values(schemas).find((schema) => {
      const kinds: unknown = schema['x-kubernetes-group-version-kind']
      return (
        Array.isArray(kinds) &&
        kinds.some(
          (one: OpenApiGroupVersionKind | null) =>
            one?.group === group && one.version === version && one.kind === kind,
        )
      )
    })
  }

  /** The definitions that the `$ref`s in a kind's document refer to. */
  scopeOf(resource: ApiResource): DefinitionScope {
    const path = documentPathOf(resource)
    let scope = this.#scopes.get(path)
    if (scope === undefined) {
      const own = schemasOf(this.#documents[path])
      scope = definitionScope((definition) => this.#shared.get(definition) ?? own[definition])
      this.#scopes.set(path, scope)
    }
    return scope
  }
}

function documentPathOf(resource: ApiResource): string {
  return groupVersionPath(resource).slice(1)
}

function keyOf(resource: ApiResource): string {
  return `${apiVersionOf(resource)}/${resource.kind}`
}

/** The entries of a document that are objects at all. */
function schemasOf(document: OpenApiDocument | undefined): Readonly<Record<string, OpenApiSchema>> {
  const schemas: unknown = document?.components?.schemas
  if (typeof schemas !== 'object' || schemas === null) return {}
  return Object.fromEntries(
    Object.entries(schemas).filter(([, schema]) => typeof schema === 'object' && schema !== null),
  )
}

/** Orders documents: `api/v1` and the groups of Kubernetes itself come first. */
function compareDocumentPaths(a: string, b: string): number {
  const [left, right] = [groupOfPath(a), groupOfPath(b)]
  return (
    Number(isBuiltInGroup(right)) - Number(isBuiltInGroup(left)) ||
    compareGroupLabels(left === '' ? 'core' : left, right === '' ? 'core' : right) ||
    (a < b ? -1 : 1)
  )
}

function groupOfPath(path: string): string {
  return path.startsWith('api/') ? '' : (path.split('/')[1] ?? '')
}

function definitionScope(find: (definition: string) => OpenApiSchema | undefined): DefinitionScope {
  const references = new Map<string, ReadonlySet<string>>()
  const recursive = new Map<string, boolean>()
  const referencesOf = (definition: string): ReadonlySet<string> => {
    let found = references.get(definition)
    if (found === undefined) {
      const collected = new Set<string>()
      collectReferences(find(definition), collected)
      references.set(definition, (found = collected))
    }
    return found
  }
  const reachesItself = (definition: string): boolean => {
    const seen = new Set<string>()
    const rest = [definition]
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      for (const reference of referencesOf(next)) {
        if (reference === definition) return true
        if (seen.has(reference)) continue
        seen.add(reference)
        rest.push(reference)
      }
    }
    return false
  }
  return {
    find,
    isRecursive(definition) {
      let known = recursive.get(definition)
      if (known === undefined) recursive.set(definition, (known = reachesItself(definition)))
      return known
    },
  }
}

function collectReferences(schema: OpenApiSchema | undefined, into: Set<string>): void {
  if (schema === undefined) return
  const definition = definitionNameOf(schema)
  if (definition !== undefined) into.add(definition)
  for (const [, inner] of partsOf(schema)) collectReferences(inner, into)
}

/** The schemas right within a schema, each with its step in a path: properties, and what a list or a map holds. */
function partsOf({
  properties = {},
  additionalProperties,
  items,
}: OpenApiSchema): readonly (readonly [step: string, schema: OpenApiSchema])[] {
  const held = [items, additionalProperties].filter((one) => typeof one === 'object')
  return [...Object.entries(properties), ...held.map((one) => ['[*]', one] as const)]
}

/** Go's convention for comments, which become descriptions: a paragraph or sentence that begins with `Deprecated:`. */
const deprecationNote = /(?:^|[.)]\s+|\n\s*)Deprecated: +(\S[\s\S]*)/

export function deprecationOf(schema: OpenApiSchema | undefined): string | undefined {
  const note = deprecationNote.exec(schema?.description ?? '')?.[1]?.trim()
  return note ?? (schema?.deprecated === true ? 'Deprecated.' : undefined)
}

const text: OpenApiSchema = { type: 'string' }
const flag: OpenApiSchema = { type: 'boolean' }
const long: OpenApiSchema = { type: 'integer', format: 'int64' }
const moment: OpenApiSchema = { type: 'string', format: 'date-time' }
const texts: OpenApiSchema = { type: 'object', additionalProperties: text }

const ownerReferenceDefinition = 'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference'

/** The definitions that the gateway needs even if a server publishes no OpenAPI documents. */
const fallbackDefinitions: Readonly<Record<string, OpenApiSchema>> = {
  [objectMetaDefinition]: {
    type: 'object',
    properties: {
      annotations: texts,
      creationTimestamp: moment,
      deletionGracePeriodSeconds: long,
      deletionTimestamp: moment,
      finalizers: { type: 'array', items: text },
      generateName: text,
      generation: long,
      labels: texts,
      name: text,
      namespace: text,
      ownerReferences: {
        type: 'array',
        items: { $ref: `#/components/schemas/${ownerReferenceDefinition}` },
      },
      resourceVersion: text,
      uid: text,
    },
  },
  [ownerReferenceDefinition]: {
    type: 'object',
    properties: {
      apiVersion: text,
      blockOwnerDeletion: flag,
      controller: flag,
      kind: text,
      name: text,
      uid: text,
    },
  },
}

/** Bounds of the schema of one kind with its definitions: a thousand times what most kinds have. */
const schemaBounds = { properties: 20_000, depth: 100 } as const

/** A schema that cannot become types. Its kind is served with the common fields only. */
class KindSchemaError extends CodedError {
  constructor(resource: ApiResource, path: string, problem: string, hint: string) {
    const what = `${resource.kind} of ${apiVersionOf(resource)}`
    const place = path === '' ? 'its schema' : `${path} of its schema`
    super('KIND_SCHEMA', `${what} has the common fields only: ${place} ${problem}`, {
      value: what,
      hint,
    })
  }
}

interface Place {
  readonly schema: unknown
  readonly path: string
  readonly depth: number
}

/**
 * Why the schema of a kind cannot become types: a part is no schema, or there are too many parts. `undefined` if it can.
 * The walk does not recurse, so that depth needs no stack.
 */
function schemaProblem(
  resource: ApiResource,
  start: OpenApiSchema,
  scope: DefinitionScope,
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
    const inner = partsOf(schema)
    properties += inner.length
    if (properties > schemaBounds.properties) {
      const hint = 'exclude the kind, or fields of it, by the profile of the schema'
      return fail(`has more than ${schemaBounds.properties} parts`, hint)
    }
    for (const [step, part] of inner) {
      rest.push({ schema: part, path: path === '' ? step : `${path}.${step}`, depth: depth + 1 })
    }
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

function isAbsentOr(value: unknown, test: (value: unknown) => boolean): boolean {
  return value === undefined || test(value)
}

/** The scalars of single values. */
export type SchemaScalar =
  | 'string'
  | 'boolean'
  | 'int'
  | 'int64'
  | 'float'
  | 'dateTime'
  | 'quantity'
  | 'intOrString'

const definitions: readonly (readonly [suffix: string, scalar: SchemaScalar])[] = [
  ['.pkg.api.resource.Quantity', 'quantity'],
  ['.pkg.util.intstr.IntOrString', 'intOrString'],
  ['.pkg.apis.meta.v1.Time', 'dateTime'],
  ['.pkg.apis.meta.v1.MicroTime', 'dateTime'],
]

/** The pattern that controller-gen writes for the type Quantity. */
const quantityPattern = /^\^\(\\\+\|-\)\?\(\(\[0-9\]\+/

/** The scalar of a schema; `undefined` for objects, lists and open schemas. */
export function scalarFormOf(schema: OpenApiSchema): SchemaScalar | undefined {
  const definition = definitionNameOf(schema)
  // Older servers describe these definitions by other keywords.
  if (definition !== undefined) {
    return definitions.find(([suffix]) => definition.endsWith(suffix))?.[1]
  }
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') {
    const isQuantity = schema.pattern !== undefined && quantityPattern.test(schema.pattern)
    return isQuantity ? 'quantity' : 'intOrString'
  }
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? 'dateTime' : 'string'
    case 'integer':
      return schema.format === 'int32' ? 'int' : 'int64'
    case 'number':
      return 'float'
    case 'boolean':
      return 'boolean'
    default:
      return undefined
  }
}

export interface ServedApis {
  /** All versions; the server's preferred version of a kind comes first. */
  readonly resources: readonly ApiResource[]
  readonly openapi: OpenApiDocuments
  /** CustomResourceDefinitions, as the API server lists them. */
  readonly crds?: readonly unknown[]
}

/** The APIs of several clusters as the APIs of one. */
export function mergedApis(clusters: readonly ServedApis[]): ServedApis {
  const [only] = clusters
  if (only !== undefined && clusters.length === 1) return only
  const paths = new Set(clusters.flatMap(({ openapi }) => Object.keys(openapi)))
  return {
    resources: mergedResources(clusters.map(({ resources }) => resources)),
    openapi: Object.fromEntries(
      Array.from(paths, (path) => [
        path,
        mergedDocument(clusters.flatMap(({ openapi }) => openapi[path] ?? [])),
      ]),
    ),
    crds: clusters.flatMap(({ crds = [] }) => crds),
  }
}

function mergedResources(clusters: readonly (readonly ApiResource[])[]): readonly ApiResource[] {
  const perCluster = clusters.map((resources) => Map.groupBy(resources, groupResourceOf))
  const names = new Set(perCluster.flatMap((byName) => [...byName.keys()]))
  return [...names].flatMap((name) => {
    const having = perCluster.flatMap((byName) => byName.get(name) ?? [])
    const versions = Map.groupBy(having, ({ version }) => version)
    const count = perCluster.filter((byName) => byName.has(name)).length
    // Each version has one entry per cluster. The sort is stable, so the preferred version stays first among equals.
    const isCommon = (all: readonly ApiResource[]): number => Number(all.length >= count)
    return [...versions.values()]
      .toSorted((a, b) => isCommon(b) - isCommon(a))
      .flatMap(([first]) => first ?? [])
  })
}

function mergedDocument(documents: readonly OpenApiDocument[]): OpenApiDocument {
  const [only] = documents
  if (only !== undefined && documents.length === 1) return only
  const schemas = new Map<string, OpenApiSchema>()
  for (const { components } of documents) {
    for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
      const known = schemas.get(name)
      schemas.set(name, known === undefined ? schema : mergedSchema(known, schema))
    }
  }
  return { components: { schemas: Object.fromEntries(schemas) } }
}

/** Deeper schemas are refused: see `schemaBounds`. */
const maxDepth = 200

/** One schema for two: the properties of both, and an open schema where their types differ. */
function mergedSchema(a: OpenApiSchema, b: OpenApiSchema, depth = 0): OpenApiSchema {
  if (a === b || depth > maxDepth || ![a, b].every(isRecord)) return a
  const [left, right] = [definitionNameOf(a), definitionNameOf(b)]
  if (left !== undefined || right !== undefined) return left === right ? a : anything(a)
  const [one, other] = [scalarFormOf(a), scalarFormOf(b)]
  if (one !== undefined || other !== undefined) {
    if (one === other) return a
    // The wider integer holds both.
    if (one === 'int64' && other === 'int') return a
    return one === 'int' && other === 'int64' ? b : anything(a)
  }
  if (a.type !== b.type || isOpen(a) !== isOpen(b)) return anything(a)
  const both = (first?: OpenApiSchema, second?: OpenApiSchema): OpenApiSchema | undefined =>
    first === undefined || second === undefined
      ? (first ?? second)
      : mergedSchema(first, second, depth + 1)
  const required = a.required?.filter((name) => b.required?.includes(name) === true)
  const items = both(a.items, b.items)
  const [mine, theirs] = [a.additionalProperties, b.additionalProperties]
  const areSchemas = typeof mine === 'object' && typeof theirs === 'object'
  const values = areSchemas ? both(mine, theirs) : (mine ?? theirs)
  const properties = new Map(Object.entries(a.properties ?? {}))
  for (const [name, schema] of Object.entries(b.properties ?? {})) {
    properties.set(name, both(properties.get(name), schema) ?? schema)
  }
  const hasProperties = a.properties !== undefined || b.properties !== undefined
  return {
    ...a,
    ...(required === undefined ? {} : { required }),
    ...(items !== undefined && { items }),
    ...(values !== undefined && { additionalProperties: values }),
    ...(hasProperties && { properties: Object.fromEntries(properties) }),
  }
}

function anything({ description }: OpenApiSchema): OpenApiSchema {
  return {
    ...(description === undefined ? {} : { description }),
    'x-kubernetes-preserve-unknown-fields': true,
  }
}

/** Whether a schema describes neither properties nor items. */
function isOpen(schema: OpenApiSchema): boolean {
  return schema.properties === undefined && schema.items === undefined
}

/*
 * The OpenAPI documents of the clusters as definitions that `$ref`s find. All documents share the definitions of
 * Kubernetes itself; the copies of aggregated servers are often older and are ignored. Every other definition is looked
 * up in the document that refers to it. The schema of a custom kind has its structures as definitions of its own
 * (`kubernetes/open-api-structures.ts`). A malformed or unbounded schema is refused, and its kind has the common fields only.
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
import { definitionNameOf, type OpenApiSchema, scalarFormOf } from '../../kubernetes/open-api.ts'
import {
  KindSchema,
  kindsOf,
  type OpenApiDocument,
  type OpenApiDocuments,
  partProblem,
  partsOf,
  schemaBounds,
  type SchemaProblem,
  type SharedSchema,
  structureIndexOf,
  tooManyParts,
} from '../../kubernetes/open-api-structures.ts'
import { compareGroupLabels, splitDefinitionName } from '../naming/nested-name.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isRecord } from '../../lib/json.ts'

/** The definition of every object's `metadata`. */
export const objectMetaDefinition = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

export interface DefinitionScope {
  find(definition: string): OpenApiSchema | undefined
  /** The distinct structures of a custom kind, which are definitions of its own; absent for other kinds. */
  readonly structures?: () => SharedSchema
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
  /** The schemas of custom kinds, by document and kind. */
  readonly #held = new Map<string, ReadonlyMap<string, KindSchema>>()
  readonly #refused = new Set<string>()

  constructor(documents: OpenApiDocuments) {
    this.#documents = documents
    for (const path of Object.keys(documents).toSorted(compareDocumentPaths)) {
      for (const [definition, schema] of Object.entries(schemasOf(documents[path]))) {
        if (this.#shared.has(definition) || !splitDefinitionName(definition).builtIn) continue
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
    const key = keyOf(resource)
    if (this.#refused.has(key)) return undefined
    const held = this.heldSchemaOf(resource)
    if (held !== undefined) return held.read().root
    const schema = getOrInsert(this.#ofKinds, key, () => {
      const schemas = Object.values(schemasOf(this.#documents[documentPathOf(resource)]))
      return schemas.find((one) => kindsOf(one).some(isKind(resource))) ?? 'none'
    })
    return schema === 'none' ? undefined : schema
  }

  /** The schema of a kind without what is in its properties. */
  outlineOf(resource: ApiResource): OpenApiSchema | undefined {
    const held = this.#refused.has(keyOf(resource)) ? undefined : this.heldSchemaOf(resource)
    return held?.outline ?? this.schemaOf(resource)
  }

  /** The schema of a custom kind as it is held; `undefined` for other kinds. */
  heldSchemaOf(resource: ApiResource): KindSchema | undefined {
    if (isBuiltInGroup(resource.group)) return undefined
    const path = documentPathOf(resource)
    const held = getOrInsert(this.#held, path, () => {
      const { kinds = [] } = this.#documents[path] ?? {}
      return new Map(
        kinds.flatMap((one) => one.kinds.map((kind) => [keyOf(kind), one] as const)).toReversed(),
      )
    })
    return held.get(keyOf(resource))
  }

  /** Drops the schema of a kind if it is malformed or too large, and returns the reason. */
  refuseUnfit(resource: ApiResource): KindSchemaError | undefined {
    const held = this.heldSchemaOf(resource)
    if (held === undefined) return undefined
    const problem = held.problem ?? this.#definitionsProblem(held, resource)
    if (problem === undefined) return undefined
    this.#refused.add(keyOf(resource))
    return new KindSchemaError(resource, problem)
  }

  /** The problem of the definitions that a custom kind refers to. Those of Kubernetes itself are fit. */
  #definitionsProblem(held: KindSchema, resource: ApiResource): SchemaProblem | undefined {
    const foreign = held.references.filter((name) => !splitDefinitionName(name).builtIn)
    return foreign.length === 0 ? undefined : schemaProblem(foreign, this.scopeOf(resource))
  }

  /** The definitions that the `$ref`s in a kind's document refer to, and the structures of a custom kind. */
  scopeOf(resource: ApiResource): DefinitionScope {
    const path = documentPathOf(resource)
    const scope = getOrInsert(this.#scopes, path, () => {
      const own = schemasOf(this.#documents[path])
      return definitionScope((definition) => this.#shared.get(definition) ?? own[definition])
    })
    const held = this.heldSchemaOf(resource)
    return held === undefined ? scope : scopeOfStructures(held, scope)
  }
}

function scopeOfStructures(held: KindSchema, others: DefinitionScope): DefinitionScope {
  const structures = (): SharedSchema => held.read()
  return {
    structures,
    find(definition) {
      const index = structureIndexOf(definition)
      return index === undefined ? others.find(definition) : structures().structures[index]?.schema
    },
    isRecursive: (definition) =>
      structureIndexOf(definition) === undefined && others.isRecursive(definition),
  }
}

type NamedKind = Pick<ApiResource, 'group' | 'version' | 'kind'>

function isKind({ group, version, kind }: NamedKind): (one: NamedKind) => boolean {
  return (one) => one.group === group && one.version === version && one.kind === kind
}

function documentPathOf(resource: ApiResource): string {
  return groupVersionPath(resource).slice(1)
}

function keyOf({ group, version, kind }: NamedKind): string {
  return `${group}/${version}/${kind}`
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
    return getOrInsert(references, definition, () => {
      const collected = new Set<string>()
      collectReferences(find(definition), collected)
      return collected
    })
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
      return getOrInsert(recursive, definition, () => reachesItself(definition))
    },
  }
}

function collectReferences(schema: OpenApiSchema | undefined, into: Set<string>): void {
  if (schema === undefined) return
  const definition = definitionNameOf(schema)
  if (definition !== undefined) into.add(definition)
  for (const [, inner] of partsOf(schema)) collectReferences(inner, into)
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

/** A schema that cannot become types. Its kind is served with the common fields only. */
class KindSchemaError extends CodedError {
  constructor(resource: ApiResource, { path, problem, hint }: SchemaProblem) {
    const what = `${resource.kind} of ${apiVersionOf(resource)}`
    const place = path === '' ? 'its schema' : `${path} of its schema`
    super('KIND_SCHEMA', `${what} has the common fields only: ${place} ${problem}`, {
      value: what,
      hint: hint ?? 'correct the schema of its CRD',
    })
  }
}

/** Why definitions, with those that they refer to, cannot become types; `undefined` if they can. */
function schemaProblem(
  start: readonly string[],
  scope: DefinitionScope,
): SchemaProblem | undefined {
  const seen = new Set(start)
  let parts = 0
  // The loop also visits the definitions that it adds.
  for (const definition of seen) {
    const rest: [schema: unknown, path: string, depth: number][] = []
    const found: unknown = scope.find(definition)
    if (found !== undefined) rest.push([found, definition, 0])
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const [schema, path, depth] = next
      const problem = partProblem(schema, depth)
      if (problem !== undefined) return { path, problem }
      const inner = partsOf(schema as OpenApiSchema)
      parts += inner.length
      if (parts > schemaBounds.properties) return tooManyParts(path, schemaBounds.properties)
      for (const [step, part] of inner) rest.push([part, `${path}.${step}`, depth + 1])
      const reference = definitionNameOf(schema as OpenApiSchema)
      if (reference !== undefined) seen.add(reference)
    }
  }
  return undefined
}

export interface ServedApis {
  /** All versions; the server's preferred version of a kind comes first. */
  readonly resources: readonly ApiResource[]
  readonly openapi: OpenApiDocuments
  /** CustomResourceDefinitions, as the API server lists them. */
  readonly crds?: readonly unknown[]
}

/** The APIs of several clusters as the APIs of one. Yields between the documents and kinds. */
export function* mergedApisInSteps(clusters: readonly ServedApis[]): Generator<void, ServedApis> {
  const [only] = clusters
  if (only !== undefined && clusters.length === 1) return only
  const openapi: Record<string, OpenApiDocument> = {}
  for (const path of new Set(clusters.flatMap((one) => Object.keys(one.openapi)))) {
    openapi[path] = yield* mergedDocument(clusters.flatMap((one) => one.openapi[path] ?? []))
    yield
  }
  return {
    resources: mergedResources(clusters.map(({ resources }) => resources)),
    openapi,
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

function* mergedDocument(all: readonly OpenApiDocument[]): Generator<void, OpenApiDocument> {
  const documents = [...new Set(all)]
  const [only] = documents
  if (only !== undefined && documents.length === 1) return only
  const schemas = new Map<string, OpenApiSchema>()
  for (const { components } of documents) {
    for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
      const known = schemas.get(name)
      schemas.set(name, known === undefined ? schema : mergedSchema(known, schema))
    }
  }
  const kinds: KindSchema[] = []
  const byKind = Map.groupBy(
    documents.flatMap((document) => document.kinds ?? []),
    (schema) => schema.kinds.map(keyOf).join(),
  )
  for (const ofKind of byKind.values()) kinds.push(yield* mergedKind([...new Set(ofKind)]))
  return { components: { schemas: Object.fromEntries(schemas) }, kinds }
}

/** The published schemas are merged, place by place: structures that are equal in one cluster may differ in another. */
function* mergedKind(schemas: readonly KindSchema[]): Generator<void, KindSchema> {
  const [first, ...others] = schemas as readonly [KindSchema, ...KindSchema[]]
  const unfit = schemas.find(({ problem }) => problem !== undefined)
  if (others.length === 0 || unfit !== undefined) return unfit ?? first
  // Every rebuild needs it again.
  const madeOf = schemas.map((one) => one.madeOf).join()
  const known = KindSchema.of(madeOf)
  if (known !== undefined) return known
  let merged = first.expanded()
  for (const one of others) {
    yield
    merged = mergedSchema(merged, one.expanded())
  }
  yield
  return yield* KindSchema.inSteps(madeOf, merged)
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

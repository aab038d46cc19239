/*
 * The schema of a custom kind, held small. Its CustomResourceDefinition repeats the same structures: pod templates,
 * selectors, lists of headers stand in it a dozen times. Here equal structures become one. Two are equal if their
 * properties have the same names, types and nullability; order and descriptions do not count. The one that the shortest
 * path leads to stands for all, and of equally short paths the first one by the alphabet. So what a kind looks like
 * depends on its own schema alone.
 *
 * A schema is read in two walks. The first visits every part once and checks it; then each object with properties gets
 * the number of its structure, from the innermost outwards. The second walk goes through the distinct structures, the
 * shortest paths first, and writes them with references in place of objects (`#/components/schemas/~3`). What is held is
 * the compressed text of the result, parsed again when it is needed. Both walks yield, and a schema with too many parts is
 * refused, so that no definition can occupy the process.
 */

import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { isRecord } from '../lib/json.ts'
import { SharedValues } from '../lib/shared-values.ts'
import {
  definitionNameOf,
  hasProperties,
  type OpenApiGroupVersionKind,
  type OpenApiSchema,
  referencePrefix,
  scalarFormOf,
} from './open-api.ts'

/**
 * The bounds of one kind's schema: its parts as they are written; the properties of its distinct structures, a
 * thousand times what most kinds have; and its depth.
 */
export const schemaBounds = {
  parts: 200_000,
  properties: 20_000,
  depth: 100,
  pathCharacters: 1_000,
} as const

/** Why a schema cannot become types. */
export interface SchemaProblem {
  /** The part: `spec.parts.[*]`; empty for the schema itself. */
  readonly path: string
  readonly problem: string
  readonly hint?: string
}

/** A distinct structure of a schema. */
export interface Structure {
  readonly schema: OpenApiSchema
  /** The names of the properties on the shortest path to it. */
  readonly path: readonly string[]
}

/** A schema whose objects are references to its structures. */
export interface SharedSchema {
  readonly root: OpenApiSchema
  readonly structures: readonly Structure[]
  /** The definitions of its document that it refers to. */
  readonly references: readonly string[]
}

/** The name of the definition that references to a structure have. */
export function structureName(index: number): string {
  return `~${index}`
}

/** The index of a structure by the name of its definition; `undefined` for other definitions. */
export function structureIndexOf(definition: string): number | undefined {
  return definition.startsWith('~') ? Number(definition.slice(1)) : undefined
}

/** The schemas right within a schema, each with its step in a path: properties, and what a list or a map holds. */
export function partsOf({
  properties = {},
  additionalProperties,
  items,
}: OpenApiSchema): readonly (readonly [step: string, schema: OpenApiSchema])[] {
  const held = [items, additionalProperties].filter((one) => typeof one === 'object')
  return [...Object.entries(properties), ...held.map((one) => ['[*]', one] as const)]
}

/** Finds the structures of a schema, or why it is refused. Yields every few hundred parts. */
export function* sharedSchemaInSteps(
  start: OpenApiSchema,
): Generator<void, SharedSchema | SchemaProblem> {
  const order = yield* checkedParts(start)
  if (!Array.isArray(order)) return order
  // The parts of a part come after it, so the innermost are numbered first.
  const numbers = new Map<OpenApiSchema, number>()
  const known = new Map<string, number>()
  const keys = new Map<OpenApiSchema, string>()
  const references = new Set<string>()
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const part = order[at] as OpenApiSchema
    const key = keyOf(part, keys)
    const definition = definitionNameOf(part)
    if (definition !== undefined) references.add(definition)
    if (isStructure(part)) {
      const number = known.get(key) ?? known.size
      known.set(key, number)
      numbers.set(part, number)
      keys.set(part, `#${number}`)
    } else keys.set(part, key)
    if (at % pauseParts === 0) yield
  }
  const written = yield* writtenStructures(start, numbers)
  return 'problem' in written ? written : { ...written, references: [...references] }
}

const pauseParts = 500

/**
 * All parts of a schema, those of a part after it; or the first problem. The walk does not recurse, so that depth needs no
 * stack, and makes no object for a part: there are a hundred thousand in the definitions of a cluster.
 */
function* checkedParts(start: OpenApiSchema): Generator<void, OpenApiSchema[] | SchemaProblem> {
  const order: OpenApiSchema[] = [start]
  // Of each part, where the part around it stands, the step to it, its depth, and the length of its path.
  const around: number[] = [-1]
  const steps: string[] = ['']
  const depths: number[] = [0]
  const lengths: number[] = [0]
  const pathOf = (part: number): string => {
    const path: string[] = []
    for (let at = part; at > 0; at = around[at] ?? 0) path.push(steps[at] ?? '')
    return path.toReversed().join('.')
  }
  // The loop also visits the parts that it adds.
  for (let at = 0; at < order.length; at += 1) {
    const schema = order[at] as OpenApiSchema
    const depth = depths[at] ?? 0
    const length = lengths[at] ?? 0
    const problem = partProblem(schema, depth)
    if (problem !== undefined) return { path: pathOf(at), problem }
    if (length > schemaBounds.pathCharacters) {
      const tooLong = `has a path of more than ${schemaBounds.pathCharacters} characters`
      return { path: `${pathOf(at).slice(0, 100)}…`, problem: tooLong }
    }
    if (order.length > schemaBounds.parts) return tooManyParts(pathOf(at), schemaBounds.parts)
    const add = (step: string, part: unknown): void => {
      order.push(part as OpenApiSchema)
      around.push(at)
      steps.push(step)
      depths.push(depth + 1)
      lengths.push(length + step.length + 1)
    }
    const { properties = {}, items, additionalProperties: values } = schema
    for (const name of Object.keys(properties)) add(name, properties[name])
    if (items !== undefined) add('[*]', items)
    if (typeof values === 'object') add('[*]', values)
    if (at % pauseParts === 0) yield
  }
  return order
}

export function tooManyParts(path: string, most: number): SchemaProblem {
  const hint = 'exclude the kind, or fields of it, by the profile of the schema'
  return { path, problem: `has more than ${most} parts`, hint }
}

/** Why a part of a schema is none; `undefined` if it is one. */
export function partProblem(schema: unknown, depth: number): string | undefined {
  if (!isRecord(schema)) return 'is no schema'
  const malformed = malformedKeyword(schema)
  if (malformed !== undefined) return `has a malformed \`${malformed}\``
  if (depth > schemaBounds.depth) return `is more than ${schemaBounds.depth} deep`
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

/** Whether a schema becomes a type: an object with properties that is neither a value nor a reference. */
function isStructure(schema: OpenApiSchema): boolean {
  return (
    hasProperties(schema) &&
    schema.type !== 'array' &&
    definitionNameOf(schema) === undefined &&
    scalarFormOf(schema) === undefined
  )
}

/** A text that is equal for parts of equal type, of the texts of the parts within. */
function keyOf(schema: OpenApiSchema, keys: ReadonlyMap<OpenApiSchema, string>): string {
  const definition = definitionNameOf(schema)
  const form = scalarFormOf(schema)
  if (form !== undefined) return form
  if (definition !== undefined) return `$${JSON.stringify(definition)}`
  const { type, items, properties = {}, additionalProperties: values } = schema
  const keyIn = (part: OpenApiSchema): string =>
    `${keys.get(part) ?? ''}${part.nullable === true ? '?' : ''}`
  if (type === 'array') return items === undefined ? '[]' : `[${keyIn(items)}]`
  if (isStructure(schema)) {
    const required = new Set<unknown>(schema.required)
    const members = Object.entries(properties).map(
      ([name, part]) => `${JSON.stringify(name)}${required.has(name) ? '!' : ''}:${keyIn(part)}`,
    )
    return `{${members.toSorted().join()}}`
  }
  return typeof values === 'object' ? `(${keyIn(values)})` : 'any'
}

/** The distinct structures in the order of their paths, with references to each other. */
function* writtenStructures(
  start: OpenApiSchema,
  numbers: ReadonlyMap<OpenApiSchema, number>,
): Generator<void, Omit<SharedSchema, 'references'> | SchemaProblem> {
  const places = new Map<number, number>()
  const found: { readonly schema: OpenApiSchema; readonly path: readonly string[] }[] = []
  let properties = 0
  const written = (part: OpenApiSchema, path: readonly string[]): OpenApiSchema => {
    const { items, additionalProperties: values } = part
    const kept = keptKeywords(part)
    const number = numbers.get(part)
    if (number !== undefined) {
      let place = places.get(number)
      if (place === undefined) {
        places.set(number, (place = found.length))
        found.push({ schema: part, path })
      }
      const { description, nullable, deprecated } = kept
      const $ref = `${referencePrefix}${structureName(place)}`
      return definedOf({ $ref, description, nullable, deprecated })
    }
    if (part.type === 'array')
      return items === undefined ? kept : { ...kept, items: written(items, path) }
    return typeof values === 'object'
      ? { ...kept, additionalProperties: written(values, path) }
      : kept
  }
  const writtenObject = (schema: OpenApiSchema, path: readonly string[]): OpenApiSchema => {
    const { properties: parts = {}, required } = schema
    const order = Object.keys(parts)
    properties += order.length
    // Written in the order of names, but kept in that of the schema, which is that of the fields.
    const inner = new Map(order.map((name) => [name, parts[name] ?? {}]))
    for (const name of order.toSorted()) {
      inner.set(name, written(inner.get(name) ?? {}, [...path, name]))
    }
    return {
      ...keptKeywords(schema),
      ...(required && { required }),
      properties: Object.fromEntries(inner),
    }
  }
  const root = hasProperties(start) ? writtenObject(start, []) : written(start, [])
  const structures: Structure[] = []
  // The loop also visits the structures that it adds: those with longer paths.
  for (const { schema, path } of found) {
    structures.push({ schema: writtenObject(schema, path), path })
    if (properties > schemaBounds.properties) {
      return tooManyParts(path.join('.'), schemaBounds.properties)
    }
    if (structures.length % 20 === 0) yield
  }
  return { root, structures }
}

/** What types are made from, without the parts within. */
function keptKeywords(schema: OpenApiSchema): OpenApiSchema {
  const { $ref, allOf, type, format, pattern, description, deprecated, nullable } = schema
  const { additionalProperties } = schema
  return definedOf({
    $ref,
    allOf,
    type,
    format,
    // The pattern tells quantities from other values that are a number or a string.
    pattern: scalarFormOf(schema) === 'quantity' ? pattern : undefined,
    description,
    deprecated,
    nullable,
    additionalProperties:
      typeof additionalProperties === 'boolean' ? additionalProperties : undefined,
    'x-kubernetes-int-or-string': schema['x-kubernetes-int-or-string'],
    'x-kubernetes-preserve-unknown-fields': schema['x-kubernetes-preserve-unknown-fields'],
    'x-kubernetes-embedded-resource': schema['x-kubernetes-embedded-resource'],
  })
}

function definedOf(schema: {
  readonly [K in keyof OpenApiSchema]: OpenApiSchema[K] | undefined
}): OpenApiSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}

/** The schema of a kind as its server publishes it, with equal structures as one. It never changes. */
export class KindSchema {
  /** The kinds that the schema says that it describes. */
  readonly kinds: readonly OpenApiGroupVersionKind[]
  /** A hash of the text that it was read from. */
  readonly hash: string
  /** Why it cannot become types. */
  readonly problem: SchemaProblem | undefined
  /** The definitions of its document that it refers to. */
  readonly references: readonly string[]
  /** The schema without what is in its properties. */
  readonly outline: OpenApiSchema
  readonly #text: Uint8Array
  #parsed: WeakRef<SharedSchema> | undefined

  private constructor(
    hash: string,
    kinds: readonly OpenApiGroupVersionKind[],
    shared: SharedSchema | SchemaProblem,
  ) {
    this.hash = hash
    this.kinds = kinds
    this.problem = 'problem' in shared ? shared : undefined
    const held = 'problem' in shared ? emptySchema : shared
    this.references = held.references
    const { description, deprecated, properties = {} } = held.root
    const names = Object.keys(properties).map((name) => [name, {}])
    this.outline = definedOf({ description, deprecated, properties: Object.fromEntries(names) })
    // A copy: what zlib returns is the beginning of a larger buffer.
    this.#text = new Uint8Array(deflateRawSync(JSON.stringify(held), compression))
  }

  /** The schema of a text, made once for equal texts of the process. Throws `SyntaxError`. */
  static *ofTextInSteps(text: string, parsed?: OpenApiSchema): Generator<void, KindSchema> {
    const hash = createHash('sha256').update(text).digest('base64url')
    const known = sharedSchemas.get(hash)
    if (known !== undefined) return known
    const schema = parsed ?? (JSON.parse(text) as OpenApiSchema)
    yield
    const shared = yield* sharedSchemaInSteps(schema)
    return sharedSchemas.add(hash, new KindSchema(hash, kindsOf(schema), shared))
  }

  read(): SharedSchema {
    let parsed = this.#parsed?.deref()
    if (parsed === undefined) {
      parsed = JSON.parse(inflateRawSync(this.#text).toString()) as SharedSchema
      this.#parsed = new WeakRef(parsed)
    }
    return parsed
  }

  /** The schema with its structures in each of their places, as it was published but for what types do not need. */
  expanded(): OpenApiSchema {
    const { root, structures } = this.read()
    const expand = (schema: OpenApiSchema): OpenApiSchema => {
      const index = structureIndexOf(definitionNameOf(schema) ?? '')
      if (index !== undefined) {
        const { $ref: _, ...place } = schema
        const { description: __, ...structure } = structures[index]?.schema ?? {}
        return { ...expand(structure), ...place }
      }
      const { properties, items, additionalProperties: values } = schema
      return {
        ...schema,
        ...(items !== undefined && { items: expand(items) }),
        ...(typeof values === 'object' && { additionalProperties: expand(values) }),
        ...(properties !== undefined && {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, part]) => [name, expand(part)]),
          ),
        }),
      }
    }
    return { ...expand(root), 'x-kubernetes-group-version-kind': this.kinds }
  }
}

const emptySchema: SharedSchema = { root: {}, structures: [], references: [] }
const sharedSchemas = new SharedValues<KindSchema>()

const compression = { level: 3 } as const

/** A document under `/openapi/v3/<group version path>`, as far as it is used here. */
export interface OpenApiDocument {
  /** As the server writes it: its title and version. */
  readonly info?: unknown
  readonly components?: { readonly schemas?: Readonly<Record<string, OpenApiSchema>> }
  /** The schemas of custom kinds, which are held apart from `components`. */
  readonly kinds?: readonly KindSchema[]
}

/** OpenAPI documents by group version path: `api/v1`, `apis/apps/v1`. */
export type OpenApiDocuments = Readonly<Record<string, OpenApiDocument>>

/** The kinds that a schema describes by `x-kubernetes-group-version-kind`, which may be malformed. */
export function kindsOf(schema: OpenApiSchema): readonly OpenApiGroupVersionKind[] {
  const kinds: unknown = schema['x-kubernetes-group-version-kind']
  return Array.isArray(kinds)
    ? (kinds.filter(isRecord) as unknown as OpenApiGroupVersionKind[])
    : []
}

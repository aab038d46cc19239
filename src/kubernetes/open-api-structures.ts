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

import { CompressedText } from '../lib/compressed-text.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
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
export function partsOf({ properties, additionalProperties: values, items }: OpenApiSchema): Parts {
  if (properties === undefined && items === undefined && typeof values !== 'object') return noParts
  const parts = Object.entries(properties ?? {})
  if (items !== undefined) parts.push(['[*]', items])
  if (typeof values === 'object') parts.push(['[*]', values])
  return parts
}

type Parts = readonly (readonly [step: string, schema: OpenApiSchema])[]
const noParts: Parts = []

/** Finds the structures of a schema, or why it is refused. Yields every few hundred parts. */
export function* sharedSchemaInSteps(
  start: OpenApiSchema,
): Generator<void, SharedSchema | SchemaProblem> {
  const found = yield* numberedStructures(start)
  if ('problem' in found) return found
  const written = yield* writtenStructures(start, found.numbers)
  return 'problem' in written ? written : { ...written, references: [...found.references] }
}

const pauseParts = 500

interface Numbered {
  /** The number of the structure that each object with properties is. */
  readonly numbers: ReadonlyMap<OpenApiSchema, number>
  readonly references: ReadonlySet<string>
}

/** A part whose inner parts are being visited. */
interface OpenPart {
  readonly schema: OpenApiSchema
  readonly step: string
  readonly inner: Parts
  /** Of the inner parts that are visited: see {@link keyOf}. */
  readonly keys: string[]
}

/**
 * Visits all parts of a schema, those of a part before it, and numbers the structures; or finds the first problem. The walk
 * does not recurse, so that it can pause, and holds no more than the parts around the one that it visits: there are a
 * million in the definitions of a cluster.
 */
function* numberedStructures(start: OpenApiSchema): Generator<void, Numbered | SchemaProblem> {
  const numbers = new Map<OpenApiSchema, number>()
  const known = new Map<string, number>()
  const references = new Set<string>()
  const open: OpenPart[] = []
  let parts = 0
  let pathLength = 0
  const enter = (schema: OpenApiSchema, step: string): SchemaProblem | undefined => {
    const problem = partProblem(schema, open.length)
    open.push({ schema, step, inner: problem === undefined ? partsOf(schema) : noParts, keys: [] })
    pathLength += step.length + 1
    parts += 1
    const path = (): string =>
      open
        .map((part) => part.step)
        .slice(1)
        .join('.')
    if (problem !== undefined) return { path: path(), problem }
    if (parts > schemaBounds.parts) return tooManyParts(path(), schemaBounds.parts)
    if (pathLength <= schemaBounds.pathCharacters) return undefined
    const tooLong = `has a path of more than ${schemaBounds.pathCharacters} characters`
    return { path: `${path().slice(0, 100)}…`, problem: tooLong }
  }
  let problem = enter(start, '')
  for (
    let part: OpenPart | undefined = open[0];
    part !== undefined && problem === undefined;
    part = open.at(-1)
  ) {
    const next = part.inner[part.keys.length]
    if (next !== undefined) {
      problem = enter(next[1], next[0])
      continue
    }
    open.pop()
    pathLength -= part.step.length + 1
    const { schema } = part
    const definition = definitionNameOf(schema)
    if (definition !== undefined) references.add(definition)
    let key = keyOf(part)
    if (isStructure(schema)) {
      const number = getOrInsert(known, key, () => known.size)
      numbers.set(schema, number)
      key = `#${number}`
    }
    open.at(-1)?.keys.push(schema.nullable === true ? `${key}?` : key)
    if (parts % pauseParts === 0) yield
  }
  return problem ?? { numbers, references }
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
function keyOf({ schema, inner, keys }: OpenPart): string {
  const definition = definitionNameOf(schema)
  const form = scalarFormOf(schema)
  if (form !== undefined) return form
  if (definition !== undefined) return `$${JSON.stringify(definition)}`
  const { type, items, additionalProperties: values } = schema
  const keyIn = (part: OpenApiSchema): string =>
    keys[inner.findIndex(([, one]) => one === part)] ?? ''
  if (type === 'array') return items === undefined ? '[]' : `[${keyIn(items)}]`
  if (isStructure(schema)) {
    const required = new Set<unknown>(schema.required)
    const members = Object.keys(schema.properties ?? {}).map(
      (name, at) => `${JSON.stringify(name)}${required.has(name) ? '!' : ''}:${keys[at]}`,
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
  // The places of the structures in the result, by their numbers.
  const places = new Map<number, number>()
  const found: Structure[] = []
  let count = 0
  const written = (part: OpenApiSchema, path: readonly string[], name?: string): OpenApiSchema => {
    const number = numbers.get(part)
    if (number !== undefined) {
      let place = places.get(number)
      if (place === undefined) {
        places.set(number, (place = found.length))
        found.push({ schema: part, path: name === undefined ? path : [...path, name] })
      }
      const { description, nullable, deprecated } = part
      const $ref = `${referencePrefix}${structureName(place)}`
      return asWritten({ $ref, description, nullable, deprecated })
    }
    const { type, items, additionalProperties: values } = part
    const kept = keptKeywords(part)
    if (type === 'array')
      return items === undefined ? kept : { ...kept, items: written(items, path, name) }
    return typeof values === 'object'
      ? { ...kept, additionalProperties: written(values, path, name) }
      : kept
  }
  const writtenObject = (schema: OpenApiSchema, path: readonly string[]): OpenApiSchema => {
    const { properties = {}, required } = schema
    const names = Object.keys(properties)
    count += names.length
    // Written in the order of names, but kept in that of the schema, which is that of the fields.
    const inner: Record<string, OpenApiSchema> = { ...properties }
    for (const name of names.toSorted()) inner[name] = written(inner[name] ?? {}, path, name)
    return asWritten({ ...keptKeywords(schema), required, properties: inner })
  }
  const root = hasProperties(start) ? writtenObject(start, []) : written(start, [])
  // The loop also visits the structures that it adds: those with longer paths.
  for (const [at, { schema, path }] of found.entries()) {
    found[at] = { schema: writtenObject(schema, path), path }
    if (count > schemaBounds.properties) {
      return tooManyParts(path.join('.'), schemaBounds.properties)
    }
    if (at % 20 === 19) yield
  }
  return { root, structures: found }
}

/** What types are made from, without the parts within. */
function keptKeywords(schema: OpenApiSchema): OpenApiSchema {
  const { $ref, allOf, type, format, pattern, description, deprecated, nullable } = schema
  const { additionalProperties: values } = schema
  return asWritten({
    $ref,
    allOf,
    type,
    format,
    // The pattern tells quantities from other values that are a number or a string.
    pattern: scalarFormOf(schema) === 'quantity' ? pattern : undefined,
    description,
    deprecated,
    nullable,
    additionalProperties: typeof values === 'boolean' ? values : undefined,
    'x-kubernetes-int-or-string': schema['x-kubernetes-int-or-string'],
    'x-kubernetes-preserve-unknown-fields': schema['x-kubernetes-preserve-unknown-fields'],
    'x-kubernetes-embedded-resource': schema['x-kubernetes-embedded-resource'],
  })
}

/** JSON leaves out what is undefined. */
function asWritten(schema: {
  readonly [K in keyof OpenApiSchema]: OpenApiSchema[K] | undefined
}): OpenApiSchema {
  return schema as OpenApiSchema
}

/** The schema of a kind as its server publishes it, with equal structures as one. It never changes. */
export class KindSchema {
  /** The kinds that the schema says that it describes. */
  readonly kinds: readonly OpenApiGroupVersionKind[]
  /** Equal for equal schemas: see {@link inSteps}. */
  readonly madeOf: string
  /** Why it cannot become types. */
  readonly problem: SchemaProblem | undefined
  /** The definitions of its document that it refers to. */
  readonly references: readonly string[]
  /** The schema without what is in its properties. */
  readonly outline: OpenApiSchema
  readonly #text: CompressedText
  #parsed: WeakRef<SharedSchema> | undefined

  private constructor(
    madeOf: string,
    kinds: readonly OpenApiGroupVersionKind[],
    shared: SharedSchema | SchemaProblem,
  ) {
    this.madeOf = madeOf
    this.kinds = kinds
    this.problem = 'problem' in shared ? shared : undefined
    const held = 'problem' in shared ? emptySchema : shared
    this.references = held.references
    const { description, deprecated, properties = {} } = held.root
    const names = Object.keys(properties).map((name) => [name, {}])
    this.outline = asWritten({ description, deprecated, properties: Object.fromEntries(names) })
    this.#text = new CompressedText(JSON.stringify(held))
  }

  /** The schema that has been made of this, if anything still holds it. */
  static of(madeOf: string): KindSchema | undefined {
    return sharedSchemas.get(madeOf)
  }

  /** `madeOf` is equal for equal schemas, such as a hash of the text. */
  static *inSteps(madeOf: string, schema: OpenApiSchema): Generator<void, KindSchema> {
    const shared = yield* sharedSchemaInSteps(schema)
    return sharedSchemas.add(madeOf, new KindSchema(madeOf, kindsOf(schema), shared))
  }

  /** One that was made in another process. */
  static kept({ madeOf, kinds, held }: Pick<KindSchema, 'madeOf' | 'kinds' | 'held'>): KindSchema {
    return KindSchema.of(madeOf) ?? sharedSchemas.add(madeOf, new KindSchema(madeOf, kinds, held))
  }

  /** What it is made again from: {@link kept}. */
  get held(): SharedSchema | SchemaProblem {
    return this.problem ?? this.read()
  }

  read(): SharedSchema {
    let parsed = this.#parsed?.deref()
    if (parsed === undefined) {
      parsed = JSON.parse(this.#text.read()) as SharedSchema
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

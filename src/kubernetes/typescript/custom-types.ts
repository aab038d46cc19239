/*
 * Writes a TypeScript module with the types of custom resources and, for each, the `Resource` that informers and clients
 * take. It has every served version: the one with the highest priority under the name of the kind, others with the version
 * added. The text depends on the definitions only, not on their order. Throws {@link CustomTypesError}.
 */

import { CodedError } from '../../lib/coded-error.ts'
import { isRecord } from '../../lib/json.ts'
import { capitalised, lowerCamelCase, pascalCaseOfDnsName } from '../../lib/letter-case.ts'
import { quoted } from '../../lib/text.ts'
import { definitionNameOf, type OpenApiSchema } from '../open-api.ts'
import { pluralOf } from '../plural-name.ts'
import { compareVersions } from '../version-priority.ts'

/** A CustomResourceDefinition, and where it was read, for messages. */
export interface PlacedDefinition {
  readonly place: string
  readonly definition: unknown
}

interface CustomTypesOptions {
  /** The module that has `Resource`, `ObjectMeta` and the scalars. */
  readonly importFrom: string
  /** Only the kinds of these groups. Default: all. */
  readonly groups?: readonly string[]
}

/** No types can be made of a CustomResourceDefinition. */
export class CustomTypesError extends CodedError {
  constructor(place: string, problem: string, hint: string, value?: unknown) {
    super('CUSTOM_TYPES', `${place}: ${problem}`, { value, hint })
  }
}

export function customTypes(
  definitions: Iterable<PlacedDefinition>,
  { importFrom, groups }: CustomTypesOptions,
): string {
  const kinds = [...definitions].flatMap(servedKinds)
  const wanted = kinds.filter(({ group }) => groups === undefined || groups.includes(group))
  requireOnce(wanted)
  for (const group of groups ?? []) {
    if (wanted.some((kind) => kind.group === group)) continue
    const known = [...new Set(kinds.map((kind) => kind.group))].toSorted(byText).join(', ')
    const hint = known === '' ? 'give other definitions' : `it is one of ${known}`
    throw new CustomTypesError(group, 'no definition serves a kind of this group', hint, group)
  }
  if (wanted.length === 0) {
    const hint = 'give a CustomResourceDefinition of apiextensions.k8s.io/v1 with a served version'
    throw new CustomTypesError('no types', 'no definition serves a kind', hint)
  }
  const ordered = wanted.toSorted(
    (a, b) =>
      byText(a.group, b.group) || byText(a.kind, b.kind) || compareVersions(a.version, b.version),
  )
  return new TypesModule(ordered).text(importFrom)
}

interface CustomKind {
  readonly place: string
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  readonly schema: OpenApiSchema
  readonly isPreferred: boolean
  readonly deprecation: string | undefined
}

class TypesModule {
  readonly #kinds: readonly CustomKind[]
  readonly #typeNames = new Names(reservedTypes)
  readonly #constNames = new Names(reservedWords)
  readonly #imports = new Set<KnownTypeName>(['ObjectMeta', 'Resource'])
  readonly #declarations: string[] = []

  constructor(kinds: readonly CustomKind[]) {
    this.#kinds = kinds
    // The names of kinds come first: a nested type gives way to them.
    const names = new Map(kinds.map((kind) => [kind, this.#typeNames.claim(this.#nameOf(kind))]))
    for (const [kind, name] of names) this.#declareKind(kind, name)
  }

  text(importFrom: string): string {
    const names = [...this.#imports].toSorted(byText).join(', ')
    const head = `${header}\nimport type { ${names} } from ${stringText(importFrom)}\n`
    return [head, ...this.#declarations].join('\n')
  }

  /** `Widget`, `WidgetV1beta1`; with its group if another group has a kind of that name. */
  #nameOf({ group, kind, version, isPreferred }: CustomKind): string {
    const plain = identifierOf(kind)
    const isShared = this.#kinds.some(
      (other) => identifierOf(other.kind) === plain && other.group !== group,
    )
    const name =
      isShared || reservedTypes.has(plain) ? `${pascalCaseOfDnsName(group)}${plain}` : plain
    return isPreferred ? name : `${name}${identifierOf(version)}`
  }

  #declareKind(custom: CustomKind, name: string): void {
    const { group, version, kind, plural, namespaced, schema, isPreferred, deprecation } = custom
    const apiVersion = `${group}/${version}`
    const about = schema.description ?? `One of the \`${plural}\` of ${apiVersion}.`
    const deprecated = deprecation === undefined ? '' : `\n@deprecated ${deprecation}`
    const at = this.#place()
    const own = `  readonly apiVersion: ${stringText(apiVersion)}
  readonly kind: ${stringText(kind)}
  readonly metadata: ObjectMeta
`
    const members = this.#members({ custom, base: name, path: '' }, schema, typeFields)
    this.#declarations[at] =
      `${commentText(`${about}${deprecated}`)}export type ${name} = {\n${own}${members}}\n`
    const plain = isPreferred ? name : name.slice(0, -identifierOf(version).length)
    const listed = pluralOf(lowerCamelCase(plain), kind, plural)
    const constant = this.#constNames.claim(
      isPreferred ? listed : `${listed}${identifierOf(version)}`,
    )
    this.#declarations.push(`/** The \`${plural}\` of ${apiVersion}. */
export const ${constant}: Resource<${name}> = {
  group: ${stringText(group)},
  version: ${stringText(version)},
  resource: ${stringText(plural)},
  kind: ${stringText(kind)},
  namespaced: ${namespaced},
}
`)
  }

  /** A place for a declaration, before the declarations of the types that it refers to. */
  #place(): number {
    return this.#declarations.push('') - 1
  }

  #members(
    at: SchemaPlace,
    { properties = {}, required = [], ...schema }: OpenApiSchema,
    without: ReadonlySet<string> = new Set(),
  ): string {
    const texts = Object.entries(properties)
      .filter(([name]) => !without.has(name))
      .toSorted(([a], [b]) => byText(a, b))
      .map(([name, property]) => {
        const type = nullableText(property, this.#references(memberOf(at, name)))
        const comment = commentText(property.description ?? '', '  ')
        return `${comment}  ${memberText(name, !required.includes(name), type)}\n`
      })
    const isOpen =
      schema['x-kubernetes-preserve-unknown-fields'] === true ||
      schema.additionalProperties === true
    return `${texts.join('')}${isOpen ? '  readonly [field: string]: unknown\n' : ''}`
  }

  #references(at: SchemaPlace): References {
    const refuse = (_: OpenApiSchema, problem: string): never => {
      const { place, version } = at.custom
      throw new CustomTypesError(`${place}: ${version}${at.path}`, problem, structuralHint)
    }
    const references: References = {
      known: (name) => {
        this.#imports.add(name)
        return name
      },
      object: (schema) => {
        const name = this.#typeNames.claim(at.base)
        const index = this.#place()
        this.#declarations[index] = `export type ${name} = {\n${this.#members(at, schema)}}\n`
        return name
      },
      values: (literals) => literals.join(' | '),
      inner: (step) => this.#references({ ...at, path: `${at.path}.${step}` }),
      definition: (name) => refuse({}, `it refers to ${quoted(name)}`),
      refuse,
    }
    return references
  }
}

/** A place within the schema of a kind. */
interface SchemaPlace {
  readonly custom: CustomKind
  /** The name of the type there, if it gets one. */
  readonly base: string
  readonly path: string
}

const memberOf = ({ custom, base, path }: SchemaPlace, name: string): SchemaPlace => ({
  custom,
  base: `${base}${identifierOf(name)}`.slice(0, maxNameLength),
  path: `${path}.${name}`,
})

const header =
  '// Generated by `informerql types` from CustomResourceDefinitions. Do not edit: run it again.'
const structuralHint = 'the schema of a served version has to be structural, as API servers demand'
const typeFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])
const maxNameLength = 100
const maxSchemaDepth = 100
const maxSchemas = 200_000

/** Names that the module imports, or that its texts mean. */
const reservedTypes: ReadonlySet<string> = new Set<KnownTypeName | 'Readonly' | 'Record'>([
  'Base64',
  'Int64',
  'IntOrString',
  'Json',
  'JsonObject',
  'ObjectMeta',
  'OpenEnum',
  'Readonly',
  'Record',
  'Resource',
  'Time',
  'Unstructured',
])

/** Names that no constant of a module can have. */
const reservedWords: ReadonlySet<string> = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval export extends false
  finally for function if implements import in instanceof interface let new null package private protected public return
  static super switch this throw true try typeof undefined var void while with yield`.split(/\s+/),
)

/** Letters and digits of a name in Pascal case: `my-field` becomes `MyField`. */
function identifierOf(name: string): string {
  const words = name.split(/[^A-Za-z0-9_$]+/).filter((word) => word !== '')
  return words.length === 0 ? 'Field' : words.map(capitalised).join('')
}

/** Names that are taken, and how often each was asked for, so that a free one is found at once. */
class Names {
  readonly #counts: Map<string, number>

  constructor(reserved: Iterable<string>) {
    this.#counts = new Map(Array.from(reserved, (name) => [name, 1]))
  }

  /** Takes a free name: itself, or with a number. */
  claim(name: string): string {
    let free = name
    let count = this.#counts.get(name) ?? 0
    while (this.#counts.has(free)) free = `${name}${++count}`
    this.#counts.set(name, Math.max(count, 1))
    this.#counts.set(free, Math.max(this.#counts.get(free) ?? 0, 1))
    return free
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function requireOnce(kinds: readonly CustomKind[]): void {
  const places = new Map<string, string>()
  for (const { place, group, version, plural } of kinds) {
    const name = `${plural}.${group} ${version}`
    const other = places.get(name)
    if (other !== undefined) {
      const hint = 'give each definition once'
      throw new CustomTypesError(place, `${name} is also defined by ${other}`, hint, name)
    }
    places.set(name, place)
  }
}

function servedKinds({ place, definition }: PlacedDefinition): readonly CustomKind[] {
  const spec = recordOf(isRecord(definition) ? definition['spec'] : undefined, place, 'spec')
  const names = recordOf(spec['names'], place, 'spec.names')
  const text = (value: unknown, field: string, form: RegExp): string => {
    if (typeof value === 'string' && form.test(value)) return value
    const problem = `${field} is ${typeof value === 'string' ? quoted(value) : typeof value}`
    throw new CustomTypesError(place, problem, `it has the form ${form.source}`, value)
  }
  const group = text(spec['group'], 'spec.group', /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  const kind = text(names['kind'], 'spec.names.kind', /^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$/)
  const plural = text(names['plural'], 'spec.names.plural', /^[a-z]([-a-z0-9]*[a-z0-9])?$/)
  const scope = text(spec['scope'], 'spec.scope', /^(Namespaced|Cluster)$/)
  if (!Array.isArray(spec['versions'])) {
    throw new CustomTypesError(place, 'spec.versions is not a list', structuralHint)
  }
  const served = spec['versions']
    .map((version: unknown) => recordOf(version, place, 'spec.versions'))
    .filter((version) => version['served'] === true)
    .map((version) => ({
      ...version,
      name: text(version['name'], 'spec.versions.name', /^[a-z]([-a-z0-9]*[a-z0-9])?$/),
    }))
  const [preferred] = served.map(({ name }) => name).toSorted(compareVersions)
  return served.map((version: Readonly<Record<string, unknown>> & { readonly name: string }) => {
    const { name, schema, deprecated, deprecationWarning } = version
    const warning = typeof deprecationWarning === 'string' ? deprecationWarning : undefined
    return {
      place,
      group,
      kind,
      plural,
      version: name,
      namespaced: scope === 'Namespaced',
      schema: schemaOf(schema, place, name),
      isPreferred: name === preferred,
      deprecation:
        deprecated === true ? (warning ?? `${group}/${name} ${kind} is deprecated`) : undefined,
    }
  })
}

function recordOf(value: unknown, place: string, field: string): Record<string, unknown> {
  if (isRecord(value)) return value
  throw new CustomTypesError(place, `${field} is not an object`, structuralHint, value)
}

/** The schema of a version, checked as a whole: its form, its depth and its size. */
function schemaOf(given: unknown, place: string, version: string): OpenApiSchema {
  const schema = isRecord(given) ? given['openAPIV3Schema'] : undefined
  if (schema === undefined) return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  let count = 0
  const check = (value: unknown, path: string, depth: number): void => {
    const refuse = (problem: string): never => {
      const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path
      throw new CustomTypesError(`${place}: ${version}${shown}`, problem, structuralHint)
    }
    count += 1
    if (count > maxSchemas) refuse(`the schema has more than ${maxSchemas} parts`)
    if (depth > maxSchemaDepth) {
      refuse(`the schema is deeper than ${maxSchemaDepth} levels, or contains itself`)
    }
    if (!isRecord(value)) return refuse('a schema is an object')
    const { properties = {}, required = [], items, additionalProperties } = value
    const { description = '', enum: values = [] } = value
    if (!isRecord(properties)) return refuse('properties is not an object')
    if (!Array.isArray(required) || !Array.isArray(values)) refuse('required or enum is not a list')
    if (typeof description !== 'string') refuse('the description is no text')
    for (const [name, member] of Object.entries(properties)) {
      check(member, `${path}.${name}`, depth + 1)
    }
    if (items !== undefined) check(items, `${path}.items`, depth + 1)
    if (typeof additionalProperties === 'object') {
      check(additionalProperties, `${path}.values`, depth + 1)
    }
  }
  check(schema, '', 0)
  return schema as OpenApiSchema
}

/** A type that is written by hand: generated types import it. */
export type KnownTypeName =
  | 'Base64'
  | 'Int64'
  | 'IntOrString'
  | 'Json'
  | 'JsonObject'
  | 'ObjectMeta'
  | 'OpenEnum'
  | 'Resource'
  | 'Time'
  | 'Unstructured'

/** The references in the text of a type, from one place of a schema. */
export interface References {
  /** Notes that a type written by hand is used. Returns its name. */
  known(name: KnownTypeName): string
  /** The text of a definition that the schema refers to. */
  definition(name: string): string
  /** The text of an object with properties. */
  object(schema: OpenApiSchema): string
  /** The text of a string that has one of these values, written as literals. */
  values(literals: readonly string[]): string
  /** The references from within the items or values of the schema. */
  inner(step: string): References
  /** Throws: the schema has no type. */
  refuse(schema: OpenApiSchema, problem: string): never
}

export function typeText(schema: OpenApiSchema, to: References): string {
  const definition = definitionNameOf(schema)
  if (definition !== undefined) return to.definition(definition)
  if (schema['x-kubernetes-int-or-string'] === true) return to.known('IntOrString')
  const literals = literalsOf(schema)
  switch (schema.type) {
    case 'string':
      if (literals !== undefined) return to.values(literals)
      if (schema.format === 'byte') return to.known('Base64')
      return schema.format === 'date-time' ? to.known('Time') : 'string'
    case 'integer':
    case 'number':
      if (literals !== undefined) return literals.join(' | ')
      return isLong(schema) ? to.known('Int64') : 'number'
    case 'boolean':
      return 'boolean'
    case 'array':
      return listText(nullableText(schema.items ?? {}, to.inner('items')))
    case 'object':
      return objectText(schema, to)
    case undefined:
      if (schema['x-kubernetes-preserve-unknown-fields'] === true) return to.known('Json')
      return to.refuse(schema, 'it has no type')
    default:
      return to.refuse(schema, `it has the type ${JSON.stringify(schema.type)}`)
  }
}

/** The type of a schema, with `null` where the schema allows it. */
function nullableText(schema: OpenApiSchema, to: References): string {
  const text = typeText(schema, to)
  return schema.nullable === true && !text.endsWith('null') ? `${text} | null` : text
}

export function listText(item: string): string {
  return /[|&]|^readonly /.test(item) ? `readonly (${item})[]` : `readonly ${item}[]`
}

export function memberText(name: string, isOptional: boolean, type: string): string {
  const member = /^[A-Za-z_$][\w$]*$/.test(name) ? name : stringText(name)
  return `readonly ${member}${isOptional ? '?' : ''}: ${type}`
}

/** A string literal in single quotes. */
function stringText(value: string): string {
  const inner = JSON.stringify(value)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
  return `'${inner.replaceAll("'", String.raw`\'`)}'`
}

/** A doc comment around a text that may hold anything; `''` for an empty text. */
function commentText(text: string, indent = ''): string {
  const lines = text
    .replaceAll('*/', String.raw`*\/`)
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll(/(?![\n\t])\p{Cc}/gu, '')
    .split('\n')
    .map((line) => line.trimEnd())
  while (lines.at(-1) === '') lines.pop()
  while (lines[0] === '') lines.shift()
  const [only = ''] = lines
  if (lines.length === 0) return ''
  if (lines.length === 1) return `${indent}/** ${only.trimStart()} */\n`
  const body = lines.map((line) => (line === '' ? `${indent} *\n` : `${indent} * ${line}\n`))
  return `${indent}/**\n${body.join('')}${indent} */\n`
}

function objectText(schema: OpenApiSchema, to: References): string {
  if (schema['x-kubernetes-embedded-resource'] === true) return to.known('Unstructured')
  const { additionalProperties, properties } = schema
  if (properties !== undefined && Object.keys(properties).length > 0) return to.object(schema)
  if (typeof additionalProperties !== 'object') return to.known('JsonObject')
  return `Readonly<Record<string, ${nullableText(additionalProperties, to.inner('values'))}>>`
}

/** The allowed values as literals; `undefined` unless all are strings, numbers or null. */
function literalsOf({ enum: values = [] }: OpenApiSchema): readonly string[] | undefined {
  const literals = values.map((value) => {
    if (typeof value === 'string') return stringText(value)
    return Number.isFinite(value) || value === null ? String(value) : undefined
  })
  const known = literals.filter((one) => one !== undefined)
  return known.length === 0 || known.length < literals.length ? undefined : [...new Set(known)]
}

/** Whether an integer may have more digits than a double holds. */
function isLong({ format, maximum, minimum }: OpenApiSchema): boolean {
  const isBounded =
    maximum !== undefined &&
    minimum !== undefined &&
    maximum <= Number.MAX_SAFE_INTEGER &&
    minimum >= Number.MIN_SAFE_INTEGER
  return format === 'int64' && !isBounded
}

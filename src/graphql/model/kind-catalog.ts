/*
 * The kinds as the API describes them. Declarations are checked against it: whether a type is served or left out, which
 * fields it already has, and what its schema has at a path. CustomResourceDefinitions say more than their schemas: printer
 * columns, selectable fields, categories and deprecation, for each served version.
 *
 * A CRD may bring a type later that no cluster serves now: then a declaration that names it waits, dormant. Or the type is
 * misspelt: then it is an error. The name decides: a name close to a served one is an error; a name with the prefix of an
 * API group, or that spells a group out (`StableExampleComWidget`), may still come.
 */

import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { type Fields, fieldsOf, itemsOf, textsOf } from '../../kubernetes/fields.ts'
import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'
import type { DeclaredColumn } from '../../kubernetes/printing/custom-columns.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { parsePath, type PathStep } from '../../query/index/path.ts'
import { type GroupAliases, knownPrefixes, graphqlNameOf } from '../naming/kind-name.ts'
import { words } from '../../lib/letter-case.ts'
import { type Definitions, type DefinitionScope, objectMetaDefinition } from './definitions.ts'
import type { BareKind } from './kind.ts'
import { editDistance } from '../../lib/options.ts'
import { ownerOfBareKind } from '../naming/bare-kinds.ts'
import { SdlError, type SdlPlace } from '../sdl/sdl-error.ts'

export interface KindCatalogOptions {
  readonly kinds: readonly BareKind[]
  readonly definitions: Definitions
  /** By `group/version/kind`. */
  readonly customResources: ReadonlyMap<string, CustomResourceVersion>
  readonly aliases: GroupAliases
  /** The served kinds that the profile leaves out of the schema: declarations that name them are passed over. */
  readonly leftOut: readonly BareKind[]
}

export class KindCatalog {
  readonly kinds: readonly BareKind[]
  readonly definitions: Definitions
  /** Tells types that may still come from misspelt ones. */
  readonly unknown: UnknownTypes
  readonly leftOut: readonly BareKind[]
  readonly #leftOutTypes: ReadonlySet<string>
  readonly #byType: ReadonlyMap<string, BareKind>
  readonly #customResources: ReadonlyMap<string, CustomResourceVersion>
  readonly #ownFields = new Map<BareKind, ReadonlySet<string>>()

  constructor({ kinds, definitions, customResources, aliases, leftOut }: KindCatalogOptions) {
    this.kinds = kinds
    this.definitions = definitions
    this.leftOut = leftOut
    this.#leftOutTypes = new Set(leftOut.map(({ typeName }) => typeName))
    this.#customResources = customResources
    this.#byType = new Map(kinds.map((kind) => [kind.typeName, kind]))
    this.unknown = new UnknownTypes([...this.#byType.keys()], aliases)
  }

  get(typeName: string): BareKind | undefined {
    return this.#byType.get(typeName)
  }

  has(typeName: string): boolean {
    return this.#byType.has(typeName)
  }

  /** Whether the profile leaves a served type out of the schema. */
  isLeftOut(typeName: string): boolean {
    return this.#leftOutTypes.has(typeName)
  }

  /** What the CRD of a kind says besides its schema; `undefined` for built-in kinds. */
  customResourceOf({ apiVersion, resource }: BareKind): CustomResourceVersion | undefined {
    return this.#customResources.get(`${apiVersion}/${resource.kind}`)
  }

  /** Whether the API or the gateway gives a kind a field of this GraphQL name, declared relations aside. */
  hasField(typeName: string, field: string): boolean {
    const kind = this.#byType.get(typeName)
    if (kind === undefined) return false
    const fields = getOrInsert(
      this.#ownFields,
      kind,
      () => new Set(nativePropertiesOf(kind, this.definitions).map(graphqlNameOf)),
    )
    return isInjectedField(field, kind.resource) || fields.has(field)
  }

  /** What the API has at a path of a kind's objects. Throws `PathError`. */
  at(typeName: string, path: string): SchemaAtPath {
    const kind = this.#byType.get(typeName)
    if (kind === undefined) return absent
    const { shared } = this.definitions
    const { steps } = parsePath(path)
    const [first, ...rest] = steps
    if (first?.form === 'field' && first.name === 'metadata') {
      return follow(shared.find(objectMetaDefinition) ?? {}, rest, shared)
    }
    if (kind.metadataOnly) return absent
    const schema = this.definitions.schemaOf(kind.resource)
    if (schema === undefined) return undescribed
    return follow(schema, steps, this.definitions.scopeOf(kind.resource))
  }
}

/** The fields that the gateway gives every kind. `json` reads an API's own top-level fields of these names. */
const injected: ReadonlySet<string> = new Set(
  words(`id nameId clusterName cluster apiVersion kind metadata name namespace uid creationTimestamp labels json health printerColumns can owners
    ownerChain rootOwner managedBy owned events usedBy`),
)

export const namespaceField = 'namespaceObject'

/** Whether the gateway gives a kind a field of this name. Namespaced kinds alone have {@link namespaceField}. */
export function isInjectedField(name: string, { namespaced }: ApiResource): boolean {
  return injected.has(name) || (namespaced && name === namespaceField)
}

/** The JSON names of a kind's top-level properties that become fields. */
export function nativePropertiesOf(
  kind: Pick<BareKind, 'resource' | 'metadataOnly'>,
  definitions: Definitions,
): readonly string[] {
  if (kind.metadataOnly) return []
  return Object.keys(definitions.outlineOf(kind.resource)?.properties ?? {}).filter(
    (property) => !isInjectedField(graphqlNameOf(property), kind.resource),
  )
}

/** What the API describes at a path of its objects. */
export type SchemaAtPath =
  | { readonly form: 'described'; readonly schema: OpenApiSchema }
  /** Any value: the API does not describe the place. */
  | { readonly form: 'undescribed' }
  /** Never a value. */
  | { readonly form: 'absent' }

const undescribed: SchemaAtPath = { form: 'undescribed' }
const absent: SchemaAtPath = { form: 'absent' }

function follow(
  start: OpenApiSchema,
  steps: readonly PathStep[],
  scope: DefinitionScope,
): SchemaAtPath {
  let schema = start
  for (const [at, step] of steps.entries()) {
    const definition = definitionNameOf(schema)
    const found = definition === undefined ? schema : scope.find(definition)
    if (found === undefined || isOpen(found)) return undescribed
    const { items = valuesOf(found), properties = {} } = found
    // `[*]` also stands for every member of an object: `spec.provider[*].auth`.
    if (step.form === 'each' && items === undefined) {
      const rest = steps.slice(at + 1)
      const within = Object.values(properties).map((one) => follow(one, rest, scope))
      return within.find(({ form }) => form !== 'absent') ?? absent
    }
    const isNamed = step.form === 'field' && Object.hasOwn(properties, step.name)
    const member = isNamed ? properties[step.name] : valuesOf(found)
    const inner = step.form === 'field' ? member : items
    if (inner === undefined) return absent
    schema = inner
  }
  return { form: 'described', schema }
}

/** Whether the schema allows values that it does not describe. */
function isOpen(schema: OpenApiSchema): boolean {
  const { type, properties, additionalProperties, items } = schema
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return true
  if (schema['x-kubernetes-embedded-resource'] === true) return true
  if (additionalProperties === true) return true
  if (type !== undefined && type !== 'object') return false
  return properties === undefined && additionalProperties === undefined && items === undefined
}

function valuesOf({ additionalProperties }: OpenApiSchema): OpenApiSchema | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** One version of a CRD's kind, without the schema, which OpenAPI has. */
export interface CustomResourceVersion {
  readonly printerColumns: readonly DeclaredColumn[]
  /** The kind's categories: `all`, `managed`. */
  readonly categories: readonly string[]
  readonly definition: string
  /** JSONPaths of the fields that field selectors may name. */
  readonly selectableFields: readonly string[]
  /** Why the version is deprecated; absent if it is not. */
  readonly deprecation?: string
}

/** The versions of CRDs, as the API server lists them, by `group/version/kind`. Malformed parts are left out. */
export function customResourceVersions(
  definitions: readonly unknown[],
): ReadonlyMap<string, CustomResourceVersion> {
  const versions = new Map<string, CustomResourceVersion>()
  for (const definition of definitions) {
    const spec = fieldsOf(fieldsOf(definition)['spec'])
    const { group } = spec
    const { kind, plural, categories } = fieldsOf(spec['names'])
    for (const version of itemsOf(spec['versions'])) {
      const { name, served, deprecationWarning } = version
      const warning = typeof deprecationWarning === 'string' ? deprecationWarning : ''
      if (typeof group !== 'string' || typeof kind !== 'string' || typeof name !== 'string')
        continue
      const apiVersion = `${group}/${name}`
      // Several clusters may have the CRD. The first one wins.
      if (served === false || versions.has(`${apiVersion}/${kind}`)) continue
      versions.set(`${apiVersion}/${kind}`, {
        categories: textsOf(categories),
        definition: `${String(plural)}.${group}`,
        printerColumns: itemsOf(version['additionalPrinterColumns']).flatMap(printerColumn),
        selectableFields: itemsOf(version['selectableFields']).flatMap(({ jsonPath }) =>
          typeof jsonPath === 'string' ? [jsonPath] : [],
        ),
        ...(version['deprecated'] === true
          ? { deprecation: warning || `${apiVersion} ${kind} is deprecated` }
          : {}),
      })
    }
  }
  return versions
}

function printerColumn({
  name,
  type,
  jsonPath,
  format,
  priority,
}: Fields): readonly DeclaredColumn[] {
  const isWhole =
    typeof name === 'string' && typeof type === 'string' && typeof jsonPath === 'string'
  if (!isWhole) return []
  return [
    {
      name,
      type,
      jsonPath,
      ...(typeof format === 'string' ? { format } : {}),
      ...(typeof priority === 'number' ? { priority } : {}),
    },
  ]
}

/** A declaration that waits for a kind which no cluster serves yet. */
export interface DormantDeclaration {
  readonly place: SdlPlace
  readonly typeName: string
}

export class UnknownTypes {
  readonly #known: readonly string[]
  readonly #prefixes: readonly string[]
  readonly #dormant: DormantDeclaration[] = []

  /** `known` are the type names of all served kinds. */
  constructor(known: readonly string[], aliases: GroupAliases) {
    this.#known = known
    this.#prefixes = knownPrefixes(aliases)
  }

  /** The declarations that wait. */
  get dormant(): readonly DormantDeclaration[] {
    return this.#dormant
  }

  /** The error for a type that is not served. `undefined` if a CRD may bring it: the declaration is then dormant. */
  problem(typeName: string, place: SdlPlace, message: string): SdlError | undefined {
    const near = this.#known.find((known) => isNear(known, typeName))
    if (near !== undefined) {
      return new SdlError('unknown-type', place, message, `did you mean ${near}? ${wayOut}`)
    }
    const begins = (prefix: string): boolean =>
      typeName.length > prefix.length && typeName.startsWith(prefix)
    // The name of a group that is spelled out has at least two labels.
    const mayCome =
      groupsWithoutPrefix.has(ownerOfBareKind(typeName)) ||
      this.#prefixes.some(begins) ||
      (typeName.match(/[A-Z][a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []).length > 2
    if (!mayCome) return new SdlError('unknown-type', place, message, wayOut)
    this.#dormant.push({ place, typeName })
    return undefined
  }
}

const wayOut =
  'Use the name of a kind, as `informerql schema` prints it; the name of a custom kind begins with the prefix of its API group'

/** The first labels of well-known groups without a prefix, whose kinds a CRD or an aggregated server brings. */
const groupsWithoutPrefix: ReadonlySet<string | undefined> = new Set([
  'gateway',
  'metrics',
  'snapshot',
])

/** Whether two names differ only by case, a plural `s`, or one or two letters. */
function isNear(known: string, written: string): boolean {
  const [a, b] = [known.toLowerCase(), written.toLowerCase()]
  if (a === b || `${a}s` === b || a === `${b}s`) return true
  const allowed = Math.min(a.length, b.length) < shortName ? 1 : 2
  return Math.abs(a.length - b.length) <= allowed && editDistance(a, b) <= allowed
}

const shortName = 6

/*
 * What a kube-apiserver of each version says about its API, as schema/captured/ holds it: discovery, and the OpenAPI
 * documents from which the schemas of kinds come.
 */

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { groupVersionPath } from '../../kubernetes/api-resource.ts'
import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'

/** One resource or subresource in an APIResourceList. */
export interface DiscoveredResource {
  /** `pods`, or `pods/status`. */
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  readonly kind: string
  readonly verbs: readonly string[]
  readonly group?: string
  readonly version?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly storageVersionHash?: string
}

interface ApiResourceList {
  readonly kind: string
  readonly apiVersion?: string
  readonly groupVersion: string
  readonly resources: readonly DiscoveredResource[]
}

/** One group in an APIGroupList. */
export interface ApiGroup {
  readonly name: string
  readonly versions: readonly { readonly groupVersion: string; readonly version: string }[]
  readonly preferredVersion: { readonly groupVersion: string; readonly version: string }
}

/** A group in aggregated discovery; the core group has no name. */
export interface AggregatedGroup {
  readonly metadata: { readonly name?: string }
  readonly versions: readonly { readonly version: string; readonly [field: string]: unknown }[]
}

interface AggregatedGroupList {
  readonly items: readonly AggregatedGroup[]
}

export interface OpenApiDocument {
  readonly openapi: string
  readonly info: object
  readonly paths: Readonly<Record<string, unknown>>
  readonly components?: { readonly schemas?: Schemas }
}

/** The answers of a kube-apiserver about its API, from schema/captured/. Keys are `api/v1`, `apis/apps/v1`, … */
export interface CapturedApi {
  readonly version: { readonly gitVersion: string }
  readonly api: object
  readonly apis: { readonly groups: readonly ApiGroup[] }
  readonly resources: Readonly<Record<string, ApiResourceList>>
  readonly aggregated: { readonly api: AggregatedGroupList; readonly apis: AggregatedGroupList }
  readonly openapi: Readonly<Record<string, OpenApiDocument>>
}

/** The versions whose API is captured, newest first. */
export const kubernetesVersions = ['1.36', '1.33'] as const

/** A Kubernetes version that can be simulated. */
export type KubernetesVersion = (typeof kubernetesVersions)[number]

export const newestKubernetes: KubernetesVersion = kubernetesVersions[0]

const captured = new Map<KubernetesVersion, CapturedApi>()

/** The captured API of a Kubernetes version. Reads each file once. Throws {@link CodedError} `CAPTURED_API` if it is missing. */
export function capturedApi(version: KubernetesVersion = newestKubernetes): CapturedApi {
  const known = captured.get(version)
  if (known !== undefined) return known
  const name = `../../../schema/captured/kubernetes-${version}.json.gz`
  const file = new URL(name, import.meta.url)
  try {
    const read = JSON.parse(gunzipSync(readFileSync(file)).toString()) as CapturedApi
    captured.set(version, read)
    return read
  } catch (error) {
    throw new CodedError('CAPTURED_API', `cannot read ${file.pathname}`, {
      value: file.pathname,
      cause: error,
      hint: 'the file belongs to the package: install it again',
    })
  }
}

/** The OpenAPI schema of a kind, and the schemas that it refers to. */
export interface KindSchema {
  readonly root: Schema | undefined
  readonly schemas: Schemas
}

interface Kind extends Readonly<Record<'group' | 'version' | 'kind', string>> {
  /** Of a custom kind, by its definition. */
  readonly schema: Schema | undefined
}

const known = new WeakMap<Kind, KindSchema>()

/** The schema of a kind. */
export function kindSchema(api: CapturedApi, of: Kind): KindSchema {
  return getOrInsert(known, of, () => {
    const path = of.schema === undefined ? groupVersionPath(of).slice(1) : 'api/v1'
    const { schemas = {} } = api.openapi[path]?.components ?? {}
    const builtIn = Object.values(schemas).find((schema) => {
      const [one, ...more] = schema['x-kubernetes-group-version-kind'] ?? []
      const isOfVersion = one?.group === of.group && one.version === of.version
      return isOfVersion && one.kind === of.kind && more.length === 0
    })
    return { root: of.schema === undefined ? builtIn : customSchema(of.schema), schemas }
  })
}

/** The schema that a definition gives, with the members that all objects have. */
export function customSchema({ properties, ...schema }: Schema): Schema {
  const text: Schema = { type: 'string' }
  const metadata = { allOf: [{ $ref: `#/components/schemas/${objectMeta}` }] }
  const members = { ...properties, apiVersion: text, kind: text, metadata }
  return { type: 'object', ...schema, properties: members }
}

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** The schema of `metadata`, the same for all kinds. */
export function metadataSchema(api: CapturedApi): KindSchema {
  const { schemas = {} } = api.openapi['api/v1']?.components ?? {}
  return { root: schemas[objectMeta], schemas }
}

/** A schema: of an OpenAPI v3 document, or the structural schema of a CustomResourceDefinition. */
export interface Schema extends OpenApiSchema {
  readonly default?: unknown
  readonly properties?: Schemas
  readonly additionalProperties?: boolean | Schema
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly not?: Schema
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic'
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-selectable-fields'?: readonly object[]
}

/** Schemas by name: those of a document, or the members of an object. */
export type Schemas = Readonly<Record<string, Schema>>

/** The schema of a member of an object; `undefined` if the schema does not declare the member. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const { properties = {}, additionalProperties } = schema ?? {}
  if (Object.hasOwn(properties, name)) return properties[name]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** The schema itself, or the one that it refers to. */
export function resolvedSchema(schema: Schema, schemas: Schemas): Schema {
  const name = definitionNameOf(schema)
  return (name === undefined ? undefined : schemas[name]) ?? schema
}

/** The path of a value: member names and list positions. */
export type Path = readonly (string | number)[]

/** A path in Kubernetes' notation: `spec.items[2].name`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { CodedError } from '../../lib/coded-error.ts'

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

export interface ApiResourceList {
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

/** A schema of an OpenAPI v3 document. */
export type Schema = { readonly [keyword: string]: unknown }

export interface OpenApiDocument {
  readonly openapi: string
  readonly info: object
  readonly paths: Readonly<Record<string, unknown>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

/** The answers of a kube-apiserver about its API, from schema/captured/. Keys are `api/v1`, `apis/apps/v1`, … */
export interface CapturedApi {
  readonly version: object
  readonly api: object
  readonly apis: { readonly groups: readonly ApiGroup[] }
  readonly resources: Readonly<Record<string, ApiResourceList>>
  readonly aggregated: { readonly api: AggregatedGroupList; readonly apis: AggregatedGroupList }
  readonly openapi: Readonly<Record<string, OpenApiDocument>>
}

const file = new URL('../../../schema/captured/kubernetes-1.36.json.gz', import.meta.url)

let captured: CapturedApi | undefined

/**
 * The captured API of Kubernetes 1.36. Reads the file once. Throws {@link CodedError} `CAPTURED_API` if it is missing.
 */
export function capturedApi(): CapturedApi {
  try {
    captured ??= JSON.parse(gunzipSync(readFileSync(file)).toString()) as CapturedApi
  } catch (error) {
    throw new CodedError('CAPTURED_API', `cannot read ${file.pathname}`, {
      value: file.pathname,
      cause: error,
      hint: 'the file belongs to the package: install it again',
    })
  }
  return captured
}

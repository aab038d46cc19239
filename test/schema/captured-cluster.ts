import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { ApiServer } from 'informerql/cluster'
import type { ApiResource } from 'informerql/kubernetes'

/** OpenAPI documents by the path of their group version: `apis/apps/v1`. */
export type OpenApiDocuments = Awaited<ReturnType<ApiServer['openApi']>>['documents']
export type OpenApiDocument = OpenApiDocuments[string]
export type OpenApiSchema = NonNullable<
  NonNullable<OpenApiDocument['components']>['schemas']
>[string]

interface CapturedResource {
  readonly name: string
  readonly singularName: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
}

interface Capture {
  readonly resources: Readonly<Record<string, { readonly resources: readonly CapturedResource[] }>>
  readonly openapi: OpenApiDocuments
}

const file = new URL('../../schema/captured/kubernetes-1.36.json.gz', import.meta.url)
const capture = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Capture

/** The OpenAPI documents of the captured kube-apiserver. */
export const capturedOpenApi: OpenApiDocuments = capture.openapi

/** The resources of the captured kube-apiserver, in the order of its discovery. */
export const capturedResources: readonly ApiResource[] = Object.entries(capture.resources).flatMap(
  ([path, { resources }]) => {
    const [, group = '', version = ''] = path.startsWith('api/')
      ? ['', '', path.slice('api/'.length)]
      : path.split('/')
    return resources
      .filter(({ name }) => !name.includes('/'))
      .map((one) => ({
        group,
        version,
        resource: one.name,
        kind: one.kind,
        singular: one.singularName,
        namespaced: one.namespaced,
        verbs: one.verbs,
        shortNames: one.shortNames ?? [],
        subresources: [],
      }))
  },
)

/** `v1`, `apps/v1`. */
export const apiVersionOf = ({ group, version }: Pick<ApiResource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`

/** A resource that can be listed and watched. */
export function resourceOf(
  group: string,
  kind: string,
  rest: Partial<ApiResource> = {},
): ApiResource {
  return {
    group,
    version: 'v1',
    resource: `${kind.toLowerCase()}s`,
    kind,
    singular: kind.toLowerCase(),
    namespaced: true,
    verbs: ['get', 'list', 'watch'],
    shortNames: [],
    subresources: [],
    ...rest,
  }
}

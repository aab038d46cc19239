import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { OpenApiSchema } from '../../src/kubernetes/open-api.ts'
import type { OpenApiDocuments } from '../../src/kubernetes/open-api-structures.ts'

interface CapturedResource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

interface Capture {
  readonly apis: {
    readonly groups: readonly {
      readonly name: string
      readonly preferredVersion: { readonly version: string }
    }[]
  }
  readonly resources: Readonly<Record<string, { readonly resources: readonly CapturedResource[] }>>
  readonly openapi: OpenApiDocuments
}

/** One kind whose objects a server can list. */
export interface CapturedKind {
  /** `io.k8s.api.apps.v1.Deployment`. */
  readonly definition: string
  readonly kind: string
  /** `apps/v1`. */
  readonly apiVersion: string
  /** `deployments`. */
  readonly resource: string
  readonly namespaced: boolean
  readonly watchable: boolean
  /** Whether the server prefers its version. */
  readonly preferred: boolean
}

const file = new URL('../../schema/captured/kubernetes-1.36.json.gz', import.meta.url)
const capture = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Capture

/** The OpenAPI documents of the captured kube-apiserver. */
export const openApi: OpenApiDocuments = capture.openapi

/** All kinds that can be listed, in the order of discovery. Kinds of requests, such as TokenReview, are not among them. */
export const capturedKinds: readonly CapturedKind[] = Object.entries(capture.resources).flatMap(
  ([path, { resources }]) => {
    const [, group = '', version = ''] = path.startsWith('api/')
      ? ['', '', path.slice('api/'.length)]
      : path.split('/')
    const known = capture.apis.groups.find(({ name }) => name === group)
    return resources
      .filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'))
      .map(({ name, kind, namespaced, verbs }) => ({
        definition: definitionOf(path, group, version, kind),
        kind,
        apiVersion: group === '' ? version : `${group}/${version}`,
        resource: name,
        namespaced,
        watchable: verbs.includes('watch'),
        preferred: known === undefined || known.preferredVersion.version === version,
      }))
  },
)

function definitionOf(path: string, group: string, version: string, kind: string): string {
  const isKind = ([, schema]: readonly [string, OpenApiSchema]) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (one) => one.group === group && one.version === version && one.kind === kind,
    )
  const found = Object.entries(openApi[path]?.components?.schemas ?? {}).find(isKind)
  if (found === undefined) throw new Error(`the capture has no schema of ${path} ${kind}`)
  return found[0]
}

import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { CodedError } from '../../lib/coded-error.ts'

/** One API group as discovery lists it. */
export interface ApiGroupVersions {
  readonly name: string
  readonly preferredVersion: string
  readonly versions: readonly string[]
}

/** An answer that is not a discovery document. */
class DiscoveryFormatError extends CodedError {
  constructor(wanted: string, answer: unknown) {
    const kind = JSON.stringify((answer as { kind?: unknown } | null | undefined)?.kind ?? null)
    super('DISCOVERY_FORMAT', `discovery: expected ${wanted}, got kind ${kind}`, {
      value: answer,
      hint: 'check that the address is an API server and not something before it',
    })
  }
}

interface ApiVersions {
  readonly kind: 'APIVersions'
  readonly versions?: readonly string[]
}

interface ApiGroupList {
  readonly kind: 'APIGroupList'
  readonly groups?: readonly {
    readonly name: string
    readonly versions?: readonly { readonly version: string }[]
    readonly preferredVersion?: { readonly version?: string }
  }[]
}

interface ApiResourceList {
  readonly kind: 'APIResourceList'
  readonly resources?:
    | readonly {
        readonly name: string
        readonly singularName?: string
        readonly namespaced?: boolean
        readonly kind: string
        readonly verbs?: readonly string[] | null
        readonly shortNames?: readonly string[]
      }[]
    | null
}

/** Reads `/api` (`APIVersions`) or `/apis` (`APIGroupList`). Throws {@link DiscoveryFormatError}. */
export function readGroups(answer: unknown): readonly ApiGroupVersions[] {
  const list = (answer ?? {}) as ApiVersions | ApiGroupList | { readonly kind?: undefined }
  if (list.kind === 'APIVersions') {
    const versions = list.versions ?? []
    const [preferredVersion] = versions
    return preferredVersion === undefined ? [] : [{ name: '', preferredVersion, versions }]
  }
  if (list.kind !== 'APIGroupList') {
    throw new DiscoveryFormatError('APIVersions or APIGroupList', answer)
  }
  return (list.groups ?? []).flatMap(({ name, versions = [], preferredVersion }) => {
    const names = versions.map(({ version }) => version)
    const preferred = preferredVersion?.version ?? names[0]
    return preferred === undefined ? [] : [{ name, preferredVersion: preferred, versions: names }]
  })
}

/** Reads `/api/v1` or `/apis/GROUP/VERSION`. Throws {@link DiscoveryFormatError}. */
export function readResources(
  answer: unknown,
  group: string,
  version: string,
): readonly ApiResource[] {
  const list = answer as ApiResourceList | undefined
  if (list?.kind !== 'APIResourceList') throw new DiscoveryFormatError('APIResourceList', answer)
  const served = list.resources ?? []
  return served
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => ({
      group,
      version,
      resource: resource.name,
      kind: resource.kind,
      singular: resource.singularName ?? '',
      namespaced: resource.namespaced ?? false,
      verbs: resource.verbs ?? [],
      shortNames: resource.shortNames ?? [],
      subresources: served
        .filter(({ name }) => name.startsWith(`${resource.name}/`))
        .map(({ name }) => name.slice(resource.name.length + 1)),
    }))
}

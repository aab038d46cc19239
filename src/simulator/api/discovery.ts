import { createHash } from 'node:crypto'
import type { AggregatedGroup, DiscoveredResource, OpenApiDocument } from './captured-api.ts'
import type { CustomVersion, ResourceRegistry } from './resource-registry.ts'

/** `/api/v1`, `/apis/GROUP/VERSION`; `path` has no leading slash. `undefined` for an unknown version. */
export function resourceList(registry: ResourceRegistry, path: string): object | undefined {
  const captured = registry.captured.resources[path]
  if (captured !== undefined) return captured
  const groupVersion = path.slice('apis/'.length)
  const custom = registry.custom.get(groupVersion)
  if (custom === undefined) return undefined
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: custom.discovered }
}

/** Aggregated discovery, version 2, of `/api` or `/apis`. */
export function aggregatedDiscovery(registry: ResourceRegistry, root: 'api' | 'apis'): object {
  const captured = registry.captured.aggregated[root]
  if (root === 'api' || registry.custom.size === 0) return captured
  const known = new Set(captured.items.map(({ metadata }) => metadata.name))
  const added = registry
    .groups()
    .filter(({ name }) => !known.has(name))
    .map(({ name, versions }): AggregatedGroup => ({
      metadata: { name },
      versions: versions.map(({ version, groupVersion }) => ({
        version,
        resources: aggregatedResources(registry.custom.get(groupVersion)),
        freshness: 'Current',
      })),
    }))
  return { ...captured, items: [...captured.items, ...added] }
}

/** The entries of an APIResourceList, in the form of aggregated discovery. */
function aggregatedResources(of: CustomVersion | undefined): object[] {
  if (of === undefined) return []
  const { discovered } = of
  const responseKind = ({ group, version, kind }: DiscoveredResource): object => ({
    group: group ?? of.group,
    version: version ?? of.version,
    kind,
  })
  return discovered
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => {
      const { name, namespaced, singularName, verbs, shortNames, categories } = resource
      const subresources = discovered
        .filter((part) => part.name.startsWith(`${name}/`))
        .map((part) => ({
          subresource: part.name.slice(name.length + 1),
          responseKind: responseKind(part),
          verbs: part.verbs,
        }))
      return {
        resource: name,
        responseKind: responseKind(resource),
        scope: namespaced ? 'Namespaced' : 'Cluster',
        singularResource: singularName,
        verbs,
        ...(shortNames === undefined ? {} : { shortNames }),
        ...(categories === undefined ? {} : { categories }),
        ...(subresources.length === 0 ? {} : { subresources }),
      }
    })
}

export function hashOf(text: string): string {
  return createHash('sha512').update(text).digest('hex').toUpperCase()
}

export interface OpenApiText {
  readonly text: string
  readonly hash: string
}

/** The texts of captured documents, which all servers of a process share. */
const capturedTexts = new WeakMap<OpenApiDocument, OpenApiText>()

function textOf(document: OpenApiDocument): OpenApiText {
  const text = JSON.stringify(document)
  return { text, hash: hashOf(text) }
}

/** The OpenAPI v3 documents of a registry. Writes each document once, until the custom kinds change. */
export class OpenApi {
  readonly #registry: ResourceRegistry
  readonly #texts = new Map<string, OpenApiText>()
  #custom: unknown

  constructor(registry: ResourceRegistry) {
    this.#registry = registry
  }

  index(): object {
    const { captured, custom } = this.#registry
    const paths = [
      ...Object.keys(captured.openapi),
      ...[...custom.keys()].map((key) => `apis/${key}`),
    ]
    return {
      paths: Object.fromEntries(
        paths.map((path) => [
          path,
          { serverRelativeURL: `/openapi/v3/${path}?hash=${this.document(path)?.hash ?? ''}` },
        ]),
      ),
    }
  }

  /** `/openapi/v3/PATH`; `undefined` for an unknown path. */
  document(path: string): OpenApiText | undefined {
    const { captured, custom } = this.#registry
    const builtIn = captured.openapi[path]
    if (builtIn !== undefined) {
      const text = capturedTexts.get(builtIn) ?? textOf(builtIn)
      capturedTexts.set(builtIn, text)
      return text
    }
    if (this.#custom !== custom) this.#texts.clear()
    this.#custom = custom
    const known = this.#texts.get(path)
    if (known !== undefined) return known
    const document = custom.get(path.replace(/^apis\//, ''))?.openapi()
    if (document === undefined) return undefined
    const made = textOf(document)
    this.#texts.set(path, made)
    return made
  }
}

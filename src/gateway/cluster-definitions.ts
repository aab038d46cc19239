import type { ApiServer } from '../api-server/api-server.ts'
import { boundedParallel } from '../lib/concurrency.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { ApiStatusError } from '../kubernetes/status.ts'

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** A CustomResourceDefinition without the schemas of its versions, which OpenAPI has. */
export interface ClusterDefinition {
  readonly name: string
  readonly uid: string
  readonly generation: number
  readonly group: string
  readonly plural: string
  readonly versions: readonly string[]
  /** The form that the schema model reads. */
  readonly object: unknown
}

/** The metadata that identifies a state of a definition. */
export type DefinitionMetadata = Pick<ClusterDefinition, 'name' | 'uid' | 'generation'>

const pageSize = 50
const maxParallel = 4

/** The CustomResourceDefinitions of one cluster, by name, without their schemas. */
export class ClusterDefinitions {
  readonly #apiServer: ApiServer
  #byName: ReadonlyMap<string, ClusterDefinition> = new Map()

  constructor(apiServer: ApiServer) {
    this.#apiServer = apiServer
  }

  get byName(): ReadonlyMap<string, ClusterDefinition> {
    return this.#byName
  }

  /** Reads all definitions in pages. Rejects as `ApiServer.request` does. */
  async list(signal: AbortSignal): Promise<void> {
    const found = new Map<string, ClusterDefinition>()
    let token = ''
    do {
      const query = new URLSearchParams({
        limit: String(pageSize),
        ...(token === '' ? {} : { continue: token }),
      })
      const path = `${definitionsPath}?${query}`
      const page = (await this.#apiServer.request('GET', path, { signal })) as DefinitionPage
      for (const object of page.items ?? []) keep(found, object)
      token = page.metadata?.continue ?? ''
    } while (token !== '')
    this.#byName = found
  }

  /** The names of definitions whose known state differs from `present`. */
  changedSince(present: readonly DefinitionMetadata[]): readonly string[] {
    const names = new Set(present.map(({ name }) => name))
    return [
      ...present.filter((one) => !this.#isKnown(one)).map(({ name }) => name),
      ...[...this.#byName.keys()].filter((name) => !names.has(name)),
    ]
  }

  /**
   * Reads the new and changed definitions, and drops those that are gone. Resolves with the names of changed
   * definitions that were known before. Rejects as {@link list} does.
   */
  async follow(
    present: readonly DefinitionMetadata[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const changed = present.filter((one) => !this.#isKnown(one))
    const read = await boundedParallel(changed, maxParallel, async ({ name }) => {
      try {
        const path = `${definitionsPath}/${encodeURIComponent(name)}`
        return (await this.#apiServer.request('GET', path, { signal })) as Json
      } catch (error) {
        if (error instanceof ApiStatusError && error.httpStatus === 404) return undefined
        throw error
      }
    })
    const redefined = changed.filter(({ name }) => this.#byName.has(name)).map(({ name }) => name)
    const found = new Map<string, ClusterDefinition>()
    for (const { name } of present) {
      const known = this.#byName.get(name)
      if (known !== undefined) found.set(name, known)
    }
    for (const object of read) if (object !== undefined) keep(found, object)
    this.#byName = found
    return new Set(redefined)
  }

  #isKnown({ name, uid, generation }: DefinitionMetadata): boolean {
    const known = this.#byName.get(name)
    return known?.uid === uid && known.generation >= generation
  }
}

/** Whether discovery shows all versions of a definition. */
export function isDiscovered(
  { group, plural, versions }: ClusterDefinition,
  resources: readonly ApiResource[],
): boolean {
  return versions.every((version) =>
    resources.some(
      (one) => one.group === group && one.version === version && one.resource === plural,
    ),
  )
}

type Json = Readonly<Record<string, unknown>>

interface DefinitionPage {
  readonly items?: readonly Json[]
  readonly metadata?: { readonly continue?: string }
}

interface DefinitionObject {
  readonly metadata?: {
    readonly name?: string
    readonly uid?: string
    readonly generation?: number
  }
  readonly spec?: {
    readonly group?: string
    readonly names?: { readonly plural?: string }
    readonly versions?: readonly (Json & { readonly name?: string; readonly served?: boolean })[]
  }
}

function keep(into: Map<string, ClusterDefinition>, object: Json): void {
  const { metadata = {}, spec = {} } = object as DefinitionObject
  const { name = '', uid = '', generation = 0 } = metadata
  const versions = spec.versions ?? []
  into.set(name, {
    name,
    uid,
    generation,
    group: spec.group ?? '',
    plural: spec.names?.plural ?? '',
    versions: versions.filter(({ served }) => served !== false).map((one) => one.name ?? ''),
    object: { spec: { ...spec, versions: versions.map(withoutSchema) } },
  })
}

function withoutSchema(version: Json): Json {
  return Object.fromEntries(Object.entries(version).filter(([name]) => name !== 'schema'))
}

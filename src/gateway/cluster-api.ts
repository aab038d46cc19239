/*
 * Reads the API of a cluster: its version, resources, OpenAPI documents and CustomResourceDefinitions. `askApi` reads all
 * parts, `askAgain` only the parts that may have changed. Equal parts stay the same objects, so that a comparison by
 * identity tells whether the schema must be made anew.
 */

import { type Discovery, resourcesByPreference } from '../api-server/discovery/discovery.ts'
import { documentHash, type FetchedOpenApi } from '../api-server/discovery/open-api.ts'
import { atLeast, type ServerVersion } from '../api-server/discovery/server-features.ts'
import { fieldsOf, textOf } from '../kubernetes/fields.ts'
import type { OpenApiDocument } from '../kubernetes/open-api-structures.ts'
import type { ApiServer } from '../api-server/api-server.ts'
import { boundedParallel } from '../lib/concurrency.ts'
import { withoutValuesOf } from '../lib/json-text.ts'
import { type ApiResource, groupVersionPath } from '../kubernetes/api-resource.ts'
import {
  compareResourceVersions,
  isBefore,
  latestResourceVersion,
  resourceVersion,
  type ResourceVersion,
} from '../kubernetes/resource-version.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import type { ApiDescription } from './api-description.ts'

export interface ClusterApi extends ApiDescription {
  readonly apiServer: ApiServer
  readonly version: ServerVersion
  /** The identity of the cluster; `undefined` if it cannot be read. */
  readonly uid: string | undefined
  /** Whether resource versions of the server are ordered. */
  readonly resourceVersionsComparable: boolean
  readonly definitions: ClusterDefinitions
  /** Errors of parts that could not be discovered. The rest is complete. */
  readonly failures: readonly Error[]
}

/** Reads the API of a cluster. Rejects if the cluster is unreachable, and with the signal's reason. */
export async function askApi(apiServer: ApiServer, signal: AbortSignal): Promise<ClusterApi> {
  // Reads the version first, so that an unreachable server is reported once.
  const version = await apiServer.version(signal)
  const definitions = new ClusterDefinitions(apiServer)
  const discovering = apiServer.discover(signal)
  const [discovery, openApi, uid, unlisted] = await Promise.all([
    discovering,
    apiServer.openApi({ signal }),
    // A failure is harmless: each watch reads the UID again.
    askClusterUid(apiServer, signal).catch(() => undefined),
    // Beside the documents: both are megabytes of text, and what was read is given back while more is read.
    discovering.then(async ({ resources }): Promise<Error | undefined> => {
      if (definitionsResourceOf(resources) === undefined) return undefined
      try {
        await definitions.list(signal)
        return undefined
      } catch (error) {
        return error as Error
      }
    }),
  ])
  const resources = resourcesByPreference(discovery)
  const failures = failuresOf(discovery, openApi)
  if (unlisted !== undefined) failures.push(unlisted)
  signal.throwIfAborted()
  return {
    apiServer,
    version,
    uid,
    resourceVersionsComparable: atLeast(version, 1, 35),
    resources,
    openapi: openApi.documents,
    definitions,
    crds: crdsOf(definitions),
    failures,
  }
}

/**
 * Reads the API again. Resolves with the same `api` if nothing has changed. Parts that the server fails to send keep
 * their last known value. Rejects if the server sends nothing.
 */
export async function askAgain(api: ClusterApi, signal: AbortSignal): Promise<ClusterApi> {
  const { apiServer, definitions } = api
  const [discovery, openApi] = await Promise.all([
    apiServer.discover(signal),
    apiServer.openApi({ signal }),
  ])
  signal.throwIfAborted()
  const { failures: lost } = discovery
  const served = new Set(discovery.resources.map(({ group, version }) => `${group}/${version}`))
  // Keeps the known resources of group versions whose discovery fails now.
  const kept = api.resources.filter(
    ({ group, version }) =>
      !served.has(`${group}/${version}`) &&
      lost.some((failure) => {
        const isGroup = failure.group === '*' ? group !== '' : failure.group === group
        return isGroup && (failure.version === '' || failure.version === version)
      }),
  )
  const resources = [...resourcesByPreference(discovery), ...kept]
  // Keeps the known document object for equal content, even if its hash has changed.
  const openapi: Record<string, OpenApiDocument> = {}
  for (const [path, document] of Object.entries(openApi.documents)) {
    const known = api.openapi[path]
    const isKnown = known !== undefined && documentHash(known) === documentHash(document)
    openapi[path] = isKnown ? known : document
  }
  for (const { value } of openApi.failures) {
    const known = api.openapi[String(value)]
    if (known !== undefined) openapi[String(value)] = known
  }
  const crds = crdsOf(definitions)
  const isSame =
    JSON.stringify(resources) === JSON.stringify(api.resources) &&
    Object.keys(openapi).length === Object.keys(api.openapi).length &&
    Object.entries(openapi).every(([path, document]) => api.openapi[path] === document) &&
    JSON.stringify(crds) === JSON.stringify(api.crds)
  if (isSame) return api
  return { ...api, resources, openapi, crds, failures: failuresOf(discovery, openApi) }
}

/** A resource by its group and plural; `undefined` if the cluster does not serve it. */
export function resourceNamed(
  resources: readonly ApiResource[],
  group: string,
  plural: string,
): ApiResource | undefined {
  return resources.find(
    (one) => one.group === group && one.resource === plural && one.version === 'v1',
  )
}

export function definitionsResourceOf(resources: readonly ApiResource[]): ApiResource | undefined {
  return resourceNamed(resources, 'apiextensions.k8s.io', 'customresourcedefinitions')
}

function failuresOf(discovery: Discovery, openApi: FetchedOpenApi): Error[] {
  return [...discovery.failures.map(({ error }) => error), ...openApi.failures]
}

/** The definitions sorted by name, so that equal definitions have equal text. */
function crdsOf({ byName }: ClusterDefinitions): readonly unknown[] {
  return [...byName.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ object }) => object)
}

const systemPath = '/api/v1/namespaces/kube-system'

/**
 * Reads the identity of a cluster: the UID of its namespace `kube-system` (OpenTelemetry's `k8s.cluster.uid`). Resolves
 * with `undefined` if the namespace is missing or may not be read. Rejects if the server is unreachable.
 */
export async function askClusterUid(
  apiServer: ApiServer,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { metadata } = fieldsOf(await apiServer.request('GET', systemPath, { signal }))
    return textOf(fieldsOf(metadata)['uid'])
  } catch (error) {
    const isRefused = error instanceof ApiStatusError && refusals.has(error.httpStatus)
    if (isRefused) return undefined
    throw error
  }
}

const refusals: ReadonlySet<number> = new Set([401, 403, 404])

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** A CustomResourceDefinition without the schemas of its versions, which come from OpenAPI. */
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

/** The schemas, which are most of the text, are never parsed: they come from OpenAPI. */
function readDefinitions(text: string): unknown {
  return JSON.parse(withoutValuesOf('openAPIV3Schema', text))
}

const pageSize = 20
const maxParallel = 4

/** The CustomResourceDefinitions of one cluster, by name, without their schemas. */
export class ClusterDefinitions {
  readonly #apiServer: ApiServer
  #byName: ReadonlyMap<string, ClusterDefinition> = new Map()
  #reached = latestResourceVersion

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
      const page = (await this.#apiServer.request('GET', path, {
        signal,
        read: readDefinitions,
      })) as DefinitionPage
      for (const object of page.items ?? []) keep(found, object)
      this.#reach(page)
      token = page.metadata?.continue ?? ''
    } while (token !== '')
    this.#byName = found
  }

  /**
   * A version that the API server has reached, asked for anew if the known one is before `least`: all kinds of an API
   * server, but events, count on one line. Rejects as {@link list} does.
   */
  async reached(least: ResourceVersion): Promise<ResourceVersion> {
    const order = compareResourceVersions(this.#reached, least)
    if (order !== undefined && order >= 0) return this.#reached
    const read = readDefinitions
    this.#reach(
      (await this.#apiServer.request('GET', `${definitionsPath}?limit=1`, {
        read,
      })) as DefinitionPage,
    )
    return this.#reached
  }

  #reach({ metadata }: DefinitionPage): void {
    const version = resourceVersion(metadata?.resourceVersion ?? '')
    if (!isBefore(version, this.#reached)) this.#reached = version
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
   * Reads the new and changed definitions, and drops deleted ones. Resolves with the names of changed definitions that were
   * known before. Rejects as {@link list} does.
   */
  async follow(
    present: readonly DefinitionMetadata[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const changed = present.filter((one) => !this.#isKnown(one))
    const read = await boundedParallel(changed, maxParallel, async ({ name }) => {
      try {
        const path = `${definitionsPath}/${encodeURIComponent(name)}`
        const options = { signal, read: readDefinitions }
        return (await this.#apiServer.request('GET', path, options)) as Json
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

/** The names of definitions whose API is not there yet: the API server publishes it a moment after the definition. */
export function unshownDefinitions({
  definitions,
  resources,
  openapi,
}: ClusterApi): readonly string[] {
  return Array.from(definitions.byName.values()).flatMap((definition) => {
    const { name, group, versions } = definition
    const isDescribed = versions.every(
      (version) => openapi[groupVersionPath({ group, version }).slice(1)] !== undefined,
    )
    return isDescribed && isDiscovered(definition, resources) ? [] : [name]
  })
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
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string }
}

interface DefinitionObject {
  readonly metadata?: {
    readonly name?: string
    readonly uid?: string
    readonly generation?: number
  }
  readonly spec?: {
    readonly conversion?: unknown
    readonly group?: string
    readonly names?: { readonly plural?: string }
    readonly versions?: readonly (Json & { readonly name?: string; readonly served?: boolean })[]
  }
}

function keep(into: Map<string, ClusterDefinition>, object: Json): void {
  const { metadata = {}, spec = {} } = object as DefinitionObject
  const { name = '', uid = '', generation = 0 } = metadata
  const versions = spec.versions ?? []
  // Names certificates of the one cluster.
  const { conversion: _, ...rest } = spec
  into.set(name, {
    name,
    uid,
    generation,
    group: spec.group ?? '',
    plural: spec.names?.plural ?? '',
    versions: versions.filter(({ served }) => served !== false).map((one) => one.name ?? ''),
    object: {
      spec: {
        ...rest,
        versions: versions.map((version) => {
          const { schema: __, ...described } = version
          return described
        }),
      },
    },
  })
}

/*
 * A scenario is a directory: `scenario.yaml` says which teams, apps and nodes a company has, and manifests say what an
 * app of a role consists of. This file reads both, with the package's own scenario for the files that a directory
 * lacks, and fails for what cannot be stamped: an unknown field, role, environment or kind. `plan.ts` then counts the
 * pods of each app, and `population.ts` fills the manifests with values.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { fieldsOf, itemsOf, specOf } from '../../kubernetes/fields.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isRecord } from '../../lib/json.ts'
import {
  capturedApi,
  type KubernetesVersion,
  kubernetesVersions,
  newestKubernetes,
  type Schema,
} from '../api/captured-api.ts'
import type { PopulationResource } from '../churn/object.ts'
import { defaulted, schemaProblems, unknownFields } from '../schema/structural-schema.ts'
import { type Layer, ScenarioError, type Template, template } from './template.ts'

/** An app of a team. Each environment of the team has one. */
export interface ScenarioApp {
  readonly name: string
  /** One of `roles`, which names the manifests. */
  readonly role: string
  /** Its share of the pods, relative to other apps with a weight. */
  readonly weight?: number | undefined
  /** A fixed number of pods. */
  readonly replicas?: number | undefined
  readonly image?: string | undefined
  /** Additional files of `apps/`. */
  readonly with: readonly string[]
  readonly values: Layer
}

/** A deliberate problem of an app. */
export interface BrokenApp {
  /** `NAMESPACE/APP`. */
  readonly app: string
  readonly symptom: 'CrashLoopBackOff' | 'ImagePullBackOff' | 'Unschedulable' | 'FailedJob'
  readonly says: string
  /** Values of the new, broken version. */
  readonly values: Layer
}

interface BrokenNode {
  readonly node: 'last'
  readonly symptom: 'NotReady'
  readonly sinceMinutes: number
}

interface ScenarioNodes {
  readonly name: string
  readonly zones: readonly string[]
  readonly values: Layer
  /** Machine types: the values of their nodes. */
  readonly types: readonly Layer[]
}

/** One cluster of the company's fleet: what it has instead of the company's, or besides it. */
interface ScenarioCluster {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** The Kubernetes version that it serves. */
  readonly kubernetes: KubernetesVersion
  readonly pods: number
  /** Names of the company's environments. Absent: all. */
  readonly environments?: readonly string[] | undefined
  /** By how many minor releases its apps are ahead of the company's. */
  readonly releasesAhead: number
  readonly zones?: readonly string[] | undefined
  /** Win over the values of environments, teams and nodes. */
  readonly values: Layer
  readonly broken: readonly (BrokenApp | BrokenNode)[]
}

interface Environment {
  readonly name: string
  /** A factor for the weights of its apps. */
  readonly weight: number
  readonly values: Layer
}

/** The contents of `scenario.yaml`. */
interface ScenarioFile {
  readonly company: string
  readonly pods: number
  readonly values: Layer
  readonly environments?: readonly Environment[] | undefined
  readonly nodes?: ScenarioNodes | undefined
  readonly roles: Readonly<
    Record<string, { readonly manifests: readonly string[]; readonly values: Layer }>
  >
  readonly platform: readonly {
    readonly namespace: string
    readonly apps: readonly ScenarioApp[]
  }[]
  readonly teams: readonly {
    readonly name: string
    readonly values: Layer
    readonly apps: readonly ScenarioApp[]
  }[]
  readonly broken: readonly (BrokenApp | BrokenNode)[]
  readonly clusters: readonly ScenarioCluster[]
}

/** What `scenario.yaml` may say, as the structural schema of a custom resource: the file is checked as an object is. */
const text: Schema = { type: 'string', minLength: 1 }
const texts: Schema = { type: 'array', items: text, minItems: 1 }
const count: Schema = { type: 'integer', minimum: 0 }
const positive: Schema = { type: 'number', minimum: 0, exclusiveMinimum: true }
const values: Schema = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  default: {},
}

const oneOf = (...all: readonly string[]): Schema => ({ type: 'string', enum: all })
const object = (properties: Schema['properties'], ...required: readonly string[]): Schema => ({
  type: 'object',
  properties: properties ?? {},
  required,
})
const listOf = (items: Schema): Schema => ({ type: 'array', items, default: [] })
const mapOf = (additionalProperties: Schema): Schema => ({
  type: 'object',
  additionalProperties,
  default: {},
})

const app = object(
  {
    name: text,
    role: text,
    weight: positive,
    replicas: count,
    image: text,
    with: listOf(text),
    values,
  },
  'name',
  'role',
)

const broken: Schema = listOf({
  ...object(
    {
      app: { type: 'string', pattern: '^[^/]+/[^/]+$' },
      node: oneOf('last'),
      symptom: oneOf(
        'CrashLoopBackOff',
        'ImagePullBackOff',
        'Unschedulable',
        'FailedJob',
        'NotReady',
      ),
      says: text,
      sinceMinutes: positive,
      values,
    },
    'symptom',
  ),
  oneOf: [
    { required: ['app', 'says'], properties: { symptom: { not: { enum: ['NotReady'] } } } },
    { required: ['node', 'sinceMinutes'], properties: { symptom: { enum: ['NotReady'] } } },
  ],
})

const cluster = object(
  {
    // It is a directory of clusters/, too.
    name: { type: 'string', pattern: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$' },
    labels: mapOf({ type: 'string' }),
    kubernetes: { ...oneOf(...kubernetesVersions), default: newestKubernetes },
    pods: count,
    environments: texts,
    releasesAhead: { ...count, default: 0 },
    zones: texts,
    values,
    broken,
  },
  'name',
  'pods',
)

const scenarioFile = object(
  {
    company: text,
    pods: { ...count, default: 250 },
    values,
    environments: {
      type: 'array',
      minItems: 1,
      items: object({ name: text, weight: { ...positive, default: 1 }, values }, 'name'),
    },
    nodes: object(
      { name: text, zones: texts, values, types: { type: 'array', items: values, minItems: 1 } },
      'name',
      'zones',
      'types',
    ),
    roles: mapOf(object({ manifests: texts, values }, 'manifests')),
    platform: listOf(
      object({ namespace: text, apps: { type: 'array', items: app } }, 'namespace', 'apps'),
    ),
    teams: listOf(
      object({ name: text, values, apps: { type: 'array', items: app } }, 'name', 'apps'),
    ),
    broken,
    clusters: listOf(cluster),
  },
  'company',
)

/** A built-in kind, or one that the scenario defines. */
interface KnownKind {
  readonly resource: PopulationResource
  readonly namespaced: boolean
}

/** One document of a file of manifests. */
export interface Manifest extends KnownKind {
  /** The file, for errors. */
  readonly place: string
  readonly fill: Template
}

/** A scenario, read from its directory. The package's files replace missing ones. */
export interface Scenario extends Pick<
  ScenarioFile,
  'company' | 'pods' | 'values' | 'platform' | 'teams' | 'clusters'
> {
  readonly environments: readonly Environment[]
  readonly nodes: ScenarioNodes
  readonly brokenApps: ReadonlyMap<string, BrokenApp>
  readonly silentNodeMinutes: number | undefined
  /** Objects that exist once: definitions of custom resources first. */
  readonly cluster: readonly Manifest[]
  readonly node: readonly Manifest[]
  readonly namespace: readonly Manifest[]
  readonly systemNamespace: readonly Manifest[]
  readonly volume: readonly Manifest[]
  /** The manifests of an app. */
  readonly manifestsOf: (app: ScenarioApp) => readonly Manifest[]
  readonly roleValues: (app: ScenarioApp) => Layer
  readonly kindOf: (apiVersion: string, kind: string) => KnownKind | undefined
  /** The cluster that this scenario is narrowed to, by {@link Scenario.inCluster}. */
  readonly of: ScenarioCluster | undefined
  /** The scenario of one of its clusters; `undefined` without such a cluster. Throws {@link ScenarioError}. */
  readonly inCluster: (name: string) => Scenario | undefined
}

/** The scenario that comes with the package. */
const ownDirectory = fileURLToPath(new URL('../../../scenario/', import.meta.url))

let own: Scenario | undefined

/** Reads a directory; by default the scenario of the package, once. Throws {@link ScenarioError}. */
export function readScenario(directory?: string): Scenario {
  if (directory !== undefined) return new ScenarioReader(resolve(directory)).read()
  own ??= new ScenarioReader(resolve(ownDirectory)).read()
  return own
}

class ScenarioReader {
  readonly #directory: string
  readonly #files = new Map<string, readonly Manifest[]>()
  readonly #kinds = new Map<string, KnownKind>()
  /** The fields that the API server fills in, by kind. */
  readonly #defaults: Readonly<Record<string, unknown>>

  constructor(directory: string) {
    this.#directory = directory
    const [defaults] = documents(this.#path('defaults.yaml'))
    this.#defaults = isRecord(defaults) ? defaults : {}
    for (const { groupVersion, resources } of Object.values(capturedApi().resources))
      for (const { name, kind, namespaced } of resources)
        if (!name.includes('/')) this.#know(groupVersion, name, kind, namespaced)
  }

  read(): Scenario {
    const file = this.#scenarioFile(this.#directory)
    const shipped =
      this.#directory === resolve(ownDirectory) ? file : this.#scenarioFile(ownDirectory)
    const { clusters, environments = shipped.environments, nodes = shipped.nodes } = file
    if (environments === undefined || nodes === undefined)
      throw new ScenarioError(this.#directory, 'there are no environments, or no nodes')
    const roles = { ...shipped.roles, ...file.roles }
    const manifestsOf = (of: ScenarioApp): readonly Manifest[] => {
      const role = roles[of.role]
      if (role === undefined) {
        const hint = `roles are ${Object.keys(roles).join(', ')}`
        throw this.#unknown(`the role of ${of.name} is`, of.role, hint)
      }
      const files = [...role.manifests, ...of.with]
      return files.flatMap((name) => this.#manifests(`apps/${name}.yaml`))
    }
    const scenario: Scenario = {
      ...file,
      environments,
      nodes,
      values: { ...shipped.values, ...file.values },
      cluster: this.#once(join(ownDirectory, 'cluster'), join(this.#directory, 'cluster')),
      ...brokenOf(file.broken),
      node: this.#manifests('node.yaml'),
      namespace: this.#manifests('namespace.yaml'),
      systemNamespace: this.#manifests('system-namespace.yaml'),
      volume: this.#manifests('volume.yaml'),
      manifestsOf,
      roleValues: ({ role }) => roles[role]?.values ?? {},
      kindOf: (apiVersion, kind) => this.#kinds.get(`${apiVersion} ${kind}`),
      of: undefined,
      inCluster: (name) => {
        const one = clusters.find((each) => each.name === name)
        if (one === undefined) return undefined
        return {
          ...scenario,
          of: one,
          pods: one.pods,
          environments: this.#environmentsOf(scenario, one),
          nodes: {
            ...nodes,
            zones: one.zones ?? nodes.zones,
            values: { ...nodes.values, ...one.values },
          },
          cluster: [
            ...scenario.cluster,
            ...this.#once(join(this.#directory, 'clusters', one.name)),
          ],
          ...brokenOf(one.broken),
        }
      },
    }
    for (const one of clusters) this.#environmentsOf(scenario, one)
    // Reports problems of apps before anything is stamped.
    for (const { apps } of [...file.platform, ...file.teams]) apps.forEach(manifestsOf)
    return scenario
  }

  #environmentsOf({ environments }: Scenario, one: ScenarioCluster): readonly Environment[] {
    if (one.environments === undefined) return environments
    return one.environments.map((name) => {
      const found = environments.find((environment) => environment.name === name)
      if (found !== undefined) return found
      const hint = `environments are ${environments.map((environment) => environment.name).join(', ')}`
      throw this.#unknown(`the cluster ${one.name} has the environment`, name, hint)
    })
  }

  #unknown(subject: string, name: string, hint: string): ScenarioError {
    const problem = `${subject} ${JSON.stringify(name)}, which there is not`
    return new ScenarioError(join(this.#directory, 'scenario.yaml'), problem, { hint })
  }

  /** What `scenario.yaml` says, with defaults for what it leaves out. */
  #scenarioFile(directory: string): ScenarioFile {
    const path = join(directory, 'scenario.yaml')
    const [document = {}] = documents(path)
    const file = defaulted(document, scenarioFile) as ScenarioFile
    const [problem] = schemaProblems(file, scenarioFile)
    if (problem !== undefined) throw new ScenarioError(path, `${problem.field}: ${problem.message}`)
    const [unknown] = unknownFields(file, { root: scenarioFile, schemas: {} })
    if (unknown !== undefined) throw new ScenarioError(path, `there is no field ${unknown}`)
    const names = new Set(file.clusters.map(({ name }) => name))
    if (names.size === file.clusters.length) return file
    throw new ScenarioError(path, 'clusters: two clusters have the same name')
  }

  /** The manifests of folders, of which a later one's file wins, with the definitions of custom resources before their objects. */
  #once(...folders: readonly string[]): readonly Manifest[] {
    const files = new Map<string, string>()
    for (const directory of folders) {
      for (const name of existsSync(directory) ? readdirSync(directory) : [])
        if (/\.ya?ml$/.test(name)) files.set(name, join(directory, name))
    }
    const parts = [...files.values()].flatMap((path) =>
      documents(path).map((part) => [path, part] as const),
    )
    const definitions = parts.filter(isDefinition)
    for (const [place, part] of definitions) this.#define(place, part)
    const others = parts.filter((part) => !isDefinition(part))
    return [...definitions, ...others].map(([place, part]) => this.#manifest(place, part))
  }

  #define(place: string, part: unknown): void {
    const { group, scope, versions, names } = specOf(fieldsOf(part))
    const { plural, kind } = fieldsOf(names)
    for (const { name } of Array.isArray(versions) ? itemsOf(versions) : [{}]) {
      if (![group, scope, plural, kind, name].every((one) => typeof one === 'string'))
        throw new ScenarioError(place, 'a CustomResourceDefinition without its names')
      const namespaced = scope === 'Namespaced'
      const apiVersion = `${String(group)}/${String(name)}`
      this.#know(apiVersion, String(plural), String(kind), namespaced)
    }
  }

  #know(apiVersion: string, resource: string, kind: string, namespaced: boolean): void {
    const { group, version } = splitApiVersion(apiVersion)
    const known = { resource: { group, version, resource, kind, apiVersion }, namespaced }
    this.#kinds.set(`${apiVersion} ${kind}`, known)
  }

  #manifests(name: string): readonly Manifest[] {
    return getOrInsert(this.#files, name, () => {
      const path = this.#path(name)
      return documents(path).map((part) => this.#manifest(path, part))
    })
  }

  /** A file of the directory, or of the package if the directory lacks it. */
  #path(name: string): string {
    const given = join(this.#directory, name)
    return existsSync(given) ? given : join(ownDirectory, name)
  }

  #manifest(place: string, part: unknown): Manifest {
    const { apiVersion, kind, metadata } = isRecord(part) ? part : {}
    if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isRecord(metadata))
      throw new ScenarioError(place, 'a document without apiVersion, kind or metadata')
    const known = this.#kinds.get(`${apiVersion} ${kind}`)
    if (known === undefined) {
      const hint = 'put its CustomResourceDefinition into the directory cluster/'
      throw new ScenarioError(place, `there is no kind ${kind} of ${apiVersion}`, { hint })
    }
    return { place, ...known, fill: template(part, place, this.#defaults[kind]) }
  }
}

function brokenOf(
  all: readonly (BrokenApp | BrokenNode)[],
): Pick<Scenario, 'brokenApps' | 'silentNodeMinutes'> {
  return {
    brokenApps: new Map(all.flatMap((one) => ('app' in one ? [[one.app, one]] : []))),
    silentNodeMinutes: all.flatMap((one) => ('node' in one ? [one.sinceMinutes] : []))[0],
  }
}

const isDefinition = ([, part]: readonly [place: string, part: unknown]): boolean =>
  isRecord(part) && part['kind'] === 'CustomResourceDefinition'

function documents(path: string): readonly unknown[] {
  let source: string
  try {
    source = readFileSync(path, 'utf8')
  } catch (cause) {
    const hint = 'a scenario is a directory with a file scenario.yaml'
    throw new ScenarioError(path, 'cannot be read', { cause, hint })
  }
  return parseAllDocuments(source).flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined) throw new ScenarioError(path, error.message)
    const part: unknown = document.toJS()
    return part === null ? [] : [part]
  })
}

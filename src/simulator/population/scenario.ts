import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { capturedApi } from '../api/captured-api.ts'
import { isRecord } from '../../lib/json.ts'
import type { PopulationResource } from './object.ts'
import { type Layer, ScenarioError, type Template, template } from './template.ts'

/** One app of a team, the same in each of the team's environments. */
export interface ScenarioApp {
  readonly name: string
  /** One of `roles`: what the app is made of. */
  readonly role: string
  /** How many of the pods it gets, relative to the other apps with a weight. */
  readonly weight?: number | undefined
  /** How many pods it has, whatever the others have. */
  readonly replicas?: number | undefined
  readonly image?: string | undefined
  /** Further files of `apps/` that it is made of. */
  readonly with: readonly string[]
  readonly values: Layer
}

/** What is wrong with an app on purpose. */
export interface BrokenApp {
  /** `NAMESPACE/APP`. */
  readonly app: string
  readonly symptom: 'CrashLoopBackOff' | 'ImagePullBackOff' | 'Unschedulable' | 'FailedJob'
  readonly says: string
  /** Values of the new version, which is the one that is broken. */
  readonly values: Layer
}

interface BrokenNode {
  readonly node: 'last'
  readonly symptom: 'NotReady'
  readonly sinceMinutes: number
}

/** What a kind of machine has. */
export interface NodeType {
  readonly instanceType: string
  readonly architecture: string
  readonly capacity: { readonly cpu: string; readonly memory: string }
  readonly allocatable: { readonly cpu: string; readonly memory: string }
}

interface ScenarioNodes {
  readonly name: string
  readonly zones: readonly string[]
  readonly values: Layer
  readonly types: readonly NodeType[]
}

interface Role {
  readonly manifests: readonly string[]
  readonly values: Layer
}

interface Environment {
  readonly name: string
  /** What the weights of its apps are multiplied by. */
  readonly weight: number
  readonly values: Layer
}

/** What `scenario.yaml` says. */
interface ScenarioFile {
  readonly company: string
  readonly pods: number
  readonly values: Layer
  readonly environments?: readonly Environment[] | undefined
  readonly nodes?: ScenarioNodes | undefined
  readonly roles: Readonly<Record<string, Role>>
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
}

const values = z.record(z.string(), z.unknown()).default({})
const text = z.string().min(1)
const size = z.strictObject({ cpu: text, memory: text })

const app = z.strictObject({
  name: text,
  role: text,
  weight: z.number().positive().optional(),
  replicas: z.int().min(0).optional(),
  image: text.optional(),
  with: z.array(text).default([]),
  values,
})

const brokenApp = z.strictObject({
  app: z.string().regex(/^[^/]+\/[^/]+$/, 'it is NAMESPACE/APP'),
  symptom: z.enum(['CrashLoopBackOff', 'ImagePullBackOff', 'Unschedulable', 'FailedJob']),
  says: text,
  values,
})

const brokenNode = z.strictObject({
  node: z.literal('last'),
  symptom: z.literal('NotReady'),
  sinceMinutes: z.number().positive(),
})

const scenarioSchema: z.ZodType<ScenarioFile> = z.strictObject({
  company: text,
  pods: z.int().min(0).default(250),
  values,
  environments: z
    .array(z.strictObject({ name: text, weight: z.number().positive().default(1), values }))
    .min(1)
    .optional(),
  nodes: z
    .strictObject({
      name: text,
      zones: z.array(text).min(1),
      values,
      types: z
        .array(
          z.strictObject({
            instanceType: text,
            architecture: text,
            capacity: size,
            allocatable: size,
          }),
        )
        .min(1),
    })
    .optional(),
  roles: z
    .record(z.string(), z.strictObject({ manifests: z.array(text).min(1), values }))
    .default({}),
  platform: z.array(z.strictObject({ namespace: text, apps: z.array(app) })).default([]),
  teams: z.array(z.strictObject({ name: text, values, apps: z.array(app) })).default([]),
  broken: z.array(z.union([brokenApp, brokenNode])).default([]),
})

/** A kind that is built in, or that the scenario defines. */
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

/** A scenario as it is read from its directory; what the directory lacks is that of the package. */
export interface Scenario extends Pick<
  ScenarioFile,
  'company' | 'pods' | 'values' | 'platform' | 'teams'
> {
  readonly environments: readonly Environment[]
  readonly nodes: ScenarioNodes
  readonly brokenApps: ReadonlyMap<string, BrokenApp>
  readonly silentNodeMinutes: number | undefined
  /** What is there once: the definitions of custom resources first. */
  readonly cluster: readonly Manifest[]
  readonly node: readonly Manifest[]
  readonly namespace: readonly Manifest[]
  readonly systemNamespace: readonly Manifest[]
  readonly volume: readonly Manifest[]
  /** What an app is made of. */
  readonly manifestsOf: (app: ScenarioApp) => readonly Manifest[]
  readonly roleValues: (app: ScenarioApp) => Layer
  readonly kindOf: (apiVersion: string, kind: string) => KnownKind | undefined
}

/** The scenario that comes with the package. */
const ownDirectory = fileURLToPath(new URL('../../../scenario/', import.meta.url))

let own: Scenario | undefined

/** Reads a directory; without one the scenario of the package, once. Throws {@link ScenarioError}. */
export function readScenario(directory?: string): Scenario {
  if (directory !== undefined) return new ScenarioReader(resolve(directory)).read()
  own ??= new ScenarioReader(resolve(ownDirectory)).read()
  return own
}

class ScenarioReader {
  readonly #directory: string
  readonly #files = new Map<string, readonly Manifest[]>()
  readonly #custom = new Map<string, { resource: string; namespaced: boolean }>()

  constructor(directory: string) {
    this.#directory = directory
  }

  read(): Scenario {
    const file = this.#scenarioFile(this.#directory)
    const shipped =
      this.#directory === resolve(ownDirectory) ? file : this.#scenarioFile(ownDirectory)
    const { company, pods, platform, teams, broken } = file
    const { environments = shipped.environments, nodes = shipped.nodes } = file
    if (environments === undefined || nodes === undefined)
      throw new ScenarioError(this.#directory, 'there are no environments, or no nodes')
    const roles = { ...shipped.roles, ...file.roles }
    const manifestsOf = ({
      name: appName,
      role: given,
      with: more,
    }: ScenarioApp): readonly Manifest[] => {
      const role = roles[given]
      if (role === undefined) {
        const hint = `roles are ${Object.keys(roles).join(', ')}`
        const problem = `the role of ${appName} is ${JSON.stringify(given)}, which there is not`
        throw new ScenarioError(join(this.#directory, 'scenario.yaml'), problem, { hint })
      }
      return [...role.manifests, ...more].flatMap((name) => this.#manifests(`apps/${name}.yaml`))
    }
    const scenario: Scenario = {
      company,
      pods,
      platform,
      teams,
      environments,
      nodes,
      values: { ...shipped.values, ...file.values },
      cluster: this.#cluster(),
      brokenApps: new Map(broken.flatMap((one) => ('app' in one ? [[one.app, one]] : []))),
      silentNodeMinutes: broken.flatMap((one) => ('node' in one ? [one.sinceMinutes] : []))[0],
      node: this.#manifests('node.yaml'),
      namespace: this.#manifests('namespace.yaml'),
      systemNamespace: this.#manifests('system-namespace.yaml'),
      volume: this.#manifests('volume.yaml'),
      manifestsOf,
      roleValues: ({ role }) => roles[role]?.values ?? {},
      kindOf: (apiVersion, kind) => this.#kindOf(apiVersion, kind),
    }
    // What is wrong with an app is said before anything is stamped.
    for (const { apps } of [...file.platform, ...file.teams]) apps.forEach(manifestsOf)
    return scenario
  }

  #scenarioFile(directory: string): ScenarioFile {
    const path = join(directory, 'scenario.yaml')
    const [document] = documents(path)
    const { data, error } = scenarioSchema.safeParse(document ?? {})
    if (data !== undefined) return data
    const problems = error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new ScenarioError(path, problems.join('; '))
  }

  /** Every file of `cluster/`, with the definitions of custom resources before their objects. */
  #cluster(): readonly Manifest[] {
    const files = new Map<string, string>()
    for (const directory of [ownDirectory, this.#directory].map((one) => join(one, 'cluster'))) {
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
    const { success, data } = definitionSchema.safeParse(part)
    if (!success) throw new ScenarioError(place, 'a CustomResourceDefinition without its names')
    const { group, scope, versions, names } = data.spec
    for (const { name } of versions) {
      const about = { resource: names.plural, namespaced: scope === 'Namespaced' }
      this.#custom.set(`${group}/${name} ${names.kind}`, about)
    }
  }

  #manifests(name: string): readonly Manifest[] {
    let manifests = this.#files.get(name)
    if (manifests === undefined) {
      const given = join(this.#directory, name)
      const path = existsSync(given) ? given : join(ownDirectory, name)
      manifests = documents(path).map((part) => this.#manifest(path, part))
      this.#files.set(name, manifests)
    }
    return manifests
  }

  #manifest(place: string, part: unknown): Manifest {
    const { apiVersion, kind, metadata } = isRecord(part) ? part : {}
    if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isRecord(metadata))
      throw new ScenarioError(place, 'a document without apiVersion, kind or metadata')
    const about = this.#kindOf(apiVersion, kind)
    if (about === undefined) {
      const hint = 'put its CustomResourceDefinition into the directory cluster/'
      throw new ScenarioError(place, `there is no kind ${kind} of ${apiVersion}`, { hint })
    }
    return { place, ...about, fill: template(part, place) }
  }

  #kindOf(apiVersion: string, kind: string): KnownKind | undefined {
    const about =
      this.#custom.get(`${apiVersion} ${kind}`) ?? builtIn().get(`${apiVersion} ${kind}`)
    if (about === undefined) return undefined
    const [version = '', group = ''] = apiVersion.split('/').toReversed()
    const resource = { group, version, resource: about.resource, kind, apiVersion }
    return { resource, namespaced: about.namespaced }
  }
}

const isDefinition = ([, part]: readonly [place: string, part: unknown]): boolean =>
  isRecord(part) && part['kind'] === 'CustomResourceDefinition'

const definitionSchema = z.object({
  spec: z.object({
    group: z.string(),
    scope: z.string(),
    names: z.object({ plural: z.string(), kind: z.string() }),
    versions: z.array(z.object({ name: z.string() })),
  }),
})

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

let builtInKinds: ReadonlyMap<string, { resource: string; namespaced: boolean }> | undefined

/** Every kind that a real API server has, by `apiVersion kind`. */
function builtIn(): NonNullable<typeof builtInKinds> {
  builtInKinds ??= new Map(
    Object.values(capturedApi().resources).flatMap(({ groupVersion, resources }) =>
      resources
        .filter(({ name }) => !name.includes('/'))
        .map(({ name, kind, namespaced }) => [
          `${groupVersion} ${kind}`,
          { resource: name, namespaced },
        ]),
    ),
  )
  return builtInKinds
}

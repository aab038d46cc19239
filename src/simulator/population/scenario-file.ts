import { isRecord } from '../../lib/json.ts'
import {
  type KubernetesVersion,
  kubernetesVersions,
  newestKubernetes,
} from '../api/captured-api.ts'
import { type Layer, ScenarioError } from './template.ts'

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

export interface BrokenNode {
  readonly node: 'last'
  readonly symptom: 'NotReady'
  readonly sinceMinutes: number
}

export interface ScenarioNodes {
  readonly name: string
  readonly zones: readonly string[]
  readonly values: Layer
  /** Machine types: the values of their nodes. */
  readonly types: readonly Layer[]
}

/** One cluster of the company's fleet: what it has instead of the company's, or besides it. */
export interface ScenarioCluster {
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

interface Role {
  readonly manifests: readonly string[]
  readonly values: Layer
}

export interface Environment {
  readonly name: string
  /** A factor for the weights of its apps. */
  readonly weight: number
  readonly values: Layer
}

/** The contents of `scenario.yaml`. */
export interface ScenarioFile {
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
  readonly clusters: readonly ScenarioCluster[]
}

/**
 * Reads what `scenario.yaml` says, with defaults for what it leaves out. Throws {@link ScenarioError} with the path of
 * the first value that does not fit.
 */
export function readScenarioFile(document: unknown, place: string): ScenarioFile {
  try {
    return scenarioFile(document ?? {}, '')
  } catch (error) {
    if (error instanceof Misfit) throw new ScenarioError(place, error.message, { hint: error.hint })
    throw error
  }
}

/** Returns the value at a path as it has to be, or throws {@link Misfit}. */
type Read<T> = (given: unknown, path: string) => T

class Misfit extends Error {
  readonly hint: string | undefined

  constructor(path: string, problem: string, hint?: string) {
    super(path === '' ? problem : `${path}: ${problem}`)
    this.hint = hint
  }
}

function a<T>(what: string, fits: (given: unknown) => boolean): Read<T> {
  return (given, path) => {
    if (fits(given)) return given as T
    const shown = JSON.stringify(given)?.slice(0, 100) ?? 'nothing'
    throw new Misfit(path, `${shown} is not ${what}`, `give ${what}`)
  }
}

const textLike = (pattern: RegExp, what: string): Read<string> =>
  a(what, (given) => typeof given === 'string' && pattern.test(given))

const oneOf = <T extends string>(...all: readonly T[]): Read<T> =>
  a(all.length === 1 ? all.join() : `one of ${all.join(', ')}`, (given) =>
    all.some((one) => one === given),
  )

function optional<T>(read: Read<T>): Read<T | undefined> {
  return (given, path) => (given === undefined ? undefined : read(given, path))
}

function defaultTo<T>(otherwise: T, read: Read<T>): Read<T> {
  return (given, path) => (given === undefined ? otherwise : read(given, path))
}

function listOf<T>(read: Read<T>, least = 0): Read<readonly T[]> {
  const what = least === 0 ? 'a list' : 'a list with an item'
  const list = a<unknown[]>(what, (given) => Array.isArray(given) && given.length >= least)
  return (given, path) => list(given, path).map((item, at) => read(item, below(path, at)))
}

const record = a<Readonly<Record<string, unknown>>>('an object', isRecord)

function mapOf<T>(read: Read<T>): Read<Readonly<Record<string, T>>> {
  return (given, path) =>
    Object.fromEntries(
      Object.entries(record(given, path)).map(([key, value]) => [
        key,
        read(value, below(path, key)),
      ]),
    )
}

/** An object with these keys and no others. */
function objectOf<T extends object>(members: {
  readonly [Key in keyof T]-?: Read<T[Key]>
}): Read<T> {
  return (given, path) => {
    const fields = record(given, path)
    for (const key of Object.keys(fields)) {
      if (Object.hasOwn(members, key)) continue
      const hint = `keys are ${Object.keys(members).join(', ')}`
      throw new Misfit(path, `there is no key ${JSON.stringify(key)}`, hint)
    }
    const read = Object.entries<Read<unknown>>(members).map(
      ([key, member]) => [key, member(fields[key], below(path, key))] as const,
    )
    return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as T
  }
}

const below = (path: string, key: string | number): string =>
  path === '' ? `${key}` : `${path}.${key}`

const text = textLike(/./s, 'a text')
const count = a<number>(
  'a whole number, 0 or more',
  (given) => Number.isSafeInteger(given) && (given as number) >= 0,
)
const positive = a<number>(
  'a number above 0',
  (given) => Number.isFinite(given) && (given as number) > 0,
)
const values: Read<Layer> = defaultTo({}, record)

const app = objectOf<ScenarioApp>({
  name: text,
  role: text,
  weight: optional(positive),
  replicas: optional(count),
  image: optional(text),
  with: defaultTo([], listOf(text)),
  values,
})

const brokenApp = objectOf<BrokenApp>({
  app: textLike(/^[^/]+\/[^/]+$/, 'NAMESPACE/APP'),
  symptom: oneOf('CrashLoopBackOff', 'ImagePullBackOff', 'Unschedulable', 'FailedJob'),
  says: text,
  values,
})

const brokenNode = objectOf<BrokenNode>({
  node: oneOf('last'),
  symptom: oneOf('NotReady'),
  sinceMinutes: positive,
})

const broken = defaultTo(
  [],
  listOf<BrokenApp | BrokenNode>((given, path) =>
    isRecord(given) && Object.hasOwn(given, 'node')
      ? brokenNode(given, path)
      : brokenApp(given, path),
  ),
)

const cluster = objectOf<ScenarioCluster>({
  // It is a directory of clusters/, too.
  name: textLike(
    /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/,
    'a name of lowercase letters, digits, - and .',
  ),
  labels: defaultTo({}, mapOf(a<string>('a text', (given) => typeof given === 'string'))),
  kubernetes: defaultTo(newestKubernetes, oneOf(...kubernetesVersions)),
  pods: count,
  environments: optional(listOf(text, 1)),
  releasesAhead: defaultTo(0, count),
  zones: optional(listOf(text, 1)),
  values,
  broken,
})

const clusters: Read<readonly ScenarioCluster[]> = (given, path) => {
  const all = listOf(cluster)(given, path)
  if (new Set(all.map(({ name }) => name)).size === all.length) return all
  throw new Misfit(path, 'two clusters have the same name')
}

const scenarioFile = objectOf<ScenarioFile>({
  company: text,
  pods: defaultTo(250, count),
  values,
  environments: optional(
    listOf(objectOf<Environment>({ name: text, weight: defaultTo(1, positive), values }), 1),
  ),
  nodes: optional(
    objectOf<ScenarioNodes>({
      name: text,
      zones: listOf(text, 1),
      values,
      types: listOf(values, 1),
    }),
  ),
  roles: defaultTo({}, mapOf(objectOf<Role>({ manifests: listOf(text, 1), values }))),
  platform: defaultTo(
    [],
    listOf(objectOf<ScenarioFile['platform'][number]>({ namespace: text, apps: listOf(app) })),
  ),
  teams: defaultTo(
    [],
    listOf(objectOf<ScenarioFile['teams'][number]>({ name: text, values, apps: listOf(app) })),
  ),
  broken,
  clusters: defaultTo([], clusters),
})

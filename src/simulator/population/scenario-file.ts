import {
  type KubernetesVersion,
  kubernetesVersions,
  newestKubernetes,
} from '../api/captured-api.ts'
import type { Schema } from '../api/schema.ts'
import { schemaProblems } from '../schema/object-validation.ts'
import { defaulted, unknownFields } from '../schema/pruning-and-defaulting.ts'
import { type Layer, ScenarioError } from './template.ts'

/**
 * What `scenario.yaml` may say, as types and as the structural schema of a custom resource: the simulator checks and
 * completes the file as it does an object.
 */

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

/**
 * Reads what `scenario.yaml` says, with defaults for what it leaves out. Throws {@link ScenarioError} with the path of
 * the first value that does not fit.
 */
export function readScenarioFile(document: unknown, place: string): ScenarioFile {
  const completed = defaulted(document ?? {}, scenarioFile)
  const [problem] = schemaProblems(completed, scenarioFile)
  if (problem !== undefined) {
    throw new ScenarioError(place, `${problem.field}: ${problem.message}`)
  }
  const [unknown] = unknownFields(completed as object, { root: scenarioFile, schemas: {} })
  if (unknown !== undefined) throw new ScenarioError(place, `there is no field ${unknown}`)
  const file = completed as ScenarioFile
  const names = new Set(file.clusters.map(({ name }) => name))
  if (names.size === file.clusters.length) return file
  throw new ScenarioError(place, 'clusters: two clusters have the same name')
}

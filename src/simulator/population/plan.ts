/*
 * Plans a cluster of a scenario before an object is made: how many nodes and namespaces, which app is where, and how
 * many pods each has, so that the sum is exact. The plan grows with apps and nodes, not with pods.
 */

import { fieldsOf, itemsOf, statusOf, textOf } from '../../kubernetes/fields.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { podsPerNode } from '../churn/nodes.ts'
import { capturedApi, type KubernetesVersion, newestKubernetes } from '../api/captured-api.ts'
import { createRandom } from '../churn/random.ts'
import {
  type BrokenApp,
  type Manifest,
  readScenario,
  type Scenario,
  type ScenarioApp,
} from './scenario.ts'
import { type Layer, Values } from './template.ts'

/** Options of a population. The same options give the same objects, byte by byte. */
export interface PopulationOptions {
  /** Default `informerql`. */
  readonly seed?: string
  /** The moment from which all ages count back; default: now. */
  readonly now?: Date
  /** The total number of pods. Default: the number of the scenario, 250 in that of the package. */
  readonly pods?: number | undefined
  /**
   * The number of nodes. Default: enough for the pods, about 20 pods per node in a small cluster, 80 in a large one.
   */
  readonly nodes?: number
  /** The number of team namespaces, without those of the platform. Default: enough for the pods. */
  readonly namespaces?: number
  /** The directory of a scenario (docs/simulator.md). Default: the company that comes with the package. */
  readonly scenario?: string | undefined
  /** One of the scenario's `clusters`. Default: the whole company in one cluster. */
  readonly cluster?: string | undefined
}

/** Impossible options of a population. */
class PopulationError extends CodedError {
  constructor(option: keyof PopulationOptions, value: unknown, problem: string, hint: string) {
    super('POPULATION', `population option ${option} = ${String(value)}: ${problem}`, {
      value,
      hint,
    })
  }
}

/** One app in one namespace, with its share of the pods. */
export interface AppPlan {
  readonly namespace: string
  readonly name: string
  /** The number of its pods in all states. */
  readonly pods: number
  readonly manifests: readonly Manifest[]
  readonly values: Values
  /** The values of the previous version, for old ReplicaSets. */
  readonly previous: Layer
  readonly broken: BrokenApp | undefined
}

/** A namespace and the apps in it. */
interface NamespacePlan {
  readonly name: string
  readonly values: Values
  readonly apps: readonly AppPlan[]
}

/** A node before it is stamped. */
export interface NodePlan {
  readonly index: number
  readonly name: string
  readonly ready: boolean
  readonly values: Values
}

/** A plan of all objects. Its size grows with the number of apps and nodes, not of pods. */
export interface Plan {
  readonly scenario: Scenario
  /** The seed of this cluster. */
  readonly seed: string
  readonly nowMs: number
  readonly nodes: readonly NodePlan[]
  readonly namespaces: readonly NamespacePlan[]
  /** The values of the whole cluster. */
  readonly values: Values
  /** The Applications of Argo CD by what they list, as a tracking id names it: `GROUP/KIND:NAMESPACE/NAME`. */
  readonly applications: ReadonlyMap<string, string>
}

const mostNodes = 32_000
const daemonsPerNode = 2

/**
 * Fills in defaults and distributes the pods. Throws {@link PopulationError}, and `ScenarioError` for an invalid
 * scenario.
 */
export function planPopulation(options: PopulationOptions = {}): Plan {
  const scenario = scenarioOf(options)
  // Clusters share what follows from the company's seed, their apps' versions, and nothing else.
  const companySeed = options.seed ?? 'informerql'
  const seed = clusterSeed(companySeed, options.cluster)
  const pods = checked('pods', options.pods ?? scenario.pods, 0, 3_000_000)
  const usual = Math.max(2, Math.ceil(pods / Math.min(80, 20 + pods / 100)))
  const nodes = checked('nodes', options.nodes ?? usual, 1, mostNodes)
  const most = podsPerNode - daemonsPerNode
  if (pods - nodes * daemonsPerNode > (nodes < 3 ? nodes : nodes - 1) * most) {
    const hint = `ask for at least ${Math.ceil(pods / most) + 1} nodes`
    throw new PopulationError('nodes', nodes, `${pods} pods do not fit`, hint)
  }
  const drafts = draftApps(scenario, namespaceCount(options.namespaces, pods, scenario))
  sharePods(drafts, pods, nodes)
  const kubernetes = capturedApi(scenario.of?.kubernetes).version.gitVersion
  // Objects carry whole seconds: populations of 12:00:00.3 and 12:00:00.7 are equal.
  const nowMs = Math.floor((options.now?.getTime() ?? Date.now()) / 1000) * 1000
  const common = { ...scenario.values, kubernetes, now: timestamp(nowMs) }
  const layer = { nodes: String(nodes) }
  const values = new Values(seed, 'cluster', [layer, scenario.of?.values ?? {}, common])
  const byNamespace = Map.groupBy(
    drafts.filter((draft) => draft.pods > 0 || draft.workload === undefined),
    ({ namespace }) => namespace,
  )
  return {
    scenario,
    seed,
    nowMs,
    values,
    applications: applicationsOf(scenario, values),
    nodes: planNodes(scenario, seed, nodes, common),
    namespaces: Array.from(byNamespace, ([name, members]) => ({
      name,
      values: new Values(seed, name, [members[0]?.layers ?? {}, common].flat()),
      apps: members.map((draft) => planApp(scenario, { seed, companySeed, common }, draft)),
    })),
  }
}

const listed = ['group', 'kind', 'namespace', 'name']

function applicationsOf({ cluster }: Scenario, values: Values): Map<string, string> {
  const applications = cluster.filter(({ resource: { kind } }) => kind === 'Application')
  return new Map(
    applications.flatMap(({ fill }) => {
      const application = fieldsOf(fill(values))
      const named = textOf(fieldsOf(application['metadata'])['name']) ?? ''
      return itemsOf(statusOf(application)['resources']).map((one) => {
        const [group = '', kind, namespace = '', name] = listed.map((part) => textOf(one[part]))
        return [`${group}/${kind}:${namespace}/${name}`, named] as const
      })
    }),
  )
}

/** The seed of one cluster: its objects have other names and UIDs than those of the others. */
export function clusterSeed(seed: string, cluster: string | undefined): string {
  return cluster === undefined ? seed : `${seed}/${cluster}`
}

/** The Kubernetes version of a population's cluster. Throws as `population` does. */
export function kubernetesOf(options: PopulationOptions = {}): KubernetesVersion {
  return scenarioOf(options).of?.kubernetes ?? newestKubernetes
}

function scenarioOf({ scenario: directory, cluster }: PopulationOptions): Scenario {
  const company = readScenario(directory)
  if (cluster === undefined) return company
  const found = company.inCluster(cluster)
  if (found !== undefined) return found
  const names = company.clusters.map(({ name }) => name)
  const hint =
    names.length === 0 ? 'give clusters in scenario.yaml' : `there are ${names.join(', ')}`
  throw new PopulationError('cluster', cluster, 'the scenario has no such cluster', hint)
}

function checked(option: keyof PopulationOptions, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  const problem = `it must be an integer from ${min} to ${max}`
  throw new PopulationError(option, value, problem, 'choose another number')
}

/** Enough namespaces for about 5 pods per scaling app in a small cluster, 50 in a large one. */
function namespaceCount(given: number | undefined, pods: number, { teams }: Scenario): number {
  const scaled = teams.flatMap(({ apps }) => apps).filter(({ weight }) => weight !== undefined)
  const podsOfApp = Math.min(50, Math.max(5, pods / 50))
  const appsOfTeam = scaled.length / Math.max(1, teams.length)
  const enough = appsOfTeam === 0 ? 0 : Math.round((pods * 0.9) / podsOfApp / appsOfTeam)
  return checked('namespaces', given ?? Math.max(1, teams.length, enough), 1, 100_000)
}

interface Draft {
  readonly app: ScenarioApp
  readonly namespace: string
  /** The values of its environment and team. */
  readonly layers: readonly Layer[]
  readonly manifests: readonly Manifest[]
  /** The kind of its workload; `undefined` for an app without pods. */
  readonly workload: string | undefined
  readonly weight: number
  readonly broken: BrokenApp | undefined
  pods: number
}

const workloads = new Set(['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'])

function draftApps(scenario: Scenario, namespaces: number): Draft[] {
  const { environments, teams } = scenario
  const own = scenario.of?.values ?? {}
  const drafts: Draft[] = []
  const add = (apps: readonly ScenarioApp[], factor: number, layers: readonly Layer[]): void => {
    const values = new Values('', '', [...layers, { namespace: '${team}' }, scenario.values])
    const namespace = String(values.get('namespace', 'scenario.yaml'))
    for (const app of apps) {
      const manifests = scenario.manifestsOf(app)
      const workload = manifests.find(({ resource }) => workloads.has(resource.kind))?.resource.kind
      const weight = (app.weight ?? 0) * factor
      const broken = scenario.brokenApps.get(`${namespace}/${app.name}`)
      drafts.push({ app, namespace, layers, manifests, workload, weight, broken, pods: 0 })
    }
  }
  const [first] = environments
  for (const { namespace, apps } of scenario.platform) {
    const environment = { environment: first?.name ?? '', suffix: '' }
    add(apps, 1, [{ namespace, team: 'platform', ...environment }, own, first?.values ?? {}])
  }
  for (let index = 0; index < namespaces && teams.length > 0; index++) {
    const team = teams[index % teams.length]
    const round = Math.floor(index / teams.length)
    const environment = environments[round] ?? environments.at(-1)
    if (team === undefined || environment === undefined) break
    // The last environment is reused only if its name contains a number.
    if (round >= environments.length && !environment.name.includes('${number}')) break
    const place = { team: team.name, environment: environment.name, number: round }
    add(team.apps, environment.weight, [place, own, environment.values, team.values])
  }
  return drafts
}

/** The share of the pods that apps of fixed size may take if others scale. */
const fixedShare = 0.6

/** Distributes the pods: first to apps of fixed size, then by weight. */
function sharePods(drafts: readonly Draft[], pods: number, nodes: number): void {
  const total = drafts.reduce((sum, { weight }) => sum + weight, 0)
  let left = Math.floor(pods * (total === 0 ? 1 : fixedShare))
  let rest = pods
  for (const draft of drafts) {
    const { app, workload, broken } = draft
    let wanted = app.replicas ?? (app.weight === undefined ? 1 : 0)
    if (workload === undefined) wanted = 0
    if (workload === 'DaemonSet') wanted = nodes
    if (workload === 'CronJob') wanted = broken === undefined ? 2 : 3
    draft.pods = draft.workload === 'DaemonSet' && wanted > left ? 0 : Math.min(wanted, left)
    left -= draft.pods
    rest -= draft.pods
  }
  const parts = shares(
    rest,
    drafts.map(({ weight }) => weight),
  )
  for (const [at, draft] of drafts.entries()) draft.pods += parts[at] ?? 0
}

/** Divides a number by weights. Rounds the running sum instead of each share, so that the shares add up exactly. */
export function shares(whole: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1
  let sum = 0
  return weights.map((weight) => {
    const from = Math.round((whole * sum) / total)
    sum += weight
    return Math.round((whole * sum) / total) - from
  })
}

interface Seeds {
  readonly seed: string
  /** The seed of what all clusters of the company share. */
  readonly companySeed: string
  /** The values of everything. */
  readonly common: Layer
}

function planApp(scenario: Scenario, { seed, companySeed, common }: Seeds, draft: Draft): AppPlan {
  const { app, namespace, layers, manifests, pods, broken } = draft
  const { name, role, image } = app
  const place = `${namespace}/${name}`
  const team = String(valueIn(layers, 'team'))
  const random = createRandom(`${companySeed}/version/${team}/${name}`)
  const address = createRandom(`${seed}/address/${place}`)
  const minor = random.integer(1, 30) + (scenario.of?.releasesAhead ?? 0)
  const major = random.integer(1, 4)
  const version =
    image?.slice(image.lastIndexOf(':') + 1) ?? `${major}.${minor}.${random.integer(0, 9)}`
  const before =
    image === undefined
      ? `${major}.${minor - 1}.${random.integer(0, 9)}`
      : version.replace(/\d+$/, (last) => String(Math.max(0, Number(last) - 1)))
  const own = {
    name,
    namespace,
    role,
    version,
    ...(image === undefined ? {} : { image }),
    // Two apps may have the same address by chance, which does no harm.
    clusterIP: `10.${address.integer(96, 111)}.${address.integer(0, 255)}.${address.integer(2, 254)}`,
    fewestPods: Math.max(1, Math.floor(pods * 0.6)),
    mostPods: Math.max(2, Math.ceil(pods * 1.6)),
  }
  const all = [own, app.values, scenario.roleValues(app), ...layers, common]
  return {
    namespace,
    name,
    pods,
    manifests,
    values: new Values(seed, place, [broken?.values ?? {}, checksumOf(version), ...all]),
    previous: {
      ...Object.fromEntries(
        Object.keys(broken?.values ?? {}).map((key) => [key, valueIn(all, key)]),
      ),
      ...checksumOf(before),
      version: before,
      ...(image === undefined ? {} : { image: image.slice(0, -version.length) + before }),
    },
    broken,
  }
}

/** The checksum of the configuration, which changes with each version. */
const checksumOf = (version: string): Layer => ({ checksum: `\${hex:64:config-${version}}` })

function valueIn(layers: readonly Layer[], name: string): unknown {
  return layers.find((layer) => layer[name] !== undefined)?.[name]
}

/** Plans the nodes. The last of at least three nodes may be broken. */
function planNodes(
  { nodes: { name, zones, types, values }, silentNodeMinutes }: Scenario,
  seed: string,
  count: number,
  common: Layer,
): readonly NodePlan[] {
  const random = createRandom(`${seed}/nodes`)
  return Array.from({ length: count }, (_, index): NodePlan => {
    const zone = zones[index % zones.length] ?? ''
    const type = random.pick(types)
    const number = String(Math.floor(index / zones.length) + 1).padStart(3, '0')
    const ready = silentNodeMinutes === undefined || count < 3 || index !== count - 1
    const own = {
      node: name,
      zone,
      zoneLetter: zone.at(-1) ?? '',
      number,
      address: `10.${16 + Math.floor(index / 51_200)}.${Math.floor(index / 200) % 256}.${10 + (index % 200)}`,
      podNetwork: `10.${128 + (index >> 8)}.${index & 255}`,
    }
    const all = new Values(seed, `node/${index}`, [own, type, values, common])
    return { index, name: String(all.get('node', 'scenario.yaml')), ready, values: all }
  })
}

/** What there is to say about a population. */
interface PopulationSummary {
  readonly company: string
  readonly kubernetes: KubernetesVersion
  readonly pods: number
  /** `7 teams, 86 apps in 21 namespaces, 250 pods on 12 nodes` */
  readonly size: string
  /** What is broken on purpose, a sentence each. */
  readonly broken: readonly string[]
}

/** Describes the population of these options in a few lines, without making it. Throws as `population` does. */
export function describePopulation(options: PopulationOptions = {}): string {
  const { company, size, broken } = summarizePopulation(options)
  const trouble = broken.map((sentence) => `  - ${sentence}\n`).join('')
  return `${company}: ${size}.\n${broken.length === 0 ? '' : `Broken on purpose:\n${trouble}`}`
}

/** What {@link describePopulation} says, in parts. */
export function summarizePopulation(options: PopulationOptions = {}): PopulationSummary {
  const { scenario, namespaces, nodes } = planPopulation(options)
  const apps = namespaces.flatMap((namespace) => namespace.apps)
  const pods = apps.reduce((sum, app) => sum + app.pods, 0)
  const broken = [
    ...apps.flatMap(({ namespace, name, broken: how, pods: count }) =>
      // A CronJob with too few pods has no failed run.
      how === undefined || (how.symptom === 'FailedJob' && count < 2)
        ? []
        : [`${namespace}/${name}: ${how.says}`],
    ),
    ...nodes
      .filter(({ ready }) => !ready)
      .map(
        ({ name }) =>
          `node ${name} has been silent for ${scenario.silentNodeMinutes} minutes (NotReady)`,
      ),
  ]
  const size = [
    counted(scenario.teams.length, 'team'),
    `${counted(apps.length, 'app')} in ${counted(namespaces.length, 'namespace')}`,
    `${counted(pods, 'pod')} on ${counted(nodes.length, 'node')}`,
  ].join(', ')
  const kubernetes = scenario.of?.kubernetes ?? newestKubernetes
  return { company: scenario.company, kubernetes, pods, size, broken }
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

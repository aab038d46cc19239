import { company, type Fault } from './catalog.ts'
import { type AppPlan, planCompany } from './company-plan.ts'
import { type PopulationOptions, populationSize } from './population-options.ts'
import { brokenNodeSilentForMs, minute } from './duration.ts'

/** What a population is, for somebody who is about to look at it. */
export interface PopulationDescription {
  readonly company: string
  readonly teams: number
  readonly namespaces: number
  readonly apps: number
  readonly pods: number
  readonly nodes: number
  /** What is wrong on purpose, a sentence each: where, and what one sees. */
  readonly broken: readonly string[]
  /** All of it in a few lines. */
  readonly text: string
}

/** Describes the population that the same options make, without making it. Throws as `population` does. */
export function describePopulation(options: PopulationOptions = {}): PopulationDescription {
  const plan = planCompany(populationSize(options))
  const apps = plan.plannedNamespaces.flatMap((namespace) => namespace.apps)
  const counts = {
    company: company.name,
    teams: new Set(plan.plannedNamespaces.map(({ team }) => team)).size,
    namespaces: plan.plannedNamespaces.length,
    apps: apps.length,
    pods: apps.reduce((sum, { pods }) => sum + pods, 0),
    nodes: plan.plannedNodes.length,
  }
  const broken = [
    ...apps.flatMap(brokenApp),
    ...plan.plannedNodes
      .filter(({ ready }) => !ready)
      .map(({ name }) => `node ${name} has been silent for ${silentMinutes} minutes (NotReady)`),
  ]
  return { ...counts, broken, text: textOf(counts, broken) }
}

const silentMinutes = brokenNodeSilentForMs / minute

function brokenApp({ namespace, name, fault, pods }: AppPlan): readonly string[] {
  // With too few pods a CronJob has no failed run.
  if (fault === undefined || (fault === 'FailedJob' && pods < 2)) return []
  return [`${namespace}/${name}: ${symptoms[fault]}`]
}

const symptoms: Readonly<Record<Fault, string>> = {
  CrashLoopBackOff:
    'the new version crashes at every start, its rollout is stuck (CrashLoopBackOff)',
  ImagePullBackOff: 'the image of the new version does not exist (ImagePullBackOff)',
  Unschedulable: 'a pod asks for more than any node has (Pending)',
  FailedJob: 'the last run failed twice and was given up (BackoffLimitExceeded)',
}

function textOf(
  counts: Omit<PopulationDescription, 'broken' | 'text'>,
  broken: readonly string[],
): string {
  const { teams, namespaces, apps, pods, nodes } = counts
  const size = `${counted(teams, 'team')}, ${counted(apps, 'app')} in ${counted(namespaces, 'namespace')}, ${counted(pods, 'pod')} on ${counted(nodes, 'node')}`
  const faults = broken.map((sentence) => `  - ${sentence}\n`).join('')
  const trouble = broken.length === 0 ? '' : `Broken on purpose:\n${faults}`
  return `${counts.company}, an online furniture shop: ${size}.\n${trouble}`
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

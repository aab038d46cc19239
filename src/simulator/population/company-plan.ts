import {
  type AppRole,
  type CatalogApp,
  type CatalogTeam,
  company,
  type Fault,
  platform,
  teams,
} from './catalog.ts'
import { type NodePlan, planNodes } from './node-plan.ts'
import type { PopulationSize } from './population-options.ts'
import { createRandom } from './random.ts'

/** The controllers that an app's pods may have. */
type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'CronJob'

/** One app in one namespace, with its share of the pods. */
export interface AppPlan {
  readonly team: string
  readonly environment: string
  readonly namespace: string
  readonly name: string
  readonly role: AppRole
  readonly workload: WorkloadKind
  /** All of its pods, whatever their state. */
  readonly pods: number
  readonly image: string
  /** The tag of its image. */
  readonly version: string
  /** The image before, for old ReplicaSets. */
  readonly previousImage: string
  readonly autoscaled: boolean
  /** What it serves on; `undefined` for those that serve nothing. */
  readonly port: number | undefined
  readonly host: string | undefined
  readonly schedule: string | undefined
  readonly fault: Fault | undefined
}

/** A namespace and the apps in it. */
export interface NamespacePlan {
  readonly name: string
  readonly team: string
  readonly environment: string
  readonly apps: readonly AppPlan[]
}

/** Everything that is to be written out. Its size grows with the number of apps and nodes, not with that of pods. */
export interface CompanyPlan extends PopulationSize {
  readonly plannedNodes: readonly NodePlan[]
  readonly plannedNamespaces: readonly NamespacePlan[]
}

interface Draft {
  readonly app: CatalogApp
  readonly team: string
  readonly environment: string
  readonly namespace: string
  readonly workload: WorkloadKind
  readonly weight: number
  pods: number
}

/** The apps of fixed size may take this share; the rest belongs to those that scale. */
const fixedShare = 0.6

/** Shares the pods out: first to the apps of fixed size, then by weight. */
export function planCompany(size: PopulationSize): CompanyPlan {
  const drafts = draftApps(size)
  let left = Math.floor(size.pods * fixedShare)
  let given = 0
  for (const draft of drafts) {
    const wanted = fixedPodsOf(draft, size.nodes)
    draft.pods = draft.workload === 'DaemonSet' && wanted > left ? 0 : Math.min(wanted, left)
    left -= draft.pods
    given += draft.pods
  }
  shareByWeight(drafts, size.pods - given)

  const byNamespace = Map.groupBy(
    drafts.filter(({ pods }) => pods > 0),
    ({ namespace }) => namespace,
  )
  const plannedNamespaces = [...byNamespace].map(([name, members]): NamespacePlan => {
    const { team = '', environment = '' } = members[0] ?? {}
    return { name, team, environment, apps: members.map((draft) => planApp(size.seed, draft)) }
  })
  return { ...size, plannedNodes: planNodes(size.seed, size.nodes), plannedNamespaces }
}

function draftApps(size: PopulationSize): Draft[] {
  const drafts: Draft[] = []
  const add = (team: CatalogTeam, owner: string, environment: string, namespace: string): void => {
    for (const app of team.apps) {
      const workload = workloadOf(app.role)
      const weight = (app.weight ?? 0) * (environment === 'staging' ? 0.4 : 1)
      drafts.push({ app, team: owner, environment, namespace, workload, weight, pods: 0 })
    }
  }
  for (const team of platform) add(team, 'platform', 'production', team.name)
  for (let index = 0; index < size.namespaces; index++) {
    const team = teams[index % teams.length]
    if (team === undefined) break
    const environment = environmentOf(Math.floor(index / teams.length))
    const suffix = environment === 'production' ? '' : `-${environment}`
    add(team, team.name, environment, `${team.name}${suffix}`)
  }
  return drafts
}

function environmentOf(round: number): string {
  return round === 0 ? 'production' : round === 1 ? 'staging' : `cell-${round}`
}

function workloadOf(role: AppRole): WorkloadKind {
  switch (role) {
    case 'web':
    case 'api':
    case 'worker':
      return 'Deployment'
    case 'database':
    case 'cache':
    case 'queue':
      return 'StatefulSet'
    case 'agent':
      return 'DaemonSet'
    case 'cron':
      return 'CronJob'
  }
}

function fixedPodsOf({ app, workload, environment }: Draft, nodes: number): number {
  if (workload === 'DaemonSet') return nodes
  if (workload === 'CronJob') return faultOf(app, environment) === undefined ? 2 : 3
  return app.replicas ?? 0
}

function faultOf(app: CatalogApp, environment: string): Fault | undefined {
  return environment === 'production' ? app.fault : undefined
}

/** Rounds the running sum rather than each share, so that the shares add up exactly. */
function shareByWeight(drafts: readonly Draft[], pods: number): void {
  const total = drafts.reduce((sum, { weight }) => sum + weight, 0)
  if (total === 0) return
  let weights = 0
  let given = 0
  for (const draft of drafts) {
    if (draft.weight === 0) continue
    weights += draft.weight
    const until = Math.round((pods * weights) / total)
    draft.pods += until - given
    given = until
  }
}

function planApp(seed: string, draft: Draft): AppPlan {
  const { app, team, environment, namespace, workload, pods } = draft
  const random = createRandom(`${seed}/version/${team}/${app.name}`)
  const [major, minor, patch] = [random.integer(1, 4), random.integer(1, 30), random.integer(0, 9)]
  const version = app.image?.slice(app.image.lastIndexOf(':') + 1) ?? `${major}.${minor}.${patch}`
  const repository = `${company.registry}/${team}/${app.name}`
  return {
    team,
    environment,
    namespace,
    name: app.name,
    role: app.role,
    workload,
    pods,
    image: app.image ?? `${repository}:${version}`,
    version,
    previousImage: app.image ?? `${repository}:${major}.${minor - 1}.${random.integer(0, 9)}`,
    autoscaled: app.autoscaled === true && environment !== 'staging',
    port: app.port ?? ports[app.role],
    host: app.host === undefined ? undefined : hostOf(app.host, environment),
    schedule: app.schedule,
    fault: faultOf(app, environment),
  }
}

const ports: Readonly<Partial<Record<AppRole, number>>> = {
  web: 3000,
  api: 8080,
  database: 5432,
  cache: 6379,
  queue: 5672,
}

function hostOf(host: string, environment: string): string {
  const label = environment === 'production' ? host : `${host}-${environment}`
  return `${label}.${company.domain}`
}

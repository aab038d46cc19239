import type { AppContext, BackendPod } from './app-context.ts'
import { configItems } from './app-config.ts'
import { certificateItems, serviceItems, trafficItems } from './app-network.ts'
import { policyItems } from './app-policy.ts'
import { clusterItems, namespaceItems } from './cluster-parts.ts'
import { type AppPlan, type CompanyPlan, planCompany } from './company-plan.ts'
import { cronJobItems } from './cron-job.ts'
import { daemonSetItems } from './daemon-set.ts'
import { deploymentItems } from './deployment.ts'
import { nodeItems } from './node.ts'
import { createPlacer } from './node-plan.ts'
import { type PopulationOptions, populationSize } from './population-options.ts'
import type { PopulationItem } from './population-object.ts'
import { createRandom } from './random.ts'
import { statefulSetItems } from './stateful-set.ts'
import { day } from './duration.ts'

/**
 * The objects of a small imaginary company's cluster, one at a time, owners before what they own. They have UIDs, creation
 * timestamps, managed fields and status, and no resourceVersion. They share structure: do not change them. The same
 * options give the same objects. Memory is bounded by the number of apps and nodes, not of pods. Throws
 * `PopulationError` at once where the options do not fit together.
 */
export function population(options: PopulationOptions = {}): Generator<PopulationItem, void> {
  return itemsOf(planCompany(populationSize(options)))
}

function* itemsOf(plan: CompanyPlan): Generator<PopulationItem, void> {
  yield* clusterItems(plan)
  const images = commonImages(plan)
  for (const node of plan.plannedNodes) yield* nodeItems(plan.seed, plan.nowMs, node, images)
  for (const namespace of plan.plannedNamespaces) yield* namespaceItems(plan, namespace)
  const shared = {
    seed: plan.seed,
    nowMs: plan.nowMs,
    nodes: plan.plannedNodes,
    zones: new Map(plan.plannedNodes.map(({ name, zone }) => [name, zone])),
    placer: createPlacer(plan.plannedNodes),
  }
  for (const { apps } of plan.plannedNamespaces)
    for (const app of apps) yield* appItems({ ...shared, ...contextOf(plan, app) })
}

/** What nodes say they have pulled: the images of the first apps. */
function commonImages(plan: CompanyPlan): readonly string[] {
  const images = plan.plannedNamespaces.flatMap(({ apps }) => apps.map(({ image }) => image))
  return [...new Set(images)].slice(0, 24)
}

/** What is different for each app. */
function contextOf(
  { seed, nowMs }: CompanyPlan,
  app: AppPlan,
): Pick<AppContext, 'app' | 'random' | 'createdAtMs'> {
  const random = createRandom(`${seed}/app/${app.namespace}/${app.name}`)
  return { app, random, createdAtMs: nowMs - random.integer(60, 400) * day }
}

function* appItems(context: AppContext): Generator<PopulationItem, void> {
  yield* configItems(context)
  yield* certificateItems(context)
  const services = [...serviceItems(context)]
  yield* services
  const backends = yield* workloadItems(context)
  yield* trafficItems(context, services, backends)
  yield* policyItems(context, backends)
}

function* workloadItems(context: AppContext): Generator<PopulationItem, readonly BackendPod[]> {
  switch (context.app.workload) {
    case 'Deployment':
      return yield* deploymentItems(context)
    case 'StatefulSet':
      return yield* statefulSetItems(context)
    case 'DaemonSet':
      return yield* daemonSetItems(context)
    case 'CronJob':
      yield* cronJobItems(context)
      return []
  }
}

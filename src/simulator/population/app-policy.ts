import type { AppContext, BackendPod } from './app-context.ts'
import { selectorLabels } from './app-labels.ts'
import { partsOf } from './app-network.ts'
import { type PopulationItem, populationItem } from './population-object.ts'
import { resources } from './resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { minute } from './duration.ts'

/** How an app may be disturbed and scaled: its PodDisruptionBudget and its HorizontalPodAutoscaler. */
export function* policyItems(
  context: AppContext,
  backends: readonly BackendPod[],
): Generator<PopulationItem> {
  const { app } = context
  const servesAll = app.workload === 'Deployment' || app.workload === 'StatefulSet'
  if (servesAll && app.pods > 1 && app.environment !== 'staging')
    yield disruptionBudgetItem(context, backends.filter(({ ready }) => ready).length)
  if (app.autoscaled) yield autoscalerItem(context)
}

function disruptionBudgetItem(context: AppContext, healthy: number): PopulationItem {
  const { app, createdAtMs } = context
  const desired = app.pods - 1
  const allowed = Math.max(0, healthy - desired)
  return populationItem(resources.disruptionBudgets, {
    ...partsOf(context, resources.disruptionBudgets, app.name),
    generation: 1,
    body: {
      spec: { maxUnavailable: 1, selector: { matchLabels: selectorLabels(app) } },
      status: {
        conditions: [
          {
            lastTransitionTime: timestamp(createdAtMs + minute),
            message: '',
            observedGeneration: 1,
            reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
            status: allowed > 0 ? 'True' : 'False',
            type: 'DisruptionAllowed',
          },
        ],
        currentHealthy: healthy,
        desiredHealthy: desired,
        disruptionsAllowed: allowed,
        expectedPods: app.pods,
        observedGeneration: 1,
      },
    },
  })
}

function autoscalerItem(context: AppContext): PopulationItem {
  const { app, random, createdAtMs, nowMs } = context
  const lastScaleMs = nowMs - random.integer(20, 600) * minute
  return populationItem(resources.autoscalers, {
    ...partsOf(context, resources.autoscalers, app.name),
    updatedAtMs: nowMs - minute,
    body: {
      spec: {
        maxReplicas: Math.max(2, Math.ceil(app.pods * 1.6)),
        metrics: [
          {
            resource: { name: 'cpu', target: { averageUtilization: 70, type: 'Utilization' } },
            type: 'Resource',
          },
        ],
        minReplicas: Math.max(1, Math.floor(app.pods * 0.6)),
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: app.name },
      },
      status: autoscalerStatus({
        replicas: app.pods,
        desired: app.pods,
        utilization: random.integer(52, 74),
        sinceMs: createdAtMs + minute,
        lastScaleMs,
      }),
    },
  })
}

/** What an autoscaler's status follows from. */
export interface AutoscalerFacts {
  readonly replicas: number
  readonly desired: number
  /** Percent of the requested CPU. */
  readonly utilization: number
  /** When its conditions last changed. */
  readonly sinceMs: number
  readonly lastScaleMs: number
}

/** `status` of a HorizontalPodAutoscaler. */
export function autoscalerStatus(facts: AutoscalerFacts): Record<string, unknown> {
  const lastTransitionTime = timestamp(facts.sinceMs)
  const condition = (type: string, status: string, reason: string, message: string): object => ({
    lastTransitionTime,
    message,
    reason,
    status,
    type,
  })
  const value = `${facts.utilization}m`
  return {
    conditions: [
      condition('AbleToScale', 'True', 'ReadyForNewScale', 'recommended size matches current size'),
      condition(
        'ScalingActive',
        'True',
        'ValidMetricFound',
        'the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)',
      ),
      condition(
        'ScalingLimited',
        'False',
        'DesiredWithinRange',
        'the desired count is within the acceptable range',
      ),
    ],
    currentMetrics: [
      {
        resource: {
          current: { averageUtilization: facts.utilization, averageValue: value },
          name: 'cpu',
        },
        type: 'Resource',
      },
    ],
    currentReplicas: facts.replicas,
    desiredReplicas: facts.desired,
    lastScaleTime: timestamp(facts.lastScaleMs),
  }
}

import type { Unstructured } from '../../kubernetes/object.ts'
import { autoscalerStatus } from '../population/app-policy.ts'
import { resources } from '../population/resources.ts'
import type { ChurnContext } from './churn-context.ts'
import type { Activity } from './cluster.ts'
import { activePods, type DeploymentRecord, isSettled } from './cluster-records.ts'
import { scale } from './scaling.ts'
import { withStatus } from './status-sync.ts'

/** How far from the target the load may be before an autoscaler acts, as a ratio. */
const tolerance = 0.1

/**
 * One autoscaler reads its metrics. Where the load is off the target it returns the scaling that follows from it;
 * the load then falls or rises as pods come and go, so that it stays around the target.
 */
export function readMetrics(context: ChurnContext): Activity | undefined {
  const { cluster } = context
  if (cluster.index.autoscalers.length === 0) return undefined
  const { namespace, name } = cluster.random.pick(cluster.index.autoscalers)
  const autoscaler = cluster.get(resources.autoscalers, namespace, name)
  if (autoscaler === undefined) return undefined
  const { scaleTargetRef, minReplicas = 1, maxReplicas, target } = specOf(autoscaler)
  const record = cluster.index.deployments.find(
    (found) => found.namespace === namespace && found.name === scaleTargetRef.name,
  )
  const current = record?.revisions.at(-1)
  if (record === undefined || current === undefined) return undefined
  const replicas = activePods(current).length
  // The load is that of the first number of replicas at about the target, give or take 15 %.
  const load = record.baseline * target * (0.85 + 0.3 * cluster.random.next())
  const utilization = Math.round(load / Math.max(1, replicas))
  const wanted = Math.ceil((replicas * utilization) / target)
  const off = Math.abs(utilization / target - 1) > tolerance && isSettled(record)
  const desired = off ? Math.min(maxReplicas, Math.max(minReplicas, wanted)) : replicas
  report(context, autoscaler, { replicas, desired, utilization })
  return desired === replicas ? undefined : rescale(context, autoscaler, record, desired)
}

function* rescale(
  context: ChurnContext,
  autoscaler: Unstructured,
  record: DeploymentRecord,
  desired: number,
): Activity {
  if (!isSettled(record)) return
  context.events.record({
    regarding: autoscaler,
    type: 'Normal',
    reason: 'SuccessfulRescale',
    message: `New size: ${desired}; reason: cpu resource utilization (percentage of request) ${desired > record.baseline ? 'above' : 'below'} target`,
    component: 'horizontal-pod-autoscaler',
  })
  yield* scale(context, record, desired)
}

function report(
  { cluster }: ChurnContext,
  autoscaler: Unstructured,
  counted: { replicas: number; desired: number; utilization: number },
): void {
  const { namespace = '', name } = autoscaler.metadata
  const { conditions = [], lastScaleTime = '' } = (autoscaler['status'] ?? {}) as AutoscalerStatus
  const nowMs = cluster.now()
  const status = autoscalerStatus({
    ...counted,
    sinceMs: Date.parse(conditions[0]?.lastTransitionTime ?? '') || nowMs,
    lastScaleMs: counted.desired === counted.replicas ? Date.parse(lastScaleTime) || nowMs : nowMs,
  })
  cluster.change(resources.autoscalers, namespace, name, (object) => withStatus(object, status))
}

interface AutoscalerStatus {
  readonly conditions?: readonly { readonly lastTransitionTime?: string }[]
  readonly lastScaleTime?: string
}

function specOf(autoscaler: Unstructured): {
  readonly scaleTargetRef: { readonly name: string }
  readonly minReplicas?: number
  readonly maxReplicas: number
  /** Percent of the requested CPU. */
  readonly target: number
} {
  const spec = autoscaler['spec'] as {
    readonly scaleTargetRef: { readonly name: string }
    readonly minReplicas?: number
    readonly maxReplicas: number
    readonly metrics?: readonly {
      readonly resource?: { readonly target?: { readonly averageUtilization?: number } }
    }[]
  }
  return { ...spec, target: spec.metrics?.[0]?.resource?.target?.averageUtilization ?? 70 }
}

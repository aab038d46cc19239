import type { Unstructured } from '../../kubernetes/object.ts'
import { backOff, kubeletReport, mainContainer } from '../population/pod-events.ts'
import type { ContainerExit } from '../population/pod-state.ts'
import { resources } from '../population/resources.ts'
import { second } from '../population/duration.ts'
import type { ChurnContext } from './churn-context.ts'
import type { Activity } from './cluster.ts'
import type { DeploymentRecord } from './cluster-records.ts'
import { syncGroup } from './status-sync.ts'

/** A container of a healthy app ends, is started again, and the pod recovers. */
export function* restartContainer(context: ChurnContext, record: DeploymentRecord): Activity {
  const { cluster, events, lifecycle } = context
  const group = record.revisions.at(-1)
  if (group === undefined || group.pods.size === 0) return
  record.busy = true
  try {
    const pod = cluster.random.pick([...group.pods.values()])
    const shape = lifecycle.shapeOf(group)
    const object = cluster.get(resources.pods, group.namespace, pod.name)
    if (object === undefined) return lifecycle.forget(group, pod)
    const { restarts, startedAtMs } = mainStatus(object)
    const nowMs = cluster.now()
    const killed = cluster.random.chance(0.5)
    const lastExit: ContainerExit = {
      reason: killed ? 'OOMKilled' : 'Error',
      exitCode: killed ? 137 : 1,
      startedAtMs: startedAtMs ?? nowMs,
      finishedAtMs: nowMs - second,
    }
    const restarted = lifecycle.run(group, shape, pod, false, restarts + 1, lastExit)
    const report = { ...kubeletReport(restarted, pod.at?.nodeName ?? ''), type: 'Normal' } as const
    const message = `Container started: ${mainContainer(restarted).name}`
    events.record({ ...report, reason: 'Started', message })
    syncGroup(cluster, group)
    yield
    lifecycle.run(group, shape, pod, true, restarts + 1, lastExit)
    syncGroup(cluster, group)
  } finally {
    record.busy = false
  }
}

/** A pod that crashes again and again: it waits, runs for a moment, ends, and waits again. One turn per call. */
export function turnCrashLoop(context: ChurnContext): void {
  const { cluster, events, lifecycle } = context
  const { crashLoops } = cluster.index
  if (crashLoops.length === 0) return
  const loop = cluster.random.pick(crashLoops)
  const { group, name } = loop
  const pod = group.pods.get(name)
  const object = cluster.get(resources.pods, group.namespace, name)
  if (pod === undefined || object === undefined || pod.terminating) {
    crashLoops.splice(crashLoops.indexOf(loop), 1)
    if (pod !== undefined && object === undefined) lifecycle.forget(group, pod)
    return
  }
  const shape = lifecycle.shapeOf(group)
  const nowMs = cluster.now()
  const { restarts, startedAtMs } = mainStatus(object)
  if (startedAtMs === undefined) {
    const ended = { startedAtMs: nowMs - 9 * second, finishedAtMs: nowMs - 6 * second }
    lifecycle.run(group, shape, pod, false, restarts + 1, { ...failure, ...ended })
    return
  }
  const { at } = pod
  if (at === undefined) return
  const waiting = lifecycle.report(group, shape, pod, {
    kind: 'waiting',
    at,
    sinceMs: nowMs,
    reason: 'CrashLoopBackOff',
    message: `back-off 5m0s restarting failed container=${mainContainer(object).name}`,
    restarts,
    lastExit: { ...failure, startedAtMs, finishedAtMs: nowMs },
  })
  events.record({ ...kubeletReport(waiting, at.nodeName), ...backOff(waiting) })
}

const failure = { reason: 'Error', exitCode: 1 } as const

function mainStatus(pod: Unstructured): {
  readonly restarts: number
  readonly startedAtMs: number | undefined
} {
  const { containerStatuses = [] } = (pod['status'] ?? {}) as {
    readonly containerStatuses?: readonly {
      readonly restartCount?: number
      readonly state?: { readonly running?: { readonly startedAt?: string } }
    }[]
  }
  const [main] = containerStatuses
  const startedAt = main?.state?.running?.startedAt
  return {
    restarts: main?.restartCount ?? 0,
    startedAtMs: startedAt === undefined ? undefined : Date.parse(startedAt),
  }
}

import { resources } from '../population/resources.ts'
import { readMetrics } from './autoscaling.ts'
import type { ChurnContext } from './churn-context.ts'
import type { Activity } from './cluster.ts'
import { activePods, type DeploymentRecord, isSettled } from './cluster-records.ts'
import { restartContainer, turnCrashLoop } from './container-restart.ts'
import { beat } from './heartbeat.ts'
import { runCronJob } from './job-run.ts'
import { nodeOutage, noticeNode } from './node-outage.ts'
import { inspect } from './repair.ts'
import { isVersioned, release } from './rollout.ts'
import { nextReplicas, scale } from './scaling.ts'
import { restartStatefulPod } from './stateful-restart.ts'

/** What goes on all the time, done at once; returns the activity that follows from it, if any. */
export function pulse(context: ChurnContext): Activity | undefined {
  const { index, random } = context.cluster
  const which = random.next()
  const [lost] = index.addresses.lostNodes
  if (lost !== undefined && which < 0.05) noticeNode(context, lost)
  else if (which < 0.5) beat(context)
  else if (which < 0.7) turnCrashLoop(context)
  else if (which < 0.9) return readMetrics(context)
  else if (index.deployments.length > 0) return inspect(context, random.pick(index.deployments))
  return undefined
}

/** The next thing that takes a while; `undefined` where what chance chose cannot happen now. */
export function nextActivity(context: ChurnContext): Activity | undefined {
  const { index, random } = context.cluster
  const which = random.next()
  if (which < 0.006) return outageOf(context)
  if (which < 0.12)
    return index.cronJobs.length === 0
      ? undefined
      : runCronJob(context, random.pick(index.cronJobs))
  if (which < 0.18) {
    if (index.statefulSets.length === 0) return undefined
    const group = random.pick(index.statefulSets)
    return group.busy ? undefined : restartStatefulPod(context, group)
  }
  if (index.deployments.length === 0) return undefined
  const record = random.pick(index.deployments)
  if (!isSettled(record)) return undefined
  if (which < 0.45) return restartContainer(context, record)
  return which < 0.75 ? releaseOf(context, record) : scalingOf(context, record)
}

/** Only where there are enough other nodes, and one at a time. */
function outageOf(context: ChurnContext): Activity | undefined {
  const { addresses } = context.cluster.index
  const { readyNodes, lostNodes } = addresses
  if (readyNodes.length < 4 || lostNodes.length > 0) return undefined
  return nodeOutage(context, context.cluster.random.pick(readyNodes))
}

function releaseOf(context: ChurnContext, record: DeploymentRecord): Activity | undefined {
  const { cluster } = context
  const deployment = cluster.get(resources.deployments, record.namespace, record.name)
  return deployment !== undefined && isVersioned(deployment) ? release(context, record) : undefined
}

/** Leaves the Deployments alone that have an autoscaler. */
function scalingOf(context: ChurnContext, record: DeploymentRecord): Activity | undefined {
  const { namespace, name, revisions } = record
  const autoscaled = context.cluster.index.autoscalers.some(
    (autoscaler) => autoscaler.namespace === namespace && autoscaler.name === name,
  )
  const current = revisions.at(-1)
  if (autoscaled || current === undefined) return undefined
  return scale(context, record, nextReplicas(context, record, activePods(current).length))
}

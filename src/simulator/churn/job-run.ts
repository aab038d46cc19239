import type { Unstructured } from '../../kubernetes/object.ts'
import { jobHistoryLimits } from '../population/cron-job.ts'
import { jobItem, jobName, type JobOutcome, jobStatus } from '../population/job.ts'
import type { PodTemplate } from '../population/pod-spec.ts'
import type { ContainerExit } from '../population/pod-state.ts'
import { resources } from '../population/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { minute } from '../population/duration.ts'
import type { ChurnContext } from './churn-context.ts'
import type { Activity } from './cluster.ts'
import type { NamedRecord, PodGroup } from './cluster-records.ts'

/** A CronJob's time has come: a Job, its pod, their end, and the oldest Jobs are cleared away. */
export function* runCronJob(context: ChurnContext, { namespace, name }: NamedRecord): Activity {
  const { cluster, events, lifecycle } = context
  const cronJob = cluster.require(resources.cronJobs, namespace, name)
  if (statusOf(cronJob).active.length > 0) return
  const { jobTemplate } = cronJob['spec'] as {
    readonly jobTemplate: { readonly spec: { readonly template: PodTemplate } }
  }
  const startedAtMs = freeTime(context, namespace, name)
  const uid = cluster.random.uid()
  const item = jobItem(cronJob, jobTemplate.spec.template, uid, startedAtMs, { kind: 'active' })
  const job = cluster.create(item)
  const group = cluster.index.addGroup('Job', job)
  const active = [{ apiVersion: 'batch/v1', kind: 'Job', name: group.name, namespace, uid }]
  changeStatus(context, namespace, name, { active, lastScheduleTime: timestamp(startedAtMs) })
  events.record({
    regarding: cronJob,
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: `Created job ${group.name}`,
    component: 'cronjob-controller',
  })
  yield
  let outcome: JobOutcome = { kind: 'active' }
  try {
    outcome = yield* runPods(context, group)
  } finally {
    // Whatever happened to its pods, the CronJob must be free to run again.
    if (outcome.kind === 'active')
      outcome = { kind: 'failed', finishedAtMs: cluster.now(), pods: group.pods.size }
    const status = jobStatus(startedAtMs, outcome)
    cluster.changeIfThere(resources.jobs, namespace, group.name, (object) => ({
      ...object,
      status,
    }))
    const lastSuccessfulTime = timestamp(cluster.now())
    const finished = outcome.kind === 'complete' ? { lastSuccessfulTime } : {}
    changeStatus(context, namespace, name, finished)
  }
  events.record({
    regarding: job,
    type: outcome.kind === 'complete' ? 'Normal' : 'Warning',
    reason: outcome.kind === 'complete' ? 'Completed' : 'BackoffLimitExceeded',
    message:
      outcome.kind === 'complete' ? 'Job completed' : 'Job has reached the specified backoff limit',
    component: 'job-controller',
  })
  yield
  yield* clearHistory(context, cronJob, lifecycle)
}

/** Runs the Job's pod, and a second one where the first fails. */
function* runPods(context: ChurnContext, group: PodGroup): Generator<void, JobOutcome> {
  const { cluster, lifecycle } = context
  const shape = lifecycle.shapeOf(group)
  const fails = cluster.random.chance(0.1)
  for (let attempt = 1; ; attempt++) {
    const pod = yield* lifecycle.bringUp(group, shape)
    if (pod?.at === undefined) return { kind: 'failed', finishedAtMs: cluster.now(), pods: attempt }
    yield
    const finishedAtMs = cluster.now()
    const exit: ContainerExit = {
      reason: fails ? 'Error' : 'Completed',
      exitCode: fails ? 2 : 0,
      startedAtMs: finishedAtMs,
      finishedAtMs,
    }
    lifecycle.report(group, shape, pod, { kind: 'finished', at: pod.at, exit })
    cluster.index.addresses.release(pod.at)
    pod.finished = true
    if (!fails) return { kind: 'complete', finishedAtMs }
    if (attempt === 2) return { kind: 'failed', finishedAtMs, pods: attempt }
    yield
  }
}

/** Deletes the Jobs beyond the history limits, with their pods, as the garbage collector would. */
function* clearHistory(
  { cluster }: ChurnContext,
  cronJob: Unstructured,
  lifecycle: ChurnContext['lifecycle'],
): Activity {
  const { namespace = '', uid: owner } = cronJob.metadata
  const jobs = cluster.index
    .groupsIn(namespace, 'Job')
    .flatMap((group) => {
      const job = cluster.get(resources.jobs, namespace, group.name)
      const owned = job?.metadata.ownerReferences?.some(({ uid }) => uid === owner) === true
      return owned ? [{ group, outcome: outcomeOf(job), startedAtMs: startOf(job) }] : []
    })
    .toSorted((a, b) => a.startedAtMs - b.startedAtMs)
  for (const [outcome, limit] of [
    ['complete', jobHistoryLimits.successful],
    ['failed', jobHistoryLimits.failed],
  ] as const) {
    const ended = jobs.filter((job) => job.outcome === outcome)
    for (const { group } of ended.slice(0, Math.max(0, ended.length - limit))) {
      for (const pod of group.pods.values()) lifecycle.remove(group, pod)
      cluster.remove(resources.jobs, group.namespace, group.name)
      cluster.index.removeGroup(group)
      yield
    }
  }
}

/** The first minute from now on whose Job name is free: a busy churn may run a CronJob twice in one. */
function freeTime({ cluster }: ChurnContext, namespace: string, name: string): number {
  let atMs = Math.floor(cluster.now() / minute) * minute
  while (cluster.get(resources.jobs, namespace, jobName(name, atMs)) !== undefined) atMs += minute
  return atMs
}

function statusOf(cronJob: Unstructured): { readonly active: readonly object[] } {
  const { active = [] } = (cronJob['status'] ?? {}) as { readonly active?: readonly object[] }
  return { active }
}

function changeStatus(
  { cluster }: ChurnContext,
  namespace: string,
  name: string,
  change: Readonly<Record<string, unknown>>,
): void {
  cluster.changeIfThere(resources.cronJobs, namespace, name, (object) => ({
    ...object,
    status: { ...withoutActive(object['status'] as object), ...change },
  }))
}

function withoutActive({ active: _active, ...rest }: { readonly active?: unknown }): object {
  return rest
}

function outcomeOf(job: Unstructured): 'complete' | 'failed' | 'active' {
  const { conditions = [] } = (job['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string }[]
  }
  if (conditions.some(({ type }) => type === 'Complete')) return 'complete'
  return conditions.some(({ type }) => type === 'Failed') ? 'failed' : 'active'
}

function startOf(job: Unstructured): number {
  return Date.parse(job.metadata.creationTimestamp ?? '')
}

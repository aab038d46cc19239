import { type AppContext, firstUid } from './app-context.ts'
import { appLabels } from './app-labels.ts'
import { appTemplate } from './app-template.ts'
import { jobItem, jobName, type JobOutcome, jobTemplate } from './job.ts'
import { newPod, podShape, withPodState } from './pod.ts'
import type { ContainerExit } from './pod-state.ts'
import { ownerReference, type PopulationItem, populationItem } from './population-object.ts'
import { resources } from './resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { day, hour, minute, second } from './duration.ts'

/** How many Jobs of each outcome a CronJob keeps. */
export const jobHistoryLimits = { successful: 3, failed: 1 } as const

interface Run {
  readonly startedAtMs: number
  /** One for a Job that succeeded, more for one that failed and tried again. */
  readonly pods: number
  readonly succeeded: boolean
}

/** A CronJob, its last Jobs and their finished pods. */
export function* cronJobItems(context: AppContext): Generator<PopulationItem> {
  const { app, seed } = context
  const runs = lastRuns(context)
  const cronJob = cronJobItem(context, runs)
  yield cronJob
  const template = appTemplate(app)
  for (const run of runs) {
    const { startedAtMs } = run
    const finishedAtMs = startedAtMs + run.pods * 50 * second
    const name = jobName(app.name, startedAtMs)
    const uid = firstUid(seed, resources.jobs, app.namespace, name)
    const outcome: JobOutcome = run.succeeded
      ? { kind: 'complete', finishedAtMs }
      : { kind: 'failed', finishedAtMs, pods: run.pods }
    const job = jobItem(cronJob.object, template, uid, startedAtMs, outcome)
    yield job
    const owned = jobTemplate(template, name, uid)
    const shape = podShape(app.namespace, ownerReference(job), owned, `${name}-`)
    for (let index = 0; index < run.pods; index++) {
      const podName = `${name}-${context.random.suffix(5)}`
      const bornAtMs = startedAtMs + index * 50 * second
      const pod = newPod(shape, {
        name: podName,
        uid: firstUid(seed, resources.pods, app.namespace, podName),
        createdAtMs: bornAtMs,
      })
      const exit: ContainerExit = {
        reason: run.succeeded ? 'Completed' : 'Error',
        exitCode: run.succeeded ? 0 : 2,
        startedAtMs: bornAtMs + 3 * second,
        finishedAtMs: bornAtMs + 40 * second,
      }
      const at = context.placer.place()
      const finished = withPodState(shape, pod, { kind: 'finished', at, exit }, exit.finishedAtMs)
      yield { resource: resources.pods, object: finished }
    }
  }
}

/** The last runs before now, oldest first; where a run failed, it is the last. */
function lastRuns({ app, nowMs }: AppContext): readonly Run[] {
  const { periodMs, offsetMs } = cadenceOf(app.schedule ?? '')
  const sinceMidnight = nowMs - 10 * minute - offsetMs
  const lastAtMs = Math.floor(sinceMidnight / periodMs) * periodMs + offsetMs
  const failed = app.fault === 'FailedJob' && app.pods > 1
  const good = failed ? app.pods - 2 : app.pods
  const runs: Run[] = Array.from({ length: good }, (_, index) => ({
    startedAtMs: lastAtMs - (good - index - (failed ? 0 : 1)) * periodMs,
    pods: 1,
    succeeded: true,
  }))
  return failed ? [...runs, { startedAtMs: lastAtMs, pods: 2, succeeded: false }] : runs
}

/** When a schedule of the catalog's forms runs: every half hour, every hour, or once a day. */
function cadenceOf(schedule: string): { readonly periodMs: number; readonly offsetMs: number } {
  const [atMinute = '', atHour = ''] = schedule.split(' ')
  if (atMinute === '*/30') return { periodMs: 30 * minute, offsetMs: 0 }
  if (atHour === '*') return { periodMs: hour, offsetMs: Number(atMinute) * minute }
  return { periodMs: day, offsetMs: Number(atHour) * hour + Number(atMinute) * minute }
}

function cronJobItem(context: AppContext, runs: readonly Run[]): PopulationItem {
  const { app, seed, createdAtMs } = context
  const last = runs.at(-1)
  const good = runs.findLast((run) => run.succeeded)
  return populationItem(resources.cronJobs, {
    name: app.name,
    namespace: app.namespace,
    uid: firstUid(seed, resources.cronJobs, app.namespace, app.name),
    createdAtMs,
    generation: 1,
    labels: appLabels(app),
    body: {
      spec: {
        concurrencyPolicy: 'Forbid',
        failedJobsHistoryLimit: jobHistoryLimits.failed,
        jobTemplate: {
          metadata: { labels: appLabels(app) },
          spec: { backoffLimit: 1, template: appTemplate(app) },
        },
        schedule: app.schedule ?? '0 * * * *',
        successfulJobsHistoryLimit: jobHistoryLimits.successful,
        suspend: false,
      },
      status: {
        ...(last === undefined ? {} : { lastScheduleTime: timestamp(last.startedAtMs) }),
        ...(good === undefined
          ? {}
          : { lastSuccessfulTime: timestamp(good.startedAtMs + 50 * second) }),
      },
    },
  })
}

import type { Unstructured } from '../../kubernetes/object.ts'
import { managers } from './managed-fields.ts'
import type { PodTemplate } from './pod-spec.ts'
import { ownerReference, type PopulationItem, populationItem } from './population-object.ts'
import { resources } from './resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { minute } from './duration.ts'

/** How a Job stands. */
export type JobOutcome =
  | { readonly kind: 'active' }
  | { readonly kind: 'complete'; readonly finishedAtMs: number }
  | { readonly kind: 'failed'; readonly finishedAtMs: number; readonly pods: number }

/** The name that the CronJob controller gives the Job of one scheduled time: it ends in that time, in minutes. */
export function jobName(cronJob: string, scheduledAtMs: number): string {
  return `${cronJob}-${Math.floor(scheduledAtMs / minute)}`
}

/** The labels that the Job controller puts on a Job's pods. */
function jobLabels(name: string, uid: string): Record<string, string> {
  return {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
}

/** The pod template of a Job: the CronJob's, with the Job's labels. */
export function jobTemplate(template: PodTemplate, name: string, uid: string): PodTemplate {
  const labels = { ...template.metadata.labels, ...jobLabels(name, uid) }
  return { ...template, metadata: { ...template.metadata, labels } }
}

/** One Job of a CronJob. */
export function jobItem(
  cronJob: Unstructured,
  template: PodTemplate,
  uid: string,
  startedAtMs: number,
  outcome: JobOutcome,
): PopulationItem {
  const name = jobName(cronJob.metadata.name, startedAtMs)
  return populationItem(resources.jobs, {
    name,
    namespace: cronJob.metadata.namespace ?? '',
    uid,
    createdAtMs: startedAtMs,
    updatedAtMs: outcome.kind === 'active' ? startedAtMs : outcome.finishedAtMs,
    generation: 1,
    labels: { ...template.metadata.labels, ...jobLabels(name, uid) },
    annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': timestamp(startedAtMs) },
    ownerReferences: [ownerReference({ resource: resources.cronJobs, object: cronJob })],
    manager: managers.controller,
    body: {
      spec: {
        backoffLimit: 1,
        completionMode: 'NonIndexed',
        completions: 1,
        manualSelector: false,
        parallelism: 1,
        podReplacementPolicy: 'TerminatingOrFailed',
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
        suspend: false,
        template: jobTemplate(template, name, uid),
      },
      status: jobStatus(startedAtMs, outcome),
    },
  })
}

/** `status` of a Job. */
export function jobStatus(startedAtMs: number, outcome: JobOutcome): Record<string, unknown> {
  const startTime = timestamp(startedAtMs)
  switch (outcome.kind) {
    case 'active':
      return { active: 1, ready: 0, startTime, terminating: 0, uncountedTerminatedPods: {} }
    case 'complete': {
      const at = timestamp(outcome.finishedAtMs)
      const reason = 'CompletionsReached'
      const message = 'Reached expected number of succeeded pods'
      return {
        completionTime: at,
        conditions: [
          condition('SuccessCriteriaMet', at, reason, message),
          condition('Complete', at, reason, message),
        ],
        ready: 0,
        startTime,
        succeeded: 1,
        terminating: 0,
        uncountedTerminatedPods: {},
      }
    }
    case 'failed': {
      const at = timestamp(outcome.finishedAtMs)
      const reason = 'BackoffLimitExceeded'
      const message = 'Job has reached the specified backoff limit'
      return {
        conditions: [
          condition('FailureTarget', at, reason, message),
          condition('Failed', at, reason, message),
        ],
        failed: outcome.pods,
        ready: 0,
        startTime,
        terminating: 0,
        uncountedTerminatedPods: {},
      }
    }
  }
}

function condition(type: string, at: string, reason: string, message: string): object {
  return { lastProbeTime: at, lastTransitionTime: at, message, reason, status: 'True', type }
}

/*
 * The health of a pod: by its phase if it has ended, else by the first container with a problem, then by the scheduler, then
 * by its readiness. A container that crashes runs for some seconds between two crashes: until it is ready, it is as it was.
 */

import { countOf, type Fields, fieldsOf, itemsOf, numberOf, statusOf, textOf } from '../fields.ts'
import {
  type Conditions,
  conditionsOf,
  conditionWith,
  degraded,
  type Health,
  healthy,
  progressing,
  suspended,
} from './health.ts'

/** The reasons for which a container waits that starts normally. All others are failures. */
const startingReasons: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing'])

export function podHealth(object: Fields): Health {
  const status = statusOf(object)
  const reason = textOf(status['reason'])
  const message = textOf(status['message'])
  const all = [...itemsOf(status['initContainerStatuses']), ...itemsOf(status['containerStatuses'])]
  switch (status['phase']) {
    case 'Succeeded':
      return { status: 'HEALTHY', reason: 'Completed' }
    case 'Failed':
      return reason === undefined
        ? (firstOf(all, endedBadly) ?? degraded('Failed', message))
        : degraded(reason, message)
    case 'Unknown':
      return { status: 'UNKNOWN', reason: reason ?? 'Unknown', message }
    default: {
      const conditions = conditionsOf(object)
      return firstOf(all, failing) ?? unscheduled(conditions) ?? readiness(conditions, all, status)
    }
  }
}

/** The health of the first container with a problem. */
function firstOf(
  containers: readonly Fields[],
  tell: (container: Fields) => Health | undefined,
): Health | undefined {
  for (const container of containers) {
    const told = tell(container)
    if (told !== undefined) return told
  }
  return undefined
}

/** A container that cannot start, or that has ended with an error and was not restarted. */
function failing(container: Fields): Health | undefined {
  const waiting = fieldsOf(fieldsOf(container['state'])['waiting'])
  const reason = textOf(waiting['reason'])
  if (reason === undefined || startingReasons.has(reason)) return endedBadly(container)
  const text = textOf(waiting['message'])
  const before = fieldsOf(fieldsOf(container['lastState'])['terminated'])
  const parts = [text, endOf(before)].filter((part) => part !== undefined)
  return degraded(reason, about(container, parts.join('; ')))
}

function endedBadly(container: Fields): Health | undefined {
  const ended = fieldsOf(fieldsOf(container['state'])['terminated'])
  const end = endOf(ended)
  if (end === undefined || isFine(ended)) return undefined
  return degraded(textOf(ended['reason']) ?? 'Error', about(container, end))
}

function isFine({ exitCode, signal }: Fields): boolean {
  return countOf(exitCode) === 0 && countOf(signal) === 0
}

/** `ended with OOMKilled, exit code 137`; `undefined` if the container has not ended. */
function endOf(ended: Fields): string | undefined {
  const exitCode = numberOf(ended['exitCode'])
  if (exitCode === undefined) return undefined
  const reason = textOf(ended['reason'])
  return `ended with ${reason === undefined ? '' : `${reason}, `}exit code ${exitCode}`
}

function about(container: Fields, text: string): string {
  const name = textOf(container['name']) ?? ''
  return text === '' ? `container ${name}` : `container ${name}: ${text}`
}

function unscheduled(conditions: Conditions): Health | undefined {
  const condition = conditionWith(conditions, 'PodScheduled', 'False')
  if (condition === undefined) return undefined
  const { reason, message, since } = condition
  if (reason === 'SchedulingGated') return suspended(reason, message)
  return reason === 'Unschedulable' || reason === 'SchedulerError'
    ? degraded(reason, message, since)
    : progressing(reason ?? 'NotScheduled', message, since)
}

function readiness(conditions: Conditions, containers: readonly Fields[], status: Fields): Health {
  const ready = conditions.get('Ready')
  if (ready?.status === 'True') return healthy
  // The node has stopped reporting.
  if (ready?.status === 'Unknown' || status['reason'] === 'NodeLost') {
    const reason = ready?.reason ?? 'NodeLost'
    return { status: 'UNKNOWN', reason, message: ready?.message, since: ready?.since }
  }
  const again = firstOf(containers, (container) => startedAgain(container, ready?.since))
  if (again !== undefined) return again
  if (status['phase'] === 'Running') {
    return progressing(ready?.reason ?? 'NotReady', ready?.message, ready?.since)
  }
  const waiting = containers
    .map(({ state }) => textOf(fieldsOf(fieldsOf(state)['waiting'])['reason']))
    .find((reason) => reason !== undefined)
  const reason = waiting ?? textOf(status['phase']) ?? 'Pending'
  return progressing(reason, ready?.message, ready?.since)
}

/** A pod that was ready for less than this after a start counts as not having been ready. */
const settledMs = 5_000

/**
 * A container that has ended with an error, was started again, and has not been ready since. `unready`: since when the pod is
 * not ready. If that is after the start, the pod was ready meanwhile, and the crash is over.
 */
function startedAgain(container: Fields, unready: string | undefined): Health | undefined {
  const state = fieldsOf(container['state'])
  const last = fieldsOf(fieldsOf(container['lastState'])['terminated'])
  const end = endOf(last)
  const restarts = countOf(container['restartCount'])
  if (end === undefined || isFine(last) || restarts === 0) return undefined
  if (container['ready'] === true || state['terminated'] !== undefined) return undefined
  const startedMs = Date.parse(textOf(fieldsOf(state['running'])['startedAt']) ?? '')
  if (Date.parse(unready ?? '') - startedMs > settledMs) return undefined
  const often = restarts === 1 ? 'once' : `${restarts} times`
  const text = `restarted ${often}; ${end}`
  return degraded(textOf(last['reason']) ?? 'Error', about(container, text))
}

/*
 * What may be wrong with a pod: it has failed, its health is bad, it is not ready for long, or a container is in a loop. A
 * loop keeps its reason while the container waits, runs and ends, so that it stays one problem.
 */

import {
  countOf,
  type Fields,
  fieldsOf,
  itemsOf,
  numberOf,
  specOf,
  statusOf,
  textOf,
} from '../fields.ts'
import { conditionsOf, type Health } from '../health/health.ts'
import { placementOf } from './pod-placement.ts'
import type { ProblemFact } from './problem-fact.ts'

/** The kubelet forgets the failures of a container that has run for so long. */
const forgottenMs = 600_000

/** From so many restarts on, a container that runs at present may be in a loop. */
const minRestarts = 3

/** What may be wrong with a pod that is not being deleted. */
export function podProblems(object: Fields, health: Health): readonly ProblemFact[] {
  const { reason = health.status, message } = health
  const status = statusOf(object)
  if (status['phase'] === 'Failed') return [failedPod(object, health)]
  const { creationTimestamp } = fieldsOf(object['metadata'])
  const ready = conditionsOf(object).get('Ready')
  const created = textOf(creationTimestamp)
  const since = health.since ?? (ready?.status === 'True' ? undefined : ready?.since) ?? created
  const loop = loopOf(status)
  switch (health.status) {
    case 'DEGRADED':
    case 'UNKNOWN': {
      const told = { message, since: loop?.began ?? since }
      const name = loop !== undefined && isOfLoop(reason, loop) ? loop.reason : reason
      const role =
        reason === 'Unschedulable'
          ? ({ form: 'unscheduled', ...placementOf(object) } as const)
          : undefined
      return [{ timing: 'atOnce', severity: 'CRITICAL', reason: name, ...told, role }]
    }
    case 'HEALTHY':
    case 'PROGRESSING':
      if (loop?.isRepeated === true) return [loopingPod(loop, ready?.status === 'True')]
      if (health.status === 'HEALTHY') return []
      if (isUnbound(object, reason)) return [unboundPod(object, { message, since })]
      return [{ timing: 'later', at: since, severity: 'WARNING', reason, message, since }]
    default:
      return []
  }
}

/** Whether a pod waits for the scheduler, which has not said why. */
function isUnbound(object: Fields, reason: string): boolean {
  if (reason !== 'Pending' && reason !== 'NotScheduled') return false
  return textOf(specOf(object)['nodeName']) === undefined
}

/** It asks for the same as when the scheduler says that it has found no node, so it is the same problem. */
function unboundPod(
  object: Fields,
  { message = 'no node has been chosen for it', since }: Pick<ProblemFact, 'message' | 'since'>,
): ProblemFact {
  const role = { form: 'unscheduled', ...placementOf(object) } as const
  const told = { severity: 'WARNING', reason: 'NotScheduled', message, since, role } as const
  return { timing: 'later', at: since, ...told }
}

/** A pod that has ended. Its controller has replaced it, or will; a Job decides whether to. */
function failedPod(object: Fields, { reason = 'Failed', message }: Health): ProblemFact {
  const { ownerReferences } = fieldsOf(object['metadata'])
  const owner = itemsOf(ownerReferences).find(({ controller }) => controller === true)
  const ended = containersOf(statusOf(object)).map(({ state }) =>
    textOf(fieldsOf(fieldsOf(state)['terminated'])['finishedAt']),
  )
  const ready = conditionsOf(object).get('Ready')
  const since = ended.find((one) => one !== undefined) ?? ready?.since ?? startOf(object)
  const severity = owner === undefined ? 'CRITICAL' : 'WARNING'
  const role = owner?.['kind'] === 'Job' ? ({ form: 'attempt' } as const) : undefined
  return { timing: 'atOnce', severity, reason, message, since, role }
}

function startOf(object: Fields): string | undefined {
  return textOf(statusOf(object)['startTime'])
}

function containersOf(status: Fields): readonly Fields[] {
  return [...itemsOf(status['initContainerStatuses']), ...itemsOf(status['containerStatuses'])]
}

/** A container that has ended with an error and was begun again. */
interface Loop {
  readonly container: string
  /** `OOMKilled`, else `CrashLoopBackOff`: the same while the container waits, runs and ends. */
  readonly reason: string
  readonly restarts: number
  readonly exitCode: number
  /** When the last run began and ended. */
  readonly began: string | undefined
  readonly ended: string | undefined
  /** Whether it is in a loop, although it may run at present. */
  readonly isRepeated: boolean
}

function loopOf(status: Fields): Loop | undefined {
  for (const container of containersOf(status)) {
    const { terminated } = fieldsOf(container['lastState'])
    const last = fieldsOf(terminated)
    const exitCode = numberOf(last['exitCode'])
    if (exitCode === undefined || exitCode === 0) continue
    const [began, ended] = [textOf(last['startedAt']), textOf(last['finishedAt'])]
    const restarts = countOf(container['restartCount'])
    const ranMs = Date.parse(ended ?? '') - Date.parse(began ?? '')
    return {
      container: textOf(container['name']) ?? '',
      reason: last['reason'] === 'OOMKilled' ? 'OOMKilled' : 'CrashLoopBackOff',
      restarts,
      exitCode,
      began,
      ended,
      isRepeated: restarts >= minRestarts && ranMs < forgottenMs,
    }
  }
  return undefined
}

/** Whether the reason of a pod's health is one of the states of the loop. */
function isOfLoop(reason: string, { isRepeated }: Loop): boolean {
  return reason === 'CrashLoopBackOff' || (isRepeated && /^(?:Error|OOMKilled)$/.test(reason))
}

/** A pod that is ready at present works: its restarts are a warning. */
function loopingPod(
  { container, reason, restarts, exitCode, began, ended }: Loop,
  isReady: boolean,
): ProblemFact {
  const severity = isReady ? 'WARNING' : 'CRITICAL'
  const end = reason === 'OOMKilled' ? `${reason}, exit code ${exitCode}` : `exit code ${exitCode}`
  const message = `container ${container}: restarted ${restarts} times; ended with ${end}`
  return { timing: 'recent', at: ended, severity, reason, message, since: began }
}

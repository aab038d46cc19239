import { hasAddress, isReady, phaseOf, type PodState } from './pod-state.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'

/** `status.conditions` of a pod in a state. */
export function podConditions(
  state: PodState,
  createdAtMs: number,
  containerNames: string,
): readonly object[] {
  const scheduledAt = timestamp(createdAtMs)
  if (state.kind === 'unscheduled') {
    if (state.message === undefined) return []
    return [condition('PodScheduled', false, scheduledAt, 'Unschedulable', state.message)]
  }
  const readyAt = timestamp(state.kind === 'finished' ? state.exit.finishedAtMs : state.sinceMs)
  const done = phaseOf(state) === 'Succeeded'
  const ready = isReady(state)
  const [reason, message] = ready
    ? [undefined, undefined]
    : done
      ? ['PodCompleted', undefined]
      : state.kind === 'finished'
        ? ['PodFailed', undefined]
        : ['ContainersNotReady', `containers with unready status: [${containerNames}]`]
  const initialized = hasAddress(state) || state.kind === 'creating'
  return [
    condition(
      'PodReadyToStartContainers',
      hasAddress(state) && state.kind !== 'finished',
      scheduledAt,
    ),
    condition('Initialized', initialized, scheduledAt, done ? 'PodCompleted' : undefined),
    condition('Ready', ready, readyAt, reason, message),
    condition('ContainersReady', ready, readyAt, reason, message),
    condition('PodScheduled', true, scheduledAt),
  ]
}

function condition(
  type: string,
  holds: boolean,
  lastTransitionTime: string,
  reason?: string,
  message?: string,
): object {
  return {
    lastProbeTime: null,
    lastTransitionTime,
    ...(message === undefined ? {} : { message }),
    observedGeneration: 1,
    ...(reason === undefined ? {} : { reason }),
    status: holds ? 'True' : 'False',
    type,
  }
}

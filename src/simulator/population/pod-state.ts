import type { Placement } from './node-plan.ts'

/** How the main container ended the last time. */
export interface ContainerExit {
  readonly reason: 'Error' | 'OOMKilled' | 'Completed'
  readonly exitCode: number
  readonly startedAtMs: number
  readonly finishedAtMs: number
}

/** A state that a pod can be in; everything in its `status` follows from it. Times are Unix milliseconds. */
export type PodState =
  | {
      readonly kind: 'unscheduled'
      /** Why no node fits; absent while the scheduler has not looked yet. */
      readonly message?: string
    }
  | { readonly kind: 'creating'; readonly at: Placement; readonly sinceMs: number }
  | {
      readonly kind: 'running'
      readonly at: Placement
      readonly startedAtMs: number
      /** When the pod became ready or unready. */
      readonly sinceMs: number
      readonly ready: boolean
      readonly restarts: number
      readonly lastExit?: ContainerExit
    }
  | {
      readonly kind: 'waiting'
      readonly at: Placement
      readonly sinceMs: number
      readonly reason: 'CrashLoopBackOff' | 'ImagePullBackOff'
      readonly message: string
      readonly restarts: number
      readonly lastExit?: ContainerExit
    }
  | {
      readonly kind: 'finished'
      readonly at: Placement
      readonly exit: ContainerExit
    }

/** Whether a pod in this state counts as ready. */
export function isReady(state: PodState): boolean {
  return state.kind === 'running' && state.ready
}

/** `status.phase` of a pod in this state. */
export function phaseOf(state: PodState): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  switch (state.kind) {
    case 'unscheduled':
    case 'creating':
      return 'Pending'
    case 'waiting':
      return state.reason === 'ImagePullBackOff' ? 'Pending' : 'Running'
    case 'running':
      return 'Running'
    case 'finished':
      return state.exit.exitCode === 0 ? 'Succeeded' : 'Failed'
  }
}

/** Whether a pod in this state has its sandbox, and with it an address. */
export function hasAddress(state: PodState): boolean {
  return state.kind !== 'unscheduled' && state.kind !== 'creating'
}

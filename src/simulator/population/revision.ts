import type { AppContext } from './app-context.ts'
import type { AppPlan } from './company-plan.ts'
import type { Placement } from './node-plan.ts'
import type { PodState } from './pod-state.ts'
import { day, hour, minute, second } from './duration.ts'

/** One revision of a Deployment: it becomes a ReplicaSet. */
export interface Revision {
  readonly number: number
  readonly hash: string
  readonly image: string
  readonly createdAtMs: number
  readonly states: readonly PodState[]
}

/** Whether the app's last rollout does not come to an end: its newest pod never becomes ready. */
export function isStuck({ fault }: AppPlan): boolean {
  return fault === 'CrashLoopBackOff' || fault === 'ImagePullBackOff'
}

/** How many pods the Deployment asks for: a stuck rollout has one more. */
export function desiredOf(app: AppPlan): number {
  return isStuck(app) ? Math.max(1, app.pods - 1) : app.pods
}

/** Newest first: the current revision, then one or two old ones. */
export function planRevisions(context: AppContext): readonly Revision[] {
  const { app, random, nowMs, createdAtMs } = context
  const newest = random.integer(3, 40)
  const stuck = isStuck(app)
  const old = random.integer(1, 2)
  let at = nowMs - (stuck ? random.integer(25, 55) * minute : random.integer(1, 14 * 24) * hour)
  const revisions: Revision[] = []
  for (let index = 0; index <= old; index++) {
    const pods = podsOf(app, index)
    const revision = { number: newest - index, hash: random.suffix(9), createdAtMs: at }
    const states = Array.from({ length: pods }, (_, pod) =>
      stateOf(context, stuck && index > 0 ? undefined : pod, at),
    )
    revisions.push({ ...revision, image: index === 0 ? app.image : app.previousImage, states })
    at = Math.max(createdAtMs, at - random.integer(1, 20) * day)
  }
  return revisions
}

function podsOf(app: AppPlan, index: number): number {
  if (!isStuck(app)) return index === 0 ? app.pods : 0
  return index === 0 ? 1 : index === 1 ? app.pods - 1 : 0
}

/** `pod` is the pod's number in a revision that may have a fault. */
function stateOf(context: AppContext, pod: number | undefined, createdAtMs: number): PodState {
  const { app, placer, nodes, nowMs } = context
  if (pod === 0 && app.fault === 'Unschedulable') {
    const ready = nodes.filter((node) => node.ready).length
    const untolerated = nodes.length - ready
    const taints = untolerated === 0 ? '' : `${untolerated} node(s) had untolerated taint(s), `
    return {
      kind: 'unscheduled',
      message: `0/${nodes.length} nodes are available: ${taints}${ready} Insufficient cpu, ${ready} Insufficient memory. preemption: 0/${nodes.length} nodes are available: ${nodes.length} No preemption victims found for incoming pod.`,
    }
  }
  const at = placer.place()
  if (pod === 0 && app.fault === 'ImagePullBackOff') {
    return {
      kind: 'waiting',
      at,
      sinceMs: createdAtMs + 4 * second,
      reason: 'ImagePullBackOff',
      message: `Back-off pulling image "${app.image}": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "${app.image}": failed to resolve reference "${app.image}": ${app.image}: not found`,
      restarts: 0,
    }
  }
  if (pod === 0 && app.fault === 'CrashLoopBackOff') {
    const finishedAtMs = nowMs - 2 * minute
    return {
      kind: 'waiting',
      at,
      sinceMs: createdAtMs + 9 * second,
      reason: 'CrashLoopBackOff',
      message: `back-off 5m0s restarting failed container=${app.name}`,
      restarts: 11,
      lastExit: { reason: 'Error', exitCode: 1, startedAtMs: finishedAtMs - 3000, finishedAtMs },
    }
  }
  return runningState(context, createdAtMs, at)
}

/** A pod that runs well; a few have been restarted. */
function runningState({ random, nowMs }: AppContext, createdAtMs: number, at: Placement): PodState {
  const startedAtMs = createdAtMs + random.integer(4, 20) * second
  if (!random.chance(0.06))
    return {
      kind: 'running',
      at,
      startedAtMs,
      sinceMs: startedAtMs + 8 * second,
      ready: true,
      restarts: 0,
    }
  const finishedAtMs = startedAtMs + Math.floor(random.next() * (nowMs - startedAtMs) * 0.9)
  return {
    kind: 'running',
    at,
    startedAtMs: finishedAtMs + second,
    sinceMs: finishedAtMs + 9 * second,
    ready: true,
    restarts: 1,
    lastExit: { reason: 'OOMKilled', exitCode: 137, startedAtMs, finishedAtMs },
  }
}

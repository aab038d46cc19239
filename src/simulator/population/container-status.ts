import type { Container, VolumeMount } from './pod-spec.ts'
import type { ContainerExit, PodState } from './pod-state.ts'
import { hexDigest } from './random.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'

/** What one container of a pod says about itself whatever the pod's state: derived once per template. */
export interface ContainerFacts {
  readonly name: string
  readonly image: string
  readonly imageID: string
  /** `resources`, `allocatedResources`, `user`. */
  readonly granted: Readonly<Record<string, unknown>>
  readonly mounts: readonly object[]
}

const user = { linux: { gid: 0, supplementalGroups: [65532], uid: 65532 } }

/** The digest that a registry gives an image: the same wherever the image is named. */
export function imageIdOf(image: string): string {
  const colon = image.lastIndexOf(':')
  return `${image.slice(0, colon)}@sha256:${hexDigest(image, 64)}`
}

/** Derives a container's facts. */
export function containerFacts(container: Container): ContainerFacts {
  return {
    name: container.name,
    image: container.image,
    imageID: imageIdOf(container.image),
    granted: {
      allocatedResources: container.resources.requests,
      resources: container.resources,
      user,
    },
    mounts: (container.volumeMounts ?? []).map(mountStatus),
  }
}

/** One of `containerStatuses[*].volumeMounts`. */
export function mountStatus({ mountPath, name, readOnly }: VolumeMount): object {
  return {
    mountPath,
    name,
    ...(readOnly === true ? { readOnly, recursiveReadOnly: 'Disabled' } : {}),
  }
}

/** One of `containerStatuses`. Only the first container of a pod fails; the others keep running beside it. */
export function containerStatus(
  podUid: string,
  facts: ContainerFacts,
  state: PodState,
  main: boolean,
  tokenMount: object,
): object {
  const { name, image, imageID, granted, mounts } = facts
  const idOf = (restarts: number): string =>
    `containerd://${hexDigest(`${podUid}/${name}/${restarts}`, 64)}`
  const volumeMounts = [...mounts, tokenMount]
  switch (state.kind) {
    case 'unscheduled':
    case 'creating':
      return waitingStatus(facts, volumeMounts, 'ContainerCreating')
    case 'finished':
      return {
        containerID: idOf(0),
        image,
        imageID,
        lastState: {},
        name,
        ready: false,
        restartCount: 0,
        started: false,
        state: terminated(idOf(0), state.exit),
        volumeMounts,
      }
    case 'waiting': {
      if (main && state.reason === 'ImagePullBackOff') {
        return waitingStatus(facts, volumeMounts, state.reason, state.message)
      }
      if (!main) return running(state.sinceMs, 0, true, undefined)
      const { restarts, lastExit, reason, message } = state
      return {
        containerID: idOf(restarts),
        image,
        imageID,
        lastState: lastExit === undefined ? {} : terminated(idOf(restarts), lastExit),
        name,
        ready: false,
        restartCount: restarts,
        started: false,
        state: { waiting: { message, reason } },
        ...granted,
        volumeMounts,
      }
    }
    case 'running':
      return main
        ? running(state.startedAtMs, state.restarts, state.ready, state.lastExit)
        : running(state.startedAtMs, 0, true, undefined)
  }

  function running(
    startedAtMs: number,
    restarts: number,
    ready: boolean,
    lastExit: ContainerExit | undefined,
  ): object {
    return {
      ...granted,
      containerID: idOf(restarts),
      image,
      imageID,
      lastState: lastExit === undefined ? {} : terminated(idOf(restarts - 1), lastExit),
      name,
      ready,
      restartCount: restarts,
      started: true,
      state: { running: { startedAt: timestamp(startedAtMs) } },
      volumeMounts,
    }
  }
}

/** The status of a container that ran before the pod's others and succeeded. */
export function initContainerStatus(
  podUid: string,
  facts: ContainerFacts,
  state: PodState,
  tokenMount: object,
): object {
  const { name, image, imageID, granted, mounts } = facts
  const volumeMounts = [...mounts, tokenMount]
  if (state.kind === 'unscheduled' || state.kind === 'creating') {
    return waitingStatus(facts, volumeMounts, 'PodInitializing')
  }
  const finishedAtMs = startOf(state) - 2000
  const containerID = `containerd://${hexDigest(`${podUid}/${name}/0`, 64)}`
  const exit = {
    reason: 'Completed',
    exitCode: 0,
    startedAtMs: finishedAtMs - 3000,
    finishedAtMs,
  } as const
  return {
    ...granted,
    containerID,
    image,
    imageID,
    lastState: {},
    name,
    ready: true,
    restartCount: 0,
    started: false,
    state: terminated(containerID, exit),
    volumeMounts,
  }
}

function waitingStatus(
  { name, image }: ContainerFacts,
  volumeMounts: readonly object[],
  reason: string,
  message?: string,
): object {
  return {
    image,
    imageID: '',
    lastState: {},
    name,
    ready: false,
    restartCount: 0,
    started: false,
    state: { waiting: { ...(message === undefined ? {} : { message }), reason } },
    volumeMounts,
  }
}

function startOf(state: Exclude<PodState, { kind: 'unscheduled' | 'creating' }>): number {
  switch (state.kind) {
    case 'running':
      return state.startedAtMs
    case 'waiting':
      return state.sinceMs
    case 'finished':
      return state.exit.startedAtMs
  }
}

function terminated(containerID: string, exit: ContainerExit): object {
  return {
    terminated: {
      containerID,
      exitCode: exit.exitCode,
      finishedAt: timestamp(exit.finishedAtMs),
      reason: exit.reason,
      startedAt: timestamp(exit.startedAtMs),
    },
  }
}

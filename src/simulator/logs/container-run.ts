import type { Unstructured } from '../../kubernetes/object.ts'
import type { ContainerStatus, Pod } from '../../kubernetes/wire/core-v1.ts'
import { badRequest } from '../api/status-refusal.ts'

/** One run of a container, from its start to its end. */
export interface ContainerRun {
  /** Another one for each run. */
  readonly id: string
  readonly startedAtMs: number
  /** `undefined` while it runs. */
  readonly finishedAtMs: number | undefined
  /** `undefined` while it runs. */
  readonly exitCode: number | undefined
  readonly isInit: boolean
  /** Whether it does not become ready after a restart: it crashes again and again. */
  readonly isFailing: boolean
}

/**
 * The container that a request for a log means: the named one, or the only one. Throws 400 in the words of a
 * kube-apiserver (`pkg/registry/core/pod/strategy.go`).
 */
export function containerOf(pod: Unstructured, name: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = (pod as Pod).spec ?? {}
  const all = [...initContainers, ...containers, ...ephemeralContainers].map((one) => one.name)
  const { name: podName } = pod.metadata
  if (name !== '') {
    if (all.includes(name)) return name
    throw badRequest(`container ${name} is not valid for pod ${podName}`)
  }
  const [only, ...others] = all
  if (only !== undefined && others.length === 0) return only
  const choice = only === undefined ? '' : `, choose one of: [${all.join(' ')}]`
  throw badRequest(`a container name must be specified for pod ${podName}${choice}`)
}

/**
 * The run whose log a kubelet sends: of a container that waits for its restart, the last one. Throws 400 in the words
 * of a kubelet (`pkg/kubelet/kubelet_pods.go`, `validateContainerLogStatus`).
 */
export function runOf(pod: Unstructured, container: string, previous: boolean): ContainerRun {
  const at = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`
  const { containerStatuses = [], initContainerStatuses = [] } = (pod as Pod).status ?? {}
  const named = ({ name }: ContainerStatus): boolean => name === container
  const init = initContainerStatuses.find(named)
  const status = containerStatuses.find(named) ?? init
  if (status === undefined) throw badRequest(`${at} is not available`)
  const { running, terminated, waiting } = status.state ?? {}
  const last = status.lastState?.terminated
  const ended = (exit: NonNullable<typeof last>, run: number): ContainerRun => ({
    id: exit.containerID ?? `${pod.metadata.uid ?? ''}/${container}/${run}`,
    startedAtMs: Date.parse(exit.startedAt ?? ''),
    finishedAtMs: Date.parse(exit.finishedAt ?? ''),
    exitCode: exit.exitCode,
    isInit: init === status,
    isFailing: false,
  })
  const { restartCount, ready } = status
  if (previous) {
    if (last === undefined) throw badRequest(`previous terminated ${at} not found`)
    return ended(last, restartCount - 1)
  }
  if (running !== undefined) {
    return {
      id: status.containerID ?? `${pod.metadata.uid ?? ''}/${container}/${restartCount}`,
      startedAtMs: Date.parse(running.startedAt ?? ''),
      finishedAtMs: undefined,
      exitCode: undefined,
      isInit: init === status,
      isFailing: restartCount > 0 && !ready,
    }
  }
  if (terminated !== undefined) return ended(terminated, restartCount)
  if (last !== undefined) return ended(last, restartCount - 1)
  if (waiting === undefined) throw badRequest(`${at} is waiting to start - no logs yet`)
  throw badRequest(`${at} is waiting to start: ${reasons[waiting.reason ?? ''] ?? waiting.reason}`)
}

const reasons: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
}

/** How a run has ended, as the pod says now; `undefined` while it runs. */
export function endOf(
  pod: Unstructured | undefined,
  container: string,
  { id }: ContainerRun,
): Pick<ContainerRun, 'finishedAtMs' | 'exitCode'> | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } =
    (pod as Pod | undefined)?.status ?? {}
  const status = [...containerStatuses, ...initContainerStatuses].find(
    ({ name }) => name === container,
  )
  if (status?.state?.running !== undefined && status.containerID === id) return undefined
  const exits = [status?.state?.terminated, status?.lastState?.terminated]
  const exit = exits.find((one) => one?.containerID === id)
  return {
    finishedAtMs: Date.parse(exit?.finishedAt ?? '') || Date.now(),
    exitCode: exit?.exitCode,
  }
}

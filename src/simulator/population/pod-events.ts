import type { Unstructured } from '../../kubernetes/object.ts'
import { eventItem, type EventReport } from './event.ts'
import type { PodState } from './pod-state.ts'
import type { PopulationItem } from './population-object.ts'
import { minute, second } from './duration.ts'

/** What the cluster still remembers of a pod's trouble; nothing of one that is well. */
export function* podEventItems(
  pod: Unstructured,
  state: PodState,
  nowMs: number,
): Generator<PopulationItem> {
  if (state.kind === 'unscheduled') {
    yield eventItem({
      regarding: pod,
      type: 'Warning',
      reason: 'FailedScheduling',
      message: state.message ?? '',
      component: 'default-scheduler',
      firstAtMs: nowMs - 55 * minute,
      lastAtMs: nowMs - 20 * second,
      count: 12,
    })
    return
  }
  if (state.kind !== 'waiting') return
  const { at, sinceMs, reason, restarts } = state
  yield eventItem({
    regarding: pod,
    type: 'Normal',
    reason: 'Scheduled',
    message: `Successfully assigned ${pod.metadata.namespace ?? ''}/${pod.metadata.name} to ${at.nodeName}`,
    component: 'default-scheduler',
    firstAtMs: sinceMs - 4 * second,
    lastAtMs: sinceMs - 4 * second,
    count: 1,
  })
  const report = kubeletReport(pod, at.nodeName)
  const since = { firstAtMs: sinceMs, lastAtMs: nowMs - 40 * second }
  if (reason === 'ImagePullBackOff') {
    const image = mainContainer(pod).image
    yield eventItem({
      ...report,
      ...since,
      reason: 'Failed',
      message: `Failed to pull image "${image}": not found`,
      count: 6,
    })
    yield eventItem({
      ...report,
      ...since,
      reason: 'BackOff',
      message: `Back-off pulling image "${image}"`,
      count: 130,
    })
    return
  }
  yield eventItem({ ...report, ...since, ...backOff(pod), count: restarts * 11 })
}

/** The parts of an Event that every kubelet report about a pod's main container has. */
export function kubeletReport(
  pod: Unstructured,
  nodeName: string,
): Pick<EventReport, 'regarding' | 'type' | 'component' | 'host' | 'fieldPath'> {
  return {
    regarding: pod,
    type: 'Warning',
    component: 'kubelet',
    host: nodeName,
    fieldPath: `spec.containers{${mainContainer(pod).name}}`,
  }
}

/** The report of a container that fails again and again. */
export function backOff(pod: Unstructured): Pick<EventReport, 'reason' | 'message'> {
  const { name, namespace = '', uid = '' } = pod.metadata
  const container = mainContainer(pod).name
  const message = `Back-off restarting failed container ${container} in pod ${name}_${namespace}(${uid})`
  return { reason: 'BackOff', message }
}

/** The container that the pod is there for: its first. */
export function mainContainer(pod: Unstructured): {
  readonly name: string
  readonly image: string
} {
  const { containers } = pod['spec'] as {
    readonly containers: readonly { readonly name: string; readonly image: string }[]
  }
  return containers[0] ?? { name: '', image: '' }
}

import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { type Cluster, eventKey } from './cluster.ts'
import { identified } from './object.ts'
import { mainContainer } from './pod.ts'
import { hexDigest, uidDigest } from './random.ts'

/** A component's report about an object. */
export interface Report {
  readonly reason: string
  readonly message: string
  readonly type?: 'Normal' | 'Warning'
  /** `kubelet`, `deployment-controller`, … */
  readonly component: string
  readonly host?: string
  /** The part of the object: `spec.containers{app}`. */
  readonly fieldPath?: string
}

/**
 * Writes Events. Repeated Events count up. Beyond `maxEvents` the oldest is deleted, as an API server does after an
 * hour.
 */
export class EventRecorder {
  readonly #cluster: Cluster
  readonly #maxEvents: number

  constructor(cluster: Cluster, maxEvents: number) {
    this.#cluster = cluster
    this.#maxEvents = maxEvents
  }

  record(regarding: Unstructured, report: Report): void {
    const cluster = this.#cluster
    const { events } = cluster
    const atMs = cluster.now()
    const event = eventOf(regarding, report, atMs)
    const key = eventKey(event)
    const seen = events.get(key)
    // Keeps the map in the order of last occurrence.
    events.delete(key)
    if (seen !== undefined && cluster.get(resources.events, seen) !== undefined) {
      cluster.change(resources.events, seen, (before) => ({
        ...before,
        count: (before.count ?? 1) + 1,
        lastTimestamp: timestamp(atMs),
      }))
      return
    }
    cluster.create(resources.events, event)
    for (const [oldest, place] of events) {
      if (events.size <= this.#maxEvents) return
      events.delete(oldest)
      cluster.remove(resources.events, place)
    }
  }

  /** Records a kubelet's Event about the first container of a pod. */
  container(pod: Unstructured, report: Pick<Report, 'reason' | 'message' | 'type'>): void {
    const { nodeName = '' } = pod['spec'] as { readonly nodeName?: string }
    const fieldPath = `spec.containers{${mainContainer(pod).name}}`
    this.record(pod, { ...report, component: 'kubelet', host: nodeName, fieldPath })
  }
}

/** A core Event. Its name and UID follow from its object, reason, message and first time. */
function eventOf(regarding: Unstructured, report: Report, atMs: number): Unstructured {
  const { component, host, fieldPath, type = 'Normal', reason, message } = report
  const { name, namespace, uid = '', resourceVersion } = regarding.metadata
  const place = `${uid}/${reason}/${message}/${atMs}`
  const manager = component.endsWith('-controller') ? 'kube-controller-manager' : component
  const at = timestamp(atMs)
  const event = {
    metadata: {
      name: `${name}.${hexDigest(place, 16)}`,
      namespace: namespace ?? 'default',
      managedFields: [{ manager, operation: 'Update' as const }],
    },
    count: 1,
    eventTime: null,
    firstTimestamp: at,
    involvedObject: {
      apiVersion: regarding.apiVersion,
      ...(fieldPath === undefined ? {} : { fieldPath }),
      kind: regarding.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      uid,
    },
    lastTimestamp: at,
    message,
    reason,
    reportingComponent: component,
    reportingInstance: host ?? '',
    source: { component, ...(host === undefined ? {} : { host }) },
    type,
  }
  const identity = { uid: uidDigest(`${place}/event`), createdAtMs: atMs }
  return identified(resources.events, event, identity)
}

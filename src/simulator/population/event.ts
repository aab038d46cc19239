import type { Unstructured } from '../../kubernetes/object.ts'
import type { FieldManager } from './managed-fields.ts'
import { type PopulationItem, populationItem } from './population-object.ts'
import { hexDigest } from './random.ts'
import { resources } from './resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'

/** What a component reports about an object. */
export interface EventReport {
  readonly regarding: Unstructured
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** `kubelet`, `deployment-controller`, … */
  readonly component: string
  readonly host?: string
  /** The part of the object that it is about: `spec.containers{app}`. */
  readonly fieldPath?: string
  readonly firstAtMs: number
  readonly lastAtMs: number
  readonly count: number
}

/** A core Event. Its name and UID follow from what it is about and from when it first happened. */
export function eventItem(report: EventReport): PopulationItem {
  const { regarding, component, host, fieldPath } = report
  const { name, namespace, uid = '', resourceVersion } = regarding.metadata
  const inNamespace = namespace ?? 'default'
  const digest = hexDigest(`${uid}/${report.reason}/${report.message}/${report.firstAtMs}`, 48)
  const item = populationItem(resources.events, {
    name: `${name}.${digest.slice(0, 16)}`,
    namespace: inNamespace,
    uid: uuid(digest),
    createdAtMs: report.firstAtMs,
    manager: managerOf(component),
    body: {
      count: report.count,
      eventTime: null,
      firstTimestamp: timestamp(report.firstAtMs),
      involvedObject: {
        apiVersion: regarding.apiVersion,
        ...(fieldPath === undefined ? {} : { fieldPath }),
        kind: regarding.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        // Kubelets report about their node by its name, where others put the UID.
        uid: regarding.kind === 'Node' && component === 'kubelet' ? name : uid,
      },
      lastTimestamp: timestamp(report.lastAtMs),
      message: report.message,
      reason: report.reason,
      reportingComponent: component,
      reportingInstance: host ?? '',
      source: { component, ...(host === undefined ? {} : { host }) },
      type: report.type,
    },
  })
  return item
}

/** The Event after it has happened once more. */
export function repeatedEvent(event: Unstructured, atMs: number): Unstructured {
  const count = typeof event['count'] === 'number' ? event['count'] : 1
  return { ...event, count: count + 1, lastTimestamp: timestamp(atMs) }
}

function managerOf(component: string): FieldManager {
  const controller = component.endsWith('-controller') || component.endsWith('controller')
  return { manager: controller ? 'kube-controller-manager' : component, operation: 'Update' }
}

function uuid(digest: string): string {
  const part = (from: number, to: number): string => digest.slice(16 + from, 16 + to)
  return `${part(0, 8)}-${part(8, 12)}-4${part(13, 16)}-8${part(17, 20)}-${part(20, 32)}`
}

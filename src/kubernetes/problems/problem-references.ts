/*
 * What an object says about others, as marks in the index of problems: the objects that it names and cannot do without, and
 * what others must match. Whether a named object exists, only its store knows, so `query/problems/problem-joins.ts` compares
 * the marks of one store with the keys of another. References that their object can do without (`optional`) have no mark.
 */

import { isRecord } from '../../lib/json.ts'
import { type Fields, fieldsOf, itemsOf, specOf, statusOf, textOf } from '../fields.ts'
import type { ProblemRuleName, ProblemSeverity } from './problem-fact.ts'

/** An object that another one names and cannot do without. */
export interface NeededObject {
  /** `/Secret`, `networking.k8s.io/IngressClass`. */
  readonly to: string
  /** `namespace/name`, or `name`. */
  readonly key: string
  readonly severity: ProblemSeverity
  /** The port of a Service: its number or its name. */
  readonly port?: string | undefined
  /** The webhook that the object needs a ready pod behind a Service for. */
  readonly webhook?: string | undefined
}

/** The first characters of marks. They are in no range of facts, and the values of a pod sort behind its facts. */
export const markOf = {
  needed: 'x',
  /** The labels by which a Service chooses its pods. */
  selector: 'y',
  /** The labels of the pods that a workload makes. */
  template: 'z',
  port: 'q',
  ended: 't',
  unready: 'u',
  external: 'v',
} as const

type IsOn = (rule: ProblemRuleName) => boolean

type Marks = (object: Fields, isOn: IsOn) => readonly string[]

/** The marks of the objects of a kind. `name`: `apps/Deployment`. */
export function referenceMarks(name: string): Marks | undefined {
  if (/^gateway\.networking\.k8s\.io\/\w+Route$/.test(name)) return routeMarks
  return Object.hasOwn(marks, name) ? marks[name] : undefined
}

const marks: Readonly<Record<string, Marks>> = {
  '/Pod': podMarks,
  '/ReplicationController': workloadMarks,
  '/Service': serviceMarks,
  '/PersistentVolumeClaim': claimMarks,
  'apps/DaemonSet': workloadMarks,
  'apps/Deployment': workloadMarks,
  'apps/ReplicaSet': workloadMarks,
  'apps/StatefulSet': workloadMarks,
  'batch/CronJob': (object, isOn) => {
    const { suspend, jobTemplate } = specOf(object)
    const template = specOf(fieldsOf(jobTemplate))['template']
    return templateMarks(object, template, suspend !== true && isOn('missingReferences'))
  },
  'batch/Job': (object, isOn) => {
    const { completionTime, conditions } = statusOf(object)
    const isOver =
      completionTime !== undefined ||
      itemsOf(conditions).some(({ type, status }) => type === 'Failed' && status === 'True')
    if (isOver || isControlled(object)) return none
    return templateMarks(object, specOf(object)['template'], isOn('missingReferences'))
  },
  'networking.k8s.io/Ingress': ingressMarks,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookMarks,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhookMarks,
}

const none: readonly string[] = []

function neededMark({ to, key, severity, port = '', webhook = '' }: NeededObject): string {
  return markOf.needed + JSON.stringify([to, key, severity, port, webhook])
}

/** The needed object of a mark; `undefined` for another value. */
export function neededObjectIn(value: string): NeededObject | undefined {
  if (!value.startsWith(markOf.needed)) return undefined
  const [to = '', key = '', severity, port, webhook] = JSON.parse(value.slice(1)) as string[]
  return {
    to,
    key,
    severity: severity as ProblemSeverity,
    port: port === '' ? undefined : port,
    webhook: webhook === '' ? undefined : webhook,
  }
}

export type Labels = Readonly<Record<string, string>>

/** Labels by their marks: `behind` reads the same ones for each row. */
const knownLabels = new Map<string, Labels>()
/** Some 1 MB. */
const maxKnownLabels = 5_000

/** The labels in a mark of this form among an object's values. */
export function labelsIn(
  values: readonly string[],
  form: 'selector' | 'template',
): Labels | undefined {
  const value = values.find((one) => one.startsWith(markOf[form]))
  if (value === undefined) return undefined
  let labels = knownLabels.get(value)
  if (labels === undefined) {
    if (knownLabels.size === maxKnownLabels) knownLabels.clear()
    knownLabels.set(value, (labels = JSON.parse(value.slice(1)) as Labels))
  }
  return labels
}

/** Whether a selector chooses what has these labels. */
export function chooses(selector: Labels, labels: Labels): boolean {
  for (const name of Object.keys(selector)) if (labels[name] !== selector[name]) return false
  return true
}

function labelsMark(form: 'selector' | 'template', labels: unknown): readonly string[] {
  if (!isRecord(labels)) return none
  const texts = Object.entries(labels).filter(([, value]) => typeof value === 'string')
  if (texts.length === 0) return none
  return [markOf[form] + JSON.stringify(Object.fromEntries(texts))]
}

function namespaceOf(object: Fields): string {
  return textOf(fieldsOf(object['metadata'])['namespace']) ?? ''
}

function isControlled(object: Fields): boolean {
  return itemsOf(fieldsOf(object['metadata'])['ownerReferences']).some(
    ({ controller }) => controller === true,
  )
}

/** The template of a controlled workload is that of its controller. */
function workloadMarks(object: Fields, isOn: IsOn): readonly string[] {
  if (isControlled(object)) return none
  const { template, replicas } = specOf(object)
  return templateMarks(object, template, replicas !== 0 && isOn('missingReferences'))
}

function templateMarks(object: Fields, template: unknown, isNeeding: boolean): readonly string[] {
  const { metadata, spec } = fieldsOf(template)
  const labels = labelsMark('template', fieldsOf(metadata)['labels'])
  return isNeeding ? [...labels, ...neededByPods(namespaceOf(object), fieldsOf(spec))] : labels
}

/** A pod that ends, has ended, or is not ready is marked so, as Services need others. */
function podMarks(object: Fields, isOn: IsOn): readonly string[] {
  const { phase, conditions } = statusOf(object)
  if (phase === 'Succeeded' || phase === 'Failed') return [markOf.ended]
  const isReady = itemsOf(conditions).some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  )
  const unready = isReady ? none : [markOf.unready]
  if (isControlled(object) || !isOn('missingReferences')) return unready
  return [...unready, ...neededByPods(namespaceOf(object), specOf(object))]
}

/** The objects that pods of this `spec` cannot start without. */
export function neededObjects(namespace: string, spec: Fields): readonly NeededObject[] {
  return neededByPods(namespace, spec).flatMap((mark) => neededObjectIn(mark) ?? [])
}

/** What pods cannot start without. The default ServiceAccount and the classes of the system are made by controllers. */
function neededByPods(namespace: string, spec: Fields): readonly string[] {
  const found = new Set<string>()
  const need = (to: string, name: unknown, optional?: unknown): void => {
    const text = textOf(name)
    if (text === undefined || optional === true) return
    const key = to === priorityClass ? text : `${namespace}/${text}`
    found.add(neededMark({ to, key, severity: 'WARNING' }))
  }
  const needSources = (of: Fields): void => {
    const [configMap, secret] = [fieldsOf(of['configMap']), fieldsOf(of['secret'])]
    need('/ConfigMap', configMap['name'], configMap['optional'])
    need('/Secret', secret['secretName'] ?? secret['name'], secret['optional'])
  }
  for (const volume of itemsOf(spec['volumes'])) {
    // The API server adds it; every namespace gets the ConfigMap in it.
    if (String(volume['name']).startsWith('kube-api-access-')) continue
    needSources(volume)
    for (const source of itemsOf(fieldsOf(volume['projected'])['sources'])) needSources(source)
    need('/PersistentVolumeClaim', fieldsOf(volume['persistentVolumeClaim'])['claimName'])
    need('/Secret', fieldsOf(fieldsOf(volume['csi'])['nodePublishSecretRef'])['name'])
  }
  for (const container of [...itemsOf(spec['initContainers']), ...itemsOf(spec['containers'])]) {
    const froms = itemsOf(container['env']).map(({ valueFrom }) => fieldsOf(valueFrom))
    for (const { configMapKeyRef, secretKeyRef } of froms) {
      needSources({ configMap: configMapKeyRef, secret: secretKeyRef })
    }
    for (const { configMapRef, secretRef } of itemsOf(container['envFrom'])) {
      needSources({ configMap: configMapRef, secret: secretRef })
    }
  }
  for (const { name } of itemsOf(spec['imagePullSecrets'])) need('/Secret', name)
  const { serviceAccountName, priorityClassName } = spec
  if (serviceAccountName !== 'default') need('/ServiceAccount', serviceAccountName)
  if (!String(priorityClassName).startsWith('system-')) need(priorityClass, priorityClassName)
  return [...found]
}

const priorityClass = 'scheduling.k8s.io/PriorityClass'

/** A bound claim no longer needs its class. */
function claimMarks(object: Fields, isOn: IsOn): readonly string[] {
  const key = textOf(specOf(object)['storageClassName'])
  if (key === undefined || statusOf(object)['phase'] === 'Bound') return none
  if (!isOn('missingReferences')) return none
  return [neededMark({ to: 'storage.k8s.io/StorageClass', key, severity: 'WARNING' })]
}

function serviceMarks(object: Fields, isOn: IsOn): readonly string[] {
  const { type, selector, ports } = specOf(object)
  if (type === 'ExternalName') return [markOf.external]
  const names = itemsOf(ports).flatMap(({ port, name }) => [portOf(port), portOf(name)])
  const told = names.flatMap((one) => (one === undefined ? [] : markOf.port + one))
  const isNeeded = isOn('servicesWithoutPods') || isOn('webhooksWithoutEndpoints')
  return [...told, ...(isNeeded ? labelsMark('selector', selector) : none)]
}

/** The number or the name of a port. */
function portOf(value: unknown): string | undefined {
  return typeof value === 'number' ? `${value}` : textOf(value)
}

/** The Secret of a certificate that cert-manager is to make is the Certificate's affair. */
function ingressMarks(object: Fields, isOn: IsOn): readonly string[] {
  const { defaultBackend, rules, tls, ingressClassName } = specOf(object)
  const namespace = namespaceOf(object)
  const found = new Set<string>()
  const paths = itemsOf(rules).flatMap(({ http }) => itemsOf(fieldsOf(http)['paths']))
  for (const backend of [defaultBackend, ...paths.map((path) => path['backend'])]) {
    const { name, port } = fieldsOf(fieldsOf(backend)['service'])
    const { number, name: portName } = fieldsOf(port)
    const text = textOf(name)
    if (text === undefined || !isOn('brokenRoutes')) continue
    const key = `${namespace}/${text}`
    const asked = portOf(number ?? portName)
    found.add(neededMark({ to: '/Service', key, severity: 'CRITICAL', port: asked }))
  }
  if (!isOn('missingReferences')) return [...found]
  const annotations = Object.keys(fieldsOf(fieldsOf(object['metadata'])['annotations']))
  const isIssued = annotations.some((one) => /^cert-manager\.io\/|\/tls-acme$/.test(one))
  for (const secret of isIssued ? [] : itemsOf(tls)) {
    const name = textOf(secret['secretName'])
    if (name === undefined) continue
    found.add(neededMark({ to: '/Secret', key: `${namespace}/${name}`, severity: 'WARNING' }))
  }
  const key = textOf(ingressClassName)
  const to = 'networking.k8s.io/IngressClass'
  if (key !== undefined) found.add(neededMark({ to, key, severity: 'WARNING' }))
  return [...found]
}

/** The routes of the Gateway API, of all protocols. */
function routeMarks(object: Fields, isOn: IsOn): readonly string[] {
  if (!isOn('brokenRoutes')) return none
  const { rules, parentRefs } = specOf(object)
  const found = new Set<string>()
  const need = (ref: Fields, byDefault: string): void => {
    const { group = byDefault === 'Gateway' ? gatewayGroup : '', kind = byDefault } = ref
    const name = textOf(ref['name'])
    if (kind !== byDefault || name === undefined) return
    const key = `${textOf(ref['namespace']) ?? namespaceOf(object)}/${name}`
    const port = byDefault === 'Service' ? portOf(ref['port']) : undefined
    found.add(neededMark({ to: `${String(group)}/${kind}`, key, severity: 'CRITICAL', port }))
  }
  for (const parent of itemsOf(parentRefs)) need(parent, 'Gateway')
  for (const { backendRefs, filters } of itemsOf(rules)) {
    const mirrors = itemsOf(filters).map(({ requestMirror }) => fieldsOf(requestMirror))
    for (const { backendRef } of mirrors) need(fieldsOf(backendRef), 'Service')
    for (const ref of itemsOf(backendRefs)) need(ref, 'Service')
  }
  return [...found]
}

const gatewayGroup = 'gateway.networking.k8s.io'

function webhookMarks(object: Fields, isOn: IsOn): readonly string[] {
  if (!isOn('webhooksWithoutEndpoints')) return none
  return itemsOf(object['webhooks']).flatMap(({ name, clientConfig, failurePolicy }) => {
    const service = fieldsOf(fieldsOf(clientConfig)['service'])
    const [namespace, text] = [textOf(service['namespace']), textOf(service['name'])]
    if (namespace === undefined || text === undefined) return []
    const severity = failurePolicy === 'Ignore' ? 'WARNING' : 'CRITICAL'
    const port = portOf(service['port'] ?? 443)
    const [to, key] = ['/Service', `${namespace}/${text}`]
    return [neededMark({ to, key, severity, port, webhook: textOf(name) ?? 'webhook' })]
  })
}

import type { OwnerReference } from '../../kubernetes/object.ts'
import { identified, firstUid, type PopulationItem, type Written } from './object.ts'
import type { PodSpec, PodTemplate } from './pod.ts'
import type { Container, Placement } from './pod-status.ts'
import { type NodePlan, type Plan, podsPerNode } from './plan.ts'
import type { Manifest } from './scenario.ts'
import { ScenarioError, type Values } from './template.ts'

/** Lengths of time, in milliseconds. */
export const second = 1000
export const minute: number = 60 * second
export const hour: number = 60 * minute
export const day: number = 24 * hour

/** Turns manifests into objects, and gives pods their places on nodes. */
export class Stamper {
  readonly plan: Plan
  readonly priorities: ReadonlyMap<string, number>
  readonly zones: ReadonlyMap<string, string>
  readonly #used: number[]
  #next = 0

  constructor(plan: Plan) {
    this.plan = plan
    this.#used = plan.nodes.map(() => 0)
    this.zones = new Map(plan.nodes.map(({ name, zone }) => [name, zone]))
    const classes = plan.scenario.cluster.filter(
      ({ resource }) => resource.kind === 'PriorityClass',
    )
    this.priorities = new Map(
      classes.map((one) => {
        const { metadata, value } = one.fill(plan.values) as Written & { readonly value: number }
        return [metadata.name, value]
      }),
    )
  }

  /** The object that a manifest makes, as an API server would complete it. `change` gives it what no manifest says, such as a status. */
  item(
    manifest: Manifest,
    values: Values,
    { createdAtMs, updatedAtMs }: { readonly createdAtMs: number; readonly updatedAtMs?: number },
    change: (object: Written) => Written = (object) => object,
  ): PopulationItem {
    const { resource, place } = manifest
    const { seed } = this.plan
    const object = change(this.written(manifest, values))
    const { name, namespace = '' } = object.metadata
    if (typeof name !== 'string')
      throw new ScenarioError(place, `a ${resource.kind} without a name`)
    return identified(resource, object, {
      uid: firstUid(seed, resource, namespace, name),
      createdAtMs,
      ...(updatedAtMs === undefined ? {} : { updatedAtMs }),
      ownerUid: (owner) => this.#ownerUid(place, owner, namespace),
    })
  }

  /** A manifest with its values and its defaults, before it has an identity. */
  written({ fill, namespaced, resource }: Manifest, values: Values): Written {
    const object = withDefaults(resource.kind, fill(values) as Written)
    const { metadata } = object
    if (!namespaced || metadata.namespace !== undefined) return object
    const namespace = String(values.get('namespace', resource.kind))
    return { ...object, metadata: { ...metadata, namespace } }
  }

  #ownerUid(place: string, owner: Omit<OwnerReference, 'uid'>, namespace: string): string {
    const { scenario, seed } = this.plan
    const kind = scenario.kindOf(owner.apiVersion, owner.kind)
    if (kind === undefined) throw new ScenarioError(place, `its owner is an unknown ${owner.kind}`)
    return firstUid(seed, kind.resource, kind.namespaced ? namespace : '', owner.name)
  }

  /** A place on the next ready node that has room. The plan sees to it that there is one. */
  place(): Placement {
    const { nodes } = this.plan
    for (let tries = 0; tries < nodes.length; tries++) {
      const node = nodes[this.#next++ % nodes.length]
      if (node?.ready === true && (this.#used[node.index] ?? 0) < podsPerNode)
        return this.placeOn(node, false)
    }
    throw new RangeError('no node has room for another pod')
  }

  /** A place on one node, ready or not; `hostNetwork` takes no address of its own. */
  placeOn(node: NodePlan, hostNetwork: boolean): Placement {
    const count = (this.#used[node.index] ?? 0) + 1
    this.#used[node.index] = count
    const podIP = hostNetwork ? node.address : `${node.podNetwork}.${count + 1}`
    return { nodeName: node.name, hostIP: node.address, podIP }
  }
}

/** Fills in what an API server does: a manifest says as little as those that engineers write. */
function withDefaults(kind: string, object: Written): Written {
  const spec = object['spec'] as Readonly<Record<string, unknown>> | undefined
  if (kind === 'Secret' && object['stringData'] !== undefined) return withData(object)
  if (spec === undefined) return object
  const defaults = specDefaults[kind] ?? {}
  const filled = { ...defaults, ...spec }
  if (kind === 'Service')
    return { ...object, spec: serviceSpec(filled), status: { loadBalancer: {} } }
  if (kind === 'CronJob') {
    const { jobTemplate } = spec as {
      readonly jobTemplate: { readonly spec: { readonly template: PodTemplate } }
    }
    const job = { ...jobTemplate.spec, template: podTemplate(jobTemplate.spec.template) }
    return { ...object, spec: { ...filled, jobTemplate: { ...jobTemplate, spec: job } } }
  }
  if (spec['template'] === undefined || !(kind in specDefaults)) return { ...object, spec: filled }
  return { ...object, spec: { ...filled, template: podTemplate(spec['template'] as PodTemplate) } }
}

const rolling = (most: object): object => ({ rollingUpdate: most, type: 'RollingUpdate' })

const specDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Deployment: {
    progressDeadlineSeconds: 600,
    revisionHistoryLimit: 10,
    strategy: rolling({ maxSurge: '25%', maxUnavailable: '25%' }),
  },
  StatefulSet: {
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    podManagementPolicy: 'OrderedReady',
    revisionHistoryLimit: 10,
    updateStrategy: rolling({ partition: 0 }),
  },
  DaemonSet: {
    revisionHistoryLimit: 10,
    updateStrategy: rolling({ maxSurge: 0, maxUnavailable: 1 }),
  },
  CronJob: {
    concurrencyPolicy: 'Allow',
    failedJobsHistoryLimit: 1,
    successfulJobsHistoryLimit: 3,
    suspend: false,
  },
  Service: {
    internalTrafficPolicy: 'Cluster',
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    sessionAffinity: 'None',
    type: 'ClusterIP',
  },
}

function withData({ stringData, ...object }: Written): Written {
  const texts = Object.entries(stringData as Readonly<Record<string, unknown>>)
  const data = texts.map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')])
  return {
    ...object,
    data: { ...(object['data'] as object | undefined), ...Object.fromEntries(data) },
  }
}

function serviceSpec(spec: Readonly<Record<string, unknown>>): object {
  const { clusterIP, ports = [] } = spec as {
    readonly clusterIP?: string
    readonly ports?: readonly { readonly port: number }[]
  }
  const addresses = clusterIP === undefined ? {} : { clusterIPs: [clusterIP] }
  const filled = ports.map((port) => ({ protocol: 'TCP', targetPort: port.port, ...port }))
  return { ...spec, ...addresses, ports: filled }
}

function podTemplate({ metadata, spec }: PodTemplate): PodTemplate {
  const { containers, initContainers, serviceAccountName, volumes } = spec
  const filled: PodSpec = {
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    ...spec,
    ...(serviceAccountName === undefined ? {} : { serviceAccount: serviceAccountName }),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(container) }),
    containers: containers.map(container),
    ...(volumes === undefined ? {} : { volumes: volumes.map(volume) }),
  }
  return { metadata, spec: filled }
}

interface GivenContainer extends Container {
  readonly env?: readonly { readonly valueFrom?: { readonly fieldRef?: object } }[]
  readonly ports?: readonly object[]
}

function container(given: Container): Container {
  const { env, ports, ...rest } = given as GivenContainer
  const latest = !given.image.includes(':') || given.image.endsWith(':latest')
  const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((name) =>
    given[name] === undefined ? [] : [[name, probe(given[name] as Probe)]],
  )
  return {
    imagePullPolicy: latest ? 'Always' : 'IfNotPresent',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...rest,
    ...Object.fromEntries(probes),
    ...(env === undefined ? {} : { env: env.map(variable) }),
    ...(ports === undefined ? {} : { ports: ports.map((port) => ({ protocol: 'TCP', ...port })) }),
  }
}

interface Probe {
  readonly httpGet?: object
}

function probe(given: Probe): object {
  const { httpGet } = given
  const how = httpGet === undefined ? {} : { httpGet: { scheme: 'HTTP', ...httpGet } }
  const times = { failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1 }
  return { ...times, ...given, ...how }
}

function variable(given: { readonly valueFrom?: { readonly fieldRef?: object } }): object {
  const fieldRef = given.valueFrom?.fieldRef
  if (fieldRef === undefined) return given
  return { ...given, valueFrom: { fieldRef: { apiVersion: 'v1', ...fieldRef } } }
}

function volume(given: {
  readonly name: string
  readonly [source: string]: unknown
}): typeof given {
  const filled = ['configMap', 'secret', 'projected'].flatMap((source) =>
    given[source] === undefined
      ? []
      : [[source, { defaultMode: 420, ...(given[source] as object) }]],
  )
  return { ...given, ...(Object.fromEntries(filled) as object) }
}

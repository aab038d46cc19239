import { nearnessOf } from '../certificates/certificate-end.ts'
import { words } from '../words.ts'
import { flagAt, listAt, membersAt, numberAt, textAt, textsAt, valueAt, wordAt } from './json.ts'
import type { SeenObject } from './live-object.ts'
import { dayAndTime } from '../look/times.ts'

/** The reference to an object that a fact names. */
export interface FactRef {
  readonly apiVersion: string
  readonly kind: string
  /** Absent: cluster-scoped. */
  readonly namespace?: string
  readonly name: string
}

/** One fact of an object: a value, with a time that it counts from, or the object that it names. */
export interface Fact {
  readonly label: string
  readonly value: string
  readonly since?: string
  readonly ref?: FactRef
  readonly isBad?: boolean
}

type Given = Omit<Fact, 'label' | 'value'> & { readonly value: string | number | undefined }

/** The facts that matter for an object of its kind: eight at most, for other kinds its columns in `kubectl get`. */
export function factsOf(object: SeenObject): readonly Fact[] {
  const { kind, apiVersion, json } = object
  const ofKind = apiVersion.startsWith(groups[kind] ?? '-') ? kinds[kind] : undefined
  if (ofKind === undefined) return columnFacts(object)
  return Object.entries(ofKind(json, object)).flatMap(([label, given]) => {
    const { value, ...more } = typeof given === 'object' ? given : { value: given }
    return value === undefined || value === ''
      ? []
      : [{ label: words.object.facts[label as FactName], value: String(value), ...more }]
  })
}

type FactName = keyof typeof words.object.facts
type Facts = { readonly [Name in FactName]?: Given | string | number | undefined }

/** The group and version, or its beginning, of each kind with facts of its own. */
const groups: Readonly<Record<string, string>> = {
  Pod: 'v1',
  Deployment: 'apps/',
  StatefulSet: 'apps/',
  DaemonSet: 'apps/',
  ReplicaSet: 'apps/',
  Job: 'batch/',
  CronJob: 'batch/',
  Service: 'v1',
  Ingress: 'networking.k8s.io/',
  Node: 'v1',
  PersistentVolumeClaim: 'v1',
  ConfigMap: 'v1',
  HorizontalPodAutoscaler: 'autoscaling/',
  Certificate: 'cert-manager.io/',
}

const kinds: Readonly<Record<string, (json: unknown, object: SeenObject) => Facts>> = {
  Pod: (json, { namespace }) => {
    const statuses = listAt(json, 'status', 'containerStatuses')
    const restarts = statuses.reduce<number>(
      (sum, one) => sum + (numberAt(one, 'restartCount') ?? 0),
      0,
    )
    const lastRestart = statuses
      .map((one) => textAt(one, 'lastState', 'terminated', 'finishedAt'))
      .filter((time) => time !== undefined)
      .toSorted()
      .at(-1)
    const wanted = listAt(json, 'spec', 'containers').length
    const ready = statuses.filter((one) => flagAt(one, 'ready')).length
    const isOver = ['Succeeded', 'Failed'].includes(textAt(json, 'status', 'phase') ?? '')
    return {
      ready: { value: words.object.of(ready, wanted), isBad: ready < wanted && !isOver },
      restarts: { value: restarts, ...(lastRestart === undefined ? {} : { since: lastRestart }) },
      node: named('v1', 'Node', undefined, textAt(json, 'spec', 'nodeName'), words.object.noNode),
      podIP: textAt(json, 'status', 'podIP'),
      serviceAccount: named(
        'v1',
        'ServiceAccount',
        namespace,
        textAt(json, 'spec', 'serviceAccountName'),
      ),
      qosClass: textAt(json, 'status', 'qosClass'),
      priority: textAt(json, 'spec', 'priorityClassName') ?? numberAt(json, 'spec', 'priority'),
      restartPolicy: textAt(json, 'spec', 'restartPolicy'),
    }
  },
  Deployment: (json) => {
    const wanted = numberAt(json, 'spec', 'replicas') ?? 1
    return {
      ready: countOf(json, 'readyReplicas', wanted),
      updated: countOf(json, 'updatedReplicas', wanted),
      available: countOf(json, 'availableReplicas', wanted),
      strategy: strategyOf(json),
      revision: textAt(json, 'metadata', 'annotations', 'deployment.kubernetes.io/revision'),
      history: numberAt(json, 'spec', 'revisionHistoryLimit'),
      selector: selectorOf(valueAt(json, 'spec', 'selector', 'matchLabels')),
      deadline: seconds(numberAt(json, 'spec', 'progressDeadlineSeconds')),
    }
  },
  ReplicaSet: (json) => {
    const wanted = numberAt(json, 'spec', 'replicas') ?? 1
    return {
      ready: countOf(json, 'readyReplicas', wanted),
      available: countOf(json, 'availableReplicas', wanted),
      revision: textAt(json, 'metadata', 'annotations', 'deployment.kubernetes.io/revision'),
      selector: selectorOf(valueAt(json, 'spec', 'selector', 'matchLabels')),
    }
  },
  StatefulSet: (json, { namespace }) => {
    const wanted = numberAt(json, 'spec', 'replicas') ?? 1
    const claims = listAt(json, 'spec', 'volumeClaimTemplates').map((claim) =>
      [textAt(claim, 'metadata', 'name'), textAt(claim, 'spec', 'resources', 'requests', 'storage')]
        .filter((text) => text !== undefined)
        .join(' '),
    )
    return {
      ready: countOf(json, 'readyReplicas', wanted),
      updated: countOf(json, 'updatedReplicas', wanted),
      service: named('v1', 'Service', namespace, textAt(json, 'spec', 'serviceName')),
      strategy: strategyOf(json),
      podManagement: textAt(json, 'spec', 'podManagementPolicy'),
      claims: claims.join(', '),
      revision: textAt(json, 'status', 'updateRevision'),
      selector: selectorOf(valueAt(json, 'spec', 'selector', 'matchLabels')),
    }
  },
  DaemonSet: (json) => {
    const wanted = numberAt(json, 'status', 'desiredNumberScheduled') ?? 0
    return {
      ready: countOf(json, 'numberReady', wanted),
      updated: countOf(json, 'updatedNumberScheduled', wanted),
      available: countOf(json, 'numberAvailable', wanted),
      misscheduled: numberAt(json, 'status', 'numberMisscheduled'),
      strategy: strategyOf(json),
      nodeSelector: selectorOf(valueAt(json, 'spec', 'template', 'spec', 'nodeSelector')),
      selector: selectorOf(valueAt(json, 'spec', 'selector', 'matchLabels')),
    }
  },
  Job: (json) => {
    const failed = numberAt(json, 'status', 'failed') ?? 0
    const retries = numberAt(json, 'spec', 'backoffLimit')
    const started = textAt(json, 'status', 'startTime')
    const ended = textAt(json, 'status', 'completionTime')
    return {
      succeeded: words.object.of(
        numberAt(json, 'status', 'succeeded') ?? 0,
        numberAt(json, 'spec', 'completions') ?? 1,
      ),
      active: numberAt(json, 'status', 'active') ?? 0,
      failed: {
        value: retries === undefined ? failed : words.object.retries(failed, retries),
        isBad: failed > 0 && ended === undefined,
      },
      started: sinceFact(started),
      took:
        started === undefined || ended === undefined
          ? undefined
          : words.object.span(Date.parse(ended) - Date.parse(started)),
      parallelism: numberAt(json, 'spec', 'parallelism'),
      deadline: seconds(numberAt(json, 'spec', 'activeDeadlineSeconds')),
      removedAfter: seconds(numberAt(json, 'spec', 'ttlSecondsAfterFinished')),
    }
  },
  CronJob: (json) => ({
    schedule: textAt(json, 'spec', 'schedule'),
    timeZone: textAt(json, 'spec', 'timeZone') ?? 'UTC',
    suspended: words.object.yesNo(flagAt(json, 'spec', 'suspend')),
    active: listAt(json, 'status', 'active').length,
    lastRun: sinceFact(textAt(json, 'status', 'lastScheduleTime')),
    lastSuccess: sinceFact(textAt(json, 'status', 'lastSuccessfulTime')),
    concurrency: textAt(json, 'spec', 'concurrencyPolicy'),
    history: words.object.history(
      numberAt(json, 'spec', 'successfulJobsHistoryLimit') ?? 3,
      numberAt(json, 'spec', 'failedJobsHistoryLimit') ?? 1,
    ),
  }),
  Service: (json) => ({
    type: textAt(json, 'spec', 'type'),
    clusterIP: textsAt(json, 'spec', 'clusterIPs').join(', '),
    external: [
      ...addressesOf(json),
      ...textsAt(json, 'spec', 'externalIPs'),
      textAt(json, 'spec', 'externalName'),
    ]
      .filter((text) => text !== undefined)
      .join(', '),
    ports: listAt(json, 'spec', 'ports').map(servicePort).join(', '),
    selector: selectorOf(valueAt(json, 'spec', 'selector')),
    affinity: textAt(json, 'spec', 'sessionAffinity'),
    traffic: textAt(json, 'spec', 'internalTrafficPolicy'),
    families: textsAt(json, 'spec', 'ipFamilies').join(', '),
  }),
  Ingress: (json, { namespace }) => {
    const rules = listAt(json, 'spec', 'rules')
    const paths = rules.flatMap((rule) => listAt(rule, 'http', 'paths'))
    return {
      class: named(
        'networking.k8s.io/v1',
        'IngressClass',
        undefined,
        textAt(json, 'spec', 'ingressClassName'),
      ),
      hosts: rules.map((rule) => textAt(rule, 'host') ?? '*').join(', '),
      address: { value: addressesOf(json).join(', ') || words.object.none },
      tls:
        listAt(json, 'spec', 'tls')
          .flatMap((tls) => textsAt(tls, 'hosts'))
          .join(', ') || words.object.none,
      paths: paths
        .map((path) => {
          const service = textAt(path, 'backend', 'service', 'name') ?? '?'
          return `${textAt(path, 'path') ?? '/'} → ${service}`
        })
        .join(', '),
      defaultBackend: named(
        'v1',
        'Service',
        namespace,
        textAt(json, 'spec', 'defaultBackend', 'service', 'name'),
      ),
    }
  },
  Node: (json) => {
    const roles = membersAt(json, 'metadata', 'labels')
      .map(([name]) => /^node-role\.kubernetes\.io\/(.+)$/.exec(name)?.[1])
      .filter((role) => role !== undefined)
    const label = (name: string): string | undefined => textAt(json, 'metadata', 'labels', name)
    const taints = listAt(json, 'spec', 'taints').map(
      (taint) => `${textAt(taint, 'key') ?? ''}:${textAt(taint, 'effect') ?? ''}`,
    )
    return {
      roles: roles.join(', ') || words.object.none,
      version: textAt(json, 'status', 'nodeInfo', 'kubeletVersion'),
      system: [
        textAt(json, 'status', 'nodeInfo', 'osImage'),
        textAt(json, 'status', 'nodeInfo', 'architecture'),
      ]
        .filter((text) => text !== undefined)
        .join(', '),
      address: listAt(json, 'status', 'addresses')
        .filter((one) => textAt(one, 'type') === 'InternalIP')
        .map((one) => textAt(one, 'address') ?? '')
        .join(', '),
      allocatable: ['cpu', 'memory', 'pods']
        .flatMap((name) => {
          const amount = wordAt(json, 'status', 'allocatable', name)
          return amount === undefined ? [] : [`${words.object.quantity(amount)} ${name}`]
        })
        .join(', '),
      machine: label('node.kubernetes.io/instance-type'),
      zone: label('topology.kubernetes.io/zone'),
      taints: {
        value: taints.join(', ') || words.object.none,
        isBad: flagAt(json, 'spec', 'unschedulable'),
      },
    }
  },
  PersistentVolumeClaim: (json) => ({
    phase: {
      value: textAt(json, 'status', 'phase'),
      isBad: textAt(json, 'status', 'phase') === 'Lost',
    },
    volume: named('v1', 'PersistentVolume', undefined, textAt(json, 'spec', 'volumeName')),
    capacity: textAt(json, 'status', 'capacity', 'storage'),
    requested: textAt(json, 'spec', 'resources', 'requests', 'storage'),
    accessModes: textsAt(json, 'spec', 'accessModes').join(', '),
    storageClass: named(
      'storage.k8s.io/v1',
      'StorageClass',
      undefined,
      textAt(json, 'spec', 'storageClassName'),
    ),
    volumeMode: textAt(json, 'spec', 'volumeMode'),
  }),
  ConfigMap: (json) => ({
    ...keysOf(json, ['data', 'binaryData']),
    immutable: words.object.yesNo(flagAt(json, 'immutable')),
  }),
  HorizontalPodAutoscaler: (json, { namespace }) => ({
    target: named(
      textAt(json, 'spec', 'scaleTargetRef', 'apiVersion') ?? 'apps/v1',
      textAt(json, 'spec', 'scaleTargetRef', 'kind') ?? '',
      namespace,
      textAt(json, 'spec', 'scaleTargetRef', 'name'),
    ),
    replicas: words.object.scaled(
      numberAt(json, 'status', 'currentReplicas') ?? 0,
      numberAt(json, 'status', 'desiredReplicas') ?? 0,
    ),
    bounds: words.object.bounds(
      numberAt(json, 'spec', 'minReplicas') ?? 1,
      numberAt(json, 'spec', 'maxReplicas') ?? 0,
    ),
    metrics: listAt(json, 'spec', 'metrics')
      .map((metric, index) => metricOf(metric, listAt(json, 'status', 'currentMetrics')[index]))
      .join(', '),
    lastScaled: sinceFact(textAt(json, 'status', 'lastScaleTime')),
  }),
  Certificate: (json, { apiVersion, namespace }) => {
    const notAfter = textAt(json, 'status', 'notAfter')
    const renewal = textAt(json, 'status', 'renewalTime')
    const now = Date.now()
    const group = textAt(json, 'spec', 'issuerRef', 'group') ?? 'cert-manager.io'
    const kind = textAt(json, 'spec', 'issuerRef', 'kind') ?? 'Issuer'
    const name = textAt(json, 'spec', 'issuerRef', 'name')
    const isOfCluster = kind === 'ClusterIssuer'
    const issuer =
      group === 'cert-manager.io'
        ? named(apiVersion, kind, isOfCluster ? undefined : namespace, name)
        : { value: `${kind}.${group} ${name ?? ''}` }
    return {
      ends: {
        value: notAfter === undefined ? words.object.notIssued : timeOf(notAfter),
        isBad: nearnessOf(notAfter, renewal, now) !== 'far',
        ...(notAfter === undefined ? {} : { since: notAfter }),
      },
      renewal: renewal && {
        value: Date.parse(renewal) > now ? timeOf(renewal) : words.object.due(timeOf(renewal)),
        since: renewal,
      },
      ...(isOfCluster ? { clusterIssuer: issuer } : { issuer }),
      secret: named('v1', 'Secret', namespace, textAt(json, 'spec', 'secretName')),
      names: [
        ...new Set([
          textAt(json, 'spec', 'commonName') ?? '',
          ...['dnsNames', 'ipAddresses', 'uris', 'emailAddresses'].flatMap((list) =>
            textsAt(json, 'spec', list),
          ),
        ]),
      ]
        .filter((one) => one !== '')
        .join(', '),
    }
  },
}

function timeOf(time: string): string {
  return dayAndTime(new Date(time))
}

function columnFacts({ printerColumns, name }: SeenObject): readonly Fact[] {
  return (printerColumns ?? [])
    .filter(
      (column) =>
        column.name !== 'Age' &&
        column.name !== 'Created At' &&
        !(column.name === 'Name' && column.value === name),
    )
    .filter(({ value }) => value !== null && value !== '' && value !== '<none>')
    .slice(0, 8)
    .map(({ name: label, value, type, since }) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      if (type === 'date') return { label, value: '', since: since ?? text }
      return { label, value: text, ...(since === null ? {} : { since }) }
    })
}

function named(
  apiVersion: string,
  kind: string,
  namespace: string | null | undefined,
  name: string | undefined,
  otherwise?: string,
): Given {
  if (name === undefined) return { value: otherwise }
  const place = typeof namespace === 'string' ? { namespace } : {}
  return { value: name, ref: { apiVersion, kind, name, ...place } }
}

function countOf(json: unknown, name: string, wanted: number): Given {
  const count = numberAt(json, 'status', name) ?? 0
  return { value: words.object.of(count, wanted), isBad: count < wanted }
}

function strategyOf(json: unknown): string | undefined {
  const strategy = valueAt(json, 'spec', 'strategy') ?? valueAt(json, 'spec', 'updateStrategy')
  const surge = wordAt(strategy, 'rollingUpdate', 'maxSurge')
  const unavailable = wordAt(strategy, 'rollingUpdate', 'maxUnavailable')
  const bounds = [
    surge === undefined ? undefined : `+${surge}`,
    unavailable === undefined ? undefined : `−${unavailable}`,
  ].filter((text) => text !== undefined)
  return [textAt(strategy, 'type'), ...bounds].filter((text) => text !== undefined).join(' ')
}

function selectorOf(labels: unknown): string {
  return membersAt(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}

function seconds(count: number | undefined): string | undefined {
  return count === undefined ? undefined : words.object.span(count * 1000)
}

function sinceFact(time: string | undefined): Given {
  return time === undefined ? { value: words.object.never } : { value: ' ', since: time }
}

function addressesOf(json: unknown): readonly string[] {
  return listAt(json, 'status', 'loadBalancer', 'ingress').flatMap((one) => {
    const address = textAt(one, 'ip') ?? textAt(one, 'hostname')
    return address === undefined ? [] : [address]
  })
}

function servicePort(port: unknown): string {
  const number = String(numberAt(port, 'port') ?? '')
  const to = wordAt(port, 'targetPort')
  const protocol = textAt(port, 'protocol') ?? 'TCP'
  const target = to === undefined || to === number ? '' : ` → ${to}`
  return `${number}${protocol === 'TCP' ? '' : `/${protocol}`}${target}`
}

function keysOf(json: unknown, places: readonly string[]): Facts {
  const members = places.flatMap((place) => membersAt(json, place))
  const size = members.reduce((sum, [, value]) => sum + value.length, 0)
  return {
    keys: members.map(([name]) => name).join(', ') || words.object.none,
    size: words.object.bytes(size),
  }
}

function metricOf(wanted: unknown, current: unknown): string {
  const part = textAt(wanted, 'type') ?? ''
  const place = part.charAt(0).toLowerCase() + part.slice(1)
  const name = textAt(wanted, place, 'name') ?? textAt(wanted, place, 'metric', 'name') ?? part
  const read = (metric: unknown, of: 'target' | 'current'): string | undefined => {
    const percent = numberAt(metric, place, of, 'averageUtilization')
    if (percent !== undefined) return `${percent} %`
    return wordAt(metric, place, of, 'averageValue') ?? wordAt(metric, place, of, 'value')
  }
  return words.object.metric(name, read(current, 'current'), read(wanted, 'target') ?? '?')
}

import type { ApiResource } from '../../src/kubernetes/api-resource.ts'

/** What discovery says of pods. */
export const podResource: ApiResource = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  singular: 'pod',
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  shortNames: ['po'],
  subresources: ['status', 'log'],
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Running pods as the items of a LIST, in the order of namespace and name: about 10 KB each, 6 KB of it without
 * managedFields; each ReplicaSet has `siblings` of them.
 */
export function* podTexts(options: {
  readonly count: number
  readonly siblings: number
  readonly seed: number
}): Generator<Buffer> {
  const random = randomFrom(options.seed)
  for (let index = 0; index < options.count; index += options.siblings) {
    const set = replicaSetOf(index / options.siblings, random)
    const last = Math.min(options.siblings, options.count - index)
    for (let sibling = 0; sibling < last; sibling++) {
      yield Buffer.from(JSON.stringify(podOf(set, random)))
    }
  }
}

type Random = () => number

const pick = <T>(values: readonly T[], random: Random): T =>
  values[Math.floor(random() * values.length)] as T

const generatedLetters = 'bcdfghjklmnpqrstvwxz2456789'
const hexDigits = '0123456789abcdef'

function letters(alphabet: string, length: number, random: Random): string {
  let text = ''
  for (let index = 0; index < length; index++) text += pick([...alphabet], random)
  return text
}

const hex = (length: number, random: Random): string => letters(hexDigits, length, random)

function uid(random: Random): string {
  return [8, 4, 4, 4, 12].map((length) => hex(length, random)).join('-')
}

function time(random: Random): string {
  return new Date(1.79e12 + Math.floor(random() * 1e7) * 1000).toISOString().replace('.000', '')
}

interface ReplicaSet {
  readonly namespace: string
  readonly app: string
  readonly hash: string
  readonly uid: string
  readonly team: string
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly sidecar: boolean
  readonly version: string
}

function replicaSetOf(index: number, random: Random): ReplicaSet {
  const words = ['checkout', 'cart', 'search', 'billing', 'stock', 'mail', 'auth', 'price', 'image']
  const parts = ['api', 'worker', 'web', 'cache', 'gateway', 'cron']
  const count = 4 + Math.floor(random() * 8)
  return {
    namespace: `team-${String(Math.floor(index / 20)).padStart(4, '0')}`,
    app: `${pick(words, random)}-${pick(parts, random)}-${index}`,
    hash: letters(generatedLetters, 10, random),
    uid: uid(random),
    team: pick(words, random),
    env: Array.from({ length: count }, (_, at) => ({
      name: `${pick(words, random).toUpperCase()}_SETTING_${at}`,
      value: `https://${pick(words, random)}.internal.example.com/v${at}`,
    })),
    sidecar: random() < 0.3,
    version: `${Math.floor(random() * 9)}.${Math.floor(random() * 30)}.${Math.floor(random() * 9)}`,
  }
}

function podOf(set: ReplicaSet, random: Random): object {
  const name = `${set.app}-${set.hash}-${letters(generatedLetters, 5, random)}`
  const [created, ready] = [time(random), time(random)]
  const token = `kube-api-access-${letters(generatedLetters, 5, random)}`
  const ip = `10.${Math.floor(random() * 255)}.${Math.floor(random() * 255)}.${Math.floor(random() * 255)}`
  const host = `10.0.${Math.floor(random() * 8)}.${Math.floor(random() * 255)}`
  const names = [set.app, ...(set.sidecar ? ['proxy'] : [])]
  return {
    metadata: {
      name,
      generateName: `${set.app}-${set.hash}-`,
      namespace: set.namespace,
      uid: uid(random),
      resourceVersion: String(100_000 + Math.floor(random() * 9e7)),
      generation: 1,
      creationTimestamp: created,
      labels: {
        'app.kubernetes.io/component': 'backend',
        'app.kubernetes.io/instance': set.app,
        'app.kubernetes.io/managed-by': 'Helm',
        'app.kubernetes.io/name': set.app,
        'app.kubernetes.io/version': set.version,
        'example.com/team': set.team,
        'pod-template-hash': set.hash,
      },
      annotations: {
        'checksum/config': set.uid.replaceAll('-', '').repeat(2),
        'prometheus.io/port': '9090',
        'prometheus.io/scrape': 'true',
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${set.app}-${set.hash}`,
          uid: set.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFieldsOf(set, names, ip, created, ready),
    },
    spec: specOf(set, names, token, random),
    status: statusOf(set, names, { created, ready, ip, host, token }, random),
  }
}

function specOf(set: ReplicaSet, names: readonly string[], token: string, random: Random): object {
  return {
    volumes: [
      { name: 'config', configMap: { name: `${set.app}-config`, defaultMode: 420 } },
      { name: 'scratch', emptyDir: {} },
      {
        name: token,
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            {
              configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
            },
            {
              downwardAPI: {
                items: [
                  {
                    path: 'namespace',
                    fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
                  },
                ],
              },
            },
          ],
          defaultMode: 420,
        },
      },
    ],
    containers: names.map((name) => containerOf(set, name, token)),
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: set.app,
    serviceAccount: set.app,
    nodeName: `node-${Math.floor(random() * 2000)}.eu-central-1.compute.internal`,
    securityContext: { runAsUser: 1000, runAsNonRoot: true, fsGroup: 2000 },
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: {
              labelSelector: { matchLabels: { 'app.kubernetes.io/name': set.app } },
              topologyKey: 'kubernetes.io/hostname',
            },
          },
        ],
      },
    },
    schedulerName: 'default-scheduler',
    tolerations: ['not-ready', 'unreachable'].map((state) => ({
      key: `node.kubernetes.io/${state}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  }
}

function containerOf(set: ReplicaSet, name: string, token: string): object {
  const probe = (path: string): object => ({
    httpGet: { path, port: 'http', scheme: 'HTTP' },
    initialDelaySeconds: 5,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  })
  return {
    name,
    image: `registry.example.com/${set.team}/${name}:${set.version}`,
    args: ['--config=/etc/app/config.yaml', '--log-format=json', `--service=${name}`],
    ports: [
      { name: 'http', containerPort: 8080, protocol: 'TCP' },
      { name: 'metrics', containerPort: 9090, protocol: 'TCP' },
    ],
    env: [
      ...set.env,
      {
        name: 'POD_NAME',
        valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } },
      },
    ],
    resources: {
      limits: { cpu: '1', memory: '512Mi' },
      requests: { cpu: '100m', memory: '256Mi' },
    },
    volumeMounts: [
      { name: 'config', readOnly: true, mountPath: '/etc/app' },
      { name: 'scratch', mountPath: '/tmp' },
      { name: token, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ],
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  }
}

interface Moment {
  readonly created: string
  readonly ready: string
  readonly ip: string
  readonly host: string
  readonly token: string
}

function statusOf(set: ReplicaSet, names: readonly string[], at: Moment, random: Random): object {
  const condition = (type: string, lastTransitionTime: string): object => ({
    type,
    observedGeneration: 1,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime,
  })
  return {
    observedGeneration: 1,
    phase: 'Running',
    conditions: [
      condition('PodReadyToStartContainers', at.ready),
      condition('Initialized', at.created),
      condition('Ready', at.ready),
      condition('ContainersReady', at.ready),
      condition('PodScheduled', at.created),
    ],
    hostIP: at.host,
    hostIPs: [{ ip: at.host }],
    podIP: at.ip,
    podIPs: [{ ip: at.ip }],
    startTime: at.created,
    containerStatuses: names.map((name) => ({
      name,
      state: { running: { startedAt: at.ready } },
      lastState: {},
      ready: true,
      restartCount: random() < 0.1 ? 1 : 0,
      image: `registry.example.com/${set.team}/${name}:${set.version}`,
      imageID: `registry.example.com/${set.team}/${name}@sha256:${set.uid.replaceAll('-', '').repeat(2)}`,
      containerID: `containerd://${hex(64, random)}`,
      started: true,
      volumeMounts: [
        { name: 'config', mountPath: '/etc/app', readOnly: true, recursiveReadOnly: 'Disabled' },
        { name: 'scratch', mountPath: '/tmp' },
        {
          name: at.token,
          mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
          readOnly: true,
          recursiveReadOnly: 'Disabled',
        },
      ],
    })),
    qosClass: 'Burstable',
  }
}

/** The field paths of a value as `fieldsV1` writes them. */
function fieldsOf(value: unknown): object {
  if (Array.isArray(value)) {
    return Object.fromEntries(
      value.map((element: { name?: string }) => [
        `k:${JSON.stringify({ name: element.name ?? '' })}`,
        { '.': {}, ...fieldsOf(element) },
      ]),
    )
  }
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [`f:${key}`, fieldsOf(inner)]),
  )
}

function managedFieldsOf(
  set: ReplicaSet,
  names: readonly string[],
  ip: string,
  created: string,
  ready: string,
): object[] {
  const containers = names.map((name) => containerOf(set, name, 'token'))
  const condition = { '.': {}, 'f:lastProbeTime': {}, 'f:lastTransitionTime': {}, 'f:status': {} }
  const types = ['ContainersReady', 'Initialized', 'PodReadyToStartContainers', 'Ready']
  return [
    {
      manager: 'kube-controller-manager',
      operation: 'Update',
      apiVersion: 'v1',
      time: created,
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': {
          'f:generateName': {},
          'f:labels': { '.': {}, 'f:app.kubernetes.io/name': {}, 'f:pod-template-hash': {} },
          'f:ownerReferences': { '.': {}, [`k:{"uid":"${set.uid}"}`]: {} },
        },
        'f:spec': { 'f:containers': fieldsOf(containers), 'f:dnsPolicy': {} },
      },
    },
    {
      manager: 'kubelet',
      operation: 'Update',
      apiVersion: 'v1',
      time: ready,
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:status': {
          'f:conditions': Object.fromEntries(
            types.map((type) => [`k:{"type":"${type}"}`, condition]),
          ),
          'f:containerStatuses': {},
          'f:hostIP': {},
          'f:phase': {},
          'f:podIP': {},
          'f:podIPs': { '.': {}, [`k:{"ip":"${ip}"}`]: { '.': {}, 'f:ip': {} } },
          'f:startTime': {},
        },
      },
      subresource: 'status',
    },
  ]
}

import { hex, type Random } from './random.ts'

/** What the pods of one ReplicaSet have in common. */
export interface ReplicaSet {
  readonly namespace: string
  readonly app: string
  readonly hash: string
  readonly uid: string
  readonly team: string
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly sidecar: boolean
  readonly version: string
}

/** A pod's `spec`. */
export function specOf(
  set: ReplicaSet,
  names: readonly string[],
  token: string,
  random: Random,
): object {
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

/** What is a pod's own. */
export interface Moment {
  readonly created: string
  readonly ready: string
  readonly ip: string
  readonly host: string
  readonly token: string
}

/** The `status` of a running pod. */
export function statusOf(
  set: ReplicaSet,
  names: readonly string[],
  at: Moment,
  random: Random,
): object {
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

/** Its `metadata.managedFields`. */
export function managedFieldsOf(
  set: ReplicaSet,
  names: readonly string[],
  ip: string,
  created: string,
  ready: string,
): object[] {
  const containers = names.map((name) => containerOf(set, name, 'token'))
  const managed = { '.': {}, 'f:lastProbeTime': {}, 'f:lastTransitionTime': {}, 'f:status': {} }
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
            types.map((type) => [`k:{"type":"${type}"}`, managed]),
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

function probe(path: string): object {
  return {
    httpGet: { path, port: 'http', scheme: 'HTTP' },
    initialDelaySeconds: 5,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  }
}

function condition(type: string, lastTransitionTime: string): object {
  return { type, observedGeneration: 1, status: 'True', lastProbeTime: null, lastTransitionTime }
}

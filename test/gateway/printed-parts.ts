import { type PrintedObject, printedNamespace } from './printed-objects.ts'
import type { Fields } from './test-cluster.ts'

const core = `/api/v1/namespaces/${printedNamespace}`
const inGroup = (group: string): string => `/apis/${group}/namespaces/${printedNamespace}`
const labels = { app: 'printed', tier: 'front' }
const hour = (at: number): string => `2026-01-01T${String(at).padStart(2, '0')}:00:00Z`
const micro = (at: number): string => hour(at).replace('Z', '.000000Z')

const service = (name: string, spec: Fields, status?: Fields): PrintedObject => [
  `${core}/services`,
  { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } },
  ...(status === undefined ? ([] as const) : ([status] as const)),
]

const ports = [
  { name: 'http', port: 80 },
  { name: 'dns', port: 53, protocol: 'UDP' },
]
const rule = (host: string): Fields => ({
  ...(host === '' ? {} : { host }),
  http: {
    paths: [
      { path: '/', pathType: 'Prefix', backend: { service: { name: 'a', port: { number: 80 } } } },
    ],
  },
})

const networking = inGroup('networking.k8s.io/v1')
const network: readonly PrintedObject[] = [
  service('plain', { ports, selector: labels }),
  service('headless', { clusterIP: 'None', externalIPs: ['192.0.2.7', '192.0.2.8'] }),
  service('node-port', { type: 'NodePort' }),
  service('pending', { type: 'LoadBalancer' }),
  service(
    'balanced',
    { type: 'LoadBalancer', externalIPs: ['192.0.2.9'] },
    { loadBalancer: { ingress: [{ hostname: 'lb.example.com' }, { ip: '192.0.2.1' }] } },
  ),
  service('external', { type: 'ExternalName', externalName: 'db.example.com', ports: [] }),
  [
    `${networking}/ingresses`,
    {
      metadata: { name: 'many' },
      spec: {
        ingressClassName: 'a',
        tls: [{ hosts: ['a.example.com'], secretName: 'a' }],
        rules: ['a', 'b', 'c', 'd', 'e'].map((name) => rule(`${name}.example.com`)),
      },
    },
    {
      loadBalancer: {
        ingress: [{ ip: '192.0.2.1' }, { hostname: 'a-very-long-name.lb.example.com' }],
      },
    },
  ],
  [`${networking}/ingresses`, { metadata: { name: 'any' }, spec: { rules: [rule('')] } }],
  [
    '/apis/networking.k8s.io/v1/ingressclasses',
    {
      metadata: {
        name: 'printed-a',
        annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' },
      },
      spec: {
        controller: 'example.com/a',
        parameters: { apiGroup: 'example.com', kind: 'Params', name: 'p' },
      },
    },
  ],
  [
    '/apis/networking.k8s.io/v1/ingressclasses',
    { metadata: { name: 'printed-b' }, spec: { controller: 'example.com/b' } },
  ],
  [`${networking}/networkpolicies`, { metadata: { name: 'all' }, spec: { podSelector: {} } }],
  [
    `${networking}/networkpolicies`,
    { metadata: { name: 'some' }, spec: { podSelector: { matchLabels: labels } } },
  ],
  [
    `${inGroup('discovery.k8s.io/v1')}/endpointslices`,
    {
      metadata: { name: 'a' },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 80 }, { name: 'named' }],
      endpoints: [
        { addresses: ['10.0.0.1'] },
        { addresses: ['10.0.0.2'] },
        { addresses: ['10.0.0.3'] },
        { addresses: ['10.0.0.4'] },
      ],
    },
  ],
  [
    `${inGroup('discovery.k8s.io/v1')}/endpointslices`,
    { metadata: { name: 'b' }, addressType: 'IPv6', ports: [], endpoints: [] },
  ],
]

const storage: readonly PrintedObject[] = [
  [
    '/apis/storage.k8s.io/v1/storageclasses',
    {
      metadata: {
        name: 'printed',
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
      provisioner: 'example.com/disk',
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    },
  ],
  [
    '/api/v1/persistentvolumes',
    {
      metadata: { name: 'printed' },
      spec: {
        capacity: { storage: '2048Mi' },
        accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
        storageClassName: 'printed',
        claimRef: { namespace: printedNamespace, name: 'bound' },
        hostPath: { path: '/tmp/a' },
      },
    },
    { phase: 'Failed', reason: 'Test' },
  ],
  [
    `${core}/persistentvolumeclaims`,
    {
      metadata: { name: 'bound' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'printed',
        volumeName: 'printed',
        resources: { requests: { storage: '1Gi' } },
      },
    },
    {
      phase: 'Bound',
      accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
      capacity: { storage: '2Gi' },
    },
  ],
  [
    `${core}/persistentvolumeclaims`,
    {
      metadata: { name: 'open' },
      spec: { accessModes: ['ReadWriteOncePod'], resources: { requests: { storage: '1Gi' } } },
    },
    { phase: 'Pending' },
  ],
]

const node = (name: string, more: Fields, spec: Fields, status: Fields): PrintedObject => [
  '/api/v1/nodes',
  { metadata: { name, ...more }, spec },
  status,
]
const nodeInfo = {
  kubeletVersion: 'v1.36.3',
  osImage: 'Linux',
  kernelVersion: '6.1',
  containerRuntimeVersion: 'containerd://2',
  architecture: 'arm64',
  machineID: '',
  systemUUID: '',
  bootID: '',
  kubeProxyVersion: '',
  operatingSystem: '',
}
const addresses = [
  { type: 'InternalIP', address: '10.0.0.9' },
  { type: 'ExternalIP', address: '192.0.2.5' },
]
const nodes: readonly PrintedObject[] = [
  node(
    'printed-a',
    {
      labels: {
        'node-role.kubernetes.io/worker': '',
        'node-role.kubernetes.io/edge': '',
        'kubernetes.io/role': 'x',
      },
    },
    { unschedulable: true },
    { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo, addresses },
  ),
  node('printed-b', {}, {}, { conditions: [{ type: 'Ready', status: 'Unknown' }] }),
  node('printed-c', {}, {}, {}),
]

const metric = (type: string, member: string, source: Fields): Fields => ({
  type,
  [member]: source,
})
const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } }
const memory = { name: 'memory', target: { type: 'AverageValue', averageValue: '500Mi' } }
const autoscaler = (name: string, spec: Fields, status: Fields): PrintedObject => [
  `${inGroup('autoscaling/v2')}/horizontalpodautoscalers`,
  {
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
      maxReplicas: 9,
      ...spec,
    },
  },
  { currentReplicas: 2, desiredReplicas: 3, conditions: [], ...status },
]
const policies: readonly PrintedObject[] = [
  autoscaler(
    'several',
    {
      minReplicas: 2,
      metrics: [
        metric('Resource', 'resource', cpu),
        metric('Resource', 'resource', memory),
        metric('Pods', 'pods', {
          metric: { name: 'rps' },
          target: { type: 'AverageValue', averageValue: '100' },
        }),
      ],
    },
    {
      currentMetrics: [
        metric('Resource', 'resource', {
          name: 'cpu',
          current: { averageUtilization: 40, averageValue: '200m' },
        }),
        metric('Resource', 'resource', { name: 'memory', current: { averageValue: '400Mi' } }),
      ],
    },
  ),
  autoscaler(
    'external',
    {
      metrics: [
        metric('External', 'external', {
          metric: { name: 'queue' },
          target: { type: 'Value', value: '30' },
        }),
        metric('Object', 'object', {
          metric: { name: 'hits' },
          describedObject: { apiVersion: 'v1', kind: 'Service', name: 'a' },
          target: { type: 'AverageValue', averageValue: '10' },
        }),
      ],
    },
    {
      currentMetrics: [
        metric('External', 'external', { metric: { name: 'queue' }, current: { value: '12' } }),
      ],
    },
  ),
  [
    `${inGroup('policy/v1')}/poddisruptionbudgets`,
    {
      metadata: { name: 'least' },
      spec: { minAvailable: '50%', selector: { matchLabels: labels } },
    },
    { disruptionsAllowed: 2, currentHealthy: 4, desiredHealthy: 2, expectedPods: 4 },
  ],
  [
    `${inGroup('policy/v1')}/poddisruptionbudgets`,
    { metadata: { name: 'most' }, spec: { maxUnavailable: 1, selector: { matchLabels: labels } } },
  ],
  [
    `${core}/resourcequotas`,
    { metadata: { name: 'a' }, spec: { hard: { 'limits.cpu': '4', cpu: '2', pods: '10' } } },
    { hard: { 'limits.cpu': '4', cpu: '2', pods: '10' }, used: { 'limits.cpu': '1', pods: '3' } },
  ],
  [
    `${inGroup('rbac.authorization.k8s.io/v1')}/rolebindings`,
    {
      metadata: { name: 'a' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [
        { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'anna' },
        { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'otto' },
        { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'ops' },
        { kind: 'ServiceAccount', name: 'robot', namespace: 'other' },
      ],
    },
  ],
  [
    `${inGroup('coordination.k8s.io/v1')}/leases`,
    { metadata: { name: 'held' }, spec: { holderIdentity: 'me' } },
  ],
  [
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    { metadata: { name: 'printed' }, value: -5, preemptionPolicy: 'Never' },
  ],
  [
    `${core}/configmaps`,
    { metadata: { name: 'full' }, data: { a: '1', b: '2' }, binaryData: { c: 'eA==' } },
  ],
]

const about = {
  kind: 'Pod',
  namespace: printedNamespace,
  name: 'running',
  fieldPath: 'spec.containers{main}',
}
const events: readonly PrintedObject[] = [
  [
    `${core}/events`,
    {
      metadata: { name: 'old' },
      involvedObject: about,
      type: 'Normal',
      reason: 'Pulled',
      message: ' pulled\n',
      source: { component: 'kubelet', host: 'node-a' },
      firstTimestamp: hour(1),
      lastTimestamp: hour(5),
      count: 7,
    },
  ],
  [
    `${inGroup('events.k8s.io/v1')}/events`,
    {
      metadata: { name: 'new' },
      regarding: about,
      type: 'Warning',
      reason: 'Often',
      note: 'n',
      action: 'Testing',
      eventTime: micro(1),
      series: { count: 5, lastObservedTime: micro(4) },
      reportingController: 'example.com/test',
      reportingInstance: 'test-1',
    },
  ],
  [
    `${inGroup('events.k8s.io/v1')}/events`,
    {
      metadata: { name: 'once' },
      regarding: about,
      type: 'Normal',
      reason: 'Once',
      note: 'n',
      action: 'Testing',
      eventTime: micro(2),
      reportingController: 'example.com/test',
      reportingInstance: 'test-1',
    },
  ],
]

export const printedParts: readonly PrintedObject[] = [
  ...network,
  ...storage,
  ...nodes,
  ...policies,
  ...events,
]

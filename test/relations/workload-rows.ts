import type { RelationRow } from './relation-row.ts'
import { object, ownedBy, uidIn } from './relation-cluster.ts'

const pod = (name: string, spec: object = {}, metadata: object = {}, more: object = {}) =>
  object('v1', 'Pod', name, { spec: { containers: [{ name: 'app' }], ...spec }, ...more }, metadata)

const replicaSet = (name: string, metadata: object = {}) =>
  object('apps/v1', 'ReplicaSet', name, {}, metadata)

const template = {
  spec: {
    serviceAccountName: 'robot',
    containers: [{ name: 'app', envFrom: [{ configMapRef: { name: 'config' } }] }],
    volumes: [
      { name: 'a', secret: { secretName: 'key' } },
      { name: 'b', persistentVolumeClaim: { claimName: 'disk' } },
    ],
  },
}

/** Rows of the workloads and of what pods use. */
export const workloadRows: readonly RelationRow[] = [
  {
    row: '1 to 4: owners are matched by UID',
    objects: [
      object('apps/v1', 'Deployment', 'web'),
      object('apps/v1', 'Deployment', 'other'),
      replicaSet('web-1', ownedBy('apps/v1', 'Deployment', 'web')),
      replicaSet('web-former', {
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'a former one' },
        ],
      }),
      pod('web-1-a', {}, ownedBy('apps/v1', 'ReplicaSet', 'web-1')),
      pod('web-1-b', {}, ownedBy('apps/v1', 'ReplicaSet', 'web-1')),
      pod('stray'),
      // What is no kind of Kubernetes itself is no workload.
      replicaSet('operated', {
        ownerReferences: [
          { apiVersion: 'rel.example/v1', kind: 'App', name: 'app', uid: 'x', controller: true },
        ],
      }),
      pod('of-operator', {}, ownedBy('apps/v1', 'ReplicaSet', 'operated')),
    ],
    expected: {
      'replicaSet web-1 owners': ['web'],
      'replicaSet web-former owners': [],
      'deployment web owned': ['web-1'],
      'deployment other owned': [],
      'deployment web replicaSets': ['web-1'],
      'deployment other replicaSets': [],
      'deployment web pods': ['web-1-a', 'web-1-b'],
      'deployment other pods': [],
      'replicaSet web-1 deployment': 'web',
      'replicaSet web-former deployment': null,
      'replicaSet web-1 pods': ['web-1-a', 'web-1-b'],
      'pod web-1-a replicaSet': 'web-1',
      'pod web-1-a deployment': 'web',
      'pod web-1-a controller': 'web-1',
      'pod web-1-a workload': 'web',
      'replicaSet web-1 workload': 'web',
      'pod stray workload': null,
      'pod of-operator workload': 'operated',
      'pod stray deployment': null,
      'pod stray controller': null,
    },
  },
  {
    row: '4 to 6: StatefulSets, DaemonSets, Jobs, CronJobs and their revisions',
    objects: [
      object('apps/v1', 'StatefulSet', 'db'),
      pod('db-0', {}, ownedBy('apps/v1', 'StatefulSet', 'db')),
      object('apps/v1', 'ControllerRevision', 'db-1', {}, ownedBy('apps/v1', 'StatefulSet', 'db')),
      object('apps/v1', 'DaemonSet', 'log'),
      pod('log-x', {}, ownedBy('apps/v1', 'DaemonSet', 'log')),
      object('apps/v1', 'ControllerRevision', 'log-1', {}, ownedBy('apps/v1', 'DaemonSet', 'log')),
      object('batch/v1', 'CronJob', 'nightly'),
      object('batch/v1', 'CronJob', 'never'),
      object('batch/v1', 'Job', 'nightly-1', {}, ownedBy('batch/v1', 'CronJob', 'nightly')),
      object('batch/v1', 'Job', 'once'),
      pod('nightly-1-x', {}, ownedBy('batch/v1', 'Job', 'nightly-1')),
      object('v1', 'ReplicationController', 'old'),
      pod('old-x', {}, ownedBy('v1', 'ReplicationController', 'old')),
    ],
    expected: {
      'statefulSet db pods': ['db-0'],
      'statefulSet db controllerRevisions': ['db-1'],
      'controllerRevision db-1 statefulSet': 'db',
      'controllerRevision db-1 daemonSet': null,
      'daemonSet log pods': ['log-x'],
      'daemonSet log controllerRevisions': ['log-1'],
      'pod log-x daemonSet': 'log',
      'pod db-0 statefulSet': 'db',
      'pod db-0 daemonSet': null,
      'cronJob nightly jobs': ['nightly-1'],
      'cronJob never jobs': [],
      'cronJob nightly pods': ['nightly-1-x'],
      'job nightly-1 cronJob': 'nightly',
      'job once cronJob': null,
      'job nightly-1 pods': ['nightly-1-x'],
      'job once pods': [],
      'pod nightly-1-x cronJob': 'nightly',
      'pod nightly-1-x workload': 'nightly',
      'controllerRevision db-1 workload': 'db',
      'replicationController old pods': ['old-x'],
    },
  },
  {
    row: '7: claims of a StatefulSet by their names',
    objects: [
      object('apps/v1', 'StatefulSet', 'web', {
        spec: {
          volumeClaimTemplates: [{ metadata: { name: 'data' } }, { metadata: { name: 'log' } }],
        },
      }),
      object('apps/v1', 'StatefulSet', 'bare', { spec: {} }),
      ...['data-web-0', 'data-web-12', 'log-web-0', 'data-web-x', 'data-web-01', 'data-webs-0'].map(
        (name) => object('v1', 'PersistentVolumeClaim', name),
      ),
    ],
    expected: {
      'statefulSet web persistentVolumeClaims': ['data-web-0', 'data-web-12', 'log-web-0'],
      'statefulSet bare persistentVolumeClaims': [],
      'persistentVolumeClaim data-web-12 statefulSet': 'web',
      'persistentVolumeClaim data-web-x statefulSet': null,
      'persistentVolumeClaim data-web-01 statefulSet': null,
    },
  },
  {
    row: '8: the Service of a StatefulSet',
    objects: [
      object('v1', 'Service', 'db'),
      object('v1', 'Service', 'unused'),
      object('apps/v1', 'StatefulSet', 'db', { spec: { serviceName: 'db' } }),
      object('apps/v1', 'StatefulSet', 'lost', { spec: { serviceName: 'gone' } }),
    ],
    expected: {
      'statefulSet db service': 'db',
      'statefulSet lost service': null,
      'service db governedStatefulSets': ['db'],
      'service unused governedStatefulSets': [],
    },
  },
  {
    row: '9, 10, 15, 16: node, account, priority and runtime of a pod',
    objects: [
      object('v1', 'Node', 'rel-node'),
      object('v1', 'Node', 'rel-idle'),
      object('v1', 'ServiceAccount', 'robot'),
      object('v1', 'ServiceAccount', 'idle'),
      object('scheduling.k8s.io/v1', 'PriorityClass', 'rel-high', { value: 5 }),
      object('scheduling.k8s.io/v1', 'PriorityClass', 'rel-low', { value: 1 }),
      object('node.k8s.io/v1', 'RuntimeClass', 'rel-gvisor', { handler: 'runsc' }),
      object('node.k8s.io/v1', 'RuntimeClass', 'rel-kata', { handler: 'kata' }),
      pod('busy', {
        nodeName: 'rel-node',
        serviceAccountName: 'robot',
        priorityClassName: 'rel-high',
        runtimeClassName: 'rel-gvisor',
      }),
      pod('pending', { nodeName: 'gone' }),
    ],
    expected: {
      'pod busy node': 'rel-node',
      'pod pending node': null,
      'node rel-node pods': ['busy'],
      'node rel-idle pods': [],
      'pod busy serviceAccount': 'robot',
      'pod pending serviceAccount': null,
      'serviceAccount robot pods': ['busy'],
      'serviceAccount idle pods': [],
      'pod busy priorityClass': 'rel-high',
      'priorityClass rel-high pods': ['busy'],
      'priorityClass rel-low pods': [],
      'pod busy runtimeClass': 'rel-gvisor',
      'runtimeClass rel-gvisor pods': ['busy'],
      'runtimeClass rel-kata pods': [],
    },
  },
  {
    row: '11 to 13, 17: what pods use, in every place',
    objects: [
      ...['by-claim', 'app-scratch', 'app-cache', 'unused'].map((name) =>
        object('v1', 'PersistentVolumeClaim', name),
      ),
      ...['vol', 'proj', 'env', 'from', 'init', 'eph', 'unused'].map((name) =>
        object('v1', 'ConfigMap', name),
      ),
      ...['vol', 'proj', 'env', 'from', 'init', 'eph', 'pull', 'csi', 'unused'].map((name) =>
        object('v1', 'Secret', name),
      ),
      object('resource.k8s.io/v1', 'ResourceClaim', 'gpu'),
      object('resource.k8s.io/v1', 'ResourceClaim', 'app-nic-abc'),
      object('resource.k8s.io/v1', 'ResourceClaim', 'unused'),
      pod(
        'app',
        {
          imagePullSecrets: [{ name: 'pull' }],
          resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }, { name: 'nic' }],
          volumes: [
            { name: 'a', persistentVolumeClaim: { claimName: 'by-claim' } },
            { name: 'scratch', ephemeral: { volumeClaimTemplate: {} } },
            { name: 'cache', emptyDir: {} },
            { name: 'b', configMap: { name: 'vol' } },
            { name: 'c', secret: { secretName: 'vol' } },
            { name: 'd', csi: { nodePublishSecretRef: { name: 'csi' } } },
            {
              name: 'e',
              projected: {
                sources: [{ configMap: { name: 'proj' } }, { secret: { name: 'proj' } }],
              },
            },
          ],
          containers: [
            {
              name: 'app',
              env: [
                { name: 'A', valueFrom: { configMapKeyRef: { name: 'env', key: 'a' } } },
                { name: 'B', valueFrom: { secretKeyRef: { name: 'env', key: 'b' } } },
                { name: 'C', valueFrom: { secretKeyRef: { name: 'env', key: 'c' } } },
              ],
              envFrom: [{ configMapRef: { name: 'from' } }, { secretRef: { name: 'from' } }],
            },
          ],
          initContainers: [
            {
              name: 'init',
              envFrom: [{ configMapRef: { name: 'init' } }, { secretRef: { name: 'init' } }],
            },
          ],
          ephemeralContainers: [
            {
              name: 'debug',
              envFrom: [{ configMapRef: { name: 'eph' } }, { secretRef: { name: 'eph' } }],
            },
          ],
        },
        {},
        { status: { resourceClaimStatuses: [{ name: 'nic', resourceClaimName: 'app-nic-abc' }] } },
      ),
      pod('plain'),
    ],
    expected: {
      'pod app persistentVolumeClaims': ['app-scratch', 'by-claim'],
      'pod plain persistentVolumeClaims': [],
      'persistentVolumeClaim app-scratch pods': ['app'],
      'persistentVolumeClaim app-cache pods': [],
      'persistentVolumeClaim by-claim pods': ['app'],
      'pod app configMaps': ['env', 'eph', 'from', 'init', 'proj', 'vol'],
      'pod plain configMaps': [],
      'configMap eph pods': ['app'],
      'configMap unused pods': [],
      'pod app secrets': ['csi', 'env', 'eph', 'from', 'init', 'proj', 'pull', 'vol'],
      'secret pull pods': ['app'],
      'secret unused pods': [],
      'pod app resourceClaims': ['app-nic-abc', 'gpu'],
      'resourceClaim app-nic-abc pods': ['app'],
      'resourceClaim unused pods': [],
    },
  },
  {
    row: '14: what pod templates name',
    objects: [
      ...['config', 'unused'].map((name) => object('v1', 'ConfigMap', name)),
      object('v1', 'Secret', 'key'),
      object('v1', 'PersistentVolumeClaim', 'disk'),
      object('v1', 'ServiceAccount', 'robot'),
      ...(
        [
          ['apps/v1', 'Deployment'],
          ['apps/v1', 'ReplicaSet'],
          ['apps/v1', 'StatefulSet'],
          ['apps/v1', 'DaemonSet'],
          ['batch/v1', 'Job'],
          ['v1', 'ReplicationController'],
        ] as const
      ).map(([apiVersion, kind]) => object(apiVersion, kind, 'app', { spec: { template } })),
      object('batch/v1', 'CronJob', 'app', { spec: { jobTemplate: { spec: { template } } } }),
      object('v1', 'PodTemplate', 'app', { template }),
      object('apps/v1', 'Deployment', 'bare', { spec: { template: { spec: {} } } }),
    ],
    expected: {
      ...Object.fromEntries(
        [
          'deployment',
          'replicaSet',
          'daemonSet',
          'job',
          'cronJob',
          'replicationController',
          'podTemplate',
        ].flatMap((lookup) => [
          [`${lookup} app configMaps`, ['config']],
          [`${lookup} app secrets`, ['key']],
          [`${lookup} app persistentVolumeClaims`, ['disk']],
          [`${lookup} app serviceAccount`, 'robot'],
        ]),
      ),
      'statefulSet app mountedPersistentVolumeClaims': ['disk'],
      'statefulSet app configMaps': ['config'],
      'deployment bare configMaps': [],
      'deployment bare serviceAccount': null,
    },
  },
  {
    row: '20, 21: endpoints by the UIDs of their pods',
    objects: [
      object('v1', 'Node', 'rel-ep'),
      pod('ready'),
      pod('renewed'),
      object('discovery.k8s.io/v1', 'EndpointSlice', 'web-1', {
        addressType: 'IPv4',
        endpoints: [
          {
            nodeName: 'rel-ep',
            targetRef: { kind: 'Pod', name: 'ready', uid: uidIn('Pod', 'ready') },
          },
          { nodeName: 'gone', targetRef: { kind: 'Pod', name: 'renewed', uid: 'a former one' } },
          { addresses: ['10.0.0.1'] },
        ],
      }),
    ],
    expected: {
      'endpointSlice web-1 pods': ['ready'],
      'endpointSlice web-1 nodes': ['rel-ep'],
      'pod ready endpointSlices': ['web-1'],
      'pod renewed endpointSlices': [],
      'node rel-ep endpointSlices': ['web-1'],
    },
  },
]

import { object, uidIn } from './relation-cluster.ts'
import type { RelationRow } from './relation-row.ts'

const storage = 'storage.k8s.io/v1'
const rbac = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'
const webhook = (name: string) => ({
  clientConfig: { service: { name, namespace: '<namespace>' } },
})

/** Rows of storage, access and the API itself. */
export const clusterRows: readonly RelationRow[] = [
  {
    row: '34 to 36, 38, 39: claims, volumes, classes, drivers and attachments',
    objects: [
      object(storage, 'CSIDriver', 'rel.csi.example', { spec: {} }),
      object(storage, 'CSIDriver', 'unused.csi.example', { spec: {} }),
      object(storage, 'StorageClass', 'rel-fast', { provisioner: 'rel.csi.example' }),
      object(storage, 'StorageClass', 'rel-unused', { provisioner: 'none' }),
      object('v1', 'Node', 'rel-storage'),
      object(storage, 'CSINode', 'rel-storage', {
        spec: { drivers: [{ name: 'rel.csi.example' }] },
      }),
      object('v1', 'PersistentVolume', 'rel-pv', {
        spec: {
          storageClassName: 'rel-fast',
          csi: { driver: 'rel.csi.example' },
          claimRef: {
            namespace: '<namespace>',
            name: 'bound',
            uid: uidIn('PersistentVolumeClaim', 'bound'),
          },
        },
      }),
      object('v1', 'PersistentVolume', 'rel-pv-former', {
        spec: { claimRef: { namespace: '<namespace>', name: 'waiting', uid: 'a former one' } },
      }),
      object('v1', 'PersistentVolumeClaim', 'bound', {
        spec: { volumeName: 'rel-pv', storageClassName: 'rel-fast' },
      }),
      object('v1', 'PersistentVolumeClaim', 'waiting', { spec: { volumeName: 'rel-pv-former' } }),
      object('v1', 'PersistentVolumeClaim', 'clone', {
        spec: { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'bound' } },
      }),
      object(storage, 'VolumeAttachment', 'rel-attached', {
        spec: { nodeName: 'rel-storage', source: { persistentVolumeName: 'rel-pv' } },
      }),
    ],
    expected: {
      'persistentVolumeClaim bound persistentVolume': 'rel-pv',
      'persistentVolumeClaim waiting persistentVolume': null,
      'persistentVolume rel-pv claim': 'bound',
      'persistentVolume rel-pv-former claim': null,
      'persistentVolumeClaim bound storageClass': 'rel-fast',
      'persistentVolumeClaim waiting storageClass': null,
      'storageClass rel-fast persistentVolumeClaims': ['bound'],
      'storageClass rel-fast persistentVolumes': ['rel-pv'],
      'storageClass rel-unused persistentVolumeClaims': [],
      'persistentVolumeClaim clone dataSource': 'bound',
      'persistentVolumeClaim bound dataSource': null,
      'persistentVolumeClaim bound clones': ['clone'],
      'persistentVolumeClaim clone clones': [],
      'persistentVolume rel-pv csiDriver': 'rel.csi.example',
      'storageClass rel-fast csiDriver': 'rel.csi.example',
      'storageClass rel-unused csiDriver': null,
      'csiDriver rel.csi.example storageClasses': ['rel-fast'],
      'csiDriver unused.csi.example persistentVolumes': [],
      'csiNode rel-storage csiDrivers': ['rel.csi.example'],
      'volumeAttachment rel-attached persistentVolume': 'rel-pv',
      'volumeAttachment rel-attached node': 'rel-storage',
      'node rel-storage volumeAttachments': ['rel-attached'],
      'node rel-storage persistentVolumes': ['rel-pv'],
      'persistentVolume rel-pv-former volumeAttachments': [],
    },
  },
  {
    row: '40: what has the name of its node',
    objects: [
      object('v1', 'Node', 'rel-named'),
      object('v1', 'Node', 'rel-nameless'),
      object(storage, 'CSINode', 'rel-named', { spec: { drivers: [] } }),
      object('coordination.k8s.io/v1', 'Lease', 'rel-named', {}, { namespace: 'kube-node-lease' }),
      // One that a controller holds has nothing to do with the node.
      object('coordination.k8s.io/v1', 'Lease', 'rel-nameless'),
    ],
    expected: {
      'node rel-named csiNode': 'rel-named',
      'node rel-nameless csiNode': null,
      'csiNode rel-named node': 'rel-named',
      'node rel-named lease': 'rel-named',
      'node rel-nameless lease': null,
      'lease rel-named@kube-node-lease node': 'rel-named',
      'lease rel-nameless node': null,
    },
  },
  {
    row: '41: what an Event is about, and what else has to do with it',
    objects: [
      object('v1', 'Event', 'both', {
        involvedObject: { kind: 'Pod', name: 'p', namespace: '<namespace>' },
        related: { kind: 'Node', name: 'n' },
      }),
      object('v1', 'Event', 'one', {
        involvedObject: { kind: 'Pod', name: 'p', namespace: '<namespace>' },
      }),
    ],
    expected: {
      'event both involved': 'p',
      'event both relatedObject': 'n',
      'event one relatedObject': null,
    },
  },
  {
    row: '44 to 46: roles, bindings, accounts and aggregation',
    objects: [
      object('v1', 'ServiceAccount', 'robot'),
      object('v1', 'ServiceAccount', 'idle'),
      object(rbac, 'Role', 'reader'),
      object(rbac, 'Role', 'unbound'),
      object(rbac, 'ClusterRole', 'rel-reader', {}, { labels: { 'rel/aggregate': 'yes' } }),
      object(rbac, 'ClusterRole', 'rel-all', {
        aggregationRule: {
          clusterRoleSelectors: [
            { matchLabels: { 'rel/none': 'x' } },
            { matchExpressions: [{ key: 'rel/aggregate', operator: 'In', values: ['yes', 'y'] }] },
          ],
        },
      }),
      object(rbac, 'RoleBinding', 'own', {
        roleRef: { apiGroup, kind: 'Role', name: 'reader' },
        subjects: [
          { kind: 'ServiceAccount', name: 'robot', namespace: '<namespace>' },
          { kind: 'ServiceAccount', name: 'idle', namespace: 'elsewhere' },
          { kind: 'User', apiGroup, name: 'idle' },
        ],
      }),
      object(rbac, 'RoleBinding', 'cluster', {
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'rel-reader' },
      }),
      object(rbac, 'ClusterRoleBinding', 'rel-binding', {
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'rel-reader' },
        subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: '<namespace>' }],
      }),
    ],
    expected: {
      'roleBinding own role': 'reader',
      'roleBinding cluster role': 'rel-reader',
      'role reader roleBindings': ['own'],
      'role unbound roleBindings': [],
      'clusterRole rel-reader roleBindings': ['cluster'],
      'clusterRole rel-reader clusterRoleBindings': ['rel-binding'],
      'clusterRole rel-all clusterRoleBindings': [],
      'clusterRoleBinding rel-binding clusterRole': 'rel-reader',
      'roleBinding own serviceAccounts': ['robot'],
      'roleBinding cluster serviceAccounts': [],
      'clusterRoleBinding rel-binding serviceAccounts': ['robot'],
      'serviceAccount robot roleBindings': ['own'],
      'serviceAccount robot clusterRoleBindings': ['rel-binding'],
      'serviceAccount idle roleBindings': [],
      'clusterRole rel-all clusterRoles': ['rel-reader'],
      'clusterRole rel-reader clusterRoles': [],
      'clusterRole rel-reader aggregatedBy': ['rel-all'],
      'clusterRole rel-all aggregatedBy': [],
    },
  },
  {
    row: '47, 48: Secrets of an account, and its tokens',
    objects: [
      ...['pull', 'named', 'unused'].map((name) => object('v1', 'Secret', name)),
      object('v1', 'ServiceAccount', 'robot', {
        secrets: [{ name: 'named' }],
        imagePullSecrets: [{ name: 'pull' }],
      }),
      object('v1', 'ServiceAccount', 'bare'),
      object(
        'v1',
        'Secret',
        'token',
        {},
        {
          annotations: { 'kubernetes.io/service-account.uid': uidIn('ServiceAccount', 'robot') },
        },
      ),
      object(
        'v1',
        'Secret',
        'former',
        {},
        {
          annotations: {
            'kubernetes.io/service-account.name': 'robot',
            'kubernetes.io/service-account.uid': 'a former one',
          },
        },
      ),
    ],
    expected: {
      'serviceAccount robot referencedSecrets': ['named', 'pull'],
      'serviceAccount bare referencedSecrets': [],
      'serviceAccount robot tokens': ['token'],
      'serviceAccount bare tokens': [],
      'secret token serviceAccount': 'robot',
      'secret former serviceAccount': null,
    },
  },
  {
    row: '49 to 51: webhooks, admission policies and aggregated APIs',
    objects: [
      object('v1', 'Service', 'hook'),
      object('v1', 'Service', 'idle'),
      object('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', 'rel-mutating', {
        webhooks: [webhook('hook'), { clientConfig: { url: 'https://hook.example' } }],
      }),
      object(
        'admissionregistration.k8s.io/v1',
        'ValidatingWebhookConfiguration',
        'rel-validating',
        {
          webhooks: [webhook('hook')],
        },
      ),
      object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', 'rel-policy'),
      object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', 'rel-unbound'),
      object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', 'rel-bound', {
        spec: { policyName: 'rel-policy' },
      }),
      object('apiregistration.k8s.io/v1', 'APIService', 'v1.rel.example', {
        spec: { service: { name: 'hook', namespace: '<namespace>' } },
      }),
      object('apiregistration.k8s.io/v1', 'APIService', 'v1.rel-own.example', { spec: {} }),
    ],
    expected: {
      'mutatingWebhookConfiguration rel-mutating services': ['hook'],
      'validatingWebhookConfiguration rel-validating services': ['hook'],
      'service hook mutatingWebhookConfigurations': ['rel-mutating'],
      'service hook validatingWebhookConfigurations': ['rel-validating'],
      'service idle mutatingWebhookConfigurations': [],
      'validatingAdmissionPolicyBinding rel-bound policy': 'rel-policy',
      'validatingAdmissionPolicy rel-policy bindings': ['rel-bound'],
      'validatingAdmissionPolicy rel-unbound bindings': [],
      'apiService v1.rel.example service': 'hook',
      'apiService v1.rel-own.example service': null,
      'service hook apiServices': ['v1.rel.example'],
      'service idle apiServices': [],
    },
  },
  {
    row: '54: what a Helm release has installed',
    objects: [
      object('v1', 'Secret', 'sh.helm.release.v1.shop.v1'),
      object('v1', 'Secret', 'sh.helm.release.v1.shop.v12'),
      object('v1', 'Secret', 'sh.helm.release.v1.shop.vx'),
      object(
        'v1',
        'ConfigMap',
        'installed',
        {},
        {
          annotations: {
            'meta.helm.sh/release-name': 'shop',
            'meta.helm.sh/release-namespace': '<namespace>',
          },
        },
      ),
      object(
        'v1',
        'ConfigMap',
        'by-hand',
        {},
        {
          annotations: { 'meta.helm.sh/release-name': 'shop' },
        },
      ),
    ],
    expected: {
      'configMap installed helmRelease': [
        'sh.helm.release.v1.shop.v1',
        'sh.helm.release.v1.shop.v12',
      ],
      'configMap by-hand helmRelease': [],
      'secret sh.helm.release.v1.shop.v1 helmObjects': ['installed'],
      'secret sh.helm.release.v1.shop.v12 helmObjects': ['installed'],
      'secret sh.helm.release.v1.shop.vx helmObjects': [],
    },
  },
]

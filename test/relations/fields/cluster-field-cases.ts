import { link, objectReference, reference } from './link.ts'
import { selection } from './selection-links.ts'
import type { FieldCase, Form, Place } from './field-case.ts'
import { all, at } from './form.ts'

const storage: readonly FieldCase[] = [
  link('PersistentVolume.claim', 'PersistentVolumeClaim.persistentVolume', {
    meant: [at('spec.claimRef', { namespace: '<here>', name: '<name>', uid: '<uid>' })],
    abroad: [at('spec.claimRef', { namespace: '<there>', name: '<name>', uid: '<uid>' })],
    missed: [at('spec.claimRef', { namespace: '<here>', name: '<name>', uid: 'a former one' })],
  }),
  reference(
    'PersistentVolumeClaim.storageClass',
    'StorageClass.persistentVolumeClaims',
    'spec.storageClassName',
  ),
  reference(
    'PersistentVolumeClaim.volumeAttributesClass',
    'VolumeAttributesClass.persistentVolumeClaims',
    'spec.volumeAttributesClassName',
  ),
  reference(
    'PersistentVolume.storageClass',
    'StorageClass.persistentVolumes',
    'spec.storageClassName',
  ),
  reference('PersistentVolume.csiDriver', 'CSIDriver.persistentVolumes', 'spec.csi.driver'),
  reference('StorageClass.csiDriver', 'CSIDriver.storageClasses', 'provisioner'),
  reference('VolumeAttributesClass.csiDriver', 'CSIDriver', 'driverName'),
  reference('CSINode.csiDrivers', 'CSIDriver.csiNodes', 'spec.drivers[*].name'),
  reference(
    'CSIStorageCapacity.storageClass',
    'StorageClass.csiStorageCapacities',
    'storageClassName',
  ),
  reference('VolumeAttachment.node', 'Node.volumeAttachments', 'spec.nodeName'),
  reference(
    'VolumeAttachment.persistentVolume',
    'PersistentVolume.volumeAttachments',
    'spec.source.persistentVolumeName',
  ),
  {
    objects: [
      ['Node ~a'],
      ['Node ~b'],
      ['PersistentVolume ~a'],
      ['PersistentVolume ~b'],
      ['VolumeAttachment ~a', { spec: { nodeName: '~a', source: { persistentVolumeName: '~a' } } }],
      ['VolumeAttachment ~half', at('spec.nodeName', '~b')],
    ],
    leads: { 'Node.persistentVolumes': { 'Node ~a': ['PersistentVolume ~a'] } },
  },
  objectReference(
    'PersistentVolumeClaim.dataSource',
    'VolumeSnapshot.clones',
    'spec.dataSourceRef',
    'apiGroup',
  ),
  link('PersistentVolumeClaim.dataSource', 'PersistentVolumeClaim.clones', {
    meant: [at('spec.dataSourceRef', { kind: 'PersistentVolumeClaim', name: '<name>' })],
    abroad: [
      at('spec.dataSourceRef', {
        kind: 'PersistentVolumeClaim',
        name: '<name>',
        namespace: '<there>',
      }),
    ],
    missed: [
      at('spec.dataSourceRef', {
        apiGroup: 'rel.unknown',
        kind: 'PersistentVolumeClaim',
        name: '<name>',
      }),
      at('spec.dataSourceRef', { kind: 'Secret', name: '<name>' }),
    ],
  }),
  reference(
    'VolumeSnapshot.persistentVolumeClaim',
    'PersistentVolumeClaim.snapshots',
    'spec.source.persistentVolumeClaimName',
  ),
  reference(
    'VolumeSnapshot.volumeSnapshotClass',
    'VolumeSnapshotClass.volumeSnapshots',
    'spec.volumeSnapshotClassName',
  ),
  link('VolumeSnapshotContent.volumeSnapshot', 'VolumeSnapshot.volumeSnapshotContent', {
    meant: [at('spec.volumeSnapshotRef', { namespace: '<here>', name: '<name>', uid: '<uid>' })],
    missed: [
      at('spec.volumeSnapshotRef', { namespace: '<here>', name: '<name>', uid: 'a former one' }),
    ],
  }),
  reference(
    'VolumeSnapshotContent.volumeSnapshotClass',
    'VolumeSnapshotClass',
    'spec.volumeSnapshotClassName',
  ),
  reference('VolumeSnapshotContent.csiDriver', 'CSIDriver', 'spec.driver'),
  reference('VolumeSnapshotClass.csiDriver', 'CSIDriver', 'driver'),
]

const nodes: readonly FieldCase[] = [
  reference('ResourceSlice.node', 'Node.resourceSlices', 'spec.nodeName'),
  reference(
    'ResourceClaim.deviceClasses',
    'DeviceClass.resourceClaims',
    'spec.devices.requests[*].exactly.deviceClassName',
    'spec.devices.requests[*].firstAvailable[*].deviceClassName',
  ),
  {
    objects: [
      ['Node ~a'],
      ['Node ~b'],
      ['CSINode ~a'],
      ['CSINode ~c'],
      ['Lease ~a@kube-node-lease'],
      ['Lease ~c@kube-node-lease'],
      ['Lease ~b'],
      ['NodeMetrics ~a'],
      ['NodeMetrics ~c'],
      ['Pod ~a'],
      ['Pod ~b'],
      ['PodMetrics ~a'],
      ['PodMetrics ~b@there'],
    ],
    leads: {
      'Node.csiNode': { 'Node ~a': ['CSINode ~a'] },
      'CSINode.node': { 'CSINode ~a': ['Node ~a'] },
      'Node.lease': { 'Node ~a': ['Lease ~a@kube-node-lease'] },
      'Lease.node': { 'Lease ~a@kube-node-lease': ['Node ~a'] },
      'Node.metrics': { 'Node ~a': ['NodeMetrics ~a'] },
      'Pod.metrics': { 'Pod ~a': ['PodMetrics ~a'] },
    },
  },
  ...(['involvedObject', 'related'] as const).map((member) =>
    link(member === 'related' ? 'Event.relatedObject' : 'Event.involved', 'Pod', {
      meant: [at(member, { kind: 'Pod', namespace: '<mine>', name: '<name>', uid: '<uid>' })],
      missed: [
        at(member, { kind: 'Secret', namespace: '<mine>', name: '<name>' }),
        at(member, {
          kind: 'Pod',
          apiVersion: 'rel.unknown/v1',
          namespace: '<mine>',
          name: '<name>',
        }),
      ],
    }),
  ),
]

const rbac = 'rbac.authorization.k8s.io'
const subject = (members: object): Form =>
  at('subjects[*]', { kind: 'ServiceAccount', name: '<name>', ...members })

const accounts = (field: string, type: string, back: string): readonly FieldCase[] => [
  link(`${type}.serviceAccounts`, `ServiceAccount.${back}`, {
    meant: [subject({ namespace: '<here>' })],
    // A subject has a namespace of its own.
    abroad: [subject({ namespace: '<there>' })],
    missed: [
      subject({ kind: 'User', apiGroup: rbac }),
      subject({ kind: 'Group', apiGroup: rbac }),
      subject({ namespace: 'rel-elsewhere' }),
    ],
  }),
  link(`${type}.indirectServiceAccounts`, `ServiceAccount.${field}`, {
    meant: [subject({ kind: 'User', apiGroup: rbac, name: 'system:serviceaccount:<here>:<name>' })],
    abroad: [
      subject({ kind: 'User', apiGroup: rbac, name: 'system:serviceaccount:<there>:<name>' }),
    ],
    everything: [subject({ kind: 'Group', apiGroup: rbac, name: 'system:serviceaccounts:<here>' })],
    missed: [
      subject({ kind: 'Group', apiGroup: rbac, name: 'system:serviceaccount:<here>:<name>' }),
      subject({ kind: 'User', apiGroup: rbac, name: 'system:serviceaccounts:<here>' }),
      subject({ kind: 'User', apiGroup: rbac, name: '<name>' }),
      subject({ namespace: '<here>' }),
    ],
  }),
]

const role = (kind: string): Form => ({ roleRef: { apiGroup: rbac, kind, name: '<name>' } })

const access: readonly FieldCase[] = [
  ...accounts('indirectRoleBindings', 'RoleBinding', 'roleBindings'),
  ...accounts('indirectClusterRoleBindings', 'ClusterRoleBinding', 'clusterRoleBindings'),
  link('RoleBinding.role', 'Role.roleBindings', {
    meant: [role('Role')],
    missed: [role('ClusterRole')],
  }),
  link('RoleBinding.role', 'ClusterRole.roleBindings', {
    meant: [role('ClusterRole')],
    missed: [role('Role')],
  }),
  link('ClusterRoleBinding.clusterRole', 'ClusterRole.clusterRoleBindings', {
    meant: [role('ClusterRole')],
    missed: [role('Role')],
  }),
  selection(
    'ClusterRole.clusterRoles',
    'ClusterRole.aggregatedBy',
    'aggregationRule.clusterRoleSelectors[*]',
  ),
  reference(
    'ServiceAccount.referencedSecrets',
    'Secret',
    'secrets[*].name',
    'imagePullSecrets[*].name',
  ),
  link('Secret.serviceAccount', 'ServiceAccount.tokens', {
    meant: [
      at('metadata.annotations', {
        'kubernetes.io/service-account.name': '<name>',
        'kubernetes.io/service-account.uid': '<uid>',
      }),
    ],
    missed: [
      at('metadata.annotations', {
        'kubernetes.io/service-account.name': '<name>',
        'kubernetes.io/service-account.uid': 'a former one',
      }),
      at('metadata.annotations[kubernetes.io/service-account.name]'),
    ],
  }),
]

/** Policies say the kind of the parameters that their bindings choose. */
function policies(prefix: string): readonly FieldCase[] {
  const [policy, binding] = [`${prefix}AdmissionPolicy`, `${prefix}AdmissionPolicyBinding`]
  const bindings = (...names: readonly string[]): readonly Place[] =>
    names.map((name): Place => `${binding} ~${name}`)
  const bound = (paramRef: object, policyName = '~limits'): Form => ({
    spec: { policyName, paramRef },
  })
  const labels = (value: string): Form => at('metadata.labels.params', value)
  const leads: FieldCase['leads'] = {
    [`${binding}.params`]: { [`${binding} ~named`]: ['ConfigMap ~a'] },
    [`${binding}.paramObjects`]: {
      [`${binding} ~named`]: ['ConfigMap ~a'],
      [`${binding} ~anywhere`]: ['ConfigMap ~a', 'ConfigMap ~a@there'],
      [`${binding} ~selecting`]: ['ConfigMap ~a', 'ConfigMap ~b@there'],
      [`${binding} ~selecting-there`]: ['ConfigMap ~b@there'],
    },
    'KubernetesObject.admissionPolicyBindings': {
      'ConfigMap ~a': bindings('named', 'anywhere', 'selecting'),
      'ConfigMap ~a@there': bindings('anywhere'),
      'ConfigMap ~b@there': bindings('selecting', 'selecting-there'),
      // Of another kind than the policy's parameters.
      'Secret ~a': [],
    },
  }
  return [
    reference(`${binding}.policy`, `${policy}.bindings`, 'spec.policyName'),
    {
      objects: [
        [`${policy} ~limits`, at('spec.paramKind', { apiVersion: 'v1', kind: 'ConfigMap' })],
        [`${policy} ~plain`],
        ['ConfigMap ~a', labels('~strict')],
        ['ConfigMap ~a@there'],
        ['ConfigMap ~b@there', labels('~strict')],
        ['ConfigMap ~c'],
        ['Secret ~a', labels('~strict')],
        [`${binding} ~named`, bound({ name: '~a', namespace: '<here>' })],
        [`${binding} ~anywhere`, bound({ name: '~a' })],
        [`${binding} ~selecting`, bound({ selector: at('matchLabels.params', '~strict') })],
        [
          `${binding} ~selecting-there`,
          bound({ selector: at('matchLabels.params', '~strict'), namespace: '<there>' }),
        ],
        [`${binding} ~lost`, bound({ name: '~gone', namespace: '<here>' })],
        [`${binding} ~plain`, bound({ name: '~a', namespace: '<here>' }, '~plain')],
        [`${binding} ~without`, bound({ name: '~a', namespace: '<here>' }, '~gone')],
      ],
      leads,
    },
  ]
}

/** What scales something: of whatever kind, which has its own way back. */
const scaled = (type: string): readonly FieldCase[] => [
  objectReference('HorizontalPodAutoscaler.target', `${type}.autoscaler`, 'spec.scaleTargetRef'),
]

const scalers: readonly FieldCase[] = [
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController', 'ArgoRollout'].flatMap(
    scaled,
  ),
  ...['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob', 'ReplicaSet'].map((type) =>
    objectReference(
      'AutoscalingK8sIoVerticalPodAutoscaler.target',
      `${type}.verticalPodAutoscalers`,
      'spec.targetRef',
    ),
  ),
]

/** Relations of storage, nodes, access and the API itself. */
export const clusterFieldCases: readonly FieldCase[] = [
  ...storage,
  ...nodes,
  ...access,
  ...policies('Validating'),
  ...policies('Mutating'),
  ...scalers,
  {
    objects: [
      ['Secret sh.helm.release.v1.~shop.v1'],
      ['Secret sh.helm.release.v1.~shop.v12'],
      ['Secret sh.helm.release.v1.~shop.vx'],
      ['Secret sh.helm.release.v1.~shop.v1@there'],
      [
        'ConfigMap ~installed',
        all(
          at('metadata.annotations[meta.helm.sh/release-name]', '~shop'),
          at('metadata.annotations[meta.helm.sh/release-namespace]', '<here>'),
        ),
      ],
      ['ConfigMap ~by-hand', at('metadata.annotations[meta.helm.sh/release-name]', '~shop')],
    ],
    leads: {
      'KubernetesObject.helmRelease': {
        'ConfigMap ~installed': [
          'Secret sh.helm.release.v1.~shop.v1',
          'Secret sh.helm.release.v1.~shop.v12',
        ],
      },
      'Secret.helmObjects': {
        'Secret sh.helm.release.v1.~shop.v1': ['ConfigMap ~installed'],
        'Secret sh.helm.release.v1.~shop.v12': ['ConfigMap ~installed'],
      },
    },
  },
  ...(['instance', 'part-of'] as const).map((label): FieldCase => {
    const labelled = (value: string): Form =>
      at(`metadata.labels[app.kubernetes.io/${label}]`, value)
    const both = ['ConfigMap ~a', 'Secret ~a'] as const
    return {
      objects: [
        ['ConfigMap ~a', labelled('~shop')],
        ['Secret ~a', labelled('~shop')],
        ['ConfigMap ~b', labelled('~other')],
        ['ConfigMap ~c'],
        ['ConfigMap ~a@there', labelled('~shop')],
      ],
      leads: {
        [`KubernetesObject.${label === 'instance' ? 'instanceObjects' : 'partOfObjects'}`]: {
          'ConfigMap ~a': both,
          'Secret ~a': both,
          'ConfigMap ~b': ['ConfigMap ~b'],
          'ConfigMap ~a@there': ['ConfigMap ~a@there'],
        },
      },
    }
  }),
]

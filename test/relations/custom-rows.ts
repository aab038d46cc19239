import { object, ownedBy, uidIn } from './relation-cluster.ts'
import type { RelationRow } from './relation-row.ts'

const gateway = 'gateway.networking.k8s.io/v1'
const vpa = 'AutoscalingK8sIoVerticalPodAutoscaler'

/** The kinds of {@link customRows}; those with a star live in no namespace. */
export const customKinds: readonly string[] = [
  'Gateway.gateway.networking.k8s.io/v1',
  'GatewayClass.gateway.networking.k8s.io/v1*',
  'HTTPRoute.gateway.networking.k8s.io/v1',
  'Certificate.cert-manager.io/v1',
  'Issuer.cert-manager.io/v1',
  'ClusterIssuer.cert-manager.io/v1*',
  'Application.argoproj.io/v1alpha1',
  'AppProject.argoproj.io/v1alpha1',
  'Rollout.argoproj.io/v1alpha1',
  'Kustomization.kustomize.toolkit.fluxcd.io/v1',
  'HelmRelease.helm.toolkit.fluxcd.io/v2',
  'GitRepository.source.toolkit.fluxcd.io/v1',
  'Bucketclaim.rel.example/v1',
  'Xbucket.rel.example/v1*',
  'Machine.cluster.x-k8s.io/v1beta1',
  'Cluster.cluster.x-k8s.io/v1beta1',
  'NodeClaim.karpenter.sh/v1*',
  'NodePool.karpenter.sh/v1*',
  'ServiceMonitor.monitoring.coreos.com/v1',
  'PodMonitor.monitoring.coreos.com/v1',
  'VolumeSnapshot.snapshot.storage.k8s.io/v1',
  'VolumeSnapshotContent.snapshot.storage.k8s.io/v1*',
  'ExternalSecret.external-secrets.io/v1',
  'SecretStore.external-secrets.io/v1',
  'ClusterSecretStore.external-secrets.io/v1*',
  'ScaledObject.keda.sh/v1alpha1',
  'VerticalPodAutoscaler.autoscaling.k8s.io/v1',
]

/** Categories of CRDs, by kind. */
export const customCategories: Readonly<Record<string, string>> = {
  Bucketclaim: 'claim',
  Xbucket: 'composite',
  Xqueue: 'composite',
}

const monitor = (kind: string, name: string, spec: object) =>
  object('monitoring.coreos.com/v1', kind, name, { spec })

/** Rows of well-known CRDs. */
export const customRows: readonly RelationRow[] = [
  {
    row: '26 to 29: routes, gateways, classes and certificates',
    objects: [
      object('v1', 'Service', 'web'),
      object('v1', 'Service', 'mirror'),
      object('v1', 'Service', 'idle'),
      object('v1', 'Secret', 'cert'),
      object('v1', 'Secret', 'other'),
      object(gateway, 'GatewayClass', 'rel-class', { spec: {} }),
      object(gateway, 'GatewayClass', 'rel-idle', { spec: {} }),
      object(gateway, 'Gateway', 'public', {
        spec: {
          gatewayClassName: 'rel-class',
          listeners: [{ tls: { certificateRefs: [{ name: 'cert' }] } }, {}],
        },
      }),
      object(gateway, 'Gateway', 'lone', { spec: {} }),
      object(gateway, 'HTTPRoute', 'site', {
        spec: {
          parentRefs: [{ name: 'public' }, { name: 'lone', kind: 'Service', group: '' }],
          rules: [
            {
              backendRefs: [{ name: 'web' }, { name: 'idle', kind: 'ServiceImport', group: 'x.y' }],
              filters: [{ requestMirror: { backendRef: { name: 'mirror', kind: 'Service' } } }],
            },
          ],
        },
      }),
      object(gateway, 'HTTPRoute', 'empty', { spec: {} }),
    ],
    expected: {
      'httpRoute site gateways': ['public'],
      'httpRoute empty gateways': [],
      'gateway public httpRoutes': ['site'],
      'gateway lone httpRoutes': [],
      'httpRoute site services': ['mirror', 'web'],
      'service web httpRoutes': ['site'],
      'service idle httpRoutes': [],
      'gateway public gatewayClass': 'rel-class',
      'gatewayClass rel-class gateways': ['public'],
      'gatewayClass rel-idle gateways': [],
      'gateway public secrets': ['cert'],
      'secret cert gateways': ['public'],
      'secret other gateways': [],
    },
  },
  {
    row: '58: certificates and who issues them',
    objects: [
      object('v1', 'Secret', 'tls'),
      object('v1', 'Secret', 'other'),
      object('cert-manager.io/v1', 'Issuer', 'ca', { spec: {} }),
      object('cert-manager.io/v1', 'ClusterIssuer', 'ca', { spec: {} }),
      object('cert-manager.io/v1', 'Certificate', 'own', {
        spec: { secretName: 'tls', issuerRef: { name: 'ca' } },
      }),
      object('cert-manager.io/v1', 'Certificate', 'cluster', {
        spec: { secretName: 'gone', issuerRef: { name: 'ca', kind: 'ClusterIssuer' } },
      }),
    ],
    expected: {
      'certManagerCertificate own secret': 'tls',
      'certManagerCertificate cluster secret': null,
      'secret tls certificates': ['own'],
      'secret other certificates': [],
      'certManagerCertificate own issuer': 'ca',
      'certManagerCertificate own clusterIssuer': null,
      'certManagerCertificate cluster issuer': null,
      'certManagerCertificate cluster clusterIssuer': 'ca',
      'certManagerIssuer ca certificates': ['own'],
      'certManagerClusterIssuer ca certificates': ['cluster'],
    },
  },
  {
    row: '56: what an Argo CD application has deployed',
    objects: [
      object('v1', 'ConfigMap', 'deployed'),
      object('v1', 'ConfigMap', 'by-hand'),
      object('argoproj.io/v1alpha1', 'AppProject', 'shop'),
      object('argoproj.io/v1alpha1', 'Application', 'shop', {
        spec: { project: 'shop' },
        status: {
          resources: [
            { version: 'v1', kind: 'ConfigMap', namespace: '<namespace>', name: 'deployed' },
            { version: 'v1', kind: 'Secret', namespace: '<namespace>', name: 'by-hand' },
          ],
        },
      }),
      object('argoproj.io/v1alpha1', 'Rollout', 'web', { spec: {} }),
      object(
        'apps/v1',
        'ReplicaSet',
        'web-1',
        {},
        ownedBy('argoproj.io/v1alpha1', 'Rollout', 'web'),
      ),
    ],
    expected: {
      'configMap deployed argoApplications': ['shop'],
      'configMap by-hand argoApplications': [],
      'argoApplication shop appProject': 'shop',
      'argoAppProject shop applications': ['shop'],
      'argoRollout web replicaSets': ['web-1'],
      'replicaSet web-1 rollout': 'web',
    },
  },
  {
    row: '55: what selects a Rollout by its template, before it has any ReplicaSet',
    objects: [
      object('argoproj.io/v1alpha1', 'Rollout', 'planned', {
        spec: { template: { metadata: { labels: { app: 'planned' } } } },
      }),
      object('v1', 'Service', 'all', { spec: { selector: { app: 'planned' } } }),
      object('v1', 'Service', 'canary', {
        spec: { selector: { 'rollouts-pod-template-hash': '5d4f', app: 'planned' } },
      }),
      object('v1', 'Service', 'of-a-revision', {
        spec: { selector: { 'rollouts-pod-template-hash': '5d4f' } },
      }),
      object('v1', 'Service', 'other', {
        spec: { selector: { 'rollouts-pod-template-hash': '5d4f', app: 'other' } },
      }),
      object('v1', 'Service', 'narrower', { spec: { selector: { app: 'planned', tier: 'x' } } }),
      object('networking.k8s.io/v1', 'NetworkPolicy', 'closed', { spec: { podSelector: {} } }),
      object('networking.k8s.io/v1', 'NetworkPolicy', 'of-no-rollout', {
        spec: {
          podSelector: {
            matchExpressions: [{ key: 'rollouts-pod-template-hash', operator: 'DoesNotExist' }],
          },
        },
      }),
      object('policy/v1', 'PodDisruptionBudget', 'kept', {
        spec: { selector: { matchLabels: { app: 'planned' } } },
      }),
    ],
    expected: {
      'argoRollout planned services': ['all', 'canary', 'of-a-revision'],
      'argoRollout planned networkPolicies': ['closed'],
      'argoRollout planned disruptionBudgets': ['kept'],
      'service canary argoRollouts': ['planned'],
      'service other argoRollouts': [],
      'networkPolicy of-no-rollout argoRollouts': [],
      'podDisruptionBudget kept argoRollouts': ['planned'],
    },
  },
  {
    row: '57: what Flux has applied',
    objects: [
      object(
        'v1',
        'ConfigMap',
        'applied',
        {},
        {
          labels: {
            'kustomize.toolkit.fluxcd.io/name': 'shop',
            'kustomize.toolkit.fluxcd.io/namespace': '<namespace>',
          },
        },
      ),
      object('v1', 'ConfigMap', 'by-hand'),
      object('source.toolkit.fluxcd.io/v1', 'GitRepository', 'repo', { spec: {} }),
      object('source.toolkit.fluxcd.io/v1', 'GitRepository', 'unused', { spec: {} }),
      object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'shop', {
        spec: { sourceRef: { kind: 'GitRepository', name: 'repo' }, dependsOn: [{ name: 'base' }] },
      }),
      object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'base', { spec: {} }),
    ],
    expected: {
      'configMap applied fluxKustomization': 'shop',
      'configMap by-hand fluxKustomization': null,
      'fluxKustomizeKustomization shop source': 'repo',
      'fluxKustomizeKustomization shop kustomizations': ['base'],
      'fluxKustomizeKustomization base dependents': ['shop'],
      'fluxKustomizeKustomization shop dependents': [],
    },
  },
  {
    row: '60: claims, composites and what they are made of',
    objects: [
      object('rel.example/v1', 'Bucketclaim', 'mine', {
        spec: { resourceRef: { apiVersion: 'rel.example/v1', kind: 'Xbucket', name: 'rel-x' } },
      }),
      object('rel.example/v1', 'Bucketclaim', 'new', { spec: {} }),
      object('rel.example/v1', 'Xbucket', 'rel-x', {
        spec: {
          claimRef: {
            apiVersion: 'rel.example/v1',
            kind: 'Bucketclaim',
            name: 'mine',
            namespace: '<namespace>',
          },
          resourceRefs: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'part' }],
        },
      }),
    ],
    expected: {
      'relExampleBucketclaim mine composite': 'rel-x',
      'relExampleBucketclaim new composite': null,
      'relExampleXbucket rel-x claim': 'mine',
    },
  },
  {
    row: '61: nodes of machines and of node claims',
    objects: [
      object('v1', 'Node', 'rel-machine'),
      object('v1', 'Node', 'rel-bare'),
      object('cluster.x-k8s.io/v1beta1', 'Cluster', 'prod', { spec: {} }),
      object('cluster.x-k8s.io/v1beta1', 'Machine', 'm-1', {
        spec: { clusterName: 'prod' },
        status: { nodeRef: { name: 'rel-machine' } },
      }),
      object('karpenter.sh/v1', 'NodePool', 'rel-pool', { spec: {} }),
      object(
        'karpenter.sh/v1',
        'NodeClaim',
        'rel-claim',
        { status: { nodeName: 'rel-machine' } },
        { labels: { 'karpenter.sh/nodepool': 'rel-pool' } },
      ),
    ],
    expected: {
      'clusterApiMachine m-1 node': 'rel-machine',
      'node rel-machine machine': 'm-1',
      'node rel-bare machine': null,
      'clusterApiMachine m-1 machineCluster': 'prod',
      'clusterApiCluster prod machines': ['m-1'],
      'karpenterNodeClaim rel-claim node': 'rel-machine',
      'node rel-machine nodeClaim': 'rel-claim',
      'node rel-bare nodeClaim': null,
      'karpenterNodePool rel-pool nodes': ['rel-machine'],
    },
  },
  {
    row: '62: monitors and their namespaces',
    objects: [
      object('v1', 'Service', 'web', {}, { labels: { app: 'web' } }),
      object('v1', 'Service', 'far', {}, { labels: { app: 'web' }, namespace: 'rel-far' }),
      object('v1', 'Service', 'other', {}, { labels: { app: 'other' } }),
      monitor('ServiceMonitor', 'own', { selector: { matchLabels: { app: 'web' } } }),
      monitor('ServiceMonitor', 'named', {
        selector: { matchLabels: { app: 'web' } },
        namespaceSelector: { matchNames: ['rel-far'] },
      }),
      monitor('ServiceMonitor', 'any', {
        selector: { matchLabels: { app: 'web' } },
        namespaceSelector: { any: true },
      }),
    ],
    expected: {
      'monitoringServiceMonitor own services': ['web'],
      'monitoringServiceMonitor named services': ['far'],
      'monitoringServiceMonitor any services': ['far', 'web'],
      'service web serviceMonitors': ['any', 'own'],
      'service far@rel-far serviceMonitors': ['any', 'named'],
      'service other serviceMonitors': [],
    },
  },
  {
    row: '36, 37: snapshots and clones',
    objects: [
      object('v1', 'PersistentVolumeClaim', 'data', { spec: {} }),
      object('v1', 'PersistentVolumeClaim', 'restored', {
        spec: {
          dataSourceRef: {
            apiGroup: 'snapshot.storage.k8s.io',
            kind: 'VolumeSnapshot',
            name: 'nightly',
          },
        },
      }),
      object('snapshot.storage.k8s.io/v1', 'VolumeSnapshot', 'nightly', {
        spec: { source: { persistentVolumeClaimName: 'data' } },
      }),
      object('snapshot.storage.k8s.io/v1', 'VolumeSnapshotContent', 'rel-content', {
        spec: { volumeSnapshotRef: { name: 'nightly', uid: uidIn('VolumeSnapshot', 'nightly') } },
      }),
    ],
    expected: {
      'volumeSnapshot nightly persistentVolumeClaim': 'data',
      'persistentVolumeClaim data snapshots': ['nightly'],
      'persistentVolumeClaim restored snapshots': [],
      'volumeSnapshot nightly clones': ['restored'],
      'volumeSnapshot nightly volumeSnapshotContent': 'rel-content',
      'volumeSnapshotContent rel-content volumeSnapshot': 'nightly',
    },
  },
  {
    row: '59, 33: external secrets, scaled objects and vertical autoscalers',
    objects: [
      object('v1', 'Secret', 'made'),
      object('v1', 'Secret', 'other'),
      object('external-secrets.io/v1', 'SecretStore', 'vault', { spec: {} }),
      object('external-secrets.io/v1', 'ClusterSecretStore', 'vault', { spec: {} }),
      object('external-secrets.io/v1', 'ExternalSecret', 'key', {
        spec: { target: { name: 'made' }, secretStoreRef: { name: 'vault' } },
      }),
      object('apps/v1', 'Deployment', 'web'),
      object('apps/v1', 'Deployment', 'fixed'),
      object('apps/v1', 'StatefulSet', 'web'),
      object('keda.sh/v1alpha1', 'ScaledObject', 'web', {
        spec: { scaleTargetRef: { name: 'web' } },
      }),
      object('autoscaling.k8s.io/v1', 'VerticalPodAutoscaler', 'web', {
        spec: { targetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' } },
      }),
    ],
    expected: {
      'externalSecretsExternalSecret key secret': 'made',
      'secret made externalSecret': 'key',
      'secret other externalSecret': null,
      'externalSecretsExternalSecret key secretStore': 'vault',
      'externalSecretsExternalSecret key clusterSecretStore': null,
      'externalSecretsSecretStore vault externalSecrets': ['key'],
      'externalSecretsClusterSecretStore vault externalSecrets': [],
      'kedaScaledObject web deployment': 'web',
      'kedaScaledObject web statefulSet': null,
      'deployment web scaledObjects': ['web'],
      'deployment fixed scaledObjects': [],
      [`${vpa.charAt(0).toLowerCase()}${vpa.slice(1)} web target`]: 'web',
      'statefulSet web verticalPodAutoscalers': ['web'],
      'deployment web verticalPodAutoscalers': [],
    },
  },
]

import { object } from './relation-cluster.ts'
import type { RelationRow } from './relation-row.ts'

const gateway = 'gateway.networking.k8s.io'
const monitoring = 'monitoring.coreos.com/v1'
const argo = 'argoproj.io/v1alpha1'
const crossplane = 'apiextensions.crossplane.io/v1'
const instance = 'app.kubernetes.io/instance'

/** The further kinds of {@link operatorRows}; those with a star live in no namespace. */
export const operatorKinds: readonly string[] = [
  `GRPCRoute.${gateway}/v1`,
  `TLSRoute.${gateway}/v1alpha2`,
  `TCPRoute.${gateway}/v1alpha2`,
  `UDPRoute.${gateway}/v1alpha2`,
  'Prometheus.monitoring.coreos.com/v1',
  'Xqueue.rel.example/v1',
  'Composition.apiextensions.crossplane.io/v1*',
  'CompositionRevision.apiextensions.crossplane.io/v1*',
]

const routes = [
  ['GRPCRoute', `${gateway}/v1`, 'grpcRoute'],
  ['TLSRoute', `${gateway}/v1alpha2`, 'tlsRoute'],
  ['TCPRoute', `${gateway}/v1alpha2`, 'tcpRoute'],
  ['UDPRoute', `${gateway}/v1alpha2`, 'udpRoute'],
] as const

const tracked = (name: string, id: string, metadata: object = {}) =>
  object(
    'v1',
    'ConfigMap',
    name,
    {},
    { annotations: { 'argocd.argoproj.io/tracking-id': id }, ...metadata },
  )

const monitor = (kind: string, name: string, labels: object, metadata: object = {}) =>
  object(monitoring, kind, name, { spec: {} }, { labels, ...metadata })

/** Further rows of well-known CRDs: what one row has in several places, and what names itself. */
export const operatorRows: readonly RelationRow[] = [
  {
    row: '26, 27: routes of every protocol',
    objects: [
      object('v1', 'Service', 'web'),
      object('v1', 'Service', 'idle'),
      object('v1', 'Service', 'far', {}, { namespace: 'rel-routed' }),
      object(`${gateway}/v1`, 'Gateway', 'public', { spec: {} }),
      object(`${gateway}/v1`, 'Gateway', 'lone', { spec: {} }),
      ...routes.flatMap(([kind, apiVersion]) => [
        object(apiVersion, kind, 'routed', {
          spec: {
            parentRefs: [{ name: 'public' }, { name: 'lone', kind: 'Other', group: 'x.y' }],
            rules: [
              { backendRefs: [{ name: 'web' }, { name: 'far', namespace: 'rel-routed' }] },
              { backendRefs: [{ name: 'idle', kind: 'ServiceImport', group: 'x.y' }] },
            ],
          },
        }),
        object(apiVersion, kind, 'empty', { spec: {} }),
      ]),
    ],
    expected: Object.fromEntries(
      routes.flatMap(([, , field]) => [
        [`${field} routed gateways`, ['public']],
        [`${field} routed services`, ['far', 'web']],
        [`${field} empty gateways`, []],
        [`${field} empty services`, []],
        [`gateway public ${field}s`, ['routed']],
        [`gateway lone ${field}s`, []],
        [`service web ${field}s`, ['routed']],
        [`service far@rel-routed ${field}s`, ['routed']],
        [`service idle ${field}s`, []],
      ]),
    ),
  },
  {
    row: '56: what says itself which Argo CD application it is of',
    objects: [
      object(argo, 'Application', 'rel-shop', { spec: {} }),
      object(argo, 'Application', 'rel-shop', { spec: {} }, { namespace: 'rel-team' }),
      object(argo, 'Application', 'rel-idle', { spec: {} }),
      // An application without its namespace is of the one that Argo CD runs in.
      object(argo, 'Application', 'rel-home', { status: { controllerNamespace: '<namespace>' } }),
      object(
        argo,
        'Application',
        'rel-home',
        { status: { controllerNamespace: '<namespace>' } },
        { namespace: 'rel-team', labels: { of: 'team' } },
      ),
      tracked('at-home', 'rel-home:/ConfigMap:<namespace>/at-home'),
      object('v1', 'Namespace', 'rel-team'),
      tracked('abroad', 'rel-team_rel-home:/ConfigMap:<namespace>/abroad'),
      // Where that is not said it may be any.
      tracked('own', 'rel-shop:/ConfigMap:<namespace>/own'),
      tracked('of-team', 'rel-team_rel-shop:/ConfigMap:<namespace>/of-team'),
      // Copied from what it was made of, with all its annotations.
      tracked('copied', 'rel-shop:/ConfigMap:<namespace>/own'),
      tracked('of-other-kind', 'rel-shop:/Secret:<namespace>/of-other-kind'),
      tracked('of-other-namespace', 'rel-shop:/ConfigMap:other/of-other-namespace'),
      tracked('of-other-group', 'rel-shop:apps/ConfigMap:<namespace>/of-other-group'),
      tracked('of-no-namespace', 'rel-shop:/ConfigMap:/of-no-namespace'),
      tracked('malformed', 'rel-shop'),
      // What is in no namespace has that of its application's destination.
      object(
        'rbac.authorization.k8s.io/v1',
        'ClusterRole',
        'rel:tracked',
        {},
        {
          annotations: {
            'argocd.argoproj.io/tracking-id':
              'rel-home:rbac.authorization.k8s.io/ClusterRole:rel-destination/rel:tracked',
          },
        },
      ),
      object(
        'rbac.authorization.k8s.io/v1',
        'ClusterRole',
        'rel:copied',
        {},
        {
          annotations: {
            'argocd.argoproj.io/tracking-id':
              'rel-home:rbac.authorization.k8s.io/ClusterRole:rel-destination/rel:tracked',
          },
        },
      ),
      object('v1', 'ConfigMap', 'labelled', {}, { labels: { [instance]: 'rel-idle' } }),
      object('v1', 'ConfigMap', 'by-hand', {}, { labels: { [instance]: 'by-hand' } }),
    ],
    expected: {
      'configMap own trackingArgoApplications': ['rel-shop', 'rel-shop'],
      'configMap of-team trackingArgoApplications': ['rel-shop'],
      'configMap at-home trackingArgoApplications': ['rel-home'],
      'configMap at-home trackingArgoApplications namespaceObject': [],
      'configMap abroad trackingArgoApplications namespaceObject': ['rel-team'],
      'argoApplication rel-home trackedObjects': ['at-home'],
      'argoApplication rel-home@rel-team trackedObjects': ['abroad'],
      'configMap of-other-group trackingArgoApplications': [],
      'configMap of-no-namespace trackingArgoApplications': [],
      'clusterRole rel:tracked trackingArgoApplications': ['rel-home'],
      'clusterRole rel:copied trackingArgoApplications': [],
      'configMap copied trackingArgoApplications': [],
      'configMap of-other-kind trackingArgoApplications': [],
      'configMap of-other-namespace trackingArgoApplications': [],
      'configMap malformed trackingArgoApplications': [],
      'configMap labelled trackingArgoApplications': ['rel-idle'],
      'configMap by-hand trackingArgoApplications': [],
      'configMap own argoApplications': [],
    },
  },
  {
    row: '57: what a HelmRelease of Flux has installed',
    objects: [
      object('helm.toolkit.fluxcd.io/v2', 'HelmRelease', 'shop', { spec: {} }),
      object(
        'v1',
        'ConfigMap',
        'installed',
        {},
        {
          labels: {
            'helm.toolkit.fluxcd.io/name': 'shop',
            'helm.toolkit.fluxcd.io/namespace': '<namespace>',
          },
        },
      ),
      object('v1', 'ConfigMap', 'by-hand'),
    ],
    expected: {
      'configMap installed fluxHelmRelease': 'shop',
      'configMap by-hand fluxHelmRelease': null,
    },
  },
  {
    row: '59: a Secret that is called as what makes it, and a store of the whole cluster',
    objects: [
      ...['plain', 'named', 'said'].map((name) => object('v1', 'Secret', name)),
      object('external-secrets.io/v1', 'ClusterSecretStore', 'rel-vault', { spec: {} }),
      object('external-secrets.io/v1', 'ExternalSecret', 'plain', {
        spec: { secretStoreRef: { name: 'rel-vault', kind: 'ClusterSecretStore' } },
      }),
      object('external-secrets.io/v1', 'ExternalSecret', 'named', {
        spec: { target: { name: 'said' } },
      }),
    ],
    expected: {
      'externalSecretsExternalSecret plain secret': 'plain',
      'externalSecretsExternalSecret named secret': 'said',
      'secret plain externalSecret': 'plain',
      'secret named externalSecret': null,
      'secret said externalSecret': 'named',
      'externalSecretsExternalSecret plain clusterSecretStore': 'rel-vault',
      'externalSecretsExternalSecret plain secretStore': null,
      'externalSecretsClusterSecretStore rel-vault externalSecrets': ['plain'],
    },
  },
  {
    row: '60: what a composite is made of',
    objects: [
      object('rel.example/v1', 'Xbucket', 'rel-made', {
        spec: {
          resourceRefs: [
            { apiVersion: 'rel.example/v1', kind: 'Xbucket', name: 'rel-inner' },
            { apiVersion: 'v1', kind: 'Node', name: 'rel-managed' },
          ],
        },
      }),
      object('rel.example/v1', 'Xbucket', 'rel-inner', { spec: {} }),
      object('v1', 'Node', 'rel-managed'),
      object('v1', 'Node', 'rel-unmanaged'),
      // The second version of Crossplane.
      object('rel.example/v1', 'Xqueue', 'second', {
        spec: {
          crossplane: {
            compositionRef: { name: 'rel-by' },
            compositionRevisionRef: { name: 'rel-by-1' },
            resourceRefs: [
              { apiVersion: 'v1', kind: 'ConfigMap', name: 'part' },
              { apiVersion: 'v1', kind: 'Node', name: 'rel-of-second' },
            ],
          },
        },
      }),
      object('rel.example/v1', 'Xqueue', 'bare', { spec: { crossplane: {} } }),
      object('rel.example/v1', 'Xbucket', 'rel-first', {
        spec: { compositionRef: { name: 'rel-by' } },
      }),
      object('v1', 'ConfigMap', 'part'),
      object('v1', 'ConfigMap', 'part', {}, { namespace: 'rel-elsewhere' }),
      object('v1', 'Node', 'rel-of-second'),
      object(crossplane, 'Composition', 'rel-by', { spec: {} }),
      object(crossplane, 'Composition', 'rel-unused', { spec: {} }),
      object(crossplane, 'CompositionRevision', 'rel-by-1', { spec: {} }),
    ],
    expected: {
      'relExampleXqueue second composedResources': ['part', 'rel-of-second'],
      'relExampleXqueue bare composedResources': [],
      'configMap part composites': ['second'],
      'configMap part@rel-elsewhere composites': [],
      'node rel-of-second composites': ['second'],
      'relExampleXqueue second composition': 'rel-by',
      'relExampleXqueue bare composition': null,
      'relExampleXbucket rel-first composition': 'rel-by',
      'relExampleXqueue second compositionRevision': 'rel-by-1',
      'relExampleXqueue bare compositionRevision': null,
      'crossplaneComposition rel-by compositeObjects': ['rel-first', 'second'],
      'crossplaneComposition rel-unused compositeObjects': [],
      'crossplaneCompositionRevision rel-by-1 compositeObjects': ['second'],
      'relExampleXbucket rel-made composedResources': ['rel-inner', 'rel-managed'],
      'relExampleXbucket rel-inner composedResources': [],
      'relExampleXbucket rel-inner composites': ['rel-made'],
      'relExampleXbucket rel-made composites': [],
      'node rel-managed composites': ['rel-made'],
      'node rel-unmanaged composites': [],
    },
  },
  {
    row: '62: what a Prometheus takes, by labels and by those of namespaces',
    objects: [
      object('v1', 'Namespace', 'rel-watched', {}, { labels: { 'rel/watched': 'yes' } }),
      object('v1', 'Namespace', 'rel-unwatched', {}, { labels: { 'rel/watched': 'no' } }),
      monitor('PodMonitor', 'near', { team: 'a' }),
      monitor('PodMonitor', 'seen', { team: 'a' }, { namespace: 'rel-watched' }),
      monitor('PodMonitor', 'unseen', { team: 'a' }, { namespace: 'rel-unwatched' }),
      monitor('PodMonitor', 'other', { team: 'b' }, { namespace: 'rel-watched' }),
      object(monitoring, 'Prometheus', 'own', {
        spec: { podMonitorSelector: { matchLabels: { team: 'a' } } },
      }),
      object(monitoring, 'Prometheus', 'labelled', {
        spec: {
          podMonitorSelector: { matchLabels: { team: 'a' } },
          podMonitorNamespaceSelector: { matchLabels: { 'rel/watched': 'yes' } },
        },
      }),
      object(monitoring, 'Prometheus', 'everywhere', {
        spec: {
          podMonitorSelector: { matchLabels: { team: 'a' } },
          podMonitorNamespaceSelector: {},
        },
      }),
      object(monitoring, 'Prometheus', 'nothing', {
        spec: { podMonitorNamespaceSelector: {} },
      }),
    ],
    expected: {
      'monitoringPrometheus own podMonitors': ['near'],
      'monitoringPrometheus labelled podMonitors': ['seen'],
      'monitoringPrometheus everywhere podMonitors': ['near', 'seen', 'unseen'],
      'monitoringPrometheus nothing podMonitors': [],
      'monitoringPodMonitor near prometheuses': ['everywhere', 'own'],
      'monitoringPodMonitor seen@rel-watched prometheuses': ['everywhere', 'labelled'],
      'monitoringPodMonitor unseen@rel-unwatched prometheuses': ['everywhere'],
      'monitoringPodMonitor other@rel-watched prometheuses': [],
    },
  },
  {
    row: '62: pods that a PodMonitor selects',
    objects: [
      object('v1', 'Pod', 'scraped', { spec: { containers: [] } }, { labels: { app: 'web' } }),
      object('v1', 'Pod', 'left', { spec: { containers: [] } }, { labels: { app: 'db' } }),
      object(monitoring, 'PodMonitor', 'web', {
        spec: { selector: { matchLabels: { app: 'web' } } },
      }),
    ],
    expected: {
      'monitoringPodMonitor web pods': ['scraped'],
      'pod scraped podMonitors': ['web'],
      'pod left podMonitors': [],
    },
  },
]

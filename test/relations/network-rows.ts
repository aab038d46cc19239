import { object } from './relation-cluster.ts'
import type { RelationRow } from './relation-row.ts'

const labelled = (name: string, labels: object, kind = 'Pod') =>
  object('v1', kind, name, kind === 'Pod' ? { spec: { containers: [] } } : {}, { labels })

const networking = 'networking.k8s.io/v1'

/** Rows of what leads to pods, and of who may see and scale them. */
export const networkRows: readonly RelationRow[] = [
  {
    row: '18, 19, 22: Services, their pods, slices and endpoints',
    objects: [
      object('v1', 'Service', 'web', { spec: { selector: { app: 'web', tier: 'front' } } }),
      object('v1', 'Service', 'none', { spec: {} }),
      object('v1', 'Service', 'empty', { spec: { selector: {} } }),
      labelled('both', { app: 'web', tier: 'front', more: 'x' }),
      labelled('half', { app: 'web' }),
      object(
        'discovery.k8s.io/v1',
        'EndpointSlice',
        'web-1',
        { addressType: 'IPv4', endpoints: [] },
        { labels: { 'kubernetes.io/service-name': 'web' } },
      ),
      object('discovery.k8s.io/v1', 'EndpointSlice', 'lone', {
        addressType: 'IPv4',
        endpoints: [],
      }),
      object('v1', 'Endpoints', 'web'),
      object('v1', 'Endpoints', 'orphan'),
    ],
    expected: {
      'service web pods': ['both'],
      'service none pods': [],
      'service empty pods': [],
      'pod both services': ['web'],
      'pod half services': [],
      'service web endpointSlices': ['web-1'],
      'endpointSlice web-1 service': 'web',
      'endpointSlice lone service': null,
      'service none endpointSlices': [],
      'service web endpoints': 'web',
      'service none endpoints': null,
      'endpoints web service': 'web',
      'endpoints orphan service': null,
    },
  },
  {
    row: '23 to 25: Ingresses',
    objects: [
      object('v1', 'Service', 'web', { spec: { selector: { app: 'web' } } }),
      object('v1', 'Service', 'default'),
      object('v1', 'Service', 'unrouted'),
      labelled('web-0', { app: 'web' }),
      object('v1', 'Secret', 'cert'),
      object(networking, 'IngressClass', 'rel-nginx', {
        spec: { parameters: { kind: 'ConfigMap', name: 'settings', namespace: '<namespace>' } },
      }),
      object(networking, 'IngressClass', 'rel-unused', { spec: {} }),
      object(networking, 'Ingress', 'site', {
        spec: {
          ingressClassName: 'rel-nginx',
          defaultBackend: { service: { name: 'default' } },
          tls: [{ secretName: 'cert' }],
          rules: [{ http: { paths: [{ backend: { service: { name: 'web' } } }] } }],
        },
      }),
      object(
        networking,
        'Ingress',
        'annotated',
        { spec: {} },
        { annotations: { 'kubernetes.io/ingress.class': 'rel-nginx' } },
      ),
    ],
    expected: {
      'ingress site services': ['default', 'web'],
      'ingress site pods': ['web-0'],
      'ingress annotated services': [],
      'service web ingresses': ['site'],
      'service unrouted ingresses': [],
      'pod web-0 ingresses': ['site'],
      'ingress site secrets': ['cert'],
      'ingress annotated secrets': [],
      'secret cert ingresses': ['site'],
      'ingress site ingressClass': 'rel-nginx',
      'ingress annotated ingressClass': 'rel-nginx',
      'ingressClass rel-nginx ingresses': ['annotated', 'site'],
      'ingressClass rel-unused ingresses': [],
      'ingressClass rel-nginx parameters': 'settings',
      'ingressClass rel-unused parameters': null,
    },
  },
  {
    row: '30, 31: NetworkPolicies and disruption budgets, expressions too',
    objects: [
      labelled('front', { app: 'web', tier: 'front' }),
      labelled('back', { app: 'web', tier: 'back' }),
      labelled('bare', {}),
      object(networking, 'NetworkPolicy', 'all', { spec: { podSelector: {} } }),
      object(networking, 'NetworkPolicy', 'front', {
        spec: { podSelector: { matchLabels: { tier: 'front' } } },
      }),
      object(networking, 'NetworkPolicy', 'not-front', {
        spec: {
          podSelector: {
            matchExpressions: [
              { key: 'tier', operator: 'NotIn', values: ['front'] },
              { key: 'app', operator: 'Exists' },
            ],
          },
        },
      }),
      object('policy/v1', 'PodDisruptionBudget', 'web', {
        spec: { selector: { matchLabels: { app: 'web' } } },
      }),
      object('policy/v1', 'PodDisruptionBudget', 'either', {
        spec: {
          selector: {
            matchExpressions: [{ key: 'tier', operator: 'In', values: ['front', 'middle'] }],
          },
        },
      }),
      object('policy/v1', 'PodDisruptionBudget', 'absent', { spec: {} }),
    ],
    expected: {
      'networkPolicy all pods': ['back', 'bare', 'front'],
      'networkPolicy front pods': ['front'],
      'networkPolicy not-front pods': ['back'],
      'pod front networkPolicies': ['all', 'front'],
      'pod back networkPolicies': ['all', 'not-front'],
      'pod bare networkPolicies': ['all'],
      'podDisruptionBudget web pods': ['back', 'front'],
      'podDisruptionBudget either pods': ['front'],
      'podDisruptionBudget absent pods': [],
      'pod front disruptionBudgets': ['either', 'web'],
      'pod bare disruptionBudgets': [],
    },
  },
  {
    row: '32: autoscalers and what they scale, of whatever kind',
    objects: [
      object('apps/v1', 'Deployment', 'web'),
      object('apps/v1', 'StatefulSet', 'web'),
      object('apps/v1', 'Deployment', 'fixed'),
      object('autoscaling/v2', 'HorizontalPodAutoscaler', 'web', {
        spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
      }),
    ],
    expected: {
      'horizontalPodAutoscaler web target': 'web',
      'deployment web autoscaler': 'web',
      'deployment fixed autoscaler': null,
      'statefulSet web autoscaler': null,
    },
  },
  {
    row: 'the Services of a workload, and through its pods their events',
    objects: [
      object('v1', 'Service', 'web', { spec: { selector: { app: 'web' } } }),
      object('apps/v1', 'StatefulSet', 'web', {
        spec: { template: { metadata: { labels: { app: 'web' } } } },
      }),
      object('apps/v1', 'StatefulSet', 'none'),
      object('v1', 'Event', 'of-pod', {
        involvedObject: { kind: 'Pod', namespace: '<namespace>', name: 'web-0' },
      }),
      object('v1', 'Event', 'of-set', {
        involvedObject: {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          namespace: '<namespace>',
          name: 'web',
        },
      }),
      object(
        'v1',
        'Pod',
        'web-0',
        { spec: { containers: [] } },
        {
          labels: { app: 'web' },
          ownerReferences: [
            {
              apiVersion: 'apps/v1',
              kind: 'StatefulSet',
              name: 'web',
              uid: '<uid StatefulSet web>',
            },
          ],
        },
      ),
    ],
    expected: {
      'statefulSet web services': ['web'],
      'statefulSet none services': [],
      'statefulSet web events': ['of-set'],
      'statefulSet web podEvents': ['of-pod'],
      'statefulSet none podEvents': [],
    },
  },
]

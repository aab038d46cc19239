import { link, type LinkForms, objectReference, reference, settledForm } from './link.ts'
import { ownerForm } from './owner-links.ts'
import { selection } from './selection-links.ts'
import type { FieldCase } from './field-case.ts'
import { all, at } from './form.ts'

const services: readonly FieldCase[] = [
  link('Service.pods', 'Pod.services', {
    target: at('metadata.labels', { rel: '<name>', also: 'yes' }),
    meant: [
      at('spec.selector', { rel: '<name>' }),
      at('spec.selector', { rel: '<name>', also: 'yes' }),
    ],
    missed: [at('spec.selector', {}), at('spec.selector', { rel: '<name>', also: 'no' })],
  }),
  reference(
    'EndpointSlice.service',
    'Service.endpointSlices',
    'metadata.labels[kubernetes.io/service-name]',
  ),
  link('EndpointSlice.pods', 'Pod.endpointSlices', {
    meant: [at('endpoints[*].targetRef', { kind: 'Pod', name: '<name>', uid: '<uid>' })],
    missed: [
      at('endpoints[*].targetRef', { kind: 'Pod', name: '<name>', uid: 'a former one' }),
      at('endpoints[*].targetRef', { kind: 'Pod', name: '<name>' }),
    ],
  }),
  reference('EndpointSlice.nodes', 'Node.endpointSlices', 'endpoints[*].nodeName'),
  {
    objects: [
      ['Service ~a'],
      ['Service ~b'],
      ['Endpoints ~a'],
      ['Endpoints ~c'],
      ['Endpoints ~b@there'],
    ],
    leads: {
      'Service.endpoints': { 'Service ~a': ['Endpoints ~a'] },
      'Endpoints.service': { 'Endpoints ~a': ['Service ~a'] },
    },
  },
  // A reference to a Service in a namespace that is said; a cluster-scoped object without one means none.
  ...(
    [
      [
        'MutatingWebhookConfiguration.services',
        'webhooks[*].clientConfig.service',
        'mutatingWebhookConfigurations',
      ],
      [
        'ValidatingWebhookConfiguration.services',
        'webhooks[*].clientConfig.service',
        'validatingWebhookConfigurations',
      ],
      ['APIService.service', 'spec.service', 'apiServices'],
    ] as const
  ).map(([from, path, back]) => link(from, `Service.${back}`, inNamespaces(path))),
  link('CustomResourceDefinition.service', 'Service', {
    ...inNamespaces('spec.conversion.webhook.clientConfig.service'),
    referrer: {
      spec: {
        group: 'rel.unserved.example',
        scope: 'Namespaced',
        names: { plural: 'unserveds', kind: 'Unserved' },
        versions: [{ name: 'v1', served: false, storage: true, schema: { openAPIV3Schema: {} } }],
      },
    },
  }),
]

/** The forms of a reference by name and namespace, of what has no namespace itself. */
function inNamespaces(path: string): LinkForms {
  return {
    meant: [at(path, { name: '<name>', namespace: '<here>' })],
    abroad: [at(path, { name: '<name>', namespace: '<there>' })],
    missed: [at(path, { name: '<name>' })],
  }
}

const backend = (path: string) => at(`spec.rules[*].${path}`)

const ingresses: readonly FieldCase[] = [
  reference(
    'Ingress.services',
    'Service.ingresses',
    'spec.defaultBackend.service.name',
    'spec.rules[*].http.paths[*].backend.service.name',
  ),
  reference('Ingress.secrets', 'Secret.ingresses', 'spec.tls[*].secretName'),
  reference(
    'Ingress.ingressClass',
    'IngressClass.ingresses',
    'spec.ingressClassName',
    'metadata.annotations[kubernetes.io/ingress.class]',
  ),
  {
    objects: [
      ['Service ~web', at('spec.selector.app', 'web')],
      ['Service ~idle', at('spec.selector.app', 'idle')],
      ['Pod ~web', at('metadata.labels.app', 'web')],
      ['Pod ~idle', at('metadata.labels.app', 'idle')],
      ['Ingress ~site', at('spec.defaultBackend.service.name', '~web')],
      ['Ingress ~bare'],
    ],
    leads: {
      'Ingress.pods': { 'Ingress ~site': ['Pod ~web'] },
      'Pod.ingresses': { 'Pod ~web': ['Ingress ~site'] },
    },
  },
  link('IngressClass.parameters', 'ConfigMap', {
    meant: [at('spec.parameters', { kind: 'ConfigMap', name: '<name>', namespace: '<here>' })],
    abroad: [at('spec.parameters', { kind: 'ConfigMap', name: '<name>', namespace: '<there>' })],
    missed: [at('spec.parameters', { kind: 'Secret', name: '<name>', namespace: '<here>' })],
  }),
  selection('NetworkPolicy.pods', 'Pod.networkPolicies', 'spec.podSelector', {
    // An absent selector is an empty one.
    everything: [at('spec.podSelector', {}), at('spec.policyTypes[*]', 'Ingress')],
    bare: at('spec.podSelector.matchLabels.absent', 'yes'),
  }),
  selection('PodDisruptionBudget.pods', 'Pod.disruptionBudgets', 'spec.selector', {
    everything: [at('spec.selector', {})],
  }),
]

const gatewayGroup = 'gateway.networking.k8s.io'

/** Routes of each protocol refer by kind, group and namespace, which have their defaults. */
function route(type: string, backs: string, forms: readonly string[]): readonly FieldCase[] {
  return [
    link(`${type}.gateways`, `Gateway.${backs}`, {
      meant: [
        at('spec.parentRefs[*]', { name: '<name>' }),
        at('spec.parentRefs[*]', { name: '<name>', kind: 'Gateway', group: gatewayGroup }),
      ],
      abroad: [at('spec.parentRefs[*]', { name: '<name>', namespace: '<there>' })],
      missed: [
        at('spec.parentRefs[*]', { name: '<name>', kind: 'Service', group: '' }),
        at('spec.parentRefs[*]', { name: '<name>', kind: 'Gateway', group: 'rel.unknown' }),
      ],
    }),
    link(`${type}.services`, `Service.${backs}`, {
      meant: forms.flatMap((path) => [
        backend(`${path}.name`),
        all(backend(`${path}.name`), at(`spec.rules[*].${path}`, { kind: 'Service', group: '' })),
      ]),
      abroad: forms.map((path) =>
        at(`spec.rules[*].${path}`, { name: '<name>', namespace: '<there>' }),
      ),
      missed: forms.map((path) =>
        at(`spec.rules[*].${path}`, {
          name: '<name>',
          kind: 'ServiceImport',
          group: 'rel.unknown',
        }),
      ),
    }),
  ]
}

const backends = ['backendRefs[*]']
const mirrored = [
  ...backends,
  'filters[*].requestMirror.backendRef',
  'backendRefs[*].filters[*].requestMirror.backendRef',
]

const gateways: readonly FieldCase[] = [
  ...route('HTTPRoute', 'httpRoutes', mirrored),
  ...route('GRPCRoute', 'grpcRoutes', mirrored),
  ...route('TLSRoute', 'tlsRoutes', backends),
  ...route('TCPRoute', 'tcpRoutes', backends),
  ...route('UDPRoute', 'udpRoutes', backends),
  reference('Gateway.gatewayClass', 'GatewayClass.gateways', 'spec.gatewayClassName'),
  link('Gateway.secrets', 'Secret.gateways', {
    meant: [
      at('spec.listeners[*].tls.certificateRefs[*]', { name: '<name>' }),
      at('spec.listeners[*].tls.certificateRefs[*]', { name: '<name>', kind: 'Secret', group: '' }),
    ],
    abroad: [
      at('spec.listeners[*].tls.certificateRefs[*]', { name: '<name>', namespace: '<there>' }),
    ],
    missed: [at('spec.listeners[*].tls.certificateRefs[*]', { name: '<name>', kind: 'ConfigMap' })],
  }),
  objectReference('GatewayClass.parameters', 'Node', 'spec.parametersRef', 'group'),
  {
    objects: [
      ['Gateway ~a'],
      ['Gateway ~b'],
      ['Ingress ~a'],
      ['Ingress ~b'],
      ['CertManagerCertificate ~g', settledForm(ownerForm('Gateway'), 'Gateway ~a')],
      ['CertManagerCertificate ~i', settledForm(ownerForm('Ingress'), 'Ingress ~a')],
    ],
    leads: {
      'Gateway.certificates': { 'Gateway ~a': ['CertManagerCertificate ~g'] },
      'Ingress.certificates': { 'Ingress ~a': ['CertManagerCertificate ~i'] },
    },
  },
]

/** Relations of Services and of what leads to them. */
export const networkFieldCases: readonly FieldCase[] = [...services, ...ingresses, ...gateways]

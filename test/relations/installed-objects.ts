import type { Fields } from '../gateway/test-cluster.ts'

const text = { type: 'string' }
const list = (items: object) => ({ type: 'array', items })
const members = (properties: object) => ({ type: 'object', properties })
const key = members({ key: text, name: text })

/** What a definition says of `spec`, where a path has to find its way through it; else anything goes. */
export const described: Readonly<Record<string, object>> = {
  ApplicationSet: {
    template: members({ spec: members({ project: text }) }),
    generators: list(
      members({
        git: members({ repoURL: text }),
        scmProvider: members({ github: members({ tokenRef: members({ secretName: text }) }) }),
        plugin: members({ configMapRef: members({ name: text }) }),
        matrix: members({
          generators: list(
            members({
              list: members({ elements: list(text) }),
              pullRequest: members({
                gitlab: members({ tokenRef: members({ secretName: text }), labels: list(text) }),
              }),
            }),
          ),
        }),
      }),
    ),
  },
  AlertmanagerConfig: {
    receivers: list(
      members({
        name: text,
        slackConfigs: list(members({ channel: text, apiURL: key, fields: list(key) })),
        webhookConfigs: list(
          members({ httpConfig: members({ basicAuth: members({ password: key }) }) }),
        ),
      }),
    ),
  },
}

/** The kinds of the operators; those with a star live in no namespace. */
export const definitions: readonly (readonly [group: string, version: string, kinds: string])[] = [
  ['cert-manager.io', 'v1', 'Certificate Issuer ClusterIssuer*'],
  ['argoproj.io', 'v1alpha1', 'Application AppProject ApplicationSet'],
  ['kyverno.io', 'v1', 'ClusterPolicy* Policy'],
  ['kyverno.io', 'v2', 'PolicyException'],
  ['kyverno.io', 'v2alpha1', 'GlobalContextEntry*'],
  ['metallb.io', 'v1beta1', 'IPAddressPool L2Advertisement BGPAdvertisement BFDProfile'],
  ['metallb.io', 'v1beta2', 'BGPPeer'],
  ['projectcontour.io', 'v1', 'HTTPProxy TLSCertificateDelegation'],
  ['projectcontour.io', 'v1alpha1', 'ExtensionService ContourConfiguration'],
  ['monitoring.coreos.com', 'v1', 'Prometheus ServiceMonitor ThanosRuler'],
  ['monitoring.coreos.com', 'v1alpha1', 'AlertmanagerConfig PrometheusAgent ScrapeConfig'],
]

const containers = [{ name: 'main', image: 'one:1' }]
const selector = (app: string) => ({ matchLabels: { app } })
const pods = (app: string, spec: object) => ({
  metadata: { labels: { app } },
  spec: { containers, ...spec },
})
const hook = (name: string, namespace: string) => ({
  webhooks: [
    {
      name: 'hook.example.com',
      clientConfig: { service: { name, namespace } },
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      rules: [
        {
          apiGroups: ['none.example.com'],
          apiVersions: ['v1'],
          resources: ['none'],
          operations: ['CREATE'],
        },
      ],
    },
  ],
})
const annotations = (values: Readonly<Record<string, string>>) => ({ annotations: values })

/** A request for a certificate, as PEM in base64. */
const someRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVFQXd3QllUQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCRERtM25XMFZnWk9OUWkwb0VXSExaMWtqdTd5VzlKTW9BMkl1REhKZTY2aVdIdDI3T0c0bi9jV1E5eUx0dng5CnJzc0Z1cDJFdFJ2N05VMHdFSmRCcG9tZ0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpQWxIZE5zY1Y2bmRaekMKRE9MTmZrSGhaemtQVEkyVm1UTThEZGwrdmpPaVFRSWhBUDdCTzd0cG5ycHJBQUNwRzdZblJkcDZSOEYxUW5qYgpTTkRFSGxVZE05WGoKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='

/** An object: the resource, where it is, what it has besides, and its further metadata. */
export type Made = readonly [resource: string, place: string, body?: Fields, metadata?: object]

/** Controllers, and what calls them. */
export const controllers: readonly Made[] = [
  ['v1 secrets', 'metallb-system/hook-cert'],
  ['v1 secrets', 'metallb-system/members'],
  ['v1 configmaps', 'metallb-system/excluded'],
  ['v1 services', 'metallb-system/hook', { spec: { ports: [{ port: 443 }] } }],
  [
    'apps/v1 deployments',
    'metallb-system/controller',
    {
      spec: {
        selector: selector('controller'),
        template: pods('controller', {
          serviceAccountName: 'controller',
          volumes: [{ name: 'cert', secret: { secretName: 'hook-cert' } }],
        }),
      },
    },
  ],
  [
    'apps/v1 daemonsets',
    'metallb-system/speaker',
    {
      spec: {
        selector: selector('speaker'),
        template: pods('speaker', {
          volumes: [
            { name: 'members', secret: { secretName: 'members' } },
            { name: 'excluded', configMap: { name: 'excluded' } },
          ],
        }),
      },
    },
  ],
  ['v1 serviceaccounts', 'metallb-system/controller'],
  [
    'admissionregistration.k8s.io/v1 validatingwebhookconfigurations',
    'metallb',
    hook('hook', 'metallb-system'),
  ],
  [
    'admissionregistration.k8s.io/v1 mutatingwebhookconfigurations',
    'cert-manager',
    hook('webhook', 'cert-manager'),
    annotations({ 'cert-manager.io/inject-ca-from-secret': 'cert-manager/webhook-ca' }),
  ],
  [
    'admissionregistration.k8s.io/v1 validatingwebhookconfigurations',
    'operator',
    hook('webhook', 'cert-manager'),
    annotations({ 'cert-manager.io/inject-ca-from': 'team/serving' }),
  ],
  [
    'apiregistration.k8s.io/v1 apiservices',
    'v1.none.example.com',
    {
      spec: {
        group: 'none.example.com',
        version: 'v1',
        groupPriorityMinimum: 10,
        versionPriority: 10,
        service: { name: 'webhook', namespace: 'cert-manager' },
      },
    },
    annotations({ 'cert-manager.io/inject-ca-from': 'team/serving' }),
  ],
  ['v1 services', 'cert-manager/webhook', { spec: { ports: [{ port: 443 }] } }],
  ['v1 secrets', 'cert-manager/webhook-ca'],
]

/** Objects of the kinds of operators, and what they name. */
export const own: readonly Made[] = [
  ['cert-manager.io/v1 certificates', 'team/serving', { spec: { secretName: 'serving' } }],
  ['cert-manager.io/v1 issuers', 'team/local', { spec: { selfSigned: {} } }],
  [
    'cert-manager.io/v1 clusterissuers',
    'public',
    { spec: { acme: { solvers: [{ http01: { ingress: { ingressClassName: 'edge' } } }] } } },
  ],
  ['networking.k8s.io/v1 ingressclasses', 'edge', { spec: { controller: 'example.com/edge' } }],
  [
    'networking.k8s.io/v1 ingresses',
    'team/web',
    { spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } } },
    annotations({ 'cert-manager.io/cluster-issuer': 'public', 'cert-manager.io/issuer': 'local' }),
  ],
  [
    'certificates.k8s.io/v1 certificatesigningrequests',
    'asked',
    {
      spec: {
        request: someRequest,
        signerName: 'issuers.cert-manager.io/team.local',
        usages: ['client auth'],
      },
    },
  ],
  ['argoproj.io/v1alpha1 appprojects', 'team/shop', { spec: {} }],
  ['argoproj.io/v1alpha1 applications', 'team/one', { spec: { project: 'shop' } }],
  [
    'argoproj.io/v1alpha1 applicationsets',
    'team/many',
    {
      spec: {
        template: { spec: { project: 'shop' } },
        generators: [
          { scmProvider: { github: { tokenRef: { secretName: 'token' } } } },
          { plugin: { configMapRef: { name: 'plugin' } } },
          {
            matrix: {
              generators: [{ pullRequest: { gitlab: { tokenRef: { secretName: 'inner' } } } }],
            },
          },
        ],
      },
    },
  ],
  ...[
    'token',
    'inner',
    'pull',
    'signing',
    'static',
    'slack',
    'basic',
    'agent',
    'ruler',
    'probe',
    'tls',
    'peer',
    'unused',
  ].map((name): Made => ['v1 secrets', `team/${name}`]),
  ...['plugin', 'settings', 'unused'].map((name): Made => ['v1 configmaps', `team/${name}`]),
  ['v1 secrets', 'kyverno/registry'],
  ['v1 secrets', 'shared/wildcard'],
  [
    'kyverno.io/v1 clusterpolicies',
    'signed',
    {
      spec: {
        rules: [
          {
            context: [
              { configMap: { name: 'settings', namespace: 'team' } },
              { globalReference: { name: 'all-deployments' } },
            ],
            generate: { kind: 'Secret', clone: { name: 'pull', namespace: 'team' } },
            verifyImages: [
              {
                imageRegistryCredentials: { secrets: ['registry'] },
                attestors: [
                  {
                    entries: [
                      { keys: { secret: { name: 'signing', namespace: 'team' } } },
                      { keys: { publicKeys: 'k8s://team/static' } },
                    ],
                  },
                ],
              },
            ],
          },
        ],
      },
    },
  ],
  [
    'kyverno.io/v1 policies',
    'team/own',
    { spec: { rules: [{ context: [{ configMap: { name: 'settings' } }] }] } },
  ],
  ['kyverno.io/v2alpha1 globalcontextentries', 'all-deployments', { spec: {} }],
  [
    'kyverno.io/v2 policyexceptions',
    'team/except',
    { spec: { exceptions: [{ policyName: 'signed' }, { policyName: 'team/own' }] } },
  ],
  [
    'metallb.io/v1beta1 ipaddresspools',
    'metallb-system/first',
    { spec: {} },
    { labels: { zone: 'a' } },
  ],
  ['metallb.io/v1beta1 ipaddresspools', 'metallb-system/second', { spec: {} }],
  ['metallb.io/v1beta1 l2advertisements', 'metallb-system/everything', { spec: {} }],
  [
    'metallb.io/v1beta1 l2advertisements',
    'metallb-system/named',
    { spec: { ipAddressPools: ['second'] } },
  ],
  [
    'metallb.io/v1beta1 bgpadvertisements',
    'metallb-system/selected',
    { spec: { ipAddressPoolSelectors: [{ matchLabels: { zone: 'a' } }], peers: ['router'] } },
  ],
  [
    'metallb.io/v1beta2 bgppeers',
    'metallb-system/router',
    { spec: { bfdProfile: 'fast', passwordSecret: { name: 'peer', namespace: 'team' } } },
  ],
  ['metallb.io/v1beta1 bfdprofiles', 'metallb-system/fast', { spec: {} }],
  [
    'v1 services',
    'team/web',
    { spec: { ports: [{ port: 80 }] } },
    { ...annotations({ 'metallb.io/ip-allocated-from-pool': 'first' }), labels: { app: 'web' } },
  ],
  ['v1 services', 'team/auth', { spec: { ports: [{ port: 80 }] } }],
  [
    'projectcontour.io/v1 httpproxies',
    'team/root',
    {
      spec: {
        virtualhost: {
          fqdn: 'example.com',
          tls: { secretName: 'shared/wildcard', clientValidation: { caSecret: 'tls' } },
          authorization: { extensionRef: { name: 'checks', namespace: 'team' } },
        },
        includes: [{ name: 'part', namespace: 'shared' }],
        routes: [{ services: [{ name: 'web', port: 80 }] }],
      },
    },
  ],
  ['projectcontour.io/v1 httpproxies', 'shared/part', { spec: {} }],
  [
    'projectcontour.io/v1 tlscertificatedelegations',
    'shared/wildcard',
    { spec: { delegations: [{ secretName: 'wildcard', targetNamespaces: ['*'] }] } },
  ],
  [
    'projectcontour.io/v1alpha1 extensionservices',
    'team/checks',
    { spec: { services: [{ name: 'auth', port: 80 }] } },
  ],
  [
    'projectcontour.io/v1alpha1 contourconfigurations',
    'team/contour',
    { spec: { rateLimitService: { extensionService: { name: 'checks', namespace: 'team' } } } },
  ],
  [
    'monitoring.coreos.com/v1 servicemonitors',
    'team/web',
    { spec: { selector: { matchLabels: { app: 'web' } } } },
  ],
  [
    'monitoring.coreos.com/v1 prometheuses',
    'team/main',
    { spec: { serviceMonitorSelector: {}, serviceAccountName: 'default' } },
  ],
  [
    'monitoring.coreos.com/v1alpha1 prometheusagents',
    'team/agent',
    { spec: { remoteWrite: [{ basicAuth: { password: { name: 'agent', key: 'a' } } }] } },
  ],
  [
    'monitoring.coreos.com/v1 thanosrulers',
    'team/ruler',
    { spec: { queryConfig: { name: 'ruler', key: 'a' } } },
  ],
  [
    'monitoring.coreos.com/v1alpha1 scrapeconfigs',
    'team/scrape',
    { spec: { basicAuth: { password: { name: 'probe', key: 'a' } } } },
  ],
  [
    'monitoring.coreos.com/v1alpha1 alertmanagerconfigs',
    'team/alerts',
    {
      spec: {
        receivers: [
          { name: 'slack', slackConfigs: [{ channel: '#a', apiURL: { name: 'slack', key: 'a' } }] },
          {
            name: 'hook',
            webhookConfigs: [
              { httpConfig: { basicAuth: { password: { name: 'basic', key: 'a' } } } },
            ],
          },
        ],
      },
    },
  ],
]

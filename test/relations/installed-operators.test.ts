import { afterAll, expect, it } from 'vitest'
import { define, definitionOf, versionOf } from '../gateway/definitions.ts'
import { describeClusters, type Fields, must } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

const text = { type: 'string' }
const list = (items: object) => ({ type: 'array', items })
const members = (properties: object) => ({ type: 'object', properties })
const key = members({ key: text, name: text })

/** What a definition says of `spec`, where a path has to find its way through it; else anything goes. */
const described: Readonly<Record<string, object>> = {
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

const definitions: readonly (readonly [group: string, version: string, kinds: string])[] = [
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

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
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

type Made = readonly [resource: string, place: string, body?: Fields, metadata?: object]

const controllers: readonly Made[] = [
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

const own: readonly Made[] = [
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

const uses: readonly (readonly [lookup: string, place: string, users: readonly string[]])[] = [
  [
    'secret',
    'metallb-system/hook-cert',
    ['Deployment controller spec.template.spec.volumes[0].secret.secretName'],
  ],
  [
    'secret',
    'metallb-system/members',
    ['DaemonSet speaker spec.template.spec.volumes[0].secret.secretName'],
  ],
  [
    'configMap',
    'metallb-system/excluded',
    ['DaemonSet speaker spec.template.spec.volumes[1].configMap.name'],
  ],
  [
    'serviceAccount',
    'metallb-system/controller',
    ['Deployment controller spec.template.spec.serviceAccountName'],
  ],
  [
    'service',
    'metallb-system/hook',
    ['ValidatingWebhookConfiguration metallb webhooks[0].clientConfig.service.name'],
  ],
  [
    'service',
    'cert-manager/webhook',
    [
      'APIService v1.none.example.com spec.service.name',
      'MutatingWebhookConfiguration cert-manager webhooks[0].clientConfig.service.name',
      'ValidatingWebhookConfiguration operator webhooks[0].clientConfig.service.name',
    ],
  ],
  [
    'secret',
    'cert-manager/webhook-ca',
    [
      'MutatingWebhookConfiguration cert-manager metadata.annotations["cert-manager.io/inject-ca-from-secret"]',
    ],
  ],
  [
    'certManagerCertificate',
    'team/serving',
    [
      'APIService v1.none.example.com metadata.annotations["cert-manager.io/inject-ca-from"]',
      'ValidatingWebhookConfiguration operator metadata.annotations["cert-manager.io/inject-ca-from"]',
    ],
  ],
  [
    'certManagerIssuer',
    'team/local',
    [
      'CertificateSigningRequest asked spec.signerName',
      'Ingress web metadata.annotations["cert-manager.io/issuer"]',
    ],
  ],
  [
    'certManagerClusterIssuer',
    'public',
    ['Ingress web metadata.annotations["cert-manager.io/cluster-issuer"]'],
  ],
  [
    'ingressClass',
    'edge',
    ['ClusterIssuer public spec.acme.solvers[0].http01.ingress.ingressClassName'],
  ],
  [
    'argoAppProject',
    'team/shop',
    ['Application one spec.project', 'ApplicationSet many spec.template.spec.project'],
  ],
  [
    'secret',
    'team/token',
    ['ApplicationSet many spec.generators[0].scmProvider.github.tokenRef.secretName'],
  ],
  [
    'secret',
    'team/inner',
    [
      'ApplicationSet many spec.generators[2].matrix.generators[0].pullRequest.gitlab.tokenRef.secretName',
    ],
  ],
  ['configMap', 'team/plugin', ['ApplicationSet many spec.generators[1].plugin.configMapRef.name']],
  [
    'configMap',
    'team/settings',
    [
      'ClusterPolicy signed spec.rules[0].context[0].configMap.name',
      'Policy own spec.rules[0].context[0].configMap.name',
    ],
  ],
  [
    'kyvernoGlobalContextEntry',
    'all-deployments',
    ['ClusterPolicy signed spec.rules[0].context[1].globalReference.name'],
  ],
  ['secret', 'team/pull', ['ClusterPolicy signed spec.rules[0].generate.clone.name']],
  [
    'secret',
    'kyverno/registry',
    ['ClusterPolicy signed spec.rules[0].verifyImages[0].imageRegistryCredentials.secrets[0]'],
  ],
  [
    'secret',
    'team/signing',
    ['ClusterPolicy signed spec.rules[0].verifyImages[0].attestors[0].entries[0].keys.secret.name'],
  ],
  [
    'secret',
    'team/static',
    ['ClusterPolicy signed spec.rules[0].verifyImages[0].attestors[0].entries[1].keys.publicKeys'],
  ],
  ['kyvernoClusterPolicy', 'signed', ['PolicyException except spec.exceptions[0].policyName']],
  ['kyvernoPolicy', 'team/own', ['PolicyException except spec.exceptions[1].policyName']],
  [
    'metallbIoIpAddressPool',
    'metallb-system/first',
    [
      'BGPAdvertisement selected spec.ipAddressPoolSelectors[0]',
      'L2Advertisement everything spec.ipAddressPoolSelectors[*]',
      'Service web metadata.annotations["metallb.io/ip-allocated-from-pool"]',
    ],
  ],
  [
    'metallbIoIpAddressPool',
    'metallb-system/second',
    [
      'L2Advertisement everything spec.ipAddressPoolSelectors[*]',
      'L2Advertisement named spec.ipAddressPools[0]',
    ],
  ],
  ['metallbIoBgpPeer', 'metallb-system/router', ['BGPAdvertisement selected spec.peers[0]']],
  ['metallbIoBfdProfile', 'metallb-system/fast', ['BGPPeer router spec.bfdProfile']],
  ['secret', 'team/peer', ['BGPPeer router spec.passwordSecret.name']],
  [
    'service',
    'team/web',
    [
      'Ingress web spec.defaultBackend.service.name',
      'ServiceMonitor web spec.selector',
      'HTTPProxy root spec.routes[0].services[0].name',
    ],
  ],
  ['service', 'team/auth', ['ExtensionService checks spec.services[0].name']],
  [
    'secret',
    'shared/wildcard',
    [
      'HTTPProxy root spec.virtualhost.tls.secretName',
      'TLSCertificateDelegation wildcard spec.delegations[0].secretName',
    ],
  ],
  ['secret', 'team/tls', ['HTTPProxy root spec.virtualhost.tls.clientValidation.caSecret']],
  ['projectcontourIoHttpProxy', 'shared/part', ['HTTPProxy root spec.includes[0].name']],
  [
    'projectcontourIoExtensionService',
    'team/checks',
    [
      'ContourConfiguration contour spec.rateLimitService.extensionService.name',
      'HTTPProxy root spec.virtualhost.authorization.extensionRef.name',
    ],
  ],
  ['monitoringServiceMonitor', 'team/web', ['Prometheus main spec.serviceMonitorSelector']],
  ['secret', 'team/agent', ['PrometheusAgent agent spec.remoteWrite[0].basicAuth.password.name']],
  ['secret', 'team/ruler', ['ThanosRuler ruler spec.queryConfig.name']],
  ['secret', 'team/probe', ['ScrapeConfig scrape spec.basicAuth.password.name']],
  [
    'secret',
    'team/slack',
    ['AlertmanagerConfig alerts spec.receivers[0].slackConfigs[0].apiURL.name'],
  ],
  [
    'secret',
    'team/basic',
    [
      'AlertmanagerConfig alerts spec.receivers[1].webhookConfigs[0].httpConfig.basicAuth.password.name',
    ],
  ],
  ['secret', 'team/unused', []],
  ['configMap', 'team/unused', []],
]

const pluralOf = (kind: string): string => {
  const lower = kind.toLowerCase()
  if (lower.endsWith('y')) return `${lower.slice(0, -1)}ies`
  return `${lower}${/[sx]$/.test(lower) ? 'es' : 's'}`
}

describeClusters('what uses an object of operators, as their projects install them', (cluster) => {
  let gateway: ServedGateway
  it('they are installed', async () => {
    for (const [group, version, kinds] of definitions) {
      for (const written of kinds.split(' ')) {
        const kind = written.replace('*', '')
        const properties = described[kind]
        const form = versionOf(version, properties ?? {})
        if (properties === undefined) form.schema.openAPIV3Schema.properties.spec = open
        const scope = written.endsWith('*') ? 'Cluster' : 'Namespaced'
        const plural = pluralOf(kind)
        const names = { plural, kind }
        const definition = definitionOf(kind, group, [form], { scope, names })
        await define(cluster(), { ...definition, metadata: { name: `${plural}.${group}` } })
      }
    }
    for (const name of ['metallb-system', 'cert-manager', 'kyverno', 'team', 'shared'])
      await must(cluster(), '/api/v1/namespaces', { method: 'POST', body: { metadata: { name } } })
    for (const one of [...own, ...controllers]) await make(...one)
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster().selection }] })
    const { pools } = await gateway.data('{ pools: metallbIoIpAddressPools { totalCount } }')
    expect(pools).toEqual({ totalCount: 2 })
  }, 120_000)
  afterAll(async () => gateway?.[Symbol.asyncDispose]())

  const make = async (...[resource, place, body = {}, metadata = {}]: Made): Promise<void> => {
    const [apiVersion = '', plural = ''] = resource.split(' ')
    const [name = '', namespace] = place.split('/').toReversed()
    const group = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    const path = `${group}/${namespace === undefined ? '' : `namespaces/${namespace}/`}${plural}`
    let kind: string | undefined
    const served = async () => {
      const { resources = [] }: Fields = (await cluster().request(group)).json()
      kind = resources.find((one: Fields) => one.name === plural)?.kind
      return kind !== undefined
    }
    await expect.poll(served, { timeout: 20_000, message: resource }).toBe(true)
    const object = { apiVersion, kind, metadata: { name, ...metadata }, ...body }
    await must(cluster(), path, { method: 'POST', body: object })
  }

  it.each(uses)('%s %s', async (lookup, place, users) => {
    const [name = '', namespace] = place.split('/').toReversed()
    const where = namespace === undefined ? '' : `namespace: "${namespace}", `
    const { found } = await gateway.data(
      `{ found: ${lookup}(${where}name: "${name}") { usedBy { nodes { object { kind name } paths } } } }`,
    )
    expect(
      found.usedBy.nodes.map(
        ({ object, paths }: Fields) => `${object.kind} ${object.name} ${paths.join(' ')}`,
      ),
    ).toEqual(users)
  })
})

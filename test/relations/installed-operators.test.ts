import { afterAll, expect, it } from 'vitest'
import { define, definitionOf, versionOf } from '../gateway/definitions.ts'
import { describeClusters, type Fields, must } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { controllers, definitions, described, type Made, own } from './installed-objects.ts'

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
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
    await expect.poll(served, { timeout: 60_000, message: resource }).toBe(true)
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

import { describe, expect, it } from 'vitest'
import { capturedResources, resourceOf } from './captured-cluster.ts'
import { builtIns, schemaOf, withBuiltIns } from './served-schema.ts'

const rows = [
  ['', 'Pod', 'pods', 'Pod', 'pods', 'pod'],
  ['', 'Endpoints', 'endpoints', 'Endpoints', 'endpointsList', 'endpoints'],
  [
    '',
    'ComponentStatus',
    'componentstatuses',
    'ComponentStatus',
    'componentStatuses',
    'componentStatus',
  ],
  [
    'networking.k8s.io',
    'NetworkPolicy',
    'networkpolicies',
    'NetworkPolicy',
    'networkPolicies',
    'networkPolicy',
  ],
  ['networking.k8s.io', 'Ingress', 'ingresses', 'Ingress', 'ingresses', 'ingress'],
  [
    'networking.k8s.io',
    'ServiceCIDR',
    'servicecidrs',
    'ServiceCIDR',
    'serviceCidrs',
    'serviceCidr',
  ],
  ['networking.k8s.io', 'IPAddress', 'ipaddresses', 'IPAddress', 'ipAddresses', 'ipAddress'],
  ['storage.k8s.io', 'CSIDriver', 'csidrivers', 'CSIDriver', 'csiDrivers', 'csiDriver'],
  [
    'apiregistration.k8s.io',
    'APIService',
    'apiservices',
    'APIService',
    'apiServices',
    'apiService',
  ],
  ['gateway.networking.k8s.io', 'HTTPRoute', 'httproutes', 'HTTPRoute', 'httpRoutes', 'httpRoute'],
  [
    'gateway.networking.k8s.io',
    'GatewayClass',
    'gatewayclasses',
    'GatewayClass',
    'gatewayClasses',
    'gatewayClass',
  ],
  ['metrics.k8s.io', 'PodMetrics', 'pods', 'PodMetrics', 'podMetricsList', 'podMetrics'],
  ['metrics.k8s.io', 'NodeMetrics', 'nodes', 'NodeMetrics', 'nodeMetricsList', 'nodeMetrics'],
  [
    'snapshot.storage.k8s.io',
    'VolumeSnapshot',
    'volumesnapshots',
    'VolumeSnapshot',
    'volumeSnapshots',
    'volumeSnapshot',
  ],
  [
    'cert-manager.io',
    'Certificate',
    'certificates',
    'CertManagerCertificate',
    'certManagerCertificates',
    'certManagerCertificate',
  ],
  [
    'acme.cert-manager.io',
    'Order',
    'orders',
    'CertManagerAcmeOrder_',
    'certManagerAcmeOrders_',
    'certManagerAcmeOrder_',
  ],
  ['', 'PodsPage', 'podspages', 'PodsPage_', 'podsPages_', 'podsPage_'],
  ['', 'PodFacet', 'podfacets', 'PodFacet_', 'podFacets_', 'podFacet_'],
  [
    'argoproj.io',
    'Application',
    'applications',
    'ArgoApplication',
    'argoApplications',
    'argoApplication',
  ],
  [
    'image.toolkit.fluxcd.io',
    'ImagePolicy',
    'imagepolicies',
    'FluxImageImagePolicy',
    'fluxImageImagePolicies',
    'fluxImageImagePolicy',
  ],
  [
    'cluster.x-k8s.io',
    'Cluster',
    'clusters',
    'ClusterApiCluster',
    'clusterApiClusters',
    'clusterApiCluster',
  ],
  [
    'stable.example.com',
    'Widget',
    'widgets',
    'StableExampleComWidget',
    'stableExampleComWidgets',
    'stableExampleComWidget',
  ],
  [
    '3scale.net',
    'Backend',
    'backends',
    '_x33_scaleNetBackend',
    '_x33_scaleNetBackends',
    '_x33_scaleNetBackend',
  ],
  [
    'example.com',
    'VirtualMatrix',
    'virtualmatrices',
    'ExampleComVirtualMatrix',
    'exampleComVirtualMatrices',
    'exampleComVirtualMatrix',
  ],
  ['example.com', 'Sheep', 'sheep', 'ExampleComSheep', 'exampleComSheepList', 'exampleComSheep'],
  ['example.com', 'Thing', 'stuff', 'ExampleComThing', 'exampleComThings', 'exampleComThing'],
  [
    'example.com',
    'my-kind',
    'my-kinds',
    'ExampleComMy_x2D_kind',
    'exampleComMy_x2D_kinds',
    'exampleComMy_x2D_kind',
  ],
] as const

describe('names of kinds', async () => {
  const { schema } = await schemaOf({
    resources: rows.map(([group, kind, resource]) => resourceOf(group, kind, { resource })),
    openapi: {},
  })
  const fields = schema.getQueryType()?.getFields() ?? {}

  it.each(rows)('%s %s (%s)', (_group, _kind, _resource, type, list, lookup) => {
    expect(String(fields[list]?.type)).toBe(`${type}Connection`)
    expect(String(fields[lookup]?.type)).toBe(type)
  })

  it('begin with the alias that the user has configured', async () => {
    const apis = { resources: [resourceOf('stable.example.com', 'Widget')], openapi: {} }
    const stable = await schemaOf(apis, { aliases: { 'stable.example.com': 'Stable' } })
    expect(stable.schema.getType('StableWidget')).toBeDefined()
    const plain = await schemaOf(apis, { aliases: { 'stable.example.com': '' } })
    expect(plain.schema.getQueryType()?.getFields()).toHaveProperty('widgets')
  })

  it('do not double the prefix of a kind that begins with that of its group', async () => {
    const resources = [
      resourceOf('cilium.io', 'CiliumEndpoint'),
      resourceOf('argoproj.io', 'ArgoCD'),
      resourceOf('argoproj.io', 'Argonaut'),
      resourceOf('stable.example.com', 'PodMetrics'),
      resourceOf('networking.istio.io', 'IstioSecurityPolicy'),
    ]
    const aliases = { 'stable.example.com': 'Pod' }
    const { schema: short, problems } = await schemaOf({ resources, openapi: {} }, { aliases })
    expect(problems).toEqual([])
    const root = short.getQueryType()?.getFields()
    expect(root).toHaveProperty('ciliumEndpoints')
    expect(root).toHaveProperty('ciliumEndpoint')
    expect(short.getType('CiliumEndpoint')).toBeDefined()
    expect(short.getType('CiliumCiliumEndpoint')).toBeUndefined()
    expect(short.getType('ArgoCD')).toBeDefined()
    // No word of its name.
    expect(short.getType('ArgoArgonaut')).toBeDefined()
    // These are names of other kinds, whether or not the cluster serves them.
    expect(short.getType('PodPodMetrics')).toBeDefined()
    expect(short.getType('IstioIstioSecurityPolicy')).toBeDefined()
  })

  it('double the prefix where the short name is that of another kind of the group', async () => {
    const resources = ['Endpoint', 'CiliumEndpoint', 'CiliumNode'].map((kind) =>
      resourceOf('cilium.io', kind),
    )
    const { schema: doubled, problems } = await schemaOf({ resources, openapi: {} })
    expect(problems).toEqual([])
    expect(Object.keys(doubled.getQueryType()?.getFields() ?? {})).toEqual(
      expect.arrayContaining(['ciliumEndpoints', 'ciliumCiliumEndpoints', 'ciliumNodes']),
    )
  })

  it('refuse an alias that cannot begin a name', async () => {
    const refused = schemaOf(builtIns, { aliases: { 'example.com': '9lives' } })
    await expect(refused).rejects.toMatchObject({ code: 'GROUP_ALIAS' })
  })
})

describe('the kinds of a schema', () => {
  it('leave out one of two kinds with the same name, and say so', async () => {
    const resources = [resourceOf('example.com', 'Pod'), ...capturedResources]
    const options = { aliases: { 'example.com': '' } }
    const { schema, problems } = await schemaOf({ ...builtIns, resources }, options)
    expect(schema.getQueryType()?.getFields()['pods']?.description).toBe('Lists pods of v1.')
    expect(problems).toEqual([
      {
        code: 'KIND_NAME',
        message: 'Pod of example.com/v1 is left out: Pod of v1 has the name Pod',
        hint: 'configure an alias for the API group example.com',
      },
    ])
  })

  it('cannot be left without a cache where there are none, which is said', async () => {
    const uncached = ['Pod', 'apps/Deployment', 'apps/Pod']
    const { problems } = await schemaOf(builtIns, { uncached })
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('apps/Pod')])
  })

  it('are those that can be listed; core Events stand for those of events.k8s.io', async () => {
    const { schema, problems } = await schemaOf(withBuiltIns({ resources: [], openapi: {} }))
    expect(problems).toEqual([])
    const described = Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap(
      ({ description }) => /^Lists (\S+ of \S+)\.$/.exec(description ?? '')?.[1] ?? [],
    )
    const served = capturedResources
      .filter(({ group, verbs = [] }) => verbs.includes('list') && group !== 'events.k8s.io')
      .map(({ resource, group }) => `${resource} of ${group}`)
    expect(new Set(described.map((one) => one.replace(/\/?v\d+$/, '')))).toEqual(new Set(served))
  })
})

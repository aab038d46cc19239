import { describe, expect, it } from 'vitest'
import { GroupAliasError } from '../../src/graphql/naming/api-groups.ts'
import { namesOfKind } from '../../src/graphql/naming/kind-name.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { KindNameError, ResourceVersionError } from '../../src/graphql/model/select-resources.ts'
import { capturedOpenApi, capturedResources, resourceOf } from './captured-cluster.ts'

const names = (group: string, kind: string, resource: string): readonly string[] => {
  const { typeName, listField, lookupField } = namesOfKind({ group, kind, resource })
  return [typeName, listField, lookupField]
}

const build = (options: Partial<Parameters<typeof buildSchemaModel>[0]>) =>
  buildSchemaModel({ resources: capturedResources, openapi: capturedOpenApi, ...options })

describe('names of kinds', () => {
  it.each([
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
    [
      'gateway.networking.k8s.io',
      'HTTPRoute',
      'httproutes',
      'HTTPRoute',
      'httpRoutes',
      'httpRoute',
    ],
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
  ])('%s %s (%s)', (group, kind, resource, ...expected) => {
    expect(names(group, kind, resource)).toEqual(expected)
  })

  it('begin with the alias that the user has configured', () => {
    const widget = { group: 'stable.example.com', kind: 'Widget', resource: 'widgets' }
    expect(namesOfKind(widget, { 'stable.example.com': 'Stable' }).typeName).toBe('StableWidget')
    expect(namesOfKind(widget, { 'stable.example.com': '' }).listField).toBe('widgets')
  })

  it('refuse an alias that cannot begin a name', () => {
    expect(() => build({ aliases: { 'example.com': '9lives' } })).toThrow(GroupAliasError)
  })
})

describe('the kinds of a model', () => {
  it('leave out one of two kinds with the same name, and say so', () => {
    const resources = [resourceOf('example.com', 'Pod'), ...capturedResources]
    const model = build({ resources, aliases: { 'example.com': '' } })
    expect(model.kindOfType('Pod')?.resource.group).toBe('')
    expect(model.problems).toHaveLength(1)
    expect(model.problems[0]).toBeInstanceOf(KindNameError)
    expect(model.problems[0]).toMatchObject({
      code: 'KIND_NAME',
      message: 'Pod of example.com/v1 is left out: Pod of v1 has the name Pod',
      hint: 'configure an alias for the API group example.com',
    })
  })

  it('have the same names whatever else is installed', () => {
    const few = capturedResources.filter(({ kind }) => ['Pod', 'StatefulSet'].includes(kind))
    for (const { resource, typeName, listField } of build({ resources: few }).kinds)
      expect(build({}).kindOf(resource.group, resource.kind)).toMatchObject({ typeName, listField })
  })

  it('come in the preferred version, or in the configured one', () => {
    const autoscaler = (versions: Record<string, string>): string | undefined =>
      build({ versions }).kindOf('autoscaling', 'HorizontalPodAutoscaler')?.apiVersion
    expect(autoscaler({})).toBe('autoscaling/v2')
    expect(autoscaler({ 'horizontalpodautoscalers.autoscaling': 'v1' })).toBe('autoscaling/v1')
    const [problem] = build({ versions: { 'deployments.apps': 'v1beta1' } }).problems
    expect(problem).toBeInstanceOf(ResourceVersionError)
    expect(problem).toMatchObject({ value: 'v1beta1', hint: 'there are v1' })
  })

  it('have no cache where that is configured, by group and kind', () => {
    const model = build({ uncached: ['Pod', 'apps/Deployment', 'apps/Pod'] })
    expect(model.kindOf('', 'Pod')).toMatchObject({ uncached: true })
    expect(model.kindOf('apps', 'Deployment')).toMatchObject({ uncached: true })
    expect(model.kindOf('apps', 'ReplicaSet')).toMatchObject({ uncached: false })
    expect(model.problems).toContainEqual(
      expect.objectContaining({ code: 'UNCACHED_KIND', value: 'apps/Pod' }),
    )
  })

  it('let core Events stand for those of events.k8s.io', () => {
    const model = build({})
    expect(model.kindOf('events.k8s.io', 'Event')).toBe(model.kindOfType('Event'))
    expect(model.kindOfType('Event')?.apiVersion).toBe('v1')
  })

  it('are those that can be listed; what cannot be watched has no cache', () => {
    expect(build({}).kindOf('', 'ComponentStatus')).toMatchObject({ uncached: true })
    expect(build({}).kindOf('', 'Pod')).toMatchObject({ uncached: false })
    expect(build({}).kindOf('authentication.k8s.io', 'TokenReview')).toBeUndefined()
  })
})

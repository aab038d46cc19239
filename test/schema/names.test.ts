import { isObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { nestedTypeName } from '../../src/graphql/naming/nested-name.ts'
import { createSchema } from '../../src/graphql/schema/create-schema.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { namesOfKind } from '../../src/graphql/naming/kind-name.ts'
import { capturedOpenApi, capturedResources } from './captured-cluster.ts'

const model = buildSchemaModel({ resources: capturedResources, openapi: capturedOpenApi })
const schema = createSchema(model)
const perKind = /(?:Connection|Edge|Where|Order|Frame|Change|LivePage)$/

// Names are for ever. A line that is gone or has changed breaks clients: only new lines may appear.
describe('all names of Kubernetes 1.36', () => {
  it('of kinds, those that cannot be watched included', async () => {
    const lines = capturedResources.map((resource) => {
      const { typeName, listField, lookupField } = namesOfKind(resource)
      const { group, version, resource: plural } = resource
      return `${group}/${version} ${plural}: ${typeName} ${listField} ${lookupField}`
    })
    await expect(lines.toSorted().join('\n')).toMatchFileSnapshot('__snapshots__/kinds.txt')
  })

  it('of types', async () => {
    const names = Object.keys(schema.getTypeMap()).filter(
      (name) => !name.startsWith('__') && !perKind.test(name),
    )
    await expect(names.toSorted().join('\n')).toMatchFileSnapshot('__snapshots__/types.txt')
  })

  it('of root fields', async () => {
    const names = Object.keys(schema.getQueryType()?.getFields() ?? {})
    await expect(names.toSorted().join('\n')).toMatchFileSnapshot('__snapshots__/root-fields.txt')
  })
})

describe('nested types', () => {
  it.each([
    ['core', 'EndpointPort', 'EndpointPort'],
    ['discovery', 'EndpointPort', 'DiscoveryEndpointPort'],
    ['rbac', 'Subject', 'Subject'],
    ['flowcontrol', 'Subject', 'FlowcontrolSubject'],
    ['admissionregistration', 'ServiceReference', 'ServiceReference'],
    ['apiregistration', 'ServiceReference', 'ApiregistrationServiceReference'],
  ])('of two groups with one name: %s %s is %s, whichever is served', (label, name, expected) => {
    expect(nestedTypeName(label, name, [])).toBe(expected)
    expect(nestedTypeName(label, name, ['aaa', 'core', 'zzz'])).toBe(expected)
  })

  it('give way to kinds, served or not', () => {
    expect(nestedTypeName('core', 'ResourceClaim', [])).toBe('CoreResourceClaim')
    expect(nestedTypeName('scheduling', 'Workload', [])).toBe('SchedulingWorkload')
  })

  it('that a later Kubernetes adds keep their name by the order of groups', () => {
    expect(nestedTypeName('batch', 'Novelty', ['batch', 'storage'])).toBe('Novelty')
    expect(nestedTypeName('storage', 'Novelty', ['batch', 'storage'])).toBe('StorageNovelty')
    expect(nestedTypeName('node', 'Novelty', ['storage', 'node'])).toBe('Novelty')
  })

  it('of a version that is not the highest carry it', () => {
    const versions = { 'horizontalpodautoscalers.autoscaling': 'v1' }
    const old = createSchema(
      buildSchemaModel({ resources: capturedResources, openapi: capturedOpenApi, versions }),
    )
    const type = old.getType('HorizontalPodAutoscaler')
    expect(isObjectType(type) && String(type.getFields()['spec']?.type)).toBe(
      'HorizontalPodAutoscalerSpecV1',
    )
  })
})

// Imports internals: thousands of names are encoded and decoded, and names of types that no cluster serves yet.
import { describe, expect, it } from 'vitest'
import { nestedTypeName } from '../../src/graphql/naming/nested-name.ts'
import { graphqlNameOf } from '../../src/graphql/naming/kind-name.ts'

/** The JSON name of a field: the inverse of {@link graphqlNameOf}. */
function jsonNameOf(graphqlName: string): string {
  if (graphqlName === '_x_') return ''
  return graphqlName.replaceAll(/_x([0-9A-F]+)_/g, (_, digits: string) =>
    String.fromCodePoint(Number.parseInt(digits, 16)),
  )
}

describe('field names', () => {
  it.each([
    ['nodeName', 'nodeName'],
    ['_private', '_private'],
    ['max_x', 'max_x'],
    ['$ref', '_x24_ref'],
    ['x-kubernetes-int', 'x_x2D_kubernetes_x2D_int'],
    ['app.kubernetes.io/name', 'app_x2E_kubernetes_x2E_io_x2F_name'],
    ['3d', '_x33_d'],
    ['__typename', '_x5F__typename'],
    ['_-', '_x5F__x2D_'],
    ['a_x2D_b', 'a_x5F_x2D_b'],
    ['größe', 'gr_xF6__xDF_e'],
    ['🚀', '_x1F680_'],
    ['', '_x_'],
    ['_x_', '_x5F_x_'],
  ])('%j is written as %s, and back', (jsonName, graphqlName) => {
    expect(graphqlNameOf(jsonName)).toBe(graphqlName)
    expect(jsonNameOf(graphqlName)).toBe(jsonName)
  })

  it('are one to one, valid, and never begin with two underscores', () => {
    const alphabet = ['_', 'x', '2', 'D', '-', '.', 'a', '$', '_x', '_x2D_', '5F', 'é']
    const names = new Map<string, string>()
    const texts = alphabet.flatMap((a) =>
      alphabet.flatMap((b) =>
        ['', ...alphabet].flatMap((c) => ['', ...alphabet].map((d) => a + b + c + d)),
      ),
    )
    for (const text of new Set(texts)) {
      const name = graphqlNameOf(text)
      expect(name).toMatch(/^(?!__)[_A-Za-z][_A-Za-z0-9]*$/)
      expect(names.get(name) ?? text).toBe(text)
      expect(jsonNameOf(name)).toBe(text)
      names.set(name, text)
    }
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
})

import { isObjectType, printType, validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import {
  capturedOpenApi,
  capturedResources,
  resourceOf,
  type OpenApiSchema,
} from './captured-cluster.ts'
import { schemaOf } from './served-schema.ts'

const text: OpenApiSchema = { type: 'string' }
const metadata: OpenApiSchema = {
  allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
}
const quantityPattern =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'

const widget: OpenApiSchema = {
  type: 'object',
  description: 'Widget is a thing that is made.',
  'x-kubernetes-group-version-kind': [
    { group: 'stable.example.com', version: 'v1', kind: 'Widget' },
  ],
  properties: {
    apiVersion: text,
    kind: text,
    metadata,
    owners: { type: 'array', items: text },
    toString: text,
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', description: 'How large it is.' },
        weight: { type: 'number' },
        count: { type: 'integer', format: 'int32' },
        port: { 'x-kubernetes-int-or-string': true },
        memory: { 'x-kubernetes-int-or-string': true, pattern: quantityPattern },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        anything: { 'x-kubernetes-preserve-unknown-fields': true },
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          properties: { metadata },
        },
        parts: {
          type: 'array',
          items: {
            type: 'object',
            properties: { order: { type: 'object', properties: { id: text } } },
          },
        },
        byName: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { $ref: text } },
        },
        groups: {
          type: 'object',
          additionalProperties: {
            type: 'array',
            items: { type: 'object', properties: { a: text } },
          },
        },
        limits: {
          type: 'object',
          additionalProperties: { 'x-kubernetes-int-or-string': true, pattern: quantityPattern },
        },
        flags: { type: 'object', additionalProperties: { type: 'boolean' } },
        matrix: {
          type: 'array',
          items: { type: 'array', items: { type: 'integer', format: 'int32' } },
        },
        listOfMaps: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: { type: 'object', properties: { a: text } },
          },
        },
        $ref: text,
        'a-b': text,
        'a.b': text,
        a_x2D_b: text,
        '3d': text,
        __typename: text,
        constructor: text,
        type: { type: 'string', format: 'date-time' },
      },
    },
    order: { type: 'object', properties: { id: text } },
  },
}

const resources = [
  ...capturedResources,
  resourceOf('stable.example.com', 'Widget'),
  resourceOf('acme.cert-manager.io', 'Order'),
  resourceOf('bare.example.com', 'Blank', { namespaced: false }),
  resourceOf('tree.example.com', 'Tree'),
]
const openapi = {
  ...capturedOpenApi,
  'apis/stable.example.com/v1': {
    components: { schemas: { 'com.example.stable.v1.Widget': widget } },
  },
  'apis/tree.example.com/v1': {
    components: {
      schemas: {
        'com.example.tree.v1.Tree': {
          type: 'object',
          'x-kubernetes-group-version-kind': [
            { group: 'tree.example.com', version: 'v1', kind: 'Tree' },
          ],
          properties: {
            root: { $ref: '#/components/schemas/com.example.tree.v1.Branch' },
            leaf: { $ref: '#/components/schemas/com.example.tree.v1.Leaf' },
            lost: { $ref: '#/components/schemas/com.example.tree.v1.Missing' },
          },
        },
        'com.example.tree.v1.Branch': {
          type: 'object',
          properties: {
            name: text,
            branches: {
              type: 'array',
              items: { allOf: [{ $ref: '#/components/schemas/com.example.tree.v1.Branch' }] },
            },
          },
        },
        'com.example.tree.v1.Leaf': { type: 'object', properties: { colour: text } },
      },
    },
  },
}
const { schema, problems } = await schemaOf({ resources, openapi })

const fieldsOf = (name: string): Record<string, string> => {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new Error(`${name} is not an object type`)
  return Object.fromEntries(
    Object.entries(type.getFields()).map(([field, { type: of }]) => [field, String(of)]),
  )
}

describe('custom resources', () => {
  it('make a valid schema', () => {
    expect(problems).toEqual([])
    expect(validateSchema(schema)).toEqual([])
  })

  it('have their nested types named by path', () => {
    expect(fieldsOf('StableExampleComWidgetSpec')).toEqual({
      size: 'Int64',
      weight: 'Float',
      count: 'Int',
      port: 'IntOrString',
      memory: 'Quantity',
      free: 'JSON',
      anything: 'JSON',
      template: 'StableExampleComWidgetSpecTemplate',
      parts: '[StableExampleComWidgetSpecParts]',
      byName: '[StableExampleComWidgetSpecByNameEntry!]',
      groups: '[StableExampleComWidgetSpecGroupsListEntry!]',
      limits: 'QuantityMap',
      flags: 'JSON',
      matrix: '[[Int]]',
      // The values of `groups` and those of these maps are of one structure.
      listOfMaps: '[[StableExampleComWidgetSpecGroupsEntry!]]',
      _x24_ref: 'String',
      a_x2D_b: 'String',
      a_x2E_b: 'String',
      a_x5F_x2D_b: 'String',
      _x33_d: 'String',
      _x5F__typename: 'String',
      constructor: 'String',
      type: 'DateTime',
    })
    expect(fieldsOf('StableExampleComWidgetSpecParts')).toEqual({
      order: 'StableExampleComWidgetOrder_',
    })
    expect(fieldsOf('StableExampleComWidgetSpecTemplate')).toEqual({
      metadata: 'EmbeddedObjectMeta',
    })
  })

  it('meet reserved names with a trailing underscore', () => {
    expect(fieldsOf('StableExampleComWidget')).toMatchObject({
      order: 'StableExampleComWidgetOrder_',
    })
    expect(fieldsOf('Query')).toMatchObject({
      certManagerAcmeOrders_: 'CertManagerAcmeOrder_Connection',
      certManagerAcmeOrder_: 'CertManagerAcmeOrder_',
    })
  })

  it('carry the descriptions that the server sends', () => {
    expect(printType(schema.getType('StableExampleComWidget')!)).toContain(
      'Widget is a thing that is made.',
    )
    expect(printType(schema.getType('StableExampleComWidgetSpec')!)).toContain(
      '"""How large it is."""',
    )
  })

  it("lose to the gateway's own fields, which every kind has", () => {
    expect(fieldsOf('StableExampleComWidget')).toMatchObject({ owners: '[KubernetesObject!]' })
  })

  it('without a schema have the common fields', () => {
    const common = [
      'id',
      'nameId',
      'clusterName',
      'cluster',
      'apiVersion',
      'kind',
      'metadata',
      'name',
      'namespace',
      'uid',
      'creationTimestamp',
      'labels',
      'json',
      'health',
      'printerColumns',
      'owners',
      'ownerChain',
      'rootOwner',
      'managedBy',
      'can',
      'history',
      'owned',
      'usedBy',
      'events',
      'helmRelease',
      'admissionPolicyBindings',
      'instanceObjects',
      'partOfObjects',
    ]
    expect(Object.keys(fieldsOf('BareExampleComBlank'))).toEqual(common)
  })

  it('whose schema contains itself are JSON from there on', () => {
    expect(fieldsOf('TreeExampleComTree')).toMatchObject({
      root: 'JSON',
      leaf: 'TreeExampleComLeaf',
      lost: 'JSON',
    })
  })
})

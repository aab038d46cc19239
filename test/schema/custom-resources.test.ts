import { graphqlSync, isObjectType, printType, validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { createSchema } from '../../src/graphql/schema/create-schema.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import {
  capturedOpenApi,
  capturedResources,
  resourceOf,
  type OpenApiSchema,
} from './captured-cluster.ts'
import { fixedReader } from './fixed-reader.ts'

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
const model = buildSchemaModel({ resources, openapi })
const schema = createSchema(model)

const fieldsOf = (name: string): Record<string, string> => {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new Error(`${name} is not an object type`)
  return Object.fromEntries(
    Object.entries(type.getFields()).map(([field, { type: of }]) => [field, String(of)]),
  )
}

describe('custom resources', () => {
  it('make a valid schema', () => {
    expect(model.problems).toEqual([])
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
      listOfMaps: '[[StableExampleComWidgetSpecListOfMapsEntry!]]',
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
      order: 'StableExampleComWidgetSpecPartsOrder_',
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
      'clusterName',
      'cluster',
      'apiVersion',
      'kind',
      'metadata',
      'json',
      'health',
      'printerColumns',
      'owners',
      'ownerChain',
      'rootOwner',
      'can',
      'owned',
      'events',
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

  it('are answered with their own values, whatever their names', () => {
    const object = {
      apiVersion: 'stable.example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'shop', uid: 'u1', labels: { constructor: 'yes' } },
      owners: ['someone'],
      spec: {
        size: JSON.parse(
          '[9007199254740993]',
          (_key, value: unknown, context?: { source?: string }) =>
            typeof value === 'number'
              ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(
                  context?.source ?? '',
                )
              : value,
        )[0] as unknown,
        weight: 1.5,
        port: 'http',
        memory: '1Gi',
        free: { a: { b: [1, null] } },
        parts: [{ order: { id: 'p1' } }, null],
        byName: { one: { $ref: 'r1' }, two: {} },
        groups: { g: [{ a: 'x' }] },
        listOfMaps: [{ k: { a: 'y' } }, null],
        $ref: 'dollar',
        'a-b': 'dash',
        'a.b': 'dot',
        a_x2D_b: 'literal',
        '3d': 'digit',
        __typename: 'underscores',
      },
    }
    const { context } = fixedReader(model, [object])
    const source = `{
      stableExampleComWidget(namespace: "shop", name: "w") {
        __typename owners { id } json(path: "owners") missing: json(path: "status.phase") toString
        metadata { name label(key: "constructor") other: label(key: "toString") annotation(key: "a") }
        spec {
          size weight port memory free anything matrix parts { order { id } }
          byName { key value { _x24_ref } } groups { key value { a } } listOfMaps { key value { a } }
          _x24_ref a_x2D_b a_x2E_b a_x5F_x2D_b _x33_d _x5F__typename constructor
        }
      }
    }`
    const result = graphqlSync({ schema, source, contextValue: context })
    expect(result.errors).toBeUndefined()
    expect(JSON.stringify(result.data)).toBe(
      JSON.stringify({
        stableExampleComWidget: {
          __typename: 'StableExampleComWidget',
          owners: [],
          json: ['someone'],
          missing: null,
          toString: null,
          metadata: { name: 'w', label: 'yes', other: null, annotation: null },
          spec: {
            size: 'SIZE',
            weight: 1.5,
            port: 'http',
            memory: '1Gi',
            free: { a: { b: [1, null] } },
            anything: null,
            matrix: null,
            parts: [{ order: { id: 'p1' } }, null],
            byName: [
              { key: 'one', value: { _x24_ref: 'r1' } },
              { key: 'two', value: { _x24_ref: null } },
            ],
            groups: [{ key: 'g', value: [{ a: 'x' }] }],
            listOfMaps: [[{ key: 'k', value: { a: 'y' } }], null],
            _x24_ref: 'dollar',
            a_x2D_b: 'dash',
            a_x2E_b: 'dot',
            a_x5F_x2D_b: 'literal',
            _x33_d: 'digit',
            _x5F__typename: 'underscores',
            constructor: null,
          },
        },
      }).replace('"SIZE"', '9007199254740993'),
    )
  })
})

import { rawJson } from '../support/raw-json.ts'
import type { Fields } from './test-cluster.ts'

/** A custom kind of some shape, and an object of it. */
export interface DefinedShape {
  readonly kind: string
  readonly group: string
  /** Of the version that is stored. */
  readonly version: string
  readonly definition: Fields
  /** What its object has besides `apiVersion`, `kind` and `metadata`. */
  readonly content: Fields
}

const string = { type: 'string' }
const integer = { type: 'integer' }
const number = { type: 'number' }
const boolean = { type: 'boolean' }
const anything = { 'x-kubernetes-preserve-unknown-fields': true }
const intOrString = {
  'x-kubernetes-int-or-string': true,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
}
const object = (properties: Fields, more: Fields = {}): Fields => ({
  type: 'object',
  properties,
  ...more,
})
const list = (items: Fields, more: Fields = {}): Fields => ({ type: 'array', items, ...more })
const map = (values: Fields): Fields => ({ type: 'object', additionalProperties: values })

/** Objects one in the other. */
const nested = (depth: number): Fields =>
  depth === 0
    ? object({ value: integer })
    : object({ [`level${depth}`]: nested(depth - 1), name: string })
const nestedValue = (depth: number): Fields =>
  depth === 0
    ? { value: rawJson('9223372036854775807') }
    : { [`level${depth}`]: nestedValue(depth - 1), name: `at ${depth}` }

interface ShapeOptions {
  readonly group?: string
  readonly scope?: 'Namespaced' | 'Cluster'
  /** Top-level properties; `content` is then the object's, too. */
  readonly top?: boolean
  readonly version?: Fields
  readonly otherVersions?: readonly Fields[]
  readonly plural?: string
}

const shape = (
  kind: string,
  properties: Fields,
  content: Fields,
  options: ShapeOptions = {},
): DefinedShape => {
  const { group = 'shapes.example.com', scope = 'Namespaced', otherVersions = [] } = options
  const plural = options.plural ?? `${kind.toLowerCase()}s`
  const status = object({}, anything)
  const top = options.top === true ? properties : { spec: object(properties), status }
  const schema = (own: Fields): Fields => ({ openAPIV3Schema: object(own) })
  return {
    kind,
    group,
    version: 'v1',
    content: options.top === true ? content : { spec: content },
    definition: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope,
        names: { plural, kind },
        versions: [
          { name: 'v1', served: true, storage: true, schema: schema(top), ...options.version },
          ...otherVersions.map((one) => ({
            served: true,
            storage: false,
            schema: schema(top),
            ...one,
          })),
        ],
      },
    },
  }
}

const large = rawJson('9007199254740993')
const least = rawJson('-9223372036854775808')

const oddNames = [
  '$ref',
  '$schema',
  '1st',
  '3d',
  'a-b',
  'a.b',
  'a_b',
  'a/b',
  '_',
  '__typename',
  '__schema',
  '_x2D_',
  'on',
  'true',
  'null',
  'fragment',
  'type',
  'id',
  'kind',
  'metadata',
  'json',
  'ünïcode',
  'with space',
  '@type',
  'constructor',
  'toString',
  'hasOwnProperty',
]

/** Kinds whose names mean something to GraphQL, or to the gateway. */
const clashing = [
  'Query',
  'Mutation',
  'Subscription',
  'String',
  'Int',
  'Boolean',
  'ID',
  'JSON',
  'Node',
  'Pod',
  'Event',
  'Namespace',
  'PageInfo',
  'ObjectRef',
  'Order',
  'Where',
  'Frame',
  'PodConnection',
  'WidgetWhere',
  'Cluster',
  'Facet',
]

const conditions = list(
  object(
    {
      type: string,
      status: string,
      lastTransitionTime: { type: 'string', format: 'date-time' },
    },
    { required: ['type'] },
  ),
  { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
)

/** The shapes that the definitions of well-known projects have. */
export const definedShapes: readonly DefinedShape[] = [
  shape('Deep', { root: nested(14) }, { root: nestedValue(14) }),
  shape(
    'Numbers',
    {
      small: { ...integer, format: 'int32' },
      big: { ...integer, format: 'int64' },
      plain: integer,
      float: { ...number, format: 'float' },
      double: { ...number, format: 'double' },
      bigs: list({ ...integer, format: 'int64' }),
    },
    { small: -1, big: large, plain: least, float: 1.5, double: 0.1, bigs: [large, least, 0] },
    { plural: 'numbers' },
  ),
  shape(
    'Port',
    { port: intOrString, ports: list(intOrString), byName: map(intOrString) },
    { port: 'http', ports: [80, 'https'], byName: { a: 1, b: '50%' } },
  ),
  shape(
    'Free',
    { known: string, free: object({}, anything), any: anything },
    { known: 'a', free: { x: [1, { y: large }] }, any: [true, null, 'z'] },
  ),
  shape(
    'Whole',
    { anything: object({ name: string }, anything) },
    { anything: { name: 'n', more: { than: { that: 1.25 } } } },
  ),
  shape(
    'Template',
    {
      template: object({}, { ...anything, 'x-kubernetes-embedded-resource': true }),
      templates: list(object({}, { ...anything, 'x-kubernetes-embedded-resource': true })),
    },
    {
      template: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'inner' },
        data: { key: 'value' },
      },
      templates: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'other' } }],
    },
  ),
  shape(
    'Rule',
    { min: integer, max: integer, name: { ...string, maxLength: 63, pattern: '^[a-z]+$' } },
    { min: 1, max: 2, name: 'abc' },
    {},
  ),
  shape(
    'Choice',
    {
      mode: { ...string, enum: ['On', 'Off', ''] },
      maybe: { ...string, nullable: true },
      given: { ...string, default: 'given' },
      one: object({ a: string, b: string }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
      not: object({ c: string }, { not: { required: ['d'] } }),
    },
    { mode: 'On', maybe: null, one: { a: 'x' }, not: { c: 'y' } },
  ),
  shape(
    'Map',
    {
      texts: map(string),
      counts: map(integer),
      flags: map(boolean),
      objects: map(object({ name: string, more: map(string) })),
      lists: map(list(string)),
      maps: map(map(object({ value: integer }))),
      frees: map(object({}, anything)),
    },
    {
      texts: { a: 'b', 'c.d/e': '' },
      counts: { big: large },
      flags: { yes: true },
      objects: { 'x/y': { name: 'n', more: { k: 'v' } } },
      lists: { l: ['1', '2'] },
      maps: { outer: { inner: { value: 7 } } },
      frees: { f: { any: [1] } },
    },
  ),
  shape(
    'Lists',
    {
      matrix: list(list(integer)),
      set: list(string, { 'x-kubernetes-list-type': 'set' }),
      conditions,
      objects: list(object({ rows: list(object({ cell: string })) })),
    },
    {
      matrix: [[1, 2], [], [3]],
      set: ['a', 'b'],
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-02T03:04:05Z' }],
      objects: [{ rows: [{ cell: 'c' }, {}] }, {}],
    },
    { plural: 'lists' },
  ),
  shape(
    'Odd',
    Object.fromEntries(oddNames.map((name) => [name, string])),
    Object.fromEntries(oddNames.map((name) => [name, `the ${name}`])),
  ),
  shape(
    'OddObject',
    Object.fromEntries(
      ['$ref', '1st', 'a-b', 'a_b'].map((name) => [name, object({ [name]: integer })]),
    ),
    { $ref: { $ref: 1 }, '1st': { '1st': 2 }, 'a-b': { 'a-b': 3 }, a_b: { a_b: 4 } },
  ),
  shape(
    'Times',
    {
      at: { ...string, format: 'date-time' },
      day: { ...string, format: 'date' },
      bytes: { ...string, format: 'byte' },
      every: { ...string, format: 'duration' },
    },
    { at: '2026-01-02T03:04:05.678901Z', day: '2026-01-02', bytes: 'aGVsbG8=', every: '1h30m' },
    { plural: 'times' },
  ),
  shape(
    'Top',
    {
      data: map(string),
      rules: list(string),
      id: string,
      events: string,
      json: object({ a: integer }),
      owners: list(string),
      namespace: string,
      cluster: integer,
    },
    {
      data: { k: 'v' },
      rules: ['r'],
      id: 'i',
      events: 'e',
      json: { a: 1 },
      owners: ['o'],
      namespace: 'n',
      cluster: 1,
    },
    { top: true },
  ),
  shape(
    'Wide',
    { size: integer, unit: { ...string, enum: ['cm', 'in'] } },
    { size: 5, unit: 'cm' },
    { scope: 'Cluster' },
  ),
  shape(
    'Versioned',
    { size: integer },
    { size: 1 },
    {
      otherVersions: [
        { name: 'v1beta1' },
        { name: 'v1alpha1', deprecated: true, deprecationWarning: 'use v1' },
        { name: 'v2alpha1' },
        { name: 'v0', served: false },
      ],
    },
  ),
  shape('Sheep', { wool: boolean }, { wool: true }, { plural: 'sheep' }),
  shape(
    'Columns',
    { size: integer, ready: boolean, colour: string, at: { ...string, format: 'date-time' } },
    { size: 3, ready: true, colour: 'red', at: '2026-01-02T03:04:05Z' },
    {
      plural: 'columns',
      version: {
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.colour' }],
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          {
            name: 'Ready',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="Ready")].status',
          },
          { name: 'Is Ready', type: 'boolean', jsonPath: '.spec.ready' },
          { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          { name: 'and', type: 'string', jsonPath: '.spec.colour' },
          { name: '3 Colours!', type: 'string', jsonPath: '.spec.colour' },
        ],
      },
    },
  ),
  shape(
    'Large',
    Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`field${at}`, string])),
    { field7: 'seven' },
  ),
  shape(
    'Huge',
    Object.fromEntries(Array.from({ length: 21_000 }, (_, at) => [`f${at}`, boolean])),
    { f7: true },
  ),
  ...clashing.map((kind) =>
    shape(
      kind,
      { name: string, node: string, pods: list(string) },
      { name: 'n', node: 'x', pods: ['p'] },
      { group: 'clash.example.com' },
    ),
  ),
  shape('Order', { url: string }, { url: 'u' }, { group: 'acme.cert-manager.io' }),
  shape(
    'Certificate',
    { issuerRef: object({ name: string, kind: string }) },
    { issuerRef: { name: 'i', kind: 'k' } },
    { group: 'cert-manager.io' },
  ),
  shape(
    'Application',
    { source: object({ helm: object({ values: string, valuesObject: object({}, anything) }) }) },
    { source: { helm: { values: 'a: 1', valuesObject: { a: large } } } },
    { group: 'argoproj.io' },
  ),
].map((one) => (one.kind === 'Rule' ? withRules(one) : one))

/** With a rule in CEL. */
function withRules(one: DefinedShape): DefinedShape {
  const definition = structuredClone(one.definition)
  definition.spec.versions[0].schema.openAPIV3Schema.properties.spec['x-kubernetes-validations'] = [
    { rule: 'self.min <= self.max', message: 'min must not be above max' },
  ]
  return { ...one, definition }
}

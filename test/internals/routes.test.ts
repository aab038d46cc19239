// Imports internals: the routes of every root field, which no answer tells.
import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  getVariableValues,
  OperationTypeNode,
  parse,
} from 'graphql'
import { beforeAll, describe, expect, it } from 'vitest'
import { fieldSourceOf } from '../../src/graphql/schema/field-source.ts'
import { routedFields } from '../../src/graphql/over-gateways/routes.ts'
import type { ServedSchema } from '../../src/graphql/served/served-schema.ts'
import { builtIns, schemaOf } from '../schema/served-schema.ts'

let schema: GraphQLSchema

const holders: Readonly<Record<string, string | null | undefined>> = {
  here: undefined,
  there: 'http://there',
  far: 'http://far',
  lost: null,
}
const labels = { there: { env: 'prod' }, far: { env: 'prod' } } as Record<string, object>

/** As much of a served schema as routes read. */
const served = (): ServedSchema => {
  const names = Object.keys(holders)
  const members = names.map((name) => [
    name,
    {
      name,
      labels: labels[name] ?? {},
      ...(holders[name] !== undefined && { holder: holders[name] }),
    },
  ])
  const clusters = new Map(names.map((name) => [name, {}]))
  return { schema, kinds: new Map(), members: new Map(members as never), clusters } as never
}

const routes = (text: string, variables: Readonly<Record<string, unknown>> = {}) => {
  const document = parse(text)
  const operation = document.definitions.find((one) => one.kind === 'OperationDefinition')
  if (operation === undefined) throw new Error(`no operation in ${text}`)
  const { variableDefinitions = [] } = operation
  const coerced = getVariableValues(schema, variableDefinitions, variables)
  if (coerced.variableValues === undefined) throw new Error(`wrong variables for ${text}`)
  const asked = { served: served(), document, operation, variables: coerced.variableValues }
  return Object.fromEntries(
    routedFields(asked).map(({ key, holders: held }) => [
      key,
      Object.fromEntries(
        [...held].map(([holder = 'here', clusters]) => [holder, clusters.join(' ')]),
      ),
    ]),
  )
}

const valueOf = (type: GraphQLInputType): string => {
  const nullable = getNullableType(type)
  if (isListType(nullable)) return '[]'
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name ?? ''
  if (isInputObjectType(nullable)) return '{}'
  const values: Record<string, string> = {
    Int: '1',
    Boolean: 'true',
    DateTime: '"2026-01-01T00:00:00Z"',
  }
  return values[nullable.name] ?? '"x"'
}

const id = 'there/Pod/shop/web-0'
/** Values that name the cluster `there`, and no other, by argument. */
const naming: Readonly<Record<string, string>> = {
  cluster: '"there"',
  clusters: '["there"]',
  clusterSelector: '"env=prod"',
}

/** How a field says what it is about: what happens without an argument, and with each that may name a cluster. */
const form = (operation: string, field: GraphQLField<unknown, unknown>): string => {
  const needed = field.args.filter(({ type }) => isNonNullType(type))
  const asked = (given: Readonly<Record<string, string>>): string => {
    const others = needed.filter(({ name }) => given[name] === undefined)
    const args = [
      ...Object.entries(given).map(([name, value]) => `${name}: ${value}`),
      ...others.map(({ name, type }) => `${name}: ${valueOf(type)}`),
    ]
    const text = `${operation} { ${field.name}${args.length === 0 ? '' : `(${args.join(', ')})`} }`
    return Object.keys(routes(text)[field.name] ?? {}).join('+') || 'any'
  }
  const named = field.args.flatMap(({ name, type }) => {
    const isId = getNamedType(type).name === 'ID'
    const value =
      naming[name] ??
      (isId ? (isListType(getNullableType(type)) ? `["${id}"]` : `"${id}"`) : undefined)
    return value === undefined ? [] : [`${name}: ${asked({ [name]: value })}`]
  })
  return [`without: ${asked({})}`, ...named].join(', ')
}

beforeAll(async () => {
  ;({ schema } = await schemaOf(builtIns, { allowWrites: true, federation: true, relay: true }))
}, 60_000)

describe('the gateways that an operation is for', () => {
  it('is said by each root field, one of a kind as of any other', () => {
    const all = Object.values(OperationTypeNode).flatMap((operation) =>
      Object.values(schema.getRootType(operation)?.getFields() ?? {}).map((field) => {
        const source = fieldSourceOf(field)
        const own = `${operation} ${field.name.replace(/^fetch__.*/, 'fetch__KIND')}`
        const name = 'kind' in source ? `fields of kinds: ${source.form}` : own
        return [name, form(operation, field)] as const
      }),
    )
    const forms = Map.groupBy(all, ([name]) => name)
    const found = Array.from(forms, ([name, same]) => {
      const [one, ...others] = new Set(same.map(([, said]) => said))
      expect(others, name).toEqual([])
      return `${name}: ${one}`
    })
    expect(found.toSorted()).toMatchInlineSnapshot(`
      [
        "fields of kinds: facetFrames: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there, ids: here",
        "fields of kinds: list: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there, ids: here",
        "fields of kinds: listFrames: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there, ids: here",
        "fields of kinds: livePages: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there, ids: here",
        "fields of kinds: lookup: without: here, cluster: http://there",
        "fields of kinds: lookupFrames: without: here, cluster: http://there",
        "mutation annotate: without: any, id: http://there",
        "mutation apply: without: here, cluster: http://there",
        "mutation cordon: without: any, id: http://there",
        "mutation create: without: here, cluster: http://there",
        "mutation delete: without: any, id: http://there",
        "mutation evict: without: any, id: http://there",
        "mutation label: without: any, id: http://there",
        "mutation patch: without: any, id: http://there",
        "mutation pauseRollout: without: any, id: http://there",
        "mutation restart: without: any, id: http://there",
        "mutation resume: without: any, id: http://there",
        "mutation resumeRollout: without: any, id: http://there",
        "mutation rollback: without: any, id: http://there",
        "mutation runNow: without: any, id: http://there",
        "mutation scale: without: any, id: http://there",
        "mutation setImage: without: any, id: http://there",
        "mutation suspend: without: any, id: http://there",
        "mutation uncordon: without: any, id: http://there",
        "query _entities: without: any",
        "query _service: without: any",
        "query accessGrants: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there",
        "query can: without: here, cluster: http://there",
        "query changes: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there, ids: http://there, around: http://there",
        "query complete: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there",
        "query differences: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there",
        "query fetch__KIND: without: any, id: http://there",
        "query gatewayClusters: without: here+http://there+http://far",
        "query graph: without: any, roots: http://there",
        "query kindFields: without: here, cluster: http://there",
        "query kubernetesObjects: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there",
        "query object: without: any, id: http://there",
        "query objectByRef: without: here, cluster: http://there",
        "query objectList: without: here, cluster: http://there, ids: here, clusters: http://there, clusterSelector: http://far+http://there",
        "query objects: without: any, ids: http://there",
        "query podLogs: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there, ids: http://there",
        "query problems: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there",
        "query search: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there",
        "query tlsCertificates: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there",
        "query viewer: without: any",
        "subscription changes: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there, ids: http://there, around: http://there",
        "subscription drain: without: any, id: http://there",
        "subscription gatewayClusters: without: here+http://there+http://far",
        "subscription kubernetesObjects: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there",
        "subscription kubernetesObjectsPage: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there",
        "subscription object: without: any, id: http://there",
        "subscription objectByRef: without: here, cluster: http://there",
        "subscription objectList: without: here, cluster: http://there, ids: here, clusters: http://there, clusterSelector: http://far+http://there",
        "subscription objectListFacets: without: here, cluster: http://there, ids: here, clusters: http://there, clusterSelector: http://far+http://there",
        "subscription objectListPage: without: here, cluster: http://there, ids: here, clusters: http://there, clusterSelector: http://far+http://there",
        "subscription objects: without: any, ids: http://there",
        "subscription podLogs: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there, ids: http://there",
        "subscription problems: without: here, cluster: http://there, clusters: http://there, clusterSelector: http://far+http://there",
      ]
    `)
  })

  it('follows aliases, fragments, variables and @skip', () => {
    const text = `query ($far: String, $is: Boolean!, $ids: [ID!]!) {
      a: pods(cluster: $far) { totalCount }
      b: pods @skip(if: $is) { totalCount }
      ...rest
      __typename
    }
    fragment rest on Query {
      c: pods(clusters: ["*"]) { totalCount }
      d: pods(clusterSelector: "env=prod") { totalCount }
      e: objects(ids: $ids) { id }
      viewer { username namespaces(cluster: "there") }
    }`
    const ids = ['there/Pod/shop/a', 'far/Pod/shop/b', 'gone/Pod/shop/c', 'no id']
    expect(routes(text, { far: 'far', is: true, ids })).toEqual({
      a: { 'http://far': 'far' },
      c: { 'http://far': 'far', here: 'here lost', 'http://there': 'there' },
      d: { 'http://far': 'far', 'http://there': 'there' },
      e: { 'http://there': 'there', 'http://far': 'far' },
      viewer: { 'http://there': 'there' },
      __typename: {},
    })
  })

  it('leaves what names no cluster rightly to the gateway that is asked', () => {
    const text = `{
      a: pods(cluster: "nowhere") { totalCount }
      b: pods(cluster: "far", clusters: ["there"]) { totalCount }
      c: pods(clusterSelector: "((") { totalCount }
      d: object(id: "no id") { id }
    }`
    expect(routes(text)).toEqual({ a: {}, b: {}, c: {}, d: {} })
  })

  it('takes ids for a filter where a list has its clusters', () => {
    const text = `{
      pods(ids: ["${id}"]) { totalCount }
      objectList(kind: "Pod", ids: ["${id}"]) { totalCount }
      changes(ids: ["${id}"]) { nodes { id } }
      both: changes(ids: ["${id}"], cluster: "far") { nodes { id } }
    }`
    expect(routes(text)).toEqual({
      pods: { here: 'here' },
      objectList: { here: 'here' },
      changes: { 'http://there': 'there' },
      both: { 'http://far': 'far' },
    })
  })
})

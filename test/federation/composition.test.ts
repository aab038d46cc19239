import { transformSupergraphToPublicSchema } from '@theguild/federation-composition'
import { parse, print, type GraphQLSchema, printSchema, visit } from 'graphql'
import {
  checkDocuments,
  createGateway,
  type GatewayExtension,
  type GatewayOptions,
} from 'informerql'
import type { Namespace } from 'informerql/kubernetes'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { compose, startCatalog, type Subgraph, subgraphAt } from './composed.ts'

let simulator: Simulator
let catalog: Subgraph & AsyncDisposable
beforeAll(async () => {
  simulator = await startSimulator()
  catalog = await startCatalog()
})
afterAll(async () => {
  await simulator[Symbol.asyncDispose]()
  await catalog[Symbol.asyncDispose]()
})

const clusters = (): GatewayOptions['clusters'] => [{ name: 'one', server: simulator.url }]

/** What a gateway shows as a subgraph. */
const subgraph = async (options: Omit<GatewayOptions, 'clusters'> = {}): Promise<string> => {
  await using gateway = await serveGateway({ ...options, clusters: clusters(), federation: true })
  return (await subgraphAt('clusters', gateway.url)).sdl
}

/** The first line of each type. */
const heads = (sdl: string): readonly string[] =>
  Array.from(sdl.matchAll(/^(?:type|interface) .*(?= \{$)/gm), ([head]) => head)

describe('the subgraph', () => {
  it('composes with another one, all kinds, writes and fields for Relay included', async () => {
    const sdl = await subgraph({ allowWrites: true, relay: true, inferReferences: true })
    const supergraph = compose([{ name: 'clusters', url: 'http://clusters', sdl }, catalog])
    expect(supergraph).toContain('ownerTeam: String @join__field(graph: CATALOG')
    expect(supergraph).toMatch(
      /interface KubernetesObject @join__type\(graph: CATALOG, .*isInterfaceObject: true/,
    )
    expect(supergraph).toMatch(/input PodOrder .*@oneOf/)
    const schema = print(transformSupergraphToPublicSchema(parse(supergraph)))
    const text = '{ pods { nodes { ownerTeam runbook name naem } } }'
    const breaks = await checkDocuments({ documents: [{ file: 'pods.graphql', text }], schema })
    expect(breaks.map(({ coordinate }) => coordinate)).toEqual(['Pod.naem'])
  })

  it('has every kind by id and by its place, and shares what all connections have', async () => {
    const kinds = ['Pod', 'Node']
    const sdl = await subgraph({ profile: { include: { kinds } } })
    expect(heads(sdl)).toEqual(
      expect.arrayContaining([
        'interface KubernetesObject @key(fields: "id")',
        'type Node implements KubernetesObject @key(fields: "id") @key(fields: "clusterName name")',
        'type Pod implements KubernetesObject @key(fields: "id") @key(fields: "clusterName namespace name")',
        'type PageInfo @shareable',
      ]),
    )
    expect(sdl).not.toMatch(/_entities|_service|_Any|semanticNonNull/)
  })

  it('has the keys that its profile leaves, and the fields of the protocol whatever the profile', async () => {
    const fields = ['Query.pods']
    const profile = {
      include: { kinds: ['Pod'], fields },
      exclude: { fields: ['KubernetesObject.clusterName'] },
    }
    const sdl = await subgraph({ profile })
    expect(heads(sdl)).toContain('type Pod implements KubernetesObject @key(fields: "id")')
    await using gateway = await createGateway({ clusters: clusters(), federation: true, profile })
    expect(Object.keys(gateway.schema.getQueryType()?.getFields() ?? {}).toSorted()).toEqual([
      '_entities',
      '_service',
      'pods',
    ])
  })

  it('has the fields of extensions, and resolves them for entities', async () => {
    const extension: GatewayExtension = {
      name: 'sizes',
      typeDefs: 'extend type Namespace { size: Size! } type Size { letters: Int! }',
      resolvers: {
        Namespace: { size: ({ metadata }: Namespace) => ({ letters: metadata.name?.length }) },
      },
    }
    const profile = { include: { kinds: ['Namespace'] } }
    await using gateway = await serveGateway({
      clusters: clusters(),
      federation: true,
      extend: [extension],
      profile,
    })
    const { sdl } = await subgraphAt('clusters', gateway.url)
    expect(sdl).toContain('size: Size!')
    expect(compose([{ name: 'clusters', url: gateway.url, sdl }])).toContain('type Size')
    const answer = await gateway.query(
      'query ($of: [_Any!]!) { _entities(representations: $of) { ...on Namespace { name size { letters } } } }',
      { of: [{ __typename: 'Namespace', clusterName: 'one', name: 'default' }] },
    )
    expect(answer).toEqual({ data: { _entities: [{ name: 'default', size: { letters: 7 } }] } })
  })

  it('shows its SDL only where introspection is on, and says what to do', async () => {
    await using gateway = await serveGateway({
      clusters: clusters(),
      federation: true,
      limits: { introspection: false },
      profile: { include: { kinds: ['Pod'] } },
    })
    const { data, errors } = await gateway.query('{ _service { sdl } }')
    expect(data).toEqual({ _service: { sdl: null } })
    expect(errors).toMatchObject([
      {
        extensions: {
          code: 'UNSUPPORTED',
          hint: expect.stringContaining('informerql schema --federation'),
        },
      },
    ])
  })

  it('is nothing but what federation adds: without it, the schema is the same to the byte', async () => {
    const schemaOf = async (federation: boolean): Promise<GraphQLSchema> => {
      await using gateway = await createGateway({ clusters: clusters(), federation })
      return gateway.schema
    }
    const added = new Set(['_service', '_entities', '_Service', '_Entity', '_Any'])
    const isAdded = ({ name }: { readonly name: { readonly value: string } }): null | undefined =>
      added.has(name.value) ? null : undefined
    const without = visit(parse(printSchema(await schemaOf(true))), {
      FieldDefinition: isAdded,
      ObjectTypeDefinition: isAdded,
      UnionTypeDefinition: isAdded,
      ScalarTypeDefinition: isAdded,
    })
    expect(print(without)).toBe(print(parse(printSchema(await schemaOf(false)))))
  })
})

it('what two subgraphs both have keeps them from being composed, and a profile or another name helps', async () => {
  const other = {
    name: 'people',
    url: 'http://people',
    sdl: 'type Query { viewer: Person } type Person { name: String }',
  }
  const composed = async (options: Omit<GatewayOptions, 'clusters'>): Promise<string> => {
    const sdl = await subgraph({ profile: { include: { kinds: ['Pod'] } }, ...options })
    return compose([{ name: 'clusters', url: 'http://clusters', sdl }, other])
  }
  await expect(composed({})).rejects.toThrow('"Query.viewer"')
  const profile = { include: { kinds: ['Pod'] }, exclude: { fields: ['Query.viewer'] } }
  expect(await composed({ profile })).toContain('viewer: Person @join__field(graph: PEOPLE)')
})

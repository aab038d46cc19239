/**
 * A second subgraph beside informerql: a catalog that knows who owns what. It adds `ownerTeam` to pods, `runbook` to
 * objects of every kind, and leads from a service of the catalog to its Deployment (docs/federation.md).
 *
 *     node examples/catalog-subgraph.ts [PORT]
 */
import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'

const sdl = /* GraphQL */ `
  extend schema
    @link(
      url: "https://specs.apollo.dev/federation/v2.3"
      import: ["@external", "@interfaceObject", "@key", "@requires"]
    )

  type Query {
    catalogServices: [CatalogService!]!
  }

  type CatalogService {
    name: String!
    "A kind of another subgraph, which resolves it."
    deployment: Deployment
  }

  type Deployment @key(fields: "clusterName namespace name", resolvable: false) {
    clusterName: String!
    namespace: String
    name: String!
  }

  "A field for a kind of another subgraph."
  type Pod @key(fields: "id") {
    id: ID!
    labels: StringMap @external
    "The team of the pod's label, or else that of the catalog."
    ownerTeam: String @requires(fields: "labels")
  }

  "A field for every kind of another subgraph."
  type KubernetesObject @key(fields: "id") @interfaceObject {
    id: ID!
    runbook: String
  }

  scalar StringMap
`

/** What a framework for subgraphs would add. */
const protocol = /* GraphQL */ `
  scalar _Any
  type _Service {
    sdl: String
  }
  union _Entity = Pod | KubernetesObject
  extend type Query {
    _service: _Service!
    _entities(representations: [_Any!]!): [_Entity]!
  }
`

interface Representation {
  readonly __typename: string
  readonly id: string
  readonly labels?: Readonly<Record<string, string>> | null
}

const services = [
  { name: 'shop', deployment: { clusterName: 'shop', namespace: 'one', name: 'shop' } },
  { name: 'closed', deployment: null },
]

const yoga = createYoga({
  graphqlEndpoint: '/graphql',
  logging: false,
  schema: createSchema({
    typeDefs: [sdl, protocol],
    assumeValidSDL: true,
    resolvers: {
      Query: {
        catalogServices: () => services,
        _service: () => ({ sdl }),
        _entities: (_source: unknown, args: { representations: readonly Representation[] }) =>
          args.representations,
      },
      Pod: { ownerTeam: ({ labels }: Representation) => labels?.['team'] ?? 'platform' },
      KubernetesObject: {
        runbook: ({ id }: Representation) => `https://runbooks.example.com/${id}`,
      },
      _Entity: { __resolveType: ({ __typename }: Representation) => __typename },
    },
  }),
})

const server = createServer((request, response) => void yoga(request, response))
server.listen(Number(process.argv[2] ?? 4001), '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 4001
  process.stdout.write(`the catalog answers at http://127.0.0.1:${port}/graphql\n`)
})
process.once('SIGINT', () => server.close())

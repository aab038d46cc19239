import { stitchSchemas } from '@graphql-tools/stitch'
import { graphql, type GraphQLSchema, print } from 'graphql'
import { createSchema } from 'graphql-yoga'
import { createGateway, type Gateway } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, expect, it } from 'vitest'

let simulator: Simulator
let gateway: Gateway
beforeAll(async () => {
  simulator = await startSimulator()
  const pod = {
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'web', image: 'web' }] },
  }
  const made = await fetch(`${simulator.url}/api/v1/namespaces/default/pods`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(pod),
  })
  if (!made.ok) throw new Error(await made.text())
  gateway = await createGateway({
    clusters: [{ name: 'one', server: simulator.url }],
    federation: true,
    profile: { include: { kinds: ['Pod', 'Node'] } },
  })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await simulator[Symbol.asyncDispose]()
})

const stitched = (): GraphQLSchema => {
  const catalog = createSchema({
    typeDefs: `
      type Query { podsById(ids: [ID!]!): [Pod]! }
      type Pod { id: ID! ownerTeam: String }
    `,
    resolvers: {
      Query: {
        podsById: (_source: unknown, { ids }: { ids: string[] }) => ids.map((id) => ({ id })),
      },
      Pod: { ownerTeam: () => 'platform' },
    },
  })

  const schema = stitchSchemas({
    subschemas: [
      {
        schema: gateway.schema,
        executor: ({ document, variables }) =>
          gateway.execute({ query: print(document), variables }) as Promise<never>,
        batch: true,
        merge: {
          Pod: {
            selectionSet: '{ id }',
            fieldName: '_entities',
            key: ({ id }) => ({ __typename: 'Pod', id }),
            argsFromKeys: (representations) => ({ representations }),
          },
        },
      },
      {
        schema: catalog,
        merge: {
          Pod: {
            selectionSet: '{ id }',
            fieldName: 'podsById',
            key: ({ id }) => id,
            argsFromKeys: (ids) => ({ ids }),
          },
        },
      },
    ],
  })
  return schema
}

it('a stitched schema merges kinds by id, in both directions', async () => {
  const schema = stitched()
  const ask = async (source: string): Promise<unknown> => graphql({ schema, source })
  const { data, errors } = await graphql({
    schema,
    source: '{ pods { nodes { id name ownerTeam } } }',
  })
  expect(errors).toBeUndefined()
  const pods = data?.['pods'] as { readonly nodes: readonly { readonly id: string }[] }
  expect(pods.nodes).toEqual([{ id: expect.any(String), name: 'web', ownerTeam: 'platform' }])
  const id = pods.nodes[0]?.id ?? ''
  expect(await ask(`{ podsById(ids: ["${id}"]) { ownerTeam name namespace } }`)).toEqual({
    data: { podsById: [{ ownerTeam: 'platform', name: 'web', namespace: 'default' }] },
  })
})

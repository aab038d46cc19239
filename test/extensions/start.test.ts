import { createGateway, type GatewayExtension } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { define, definitionOf, undefine, versionOf } from '../gateway/definitions.ts'
import { must, startSimulatedCluster } from '../gateway/test-cluster.ts'

const one = (typeDefs: string, more: Partial<GatewayExtension> = {}): GatewayExtension => ({
  name: 'platform',
  typeDefs,
  ...more,
})

const pod = (fields: string): string => `extend type Pod { ${fields} }`
const resolvers = { Pod: { cost: () => 1 } }

describe('A gateway with extensions', () => {
  let simulator: Simulator
  beforeAll(async () => {
    simulator = await startSimulator()
  })
  afterAll(async () => simulator[Symbol.asyncDispose]())

  it.each([
    ['text that is not SDL', [one('extend type Pod {')], 'sdl', 'typeDefs'],
    ['SDL that is not valid', [one('type A { a: Int a: Int }')], 'sdl', 'typeDefs'],
    ['an unknown directive', [one('type A { a: Int @fast }')], 'sdl', 'typeDefs'],
    [
      'a price that is none',
      [one(pod('cost: Int @cost(weight: -1)'), { resolvers })],
      'sdl',
      'Pod.cost',
    ],
    [
      'a field of a kind',
      [one(pod('spec: Int'), { resolvers: { Pod: { spec: () => 1 } } })],
      'taken',
      'Pod.spec',
    ],
    [
      'a relation',
      [one(pod('node: Int'), { resolvers: { Pod: { node: () => 1 } } })],
      'taken',
      'Pod.node',
    ],
    [
      'a query of the gateway',
      [one('extend type Query { pods: Int }', { resolvers: { Query: { pods: () => 1 } } })],
      'taken',
      'Query.pods',
    ],
    ['a type of the gateway', [one('type PageInfo { a: Int }')], 'taken', 'PageInfo'],
    [
      'a field of another extension',
      [one(pod('cost: Int'), { resolvers }), { typeDefs: pod('cost: Int'), resolvers }],
      'taken',
      'Pod.cost',
    ],
    [
      'a type of another extension',
      [one('type A { a: Int }'), { typeDefs: 'type A { b: Int }' }],
      'taken',
      'A',
    ],
    ['a field without a resolver', [one(pod('cost: Int'))], 'no-resolver', 'Pod.cost'],
    [
      'a subscription without events',
      [one('extend type Subscription { a: Int }', { resolvers: { Subscription: { a: () => 1 } } })],
      'no-resolver',
      'Subscription.a',
    ],
    [
      'a resolver without a field',
      [one(pod('cost: Int'), { resolvers: { Pod: { ...resolvers.Pod, cots: () => 1 } } })],
      'no-field',
      'Pod.cots',
    ],
    [
      'a resolver that is not a function',
      [one('type A { a: Int }', { resolvers: { A: { a: 5 as never } } })],
      'no-resolver',
      'A.a',
    ],
    ['another root', [one('type Query { a: Int }')], 'unsupported', 'Query'],
    ['a schema of its own', [one('schema { query: Query }')], 'unsupported', ''],
    [
      'types that only the gateway makes',
      [one('extend type Query { a: PodConnection }', { resolvers: { Query: { a: () => 1 } } })],
      'unsupported',
      'Query.a',
    ],
    [
      'a union with a kind',
      [
        one('union A = Pod | B type B { b: Int } extend type Query { a: A }', {
          resolvers: { Query: { a: () => null } },
        }),
      ],
      'unsupported',
      'Query.a',
    ],
    [
      'other types of the gateway',
      [one('extend type PageInfo { a: Int }', { resolvers: { PageInfo: { a: () => 1 } } })],
      'unsupported',
      'PageInfo',
    ],
    [
      'a kind that it requires and nobody serves',
      [one('type A { a: Int }', { needs: { required: ['gears'] } })],
      'missing-kind',
      'gears',
    ],
  ] as const)('does not start with %s', async (_, extend, problem, value) => {
    const start = createGateway({ clusters: [{ name: 'a', server: simulator.url }], extend })
    await expect(start).rejects.toMatchObject({
      code: 'EXTENSION',
      problem,
      value,
      hint: expect.stringMatching(/./),
    })
  })

  it('does not start with an unknown or missing member of an extension', async () => {
    for (const wrong of [{ typedefs: 'type A { a: Int }' }, {}, { typeDefs: 5 }]) {
      const extend = [wrong as never]
      const start = createGateway({ clusters: [{ name: 'a', server: simulator.url }], extend })
      await expect(start).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    }
  })

  it('shows what a program adds to the routers of a federation', async () => {
    await using gateway = await createGateway({
      clusters: [{ name: 'a', server: simulator.url }],
      federation: true,
      extend: [one(pod('cost: Int'), { resolvers })],
    })
    const answer = (await gateway.execute({ query: '{ _service { sdl } }' })) as {
      readonly data?: { readonly _service: { readonly sdl: string } }
    }
    const { sdl } = answer.data?._service ?? {}
    expect(sdl).toMatch(/type Pod [^}]*@key[^}]*\bcost: Int/)
  })

  it('has mutations of a program alone, one after the other, each in the audit log', async () => {
    const made: string[] = []
    const typeDefs = `
      extend type Mutation { page(who: String!): Paged failing: Int! }
      type Paged { who: String! times: Int! }
    `
    const Mutation = {
      page: async (_: undefined, { who }: { readonly who: string }) => {
        made.push(who)
        return { who, times: () => made.length }
      },
      failing: () => {
        throw new Error('hunter2')
      },
    }
    const wrote: string[] = []
    await using gateway = await createGateway({
      clusters: [{ name: 'a', server: simulator.url }],
      extend: [one(typeDefs, { resolvers: { Mutation } })],
      audit: {
        answered: () => {},
        wrote: ({ mutation, code }) => void wrote.push(`${mutation} ${code}`),
      },
    })
    const query = 'mutation { b: page(who: "bob") { who times } a: page(who: "ann") { who times } }'
    expect(await gateway.execute({ query })).toEqual({
      data: { b: { who: 'bob', times: 2 }, a: { who: 'ann', times: 2 } },
    })
    expect(made).toEqual(['bob', 'ann'])
    const failed = await gateway.execute({ query: 'mutation { page(who: "x") { who } failing }' })
    expect(failed).toMatchObject({
      data: null,
      errors: [{ path: ['failing'], extensions: { code: 'INTERNAL' } }],
    })
    expect(JSON.stringify(failed)).not.toContain('hunter2')
    expect(wrote).toEqual(['page ', 'page ', 'page ', 'failing INTERNAL'])
    const states = await gateway.execute({ query: '{ gatewayClusters { writable } }' })
    expect(states).toEqual({ data: { gatewayClusters: [{ writable: false }] } })
  })

  it('has subscriptions of a program: each event is answered, its fields from the caches', async () => {
    let ended = ''
    const typeDefs = `
      extend type Subscription { ticks(to: Int!): Tick! failing: Int }
      type Tick { at: Int! namespaces: [Namespace!]! }
    `
    async function* ticks(_: undefined, { to }: { readonly to: number }): AsyncGenerator<object> {
      try {
        for (let at = 1; at <= to; at += 1) yield { ticks: { at } }
        ended = 'all'
      } finally {
        ended ||= 'left'
      }
    }
    await using gateway = await createGateway({
      clusters: [{ name: 'a', server: simulator.url }],
      extend: [
        one(typeDefs, {
          resolvers: {
            Subscription: {
              ticks: { subscribe: ticks },
              failing: {
                // oxlint-disable-next-line require-yield -- it fails before
                subscribe: async function* failing(): AsyncGenerator<object> {
                  throw new Error('hunter2')
                },
              },
            },
            Tick: { namespaces: (_, _args, { cache }) => cache.namespaces.list({ first: 1 }) },
          },
        }),
      ],
    })
    const follow = async (query: string, most: number): Promise<readonly unknown[]> => {
      const frames = await gateway.execute({ query })
      if (!(Symbol.asyncIterator in frames)) return [frames]
      const seen: unknown[] = []
      for await (const frame of frames) if (seen.push(frame) === most) break
      return seen
    }
    const query = 'subscription { ticks(to: 3) { at namespaces { metadata { name } } } }'
    const frame = (at: number): object => ({
      data: { ticks: { at, namespaces: [{ metadata: { name: 'default' } }] } },
    })
    expect(await follow(query, 9)).toEqual([1, 2, 3].map(frame))
    expect(ended).toBe('all')
    ended = ''
    expect(await follow(query, 1)).toEqual([frame(1)])
    await expect.poll(() => ended).toBe('left')
    const failed = await follow('subscription { failing }', 9)
    expect(failed).toMatchObject([{ errors: [{ extensions: { code: 'INTERNAL' } }] }])
    expect(JSON.stringify(failed)).not.toContain('hunter2')
  })
})

it('a field of a kind waits until its definition comes, and goes with it', async () => {
  await using cluster = await startSimulatedCluster({}, [])
  const log: string[] = []
  const write = (message: string): void => void log.push(message)
  await using gateway = await createGateway({
    clusters: [{ name: 'one', ...cluster.selection }],
    retryMs: 50,
    log: { info: write, warn: write, error: write },
    extend: [
      {
        typeDefs: `
          extend type GearsExampleComGear { teethTwice: Int }
          extend type Query { gear: GearsExampleComGear always: Int }
          type Box { gear: GearsExampleComGear size: Int }
        `,
        resolvers: {
          GearsExampleComGear: { teethTwice: ({ spec }) => spec.teeth * 2 },
          Query: {
            gear: (_, _args, { cache }) =>
              cache.of({ group: 'gears.example.com', resource: 'gears' }).get({
                namespace: 'default',
                name: 'small',
              }),
            always: () => 1,
          },
        },
      },
    ],
  })
  const waits = 'waits for GearsExampleComGear, which no cluster serves'
  expect(log).toContain(`extend[0]: Query.gear ${waits}`)
  expect(log).toContain(`extend[0]: GearsExampleComGear ${waits}`)
  expect(await gateway.execute({ query: '{ always }' })).toEqual({ data: { always: 1 } })
  const properties = { teeth: { type: 'integer' } }
  const definition = definitionOf('Gear', 'gears.example.com', [versionOf('v1', properties)])
  await define(cluster, definition)
  const query = '{ gear { spec { teeth } teethTwice } always }'
  const errors = async (): Promise<unknown> => {
    const answer = await gateway.execute({ query })
    return 'errors' in answer ? answer.errors : undefined
  }
  await expect.poll(errors).toBeUndefined()
  await must(cluster, '/apis/gears.example.com/v1/namespaces/default/gears', {
    method: 'POST',
    body: {
      apiVersion: 'gears.example.com/v1',
      kind: 'Gear',
      metadata: { name: 'small' },
      spec: { teeth: 21 },
    },
  })
  await expect
    .poll(() => gateway.execute({ query }))
    .toEqual({ data: { gear: { spec: { teeth: 21 }, teethTwice: 42 }, always: 1 } })
  await undefine(cluster, 'gears.gears.example.com')
  await expect.poll(errors).toBeDefined()
  expect(await gateway.execute({ query: '{ always }' })).toEqual({ data: { always: 1 } })
})

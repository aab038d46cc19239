import { createGateway, type ExtensionContext, type GatewayExtension } from 'informerql'
import type { Pod } from 'informerql/kubernetes'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import { define, definitionOf, versionOf } from '../gateway/definitions.ts'
import { startSimulatedCluster } from '../gateway/test-cluster.ts'

const gone = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name: 'gone' } }

let told: string[] = []
const tell = (what: string) => (): void => void told.push(what)

const extension: GatewayExtension = {
  name: 'platform',
  typeDefs: /* GraphQL */ `
    extend type Pod {
      renamed: Boolean
    }
    extend type Query {
      present: Pod!
      several: [Pod!]
      day: Day!
      endless: [Int!]
    }
    extend type Subscription {
      reading: Int
      silent: Int
      unwilling: Int
      halves: Half!
    }
    type Half {
      left: Int!
    }
    scalar Day
  `,
  resolvers: {
    Pod: {
      renamed: ({ metadata }: Pod) => {
        const labels = metadata.labels as Record<string, string>
        labels['app'] = 'hacked'
        return true
      },
    },
    Query: {
      present: () => {
        told.push('called')
        return gone
      },
      several: () => [gone],
      day: () => Number.NaN,
      endless: function* endless() {
        for (;;) yield 1
      },
    },
    Subscription: {
      reading: {
        async *subscribe(_, _args, { cache }: ExtensionContext) {
          for (let at = 0; at < 100; at += 1) yield { reading: (await cache.pods.list()).length }
        },
      },
      silent: {
        subscribe(_, _args, { signal }: ExtensionContext) {
          signal.addEventListener('abort', tell('aborted'))
          return new Promise<never>(() => {})
        },
      },
      unwilling: {
        subscribe: () => ({
          [Symbol.asyncIterator]: () => ({
            next: () => new Promise<never>(() => {}),
            return: () => {
              told.push('returned')
              throw new Error('hunter2')
            },
          }),
        }),
      },
      halves: {
        async *subscribe() {
          try {
            yield { halves: {} }
            yield { halves: { left: 2 } }
          } finally {
            told.push('left')
          }
        },
      },
    },
  },
}

describe('An extension that misbehaves', () => {
  let simulator: Simulator
  let gateway: Awaited<ReturnType<typeof createGateway>>
  beforeAll(async () => {
    simulator = await startSimulator()
    for (const name of ['a', 'b']) {
      await created(simulator, '/api/v1/namespaces/default/pods', {
        metadata: { name, labels: { app: 'shop' } },
        spec: { containers: [{ name: 'a', image: 'example/a' }] },
      })
    }
    gateway = await createGateway({
      clusters: [{ name: 'a', server: simulator.url }],
      extend: [extension],
      log: { info: () => {}, warn: () => {}, error: () => {} },
      limits: { operationDeadlineMs: 2_000, work: { rows: 60 } },
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    told = []
  })

  const asked = async (query: string): Promise<unknown> => gateway.execute({ query })
  const followed = async (query: string): Promise<readonly unknown[]> => {
    const frames = await gateway.execute({ query })
    if (!(Symbol.asyncIterator in frames)) return [frames]
    const seen: unknown[] = []
    for await (const frame of frames) seen.push(frame)
    return seen
  }

  it.each(['{ present { name } }', '{ day }'])(
    'gives no null where its type has none: %s',
    async (query) => {
      const path = [query.includes('day') ? 'day' : 'present']
      expect(await asked(query)).toMatchObject({
        data: null,
        errors: [{ path, extensions: { code: 'INTERNAL' } }],
      })
      expect(told.length).toBeLessThan(2)
    },
  )

  it('gives no null in a list that has none', async () => {
    expect(await asked('{ several { name } }')).toMatchObject({
      data: { several: null },
      errors: [{ path: ['several', 0], extensions: { code: 'INTERNAL' } }],
    })
  })

  it('pays for the items of its lists, also for those without an end', async () => {
    expect(await asked('{ endless }')).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'QUERY_TOO_COSTLY' } }],
    })
  })

  it('cannot change an object that others read', async () => {
    const labels = { nodes: [{ labels: { app: 'shop' } }, { labels: { app: 'shop' } }] }
    expect(await asked('{ pods { nodes { renamed labels } } }')).toMatchObject({
      data: { pods: labels },
      errors: [{ extensions: { code: 'INTERNAL' } }, { extensions: { code: 'INTERNAL' } }],
    })
    expect(await asked('{ pods { nodes { labels } } }')).toEqual({ data: { pods: labels } })
  })

  it('may read the caches for each event of a subscription anew', async () => {
    const frames = await followed('subscription { reading }')
    expect(frames).toHaveLength(100)
    expect(frames.at(-1)).toEqual({ data: { reading: 2 } })
  })

  it('hears that nobody waits for its subscription any more', async () => {
    expect(await followed('subscription { silent }')).toMatchObject([
      { errors: [{ extensions: { code: 'DEADLINE_EXCEEDED' } }] },
    ])
    await expect.poll(() => told).toEqual(['aborted'])
  })

  it('goes on after an event whose answer is an error', async () => {
    expect(await followed('subscription { halves { left } }')).toMatchObject([
      { data: null, errors: [{ path: ['halves', 'left'], extensions: { code: 'INTERNAL' } }] },
      { data: { halves: { left: 2 } } },
    ])
    expect(told).toEqual(['left'])
  })

  it('may fail to end its events, and the gateway lives', async () => {
    const ending = new AbortController()
    const query = 'subscription { unwilling }'
    const frames = await gateway.execute({ query, signal: ending.signal })
    if (!(Symbol.asyncIterator in frames)) throw new Error('no frames')
    const next = frames.next()
    ending.abort()
    expect(await next).toMatchObject({ done: true })
    expect(told).toEqual(['returned'])
  })

  it('a signal ends a subscription whose frames nobody has asked for', async () => {
    const ending = new AbortController()
    const frames = await gateway.execute({
      query: 'subscription { halves { left } }',
      signal: ending.signal,
    })
    ending.abort()
    if (!(Symbol.asyncIterator in frames)) throw new Error('no frames')
    await expect.poll(() => told).toEqual(['left'])
    expect(await frames.next()).toMatchObject({ done: true })
  })
})

describe('A later definition takes the name of a type of an extension', () => {
  const stack = new AsyncDisposableStack()
  afterEach(async () => stack.disposeAsync())

  it('the type and the fields of it go, and the gateway serves the rest and says so', async () => {
    const cluster = stack.use(await startSimulatedCluster({}, []))
    const log: string[] = []
    const write = (message: string): void => void log.push(message)
    const gateway = stack.use(
      await createGateway({
        clusters: [{ name: 'one', ...cluster.selection }],
        retryMs: 50,
        log: { info: write, warn: write, error: write },
        extend: [
          {
            typeDefs: `
              type GearsExampleComGear { teeth: Int }
              extend type GearsExampleComGear { half: Int }
              type Box { gear: GearsExampleComGear size: Int }
              extend type Query { gear: GearsExampleComGear box: Box }
            `,
            resolvers: {
              GearsExampleComGear: { half: () => 21 },
              Query: { gear: () => ({ teeth: 42 }), box: () => ({ size: 1 }) },
            },
          },
        ],
      }),
    )
    const query = '{ gear { teeth half } box { size } }'
    expect(await gateway.execute({ query })).toEqual({
      data: { gear: { teeth: 42, half: 21 }, box: { size: 1 } },
    })
    const properties = { teeth: { type: 'integer' } }
    await define(cluster, definitionOf('Gear', 'gears.example.com', [versionOf('v1', properties)]))
    const hasKind = (): boolean => gateway.schema.getType('GearsExampleComGearConnection') != null
    await expect.poll(hasKind).toBe(true)
    expect(await gateway.execute({ query: '{ box { size } }' })).toEqual({
      data: { box: { size: 1 } },
    })
    expect(gateway.schema.getQueryType()?.getFields()).not.toHaveProperty('gear')
    const another = 'and the gateway has another GearsExampleComGear'
    expect(gateway.readiness()).toMatchObject({
      ready: true,
      reasons: [
        'extend[0]: the gateway has GearsExampleComGear',
        `extend[0]: Box.gear needs its type GearsExampleComGear, ${another}`,
        `extend[0]: Query.gear needs its type GearsExampleComGear, ${another}`,
      ],
    })
  })
})

import { setTimeout as sleep } from 'node:timers/promises'
import { GraphQLError } from 'graphql'
import { CodedError, type ExtensionContext, type GatewayExtension } from 'informerql'
import type { Pod } from 'informerql/kubernetes'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reads, type SmallWorld, startSmallWorld } from '../access/small-world.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'

/** What the resolvers were asked for: the keys of each batch. */
let batches: (readonly string[])[] = []
let calls: string[] = []

const costs = async (
  keys: readonly string[],
): Promise<readonly ({ monthly: number } | Error)[]> => {
  batches.push(keys)
  return keys.map((key) => (key === 'shop:two' ? new Error('hunter2') : { monthly: key.length }))
}

const costOf = ({ spec }: Pod, _: object, { loader }: ExtensionContext): Promise<unknown> =>
  loader('costs', costs).load(spec?.containers?.[0]?.image ?? '')

const extension: GatewayExtension = {
  name: 'platform',
  typeDefs: /* GraphQL */ `
    extend type Pod {
      "What it costs a month."
      cost: Cost @cost(weight: 20)
      mustCost: Cost!
      team(upper: Boolean = false): Team
      failing(how: String!): Int
      expensive: Int @cost(weight: 1000000)
      slow: Int
      owner: String
    }
    extend type Query {
      team(name: String!): Team
      owners: [Owner!]!
      mine: [String!]
      secretsOfAll: Int
    }
    type Cost {
      monthly: Float!
      byDay(days: Int!): Float!
    }
    type Team {
      name: String!
      level: Level
      parent: Team
      pods: [Pod!]!
      firstPod: Pod
      mixed: [KubernetesObject]
      numbers: [Int]!
    }
    type Robot {
      name: String!
      model: String
    }
    union Owner = Team | Robot
    enum Level {
      GOLD
      SILVER
    }
  `,
  needs: { kinds: ['pods', 'NoSuchKind'] },
  resolvers: {
    Pod: {
      cost: costOf,
      mustCost: costOf,
      team: ({ metadata }: Pod, { upper }: { readonly upper: boolean }) => {
        calls.push(`team of ${metadata.namespace}`)
        const name = metadata.labels?.['app'] ?? ''
        return { name: upper ? name.toUpperCase() : name, level: 'GOLD', numbers: [1, 'x', 3] }
      },
      failing(_: Pod, { how }: { readonly how: string }) {
        if (how === 'coded')
          throw new CodedError('COSTS_CLOSED', 'the books are closed', { hint: 'wait' })
        if (how === 'graphql') {
          throw new GraphQLError('not yet', { extensions: { code: 'NOT_YET', day: 3 } })
        }
        if (how === 'plain') throw new GraphQLError('hunter2 is no code')
        throw new Error('the password is hunter2')
      },
      expensive: () => calls.push('expensive'),
      owner: ({ metadata }: Pod, _: object, { viewer }: ExtensionContext) =>
        `${viewer?.username}: ${metadata.labels?.['owner'] ?? 'nobody'}`,
      slow: (_: Pod, _args: object, { signal }: ExtensionContext) =>
        sleep(60_000, 1, { signal }).catch(() => calls.push('aborted')),
    },
    Query: {
      team: (_: undefined, { name }: { readonly name: string }) => ({ name, numbers: [] }),
      owners: () => [
        { __typename: 'Team', name: 'shop', numbers: [] },
        { __typename: 'Robot', name: 'r2', model: 'd2' },
      ],
      mine: async (_: undefined, _args: object, { cache, viewer }: ExtensionContext) => {
        const pods = await cache.pods.list({
          labelSelector: 'app=shop',
          orderBy: [{ namespace: 'ASC' }],
        })
        return [viewer?.username ?? '', ...pods.map(({ metadata }) => metadata.namespace ?? '')]
      },
      secretsOfAll: (_: undefined, _args: object, { cache }: ExtensionContext) =>
        cache.secrets.count(),
    },
    Cost: {
      byDay: ({ monthly }: { readonly monthly: number }, { days }: { readonly days: number }) =>
        monthly / days,
    },
    Team: {
      parent: ({ name }: { readonly name: string }) =>
        name.startsWith('parent') ? null : { name: `parent of ${name}`, numbers: [] },
      pods: (_: object, _args: object, { cache }: ExtensionContext) => cache.pods.list(),
      firstPod: (_: object, _args: object, { cache }: ExtensionContext) =>
        cache.pods.get({ namespace: 'one', name: 'shop-1-x' }),
      mixed: async (_: object, _args: object, { cache }: ExtensionContext) => [
        await cache
          .of({ group: 'apps', resource: 'deployments' })
          .get({ namespace: 'one', name: 'shop' }),
        { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'one', name: 'shop-1-x' } },
        null,
      ],
    },
  },
}

const ann = caller('ann')
const bob = caller('bob')
const carl = caller('carl')

describe('Fields that a program adds', () => {
  let world: SmallWorld
  let served: ViewedGateway

  beforeAll(async () => {
    world = await startSmallWorld()
    await world.allowEverywhere('ann', 'ann', [reads('', 'pods'), reads('apps', 'deployments')])
    await world.allow('one', 'bob', 'bob', [reads('', 'pods')])
    await world.allow('two', 'carl', 'carl', [reads('', 'pods')])
    served = await serveViewers({
      clusters: [world.selection],
      extend: [extension],
      limits: { liveDeadlineMs: 1_000 },
    })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    batches = []
    calls = []
  })

  const asked = (selection: string): Promise<Fields> => served.query(ann, `{ ${selection} }`)

  describe('in an answer', () => {
    it('of a kind are resolved in one batch, next to its own', async () => {
      const { data, errors } = await asked(
        'pods(namespace: "one") { nodes { metadata { name } cost { monthly byDay(days: 4) } again: cost { monthly } team { name } spec { nodeName } } }',
      )
      expect(errors).toBeUndefined()
      expect(data.pods.nodes).toEqual([
        {
          metadata: { name: 'shop-1-x' },
          cost: { monthly: 8, byDay: 2 },
          again: { monthly: 8 },
          team: { name: 'shop' },
          spec: { nodeName: 'worker' },
        },
      ])
      expect(batches).toEqual([['shop:one']])
    })

    it('fail as fields do: null with a code, the message withheld, up to the next field that may be null', async () => {
      const { data, errors } = await asked(
        'pods { nodes { metadata { namespace } cost { monthly } } } strict: pods { edges { node { mustCost { monthly } } } }',
      )
      expect(data.pods.nodes.map(({ cost }: Fields) => cost)).toEqual([{ monthly: 8 }, null])
      expect(errors.map(({ path }: Fields) => path)).toContainEqual(['pods', 'nodes', 1, 'cost'])
      expect(new Set(errors.map(({ extensions }: Fields) => extensions.code))).toEqual(
        new Set(['INTERNAL']),
      )
      expect(JSON.stringify(errors)).not.toContain('hunter2')
      expect(JSON.stringify(data.strict)).not.toContain('"mustCost":null')
    })

    it('keep the codes that their resolvers throw', async () => {
      const { data, errors } = await asked(
        ['coded', 'graphql', 'plain', 'error']
          .map(
            (how) => `${how}: pod(namespace: "one", name: "shop-1-x") { failing(how: "${how}") }`,
          )
          .join(' '),
      )
      expect(data.coded).toEqual({ failing: null })
      const of = (how: string): Fields => errors.find(({ path }: Fields) => path[0] === how)
      expect(of('coded')).toMatchObject({
        message: 'the books are closed',
        path: ['coded', 'failing'],
        extensions: { code: 'COSTS_CLOSED', hint: 'wait' },
      })
      expect(of('graphql')).toMatchObject({
        message: 'not yet',
        extensions: { code: 'NOT_YET', day: 3 },
      })
      for (const how of ['plain', 'error']) expect(of(how).extensions.code).toBe('INTERNAL')
      expect(JSON.stringify(errors)).not.toContain('hunter2')
    })

    it('lead to objects of kinds, and on from there', async () => {
      const { data, errors } = await asked(
        'team(name: "shop") { name parent { name parent { name } } pods { metadata { namespace } cost { monthly } } firstPod { node { metadata { name } } team(upper: true) { name level } } mixed { kind metadata { name } } }',
      )
      expect(data.team).toEqual({
        name: 'shop',
        parent: { name: 'parent of shop', parent: null },
        pods: [
          { metadata: { namespace: 'one' }, cost: { monthly: 8 } },
          { metadata: { namespace: 'two' }, cost: null },
        ],
        firstPod: { node: null, team: { name: 'SHOP', level: 'GOLD' } },
        mixed: [
          { kind: 'Deployment', metadata: { name: 'shop' } },
          { kind: 'Pod', metadata: { name: 'shop-1-x' } },
          null,
        ],
      })
      expect(errors.map(({ path }: Fields) => path.join('.'))).toContain('team.pods.1.cost')
    })

    it('have lists with their own errors, unions and enums', async () => {
      const { data, errors } = await asked(
        'owners { __typename ... on Team { name } ... on Robot { model } } pod(namespace: "one", name: "shop-1-x") { team { numbers } }',
      )
      expect(data.owners).toEqual([
        { __typename: 'Team', name: 'shop' },
        { __typename: 'Robot', model: 'd2' },
      ])
      expect(data.pod.team.numbers).toEqual([1, null, 3])
      expect(errors).toMatchObject([
        { path: ['pod', 'team', 'numbers', 1], extensions: { code: 'INTERNAL' } },
      ])
    })

    it('are paid for before their resolvers are called', async () => {
      const { errors } = await asked('pods { nodes { expensive } }')
      expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COSTLY' } }])
      expect(calls).toEqual([])
    })

    it('have a deadline, at which their signal aborts', async () => {
      const { data, errors } = await asked('pods(namespace: "one") { nodes { slow } }')
      expect(data.pods.nodes).toEqual([{ slow: null }])
      expect(errors).toMatchObject([{ extensions: { code: 'DEADLINE_EXCEEDED' } }])
      expect(errors[0].message).toContain('Pod.slow')
      expect(calls).toEqual(['aborted'])
    })
  })

  it('lead nobody to an object that they may not see', async () => {
    const query =
      '{ team(name: "shop") { mixed { kind namespace } pods { namespace } firstPod { namespace } } }'
    const pod = { kind: 'Pod', namespace: 'one' }
    const [one, two] = [{ namespace: 'one' }, { namespace: 'two' }]
    const seen = [
      [ann, [{ kind: 'Deployment', namespace: 'one' }, pod, null], [one, two], one],
      [bob, [null, pod, null], [one], one],
      [carl, [null, null, null], [two], null],
    ] as const
    await Promise.all(
      seen.map(async ([who, mixed, pods, firstPod]) => {
        const answer = await served.query(who, query)
        expect(answer.errors).toBeUndefined()
        const { team }: Fields = answer.data
        expect({ ...team, pods: new Set(team.pods) }).toEqual({
          mixed,
          pods: new Set<unknown>(pods),
          firstPod,
        })
      }),
    )
  })

  it('read the caches as their caller', async () => {
    const mine = async (who: typeof ann): Promise<unknown> =>
      (await served.query(who, '{ mine }')).data.mine
    expect(await mine(ann)).toEqual(['ann', 'one', 'two'])
    expect(await mine(bob)).toEqual(['bob', 'one'])
    const { data, errors } = await served.query(bob, '{ secretsOfAll }')
    expect(data).toEqual({ secretsOfAll: null })
    expect(errors).toMatchObject([{ path: ['secretsOfAll'], extensions: { code: 'FORBIDDEN' } }])
    const led = await served.query(bob, '{ team(name: "x") { pods { metadata { namespace } } } }')
    expect(led.data.team.pods).toEqual([{ metadata: { namespace: 'one' } }])
  })

  it('leave the operation planned, and show in its explanation', async () => {
    const query = '{ pods { nodes { metadata { name } team { name } } } }'
    const { extensions } = await served.explained(ann, query)
    expect(extensions.explain.fragments).toBeDefined()
    const field = extensions.explain.fields.find(({ path }: Fields) => path === 'pods.team')
    expect(field).toMatchObject({ access: ['extension'] })
  })

  it('are resolved in live lists when a row is first sent, and again when it changes, for each caller', async () => {
    const query =
      'subscription { pods { changes { type object { metadata { namespace } cost { monthly } owner } } } }'
    const frames = await served.gateway.execute({ query, viewer: ann })
    if (!(Symbol.asyncIterator in frames)) throw new Error(JSON.stringify(frames))
    const first = (await frames.next()).value as Fields
    const ofNamespace = (frame: Fields, namespace: string): Fields =>
      frame.data.pods.changes.find(({ object }: Fields) => object.metadata.namespace === namespace)
    expect(ofNamespace(first, 'one').object).toEqual({
      metadata: { namespace: 'one' },
      cost: { monthly: 8 },
      owner: 'ann: nobody',
    })
    expect(ofNamespace(first, 'two').object.cost).toBeNull()
    expect(first.errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }])
    expect(batches).toHaveLength(1)
    expect(batches[0]?.toSorted()).toEqual(['shop:one', 'shop:two'])
    await world.patch('/api/v1/namespaces/one/pods/shop-1-x', {
      metadata: { labels: { owner: 'carl' } },
    })
    const next = (await frames.next()).value as Fields
    expect(next.data.pods.changes).toMatchObject([
      { type: 'MODIFIED', object: { cost: { monthly: 8 }, owner: 'ann: carl' } },
    ])
    expect(batches.at(-1)).toEqual(['shop:one'])
    const others = await served.gateway.execute({ query, viewer: bob })
    if (!(Symbol.asyncIterator in others)) throw new Error(JSON.stringify(others))
    const ofBob = (await others.next()).value as Fields
    expect(ofBob.data.pods.changes).toMatchObject([{ object: { owner: 'bob: carl' } }])
    await Promise.all([frames.return(), others.return()])
  })

  it('lead to objects of kinds in live pages, too', async () => {
    const page = await served.gateway.execute({
      query:
        'subscription { podsPage(namespace: "one", first: 5) { totalCount changes { object { team { firstPod { metadata { name } } } } } } }',
      viewer: ann,
    })
    if (!(Symbol.asyncIterator in page)) throw new Error(JSON.stringify(page))
    expect((await page.next()).value).toEqual({
      data: {
        podsPage: {
          totalCount: 1,
          changes: [{ object: { team: { firstPod: { metadata: { name: 'shop-1-x' } } } } }],
        },
      },
    })
    await page.return()
  })

  it.each(['pods', 'podsPage(first: 5, orderBy: [{ namespace: ASC }])'])(
    'that fail and may not be null leave their row in %s without its object, and the others whole',
    async (field) => {
      const frames = await served.gateway.execute({
        query: `subscription { rows: ${field} { changes { objectId object { metadata { namespace } mustCost { monthly } } } } }`,
        viewer: ann,
      })
      if (!(Symbol.asyncIterator in frames)) throw new Error(JSON.stringify(frames))
      const { data, errors } = (await frames.next()).value as Fields
      const rows: readonly Fields[] = data.rows.changes
      const failed = rows.findIndex(({ object }) => object === null)
      expect(rows.filter(({ object }) => object !== null).map(({ object }) => object)).toEqual([
        { metadata: { namespace: 'one' }, mustCost: { monthly: 8 } },
      ])
      expect(errors).toMatchObject([
        {
          path: ['rows', 'changes', failed, 'object', 'mustCost'],
          extensions: { code: 'INTERNAL' },
        },
      ])
      expect(rows[failed]?.objectId).toMatch(/./)
      await frames.return()
    },
  )
})

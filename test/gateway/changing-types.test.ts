import { afterAll, beforeAll, expect, it } from 'vitest'
import { type GraphQLAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { define, definitionOf, redefine, undefine, versionOf } from './definitions.ts'
import { follow } from './followed-subscription.ts'
import { describeClusters, must } from './test-cluster.ts'

const group = 'hot.example.com'
const string = { type: 'string' }
const wait = { timeout: 60_000, interval: 50 }

describeClusters(
  'the schema follows custom resource definitions while the gateway runs',
  (cluster) => {
    let gateway: ServedGateway
    beforeAll(async () => {
      gateway = await serveGateway({
        clusters: [{ name: 'one', ...cluster().selection }],
        retryMs: 100,
      })
    })
    afterAll(async () => gateway[Symbol.asyncDispose]())

    const eventually = async (
      query: string,
      holds: (answer: GraphQLAnswer) => boolean,
    ): Promise<GraphQLAnswer> => {
      let answer: GraphQLAnswer = {}
      await expect
        .poll(async () => {
          answer = await gateway.query(query)
          return holds(answer) ? 'as awaited' : JSON.stringify(answer)
        }, wait)
        .toBe('as awaited')
      return answer
    }

    const create = async (plural: string, name: string, spec: object): Promise<void> => {
      const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1)
      const path = `/apis/${group}/v1/namespaces/default/${plural}`
      const body = { apiVersion: `${group}/v1`, kind, metadata: { name }, spec }
      // A server prunes what it is sent by the definition that it knows, which is the former one for a moment.
      await expect
        .poll(
          async () => (await must(cluster(), `${path}?dryRun=All`, { method: 'POST', body })).spec,
          wait,
        )
        .toEqual(spec)
      await must(cluster(), path, { method: 'POST', body })
    }

    it('a new one is a type within seconds, by its own fields', async () => {
      await define(cluster(), definitionOf('Gear', group, [versionOf('v1', { colour: string })]))
      const query = '{ hotExampleComGears { nodes { metadata { name } spec { colour } } } }'
      await eventually(query, ({ errors }) => errors === undefined)
      await create('gears', 'small', { colour: 'red' })
      const { data } = await eventually(query, (answer) =>
        Boolean(answer.data?.hotExampleComGears.nodes.length),
      )
      expect(data.hotExampleComGears.nodes).toEqual([
        { metadata: { name: 'small' }, spec: { colour: 'red' } },
      ])
    })

    it('a changed one has its new fields, and subscriptions that do not read the old ones go on', async () => {
      const client = gateway.connect()
      const onOthers = follow(client, 'namespaces', 'metadata { name }')
      const onKind = follow(client, 'hotExampleComGears', 'metadata { name }')
      const onField = follow(client, 'hotExampleComGears', 'spec { colour }')
      const all = [onOthers, onKind, onField]
      await Promise.all(all.map(async (live) => live.until('snapshot', () => live.fold.synced)))

      const changed = versionOf('v1', { teeth: { type: 'integer' } })
      await redefine(cluster(), `gears.${group}`, [changed])
      await eventually(
        '{ hotExampleComGears { nodes { spec { teeth } } } }',
        ({ errors }) => errors === undefined,
      )
      await expect.poll(() => onField.ended(), wait).toBe(true)
      expect(onField.problems).toHaveLength(1)
      expect(JSON.parse(onField.problems[0] ?? '')).toMatchObject([
        {
          message: expect.stringContaining('the schema has changed'),
          extensions: { code: 'SCHEMA_CHANGED', hint: expect.stringContaining('subscribe again') },
        },
      ])
      await create('gears', 'large', { teeth: 12 })
      await onKind.until('another gear', ({ size }) => size === 2)
      expect(onOthers.ended()).toBe(false)
      for (const { problems } of [onOthers, onKind]) expect(problems).toEqual([])
    })

    it('what a server tells by the former definition, while a new one takes its place, is read anew', async () => {
      const live = follow(gateway.connect(), 'hotExampleComGears', 'json(path: "spec")')
      await live.until('snapshot', () => live.fold.synced)
      await redefine(cluster(), `gears.${group}`, [
        versionOf('v1', { teeth: { type: 'integer' }, edge: string }),
      ])
      // As soon as it may be written: watches by the former definition are still open.
      await create('gears', 'sharp', { edge: 'sharp' })
      await live.until('the edge', (gears) =>
        [...gears.values()].some(({ json }) => json?.edge === 'sharp'),
      )
      live.complete()
      expect(live.problems).toEqual([])
      await eventually(
        '{ hotExampleComGear(namespace: "default", name: "sharp") { spec { edge } } }',
        ({ data }) => data?.hotExampleComGear?.spec?.edge === 'sharp',
      )
    })

    it('a document that was valid once is told that the schema has changed', async () => {
      const { errors = [] } = await gateway.query(
        '{ hotExampleComGears { nodes { spec { colour } } } }',
      )
      expect(errors[0]?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        hint: expect.stringMatching(
          /the schema has changed: HotExampleComGearSpec\.colour was removed at \d{4}-/,
        ),
      })
      const never = await gateway.query('{ hotExampleComGears { nodes { spec { weight } } } }')
      expect(never.errors?.[0]?.extensions).not.toHaveProperty('hint')
    })

    it('printer columns and selectable fields are filters by themselves, and others when they are changed', async () => {
      const properties = { teeth: { type: 'integer' }, holes: { type: 'integer' }, maker: string }
      const column = (name: string, jsonPath: string): object => ({
        name,
        type: 'integer',
        jsonPath,
      })
      const withColumn = (jsonPath: string): readonly object[] => [
        versionOf('v1', properties, {
          additionalPrinterColumns: [column('Count', jsonPath)],
          selectableFields: [{ jsonPath: '.spec.maker' }],
        }),
      ]
      await redefine(cluster(), `gears.${group}`, withColumn('.spec.teeth'))
      const filtered = `{
      hotExampleComGears(where: { count: { gte: 10 } }) { nodes { metadata { name } } }
      made: hotExampleComGears(where: { specMaker: { eq: "us" } }) { nodes { metadata { name } } }
    }`
      const large = await eventually(filtered, ({ data }) =>
        Boolean(data?.hotExampleComGears?.nodes.length),
      )
      expect(large.data).toMatchObject({
        hotExampleComGears: { nodes: [{ metadata: { name: 'large' } }] },
        made: { nodes: [] },
      })
      await create('gears', 'ours', { maker: 'us', teeth: 1, holes: 30 })
      await redefine(cluster(), `gears.${group}`, withColumn('.spec.holes'))
      await eventually(
        filtered,
        ({ data }) => data?.hotExampleComGears?.nodes[0]?.metadata.name === 'ours',
      )
    })

    it('a deleted one is no type any more, and ends its subscriptions by an error that says so', async () => {
      const client = gateway.connect()
      const onOthers = follow(client, 'namespaces', 'metadata { name }')
      const live = follow(client, 'hotExampleComGears', 'metadata { name }')
      for (const one of [onOthers, live]) await one.until('snapshot', () => one.fold.synced)
      await undefine(cluster(), `gears.${group}`)
      await expect.poll(() => live.ended(), wait).toBe(true)
      expect(live.problems.at(-1)).toContain('HotExampleComGear is no longer served')
      expect(live.problems.at(-1)).toContain('SCHEMA_CHANGED')
      const { errors = [] } = await gateway.query('{ hotExampleComGears { totalCount } }')
      expect(errors[0]?.extensions.hint).toContain('Query.hotExampleComGears was removed')
      expect(onOthers.ended()).toBe(false)
      expect(onOthers.problems).toEqual([])
    })

    it('and one that comes back can be read at once', async () => {
      await define(cluster(), definitionOf('Gear', group, [versionOf('v1', { colour: string })]))
      const query = '{ hotExampleComGears { totalCount nodes { spec { colour } } } }'
      const { data } = await eventually(query, ({ errors }) => errors === undefined)
      expect(data.hotExampleComGears).toEqual({ totalCount: 0, nodes: [] })
    })

    it('many at once are all types in the end', async () => {
      const kinds = ['Alpha', 'Beta', 'Gamma', 'Delta', 'Epsilon', 'Zeta', 'Eta', 'Theta']
      for (const kind of kinds)
        await define(cluster(), definitionOf(kind, group, [versionOf('v1', { [kind]: string })]))
      const query = `{ ${kinds.map((kind) => `hotExampleCom${kind}s { nodes { spec { ${kind} } } }`).join(' ')} }`
      const { data } = await eventually(query, ({ errors }) => errors === undefined)
      expect(Object.keys(data)).toHaveLength(kinds.length)
    })
  },
)

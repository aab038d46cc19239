// Imports internals: the printed schema of a gateway that is asked by several viewers.
import {
  buildSchema,
  type GraphQLSchema,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
  visit,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { printSchemaSdl } from '../../src/graphql/schema/print-schema.ts'
import { reads, type SmallWorld, startSmallWorld } from '../access/small-world.ts'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import type { AnsweredError, GraphQLAnswer } from '../support/gateway.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'

type Levels = ReadonlyMap<string, readonly number[]>

/** Where `@semanticNonNull` stands in a printed schema: the levels by `Type.field`. */
const levelsIn = (sdl: string): Levels => {
  const levels = new Map<string, readonly number[]>()
  visit(parse(sdl), {
    ObjectTypeDefinition(type) {
      for (const field of type.fields ?? []) {
        const found = field.directives?.find(({ name }) => name.value === 'semanticNonNull')
        if (found === undefined) continue
        const [argument] = found.arguments ?? []
        const values = argument?.value.kind === Kind.LIST ? argument.value.values : undefined
        const told = values?.map((one) => (one.kind === Kind.INT ? Number(one.value) : -1))
        levels.set(`${type.name.value}.${field.name.value}`, told ?? [0])
      }
    },
  })
  return levels
}

interface Nulls {
  /** The paths of nulls that the schema promises an error for, and of those without one. */
  readonly promised: string[]
  readonly silent: string[]
}

/** Finds the nulls of an answer at fields with the directive, and those among them that no error explains. */
const nullsIn = (
  schema: GraphQLSchema,
  levels: Levels,
  query: string,
  { data, errors = [] }: GraphQLAnswer,
): Nulls => {
  const failed = new Set(errors.map(({ path = [] }: AnsweredError) => path.join('.')))
  const found: Nulls = { promised: [], silent: [] }
  const walk = (set: SelectionSetNode, value: Fields, path: readonly (string | number)[]): void => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) walk(selection.selectionSet, value, path)
      if (selection.kind !== Kind.FIELD) continue
      const type = schema.getType(value['__typename'])
      if (!isObjectType(type)) throw new Error(`no __typename at ${path.join('.')}`)
      const key = selection.alias?.value ?? selection.name.value
      const field = type.getFields()[selection.name.value]
      if (field === undefined || !(key in value)) continue
      const marks = levels.get(`${type.name}.${field.name}`) ?? []
      const at = (one: unknown, place: readonly (string | number)[], level: number): void => {
        if (one === null) {
          if (!marks.includes(level)) return
          found.promised.push(place.join('.'))
          if (!failed.has(place.join('.'))) found.silent.push(place.join('.'))
        } else if (Array.isArray(one)) one.forEach((item, n) => at(item, [...place, n], level + 1))
        else if (selection.selectionSet && typeof one === 'object')
          walk(selection.selectionSet, one as Fields, place)
      }
      at(value[key], [...path, key], 0)
    }
  }
  const [operation] = parse(query).definitions
  if (operation?.kind === Kind.OPERATION_DEFINITION && data !== null && data !== undefined)
    walk(operation.selectionSet, data, [])
  return found
}

/** With `__typename` in each selection. */
const typed = (query: string): string => query.replaceAll('{ ', '{ __typename ')

const group = 'nulls.example.com'
const widgets = `/apis/${group}/v1/namespaces/one/widgets`

describe('a field with @semanticNonNull is null only beside an error of its own', () => {
  let world: SmallWorld
  let other: SmallWorld
  let served: ViewedGateway
  let schema: GraphQLSchema
  let levels: Levels
  const parts = new AsyncDisposableStack()
  const ann = caller('ann')
  const root = caller('root')

  const answered = async (who: typeof ann, query: string): Promise<Nulls & GraphQLAnswer> => {
    const answer = await served.query(who, typed(query))
    expect(answer.data, JSON.stringify(answer)).toBeDefined()
    return { ...answer, ...nullsIn(schema, levels, typed(query), answer) }
  }

  beforeAll(async () => {
    world = parts.use(await startSmallWorld())
    other = parts.use(await startSmallWorld())
    const proxy = parts.use(await startCutProxy(Number(new URL(other.url).port)))
    const before = versionOf('v1', {
      colour: { type: 'string' },
      parts: { type: 'array', items: { type: 'object', properties: { size: { type: 'string' } } } },
      tags: { type: 'array', items: { type: 'string' } },
      inner: { type: 'object', properties: { name: { type: 'string' } } },
    })
    await world.make(definitionsPath, definitionOf('Widget', group, [before]))
    const body = { apiVersion: `${group}/v1`, kind: 'Widget' }
    await world.make(widgets, { ...body, metadata: { name: 'old' }, spec: { parts: [{}] } })
    await world.make(widgets, {
      ...body,
      metadata: { name: 'new' },
      spec: { colour: 'red', inner: { name: 'a' }, parts: [{ size: 'big' }], tags: ['t'] },
    })
    // The objects stay as they are when their definition becomes stricter.
    const { openAPIV3Schema } = before['schema']
    const { spec } = openAPIV3Schema.properties
    spec.required = ['colour', 'inner', 'tags']
    spec.properties.parts.items.required = ['size']
    await world.patch(`${definitionsPath}/widgets.${group}`, { spec: { versions: [before] } })
    await world.allow('one', 'ann', 'ann', [reads('', 'pods', 'configmaps')])
    await world.allowEverywhere('root', 'root', [reads('*', '*')])
    await other.allowEverywhere('root', 'root', [reads('*', '*')])
    served = parts.use(
      await serveViewers({
        clusters: [
          { ...world.selection, name: 'near' },
          { name: 'far', server: `http://127.0.0.1:${proxy.port}` },
        ],
        allowWrites: true,
        limits: { syncDeadlineMs: 2_000 },
      }),
    )
    const sdl = printSchemaSdl(served.gateway.schema)
    schema = buildSchema(sdl, { assumeValidSDL: true })
    levels = levelsIn(sdl)
    await proxy.refuse()
  })
  afterAll(() => parts.disposeAsync())

  it('on lists, relations, required fields, their items, roots of queries, subscriptions and mutations', () => {
    const told = (name: string) => levels.get(name)
    expect(told('Query.pods')).toEqual([0])
    expect(told('Query.search')).toEqual([0])
    expect(told('Query.gatewayClusters')).toEqual([0])
    expect(told('Query.pod')).toBeUndefined()
    expect(told('Query.object')).toBeUndefined()
    expect(told('Subscription.pods')).toEqual([0])
    expect(told('Subscription.podsPage')).toEqual([0])
    expect(told('Subscription.podFacets')).toEqual([0])
    expect(told('Deployment.replicaSets')).toEqual([0])
    expect(told('Pod.node')).toBeUndefined()
    expect(told('Pod.usedBy')).toEqual([0])
    expect(told('Pod.events')).toEqual([0])
    expect(told('PodSpec.containers')).toEqual([1])
    expect(told('Container.name')).toEqual([0])
    expect(told('NullsExampleComWidgetSpec.tags')).toEqual([0, 1])
    expect(told('NullsExampleComWidgetSpec.parts')).toEqual([1])
    expect(told('NullsExampleComWidgetSpec.colour')).toEqual([0])
  })

  it('where the caller may not read a kind, as a list and as a relation', async () => {
    const { promised, silent } = await answered(
      ann,
      `{ services(namespace: "one") { totalCount } nodes { totalCount }
         pods(namespace: "one") { nodes { name spec { containers { name } } services { totalCount } events { totalCount }
           usedBy { totalCount } owned { totalCount } configMaps { totalCount } disruptionBudgets { totalCount } } }
         configMaps(namespace: "one") { nodes { name usedBy { totalCount } } } }`,
    )
    expect(silent).toEqual([])
    expect(promised).toEqual(expect.arrayContaining(['services', 'nodes', 'pods.nodes.0.services']))
  })

  it('where the cluster is cut', async () => {
    const { promised, silent } = await answered(
      root,
      `{ pods(cluster: "far") { totalCount } search(text: "shop", cluster: "far") { totalCount }
         all: pods(clusters: ["*"]) { nodes { name node { name } services { totalCount } } }
         problems(cluster: "far") { totalCount } kubernetesObjects(kinds: ["Pod"], cluster: "far") { totalCount }
         gatewayClusters { name } complete(text: "sh", cluster: "far") { complete }
         pod(cluster: "far", namespace: "one", name: "shop-1-x") { name } }`,
    )
    expect(silent).toEqual([])
    expect(promised).toContain('pods')
  })

  it('where an object from before lacks what its definition requires now, and the others have it', async () => {
    const query = `{ nullsExampleComWidgets(namespace: "one", orderBy: [{name: ASC}]) { nodes { name
      spec { colour inner { name } tags parts { size } } } } }`
    await expect.poll(async () => (await answered(root, query)).promised.length).toBeGreaterThan(0)
    const { data, errors, promised, silent } = await answered(root, query)
    expect(silent).toEqual([])
    const at = 'nullsExampleComWidgets.nodes.1.spec'
    expect(promised.toSorted()).toEqual(
      [`${at}.colour`, `${at}.inner`, `${at}.parts.0.size`, `${at}.tags`].toSorted(),
    )
    expect(errors).toHaveLength(4)
    expect(data.nullsExampleComWidgets.nodes[0]).toMatchObject({
      name: 'new',
      spec: { colour: 'red', inner: { name: 'a' }, tags: ['t'], parts: [{ size: 'big' }] },
    })
    expect(data.nullsExampleComWidgets.nodes[1]).toMatchObject({
      name: 'old',
      spec: { colour: null, inner: null, tags: null, parts: [{ size: null }] },
    })
  })

  it('where a write is refused', async () => {
    const { promised, silent } = await answered(
      ann,
      'mutation { scale(id: "nothing", replicas: 2) { object { id } } }',
    )
    expect(silent).toEqual([])
    expect(promised).toEqual(['scale'])
  })
})

it('nullsIn finds a null without an error', () => {
  const sdl =
    'directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION type Query { a: [Int] @semanticNonNull(levels: [0, 1]) b: Int @semanticNonNull }'
  const schema = buildSchema(sdl)
  const data = { __typename: 'Query', a: [1, null], b: null }
  const errors = [{ message: '', path: ['b'], extensions: { code: 'INTERNAL' } }]
  const found = nullsIn(schema, levelsIn(sdl), '{ a b }', { data, errors })
  expect(found).toEqual({ promised: ['a.1', 'b'], silent: ['a.1'] })
})

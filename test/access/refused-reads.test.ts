import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

/** Reads pods, and none of what owns them. */
const petra = caller('petra')
/** Reads pods and Widgets, and not what owns the Widgets. */
const quentin = caller('quentin')
/** Reads pods and ConfigMaps, and none of the workloads that use ConfigMaps. */
const rita = caller('rita')

const ways = ['query', 'explained'] as const
const group = 'stable.example.com'

let world: SmallWorld
let served: ViewedGateway

const ownedBy = (kind: string, { apiVersion, metadata: { name, uid } }: Fields): Fields => ({
  ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
})

beforeAll(async () => {
  world = await startSmallWorld()
  const { make, allow } = world
  for (const kind of ['Widget', 'Gizmo']) {
    await make(definitionsPath, definitionOf(kind, group, [versionOf('v1', {})]))
  }
  const objects = `/apis/${group}/v1/namespaces/one`
  const apiVersion = `${group}/v1`
  const gizmo = await make(`${objects}/gizmos`, {
    apiVersion,
    kind: 'Gizmo',
    metadata: { name: 'g' },
  })
  const widget = await make(`${objects}/widgets`, {
    apiVersion,
    kind: 'Widget',
    metadata: { name: 'w', ...ownedBy('Gizmo', gizmo) },
  })
  await make('/api/v1/namespaces/one/pods', {
    metadata: { name: 'owned', ...ownedBy('Widget', widget) },
    spec: { containers: [{ name: 'main', image: 'example/main' }] },
  })
  await allow('one', 'petra', 'petra', [reads('', 'pods')])
  await allow('one', 'quentin', 'quentin', [reads('', 'pods'), reads(group, 'widgets')])
  await allow('one', 'rita', 'rita', [reads('', 'pods'), reads('', 'configmaps')])
  served = await serveViewers({ clusters: [world.selection] })
})

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const pod = (fields: string): string => `{ pod(namespace: "one", name: "owned") { ${fields} } }`
const told = (errors: readonly Fields[] = []): readonly unknown[] =>
  errors.map(({ path, message, extensions: { code, type } }) => [
    path.slice(1).join('.'),
    code,
    type,
    message,
  ])
const mayNot = (type: string): string => `you may not get ${type}`
const widgetType = 'StableExampleComWidget'
const gizmoType = 'StableExampleComGizmo'

describe.each(ways)('An owner that the viewer may not get, by %s', (way) => {
  it.each([
    ['owners { name }', 'owners', { owners: [] }],
    [
      'controller { name object { name } }',
      'controller.object',
      { controller: { name: 'w', object: null } },
    ],
    ['ownerChain { name }', 'ownerChain', { ownerChain: [{ name: 'w' }] }],
    ['rootOwner { name }', 'rootOwner', { rootOwner: { name: 'w' } }],
    ['workload { name }', 'workload', { workload: null }],
  ])('is an error of the field: %s', async (fields, place, data) => {
    const answer = await served[way](petra, pod(fields))
    expect(answer.data.pod).toEqual(data)
    expect(told(answer.errors)).toEqual([[place, 'FORBIDDEN', widgetType, mayNot(widgetType)]])
  })

  it('is an error as well for each field that needs its object', async () => {
    const answer = await served[way](petra, pod('ownerChain { object { name } }'))
    expect((answer.errors ?? []).map(({ path = [] }) => path.slice(1).join('.'))).toEqual([
      'ownerChain',
      'ownerChain.0.object',
    ])
  })

  it('ends a chain that the viewer may see in part with an error', async () => {
    const answer = await served[way](quentin, pod('owners { name } ownerChain { name }'))
    expect(answer.data.pod).toEqual({
      owners: [{ name: 'w' }],
      ownerChain: [{ name: 'w' }, { name: 'g' }],
    })
    expect(told(answer.errors)).toEqual([['ownerChain', 'FORBIDDEN', gizmoType, mayNot(gizmoType)]])
  })

  it('is one error for all rows of a list', async () => {
    const answer = await served[way](
      petra,
      '{ pods(namespace: "one") { nodes { name owners { name } } } }',
    )
    expect(answer.errors?.map(({ extensions }) => extensions.type).toSorted()).toEqual([
      'ReplicaSet',
      widgetType,
    ])
  })
})

describe.each(ways)('The error of what the viewer may not read, by %s', (way) => {
  const errorOf = async (query: string, who = petra): Promise<Fields> => {
    const { errors = [] } = await served[way](who, query)
    expect(errors).toHaveLength(1)
    return errors[0]?.extensions as Fields
  }

  it('names the GraphQL type as `type`, and has no `kind`', async () => {
    const extensions = await errorOf('{ stableExampleComWidgets { totalCount } }')
    expect(extensions).toMatchObject({ code: 'FORBIDDEN', type: widgetType })
    expect(extensions).not.toHaveProperty('kind')
  })

  it.each([
    [
      'a name that `get` suffices for',
      pod('replicaSet { name }').replace('owned', 'shop-1-x'),
      ['you may not get ReplicaSet', 'ask for get on replicasets'],
    ],
    [
      'a list in namespaces',
      '{ secrets { totalCount } }',
      ['you may not list Secret', 'ask for list on secrets, or name a namespace where you may'],
    ],
    [
      'a list without namespaces',
      '{ nodes { totalCount } }',
      ['you may not list Node', 'ask for list on nodes'],
    ],
  ])('names the verb and the way out of %s', async (_what, query, error) => {
    const { errors = [] } = await served[way](petra, query)
    expect(errors.map(({ message, extensions }) => [message, extensions.hint])).toEqual([error])
  })

  it('names `types` as the way out where not all users can be seen', async () => {
    const fieldOf = (argument = ''): string =>
      `{ configMap(namespace: "one", name: "settings") { usedBy${argument} { totalCount } } }`
    const filterOf = (argument = ''): string =>
      `{ configMaps(namespace: "one", where: { usedBy: { none: {${argument}} } }) { totalCount } }`
    for (const query of [fieldOf(), filterOf()]) {
      const { code, type, hint } = await errorOf(query, rita)
      expect([code, hint]).toEqual([
        'FORBIDDEN',
        expect.stringMatching(
          /^name in `types` the types of users that you may list, or ask for list on \w+$/,
        ),
      ])
      expect(type).not.toBe('Pod')
    }
    const { type, hiddenTypes, visibleTypes } = (await errorOf(fieldOf(), rita)) as unknown as {
      readonly type: string
      readonly hiddenTypes: readonly string[]
      readonly visibleTypes: readonly string[]
    }
    expect(visibleTypes).toContain('Pod')
    expect(hiddenTypes).toContain(type)
    expect(hiddenTypes.filter((one) => visibleTypes.includes(one))).toEqual([])
    const visible = `(types: ${JSON.stringify(visibleTypes)})`
    expect((await served[way](rita, fieldOf(visible))).errors).toBeUndefined()
    for (const query of [fieldOf('(types: ["Pod"])'), filterOf(' types: ["Pod"] ')]) {
      expect((await served[way](rita, query)).errors).toBeUndefined()
    }
  })
})

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { reads, type SmallWorld, startSmallWorld } from '../access/small-world.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { wait } from './past-gateway.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const alice = caller('alice')
const bob = caller('bob')
const root = caller('root', 'system:masters')

describe('the past, as its viewers may see it today', () => {
  let world: SmallWorld
  let served: ViewedGateway
  let since = ''
  /** The ids of the ConfigMaps `secret-plan` of both namespaces, which are gone. */
  const gone: Record<string, string> = {}

  const data = async (
    who: typeof alice,
    query: string,
    variables: Fields = {},
  ): Promise<Fields> => {
    const answer = await served.query(who, query, variables)
    if (answer.errors !== undefined) throw new Error(JSON.stringify(answer.errors))
    return answer.data
  }

  beforeAll(async () => {
    world = await startSmallWorld()
    await world.allow('one', 'alice', 'alice', [reads('', 'configmaps', 'pods')])
    await world.allow('two', 'bob-name', 'bob', [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['settings'], verbs: ['get'] },
    ])
    served = await serveViewers({ clusters: [world.selection], archive: { url: 'memory:' } })
    await vi.waitFor(async () => {
      since = new Date().toISOString()
      const { changes } = await data(
        root,
        '{ changes(types: ["ConfigMap", "Pod"]) { incomplete { to } } }',
      )
      if (changes.incomplete.some(({ to }: Fields) => to === null)) throw new Error('not begun')
    }, wait)
    for (const namespace of ['one', 'two']) {
      const path = `/api/v1/namespaces/${namespace}/configmaps`
      await world.make(path, { metadata: { name: 'secret-plan' }, data: { of: namespace } })
      await vi.waitFor(async () => {
        const { changes } = await data(
          root,
          `{ changes(namespace: "${namespace}", types: ["ConfigMap"], where: { name: { eq: "secret-plan" } }) { nodes { object { id } } } }`,
        )
        if (changes.nodes.length === 0) throw new Error('not seen')
        gone[namespace] = changes.nodes[0].object.id
      }, wait)
      await world.patch(`${path}/settings`, { data: { color: 'blue' } })
      await world.remove(`${path}/secret-plan`)
      await world.patch(`/api/v1/namespaces/${namespace}/pods/shop-1-x`, {
        metadata: { labels: { x: 'y' } },
      })
    }
    await vi.waitFor(async () => {
      const { changes } = await data(
        root,
        '{ changes(types: ["Pod"], where: { path: { eq: "/metadata/labels/x" } }) { nodes { id } } }',
      )
      if (changes.nodes.length < 2) throw new Error('not seen')
    }, wait)
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  const namespacesOf = ({ nodes }: Fields): ReadonlySet<string> =>
    new Set(nodes.map(({ object }: Fields) => object.namespace))

  it('shows each viewer the changes of the namespaces that they may list, of what is gone, too', async () => {
    const query =
      '{ changes(first: 500) { nodes { type object { kind namespace name } } pageInfo { hasNextPage } } }'
    const { changes: all } = await data(root, query)
    expect(namespacesOf(all)).toEqual(new Set(['one', 'two']))
    const { changes: some } = await data(alice, query)
    expect(namespacesOf(some)).toEqual(new Set(['one']))
    expect(some.nodes.map(({ type, object }: Fields) => `${type} ${object.name}`)).toContain(
      'REMOVED secret-plan',
    )
    expect(new Set(some.nodes.map(({ object }: Fields) => object.kind))).toEqual(
      new Set(['ConfigMap', 'Pod']),
    )
    const { data: none } = await served.query(bob, query)
    expect(none.changes?.nodes ?? []).toEqual([])
  })

  it('neither pages nor counts what a viewer may not list', async () => {
    const { changes } = await data(
      alice,
      '{ changes(first: 1, types: ["ConfigMap"], where: { name: { eq: "secret-plan" } }) { nodes { type } pageInfo { hasNextPage endCursor } } }',
    )
    expect(changes.nodes).toEqual([{ type: 'REMOVED' }])
    const { changes: rest } = await data(
      alice,
      'query ($after: String) { changes(first: 5, after: $after, types: ["ConfigMap"], where: { name: { eq: "secret-plan" } }) { nodes { type } pageInfo { hasNextPage } } }',
      { after: changes.pageInfo.endCursor },
    )
    expect(rest).toEqual({ nodes: [{ type: 'ADDED' }], pageInfo: { hasNextPage: false } })
  })

  it('says of a kind that a viewer may not list that they may not', async () => {
    const { data: answer, errors } = await served.query(
      alice,
      '{ changes(types: ["Deployment"]) { nodes { id } incomplete { code type } } }',
    )
    expect(answer.changes).toEqual({
      nodes: [],
      incomplete: [{ code: 'FORBIDDEN', type: 'Deployment' }],
    })
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', type: 'Deployment' } }])
  })

  it('treats an object that a viewer may not look up as absent, by id, around it, and in the past', async () => {
    const query = `query ($id: ID!, $at: DateTime) {
      changes(ids: [$id]) { nodes { id } } around: changes(around: $id) { nodes { id } } object(id: $id, at: $at) { id } }`
    for (const id of [gone['two'], 'simulated/ConfigMap/two/secret-plan']) {
      const named = String(id).replace('simulated', world.selection.name)
      const answer = await served.query(alice, query, { id: named, at: new Date().toISOString() })
      expect(answer).toEqual({
        data: { changes: { nodes: [] }, around: { nodes: [] }, object: null },
      })
    }
    const own = await data(alice, query, { id: gone['one'], at: new Date().toISOString() })
    expect(own['changes'].nodes).toHaveLength(2)
  })

  it('shows a viewer who may get one object by its name that object alone', async () => {
    const named = `${world.selection.name}/ConfigMap/two/settings`
    const { changes } = await data(
      bob,
      'query ($id: ID!) { changes(ids: [$id]) { nodes { type object { name } } } }',
      { id: named },
    )
    expect(changes.nodes).toEqual([{ type: 'MODIFIED', object: { name: 'settings' } }])
  })

  it('has no differences of what a viewer may not list', async () => {
    const query =
      'query ($from: DateTime!) { differences(from: $from, types: ["ConfigMap", "Pod"]) { nodes { object { namespace } } } }'
    expect(namespacesOf((await data(root, query, { from: since }))['differences'])).toEqual(
      new Set(['one', 'two']),
    )
    expect(namespacesOf((await data(alice, query, { from: since }))['differences'])).toEqual(
      new Set(['one']),
    )
  })

  it('begins a subscription anew when its viewer may see other objects', async () => {
    const frames: Fields[] = []
    const leave = served.connect(alice).subscribe(
      {
        query:
          'subscription { changes(types: ["ConfigMap"], coalesceMs: 0) { reset changes { object { namespace } } incomplete { code } } }',
      },
      {
        next: ({ data: frame }) => void (frame && frames.push(frame['changes'] as Fields)),
        error: () => {},
        complete: () => {},
      },
    )
    const seenIn = (): ReadonlySet<string> => {
      const begin = frames.findLastIndex(({ reset }) => reset)
      return new Set(
        frames
          .slice(begin)
          .flatMap(({ changes }) => changes.map(({ object }: Fields) => object.namespace)),
      )
    }
    await vi.waitFor(() => expect(seenIn()).toEqual(new Set(['one'])), wait)
    await world.allow('two', 'alice-two', 'alice', [reads('', 'configmaps')])
    await vi.waitFor(() => expect(seenIn()).toEqual(new Set(['one', 'two'])), wait)
    await world.remove(`${rbac}/namespaces/two/rolebindings/alice-two`)
    await vi.waitFor(() => expect(seenIn()).toEqual(new Set(['one'])), wait)
    leave()
  })
})

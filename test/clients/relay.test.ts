import type { ReaderFragment } from 'relay-runtime'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { compileRelayApp, type RelayApp, type RelayStore } from './relay-app.ts'
import { podNames, shop, shopForTests } from './shop.ts'

describe('Relay', () => {
  const open = shopForTests({ relay: true })
  let app: RelayApp

  beforeAll(async () => {
    const { project, schema } = open()
    app = await compileRelayApp(project, await schema('--for', 'relay'))
  })

  const openStore = (): RelayStore => {
    const { gateway } = open()
    return app.open(gateway, gateway.connect())
  }

  it('compiles a refetchable fragment with pages of a relation', async () => {
    expect(app.compiled).toContain('compiled documents')
    expect(app.compiled).not.toMatch(/warn|error/i)
    const query = await app.artifact<{ readonly params: { readonly text: string } }>(
      'NodePagePodsQuery',
    )
    expect(query.params.text).toContain('fetch__Node(id: $id)')
    const fragment = await app.artifact<ReaderFragment>('NodePage_pods')
    expect(fragment.metadata?.refetch?.identifierInfo).toMatchObject({ identifierField: 'id' })
  })

  it('pages through a relation by fetching its object again', async () => {
    const node = await openStore().readNode('n-0', 3)
    expect(node.names()).toEqual(podNames.slice(0, 3))
    await node.loadNext(3)
    expect(node.names()).toEqual(podNames.slice(0, 6))
    await node.loadNext(3)
    expect(node.names()).toEqual(podNames)
  })

  it('takes rows out of a list by the frames of a subscription, and adds them once it is complete', async () => {
    const { addPod, deletePod } = open()
    const store = openStore()
    const node = await store.readNode('n-0', 3)
    // The first snapshot corrects what has changed since the list was read.
    await addPod('web-h')
    await deletePod('web-b')
    using following = node.follow()
    await vi.waitFor(() => expect(node.names()).toEqual(['web-a', 'web-c']), 10_000)
    expect(node.pods().pageInfo.hasNextPage).toBe(true)
    while (node.pods().pageInfo.hasNextPage) await node.loadNext(3)
    const [, , ...rest] = podNames
    expect(node.names()).toEqual(['web-a', ...rest, 'web-h'])
    await addPod('web-b')
    await vi.waitFor(
      () => expect(node.names()).toEqual(['web-a', ...rest, 'web-h', 'web-b']),
      10_000,
    )
    await deletePod('web-h')
    await vi.waitFor(() => expect(node.names()).toEqual(['web-a', ...rest, 'web-b']), 10_000)
    expect(following.getSnapshot().error).toBe(undefined)
  })

  it('does not take a reference to an object for the object', async () => {
    const data = await openStore().run('NodePageOwnersQuery', {})
    const namespaceObject = { metadata: { name: shop } }
    expect(data).toMatchObject({
      replicaSets: { nodes: [{ namespaceObject }] },
      pods: { nodes: [{ ownerChain: [{ kind: 'ReplicaSet', namespace: shop, name: 'web' }] }] },
    })
  })

  it('an object is fetched as what it is, or the id is refused', async () => {
    const { gateway } = open()
    const { node, pods } = await gateway.data(
      '{ node(name: "n-0") { id } pods(first: 1) { nodes { id } } }',
    )
    const fetched = 'query ($id: ID!) { fetch__Pod(id: $id) { id kind } }'
    const [{ id }] = pods.nodes
    expect(await gateway.data(fetched, { id })).toEqual({ fetch__Pod: { id, kind: 'Pod' } })
    const refused = await gateway.query(fetched, { id: node.id })
    expect(refused.data).toEqual({ fetch__Pod: null })
    expect(refused.errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'id',
    })
    const unread = await gateway.query(fetched, { id: 'nothing' })
    expect(unread.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
  })
})

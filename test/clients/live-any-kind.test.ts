import { liveCollection, livePage, WebSocketClient } from 'informerql/client'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { podNames, shop, shopForTests } from './shop.ts'

interface KubernetesObject {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

const object = 'object { id kind name labels }'
const list = { kind: 'Pod', where: { namespace: { eq: shop } } }
const listQuery = `subscription ($kind: String!, $where: JSON, $resumeFrom: String) {
  objectList(kind: $kind, where: $where, resumeFrom: $resumeFrom, coalesceMs: 0) {
    reset synced resumeToken staleSince changes { type removal objectId ${object} }
  }
}`
const objectQuery = `subscription ($id: ID!, $resumeFrom: String) {
  object(id: $id, resumeFrom: $resumeFrom, coalesceMs: 0) {
    reset synced resumeToken staleSince changes { type removal objectId ${object} }
  }
}`
const pageQuery = `subscription ($kind: String!, $where: JSON, $first: Int, $orderBy: [JSON!], $resumeFrom: String) {
  objectListPage(kind: $kind, where: $where, first: $first, orderBy: $orderBy, resumeFrom: $resumeFrom, coalesceMs: 0) {
    reset synced totalCount resumeToken staleSince changes { step index from objectId ${object} }
  }
}`
const compare = (a: KubernetesObject, b: KubernetesObject): number => (a.name < b.name ? -1 : 1)
const wait = { timeout: 60_000 }

const open = shopForTests()
const stack: (Disposable | AsyncDisposable)[] = []
const used = <T extends Disposable | AsyncDisposable>(part: T): T => {
  stack.push(part)
  return part
}
afterEach(async () => {
  for (const part of stack.splice(0).toReversed()) {
    if (Symbol.asyncDispose in part) await part[Symbol.asyncDispose]()
    else part[Symbol.dispose]()
  }
})

const connected = async (): Promise<{ client: WebSocketClient; proxy: CutProxy }> => {
  const proxy = used(await startCutProxy(Number(new URL(open().gateway.url).port)))
  const url = `ws://127.0.0.1:${proxy.port}/graphql`
  return { proxy, client: new WebSocketClient({ url, webSocket: WebSocket }) }
}
const names = ({ rows }: { readonly rows: readonly KubernetesObject[] }): readonly string[] =>
  rows.map(({ name }) => name)

describe('without a field of the kind', () => {
  it('liveCollection shows a list whose kind is a variable, and goes on after a lost connection', async () => {
    const { addPod, deletePod } = open()
    const { client, proxy } = await connected()
    const options = { client, query: listQuery, variables: list, compare }
    const live = used(liveCollection<unknown, object, KubernetesObject>(options))
    await live.synced
    expect(names(live.getSnapshot())).toEqual(podNames)
    expect(live.getSnapshot()).toMatchObject({ status: 'live', staleSince: null })
    await proxy.refuse()
    await addPod('web-late')
    await deletePod('web-a')
    await proxy.listen()
    await expect
      .poll(() => names(live.getSnapshot()), wait)
      .toEqual([...podNames.slice(1), 'web-late'].toSorted())
    await deletePod('web-late')
    await addPod('web-a')
    await expect.poll(() => names(live.getSnapshot()), wait).toEqual(podNames)
  })

  it('liveCollection shows one object until it is gone', async () => {
    const { addPod, deletePod, gateway, labelPod } = open()
    await addPod('web-one')
    const answer = await gateway.data(
      `{ objectByRef(apiVersion: "v1", kind: "Pod", namespace: "${shop}", name: "web-one") { id } }`,
    )
    const { client } = await connected()
    const variables = { id: answer.objectByRef.id }
    const options = { client, query: objectQuery, variables }
    const live = used(liveCollection<unknown, object, KubernetesObject>(options))
    await live.synced
    expect(live.getSnapshot().rows).toMatchObject([{ kind: 'Pod', labels: { app: 'web' } }])
    await labelPod('web-one', 'other')
    await expect.poll(() => live.getSnapshot().rows[0]?.labels['app'], wait).toBe('other')
    await deletePod('web-one')
    await expect.poll(() => live.getSnapshot().rows, wait).toEqual([])
    expect(live.getSnapshot().status).toBe('live')
  })

  it('livePage shows the first of a list whose kind and order are variables', async () => {
    const { addPod, deletePod } = open()
    const { client, proxy } = await connected()
    const variables = { ...list, first: 3, orderBy: [{ name: 'DESC' }] }
    const options = { client, query: pageQuery, variables }
    const page = used(livePage<unknown, object, KubernetesObject>(options))
    await page.synced
    expect(names(page.getSnapshot())).toEqual(['web-g', 'web-f', 'web-e'])
    expect(page.getSnapshot()).toMatchObject({ totalCount: podNames.length, status: 'live' })
    await addPod('web-z')
    await expect.poll(() => names(page.getSnapshot()), wait).toEqual(['web-z', 'web-g', 'web-f'])
    await proxy.refuse()
    await deletePod('web-z')
    await proxy.listen()
    await expect.poll(() => names(page.getSnapshot()), wait).toEqual(['web-g', 'web-f', 'web-e'])
  })
})

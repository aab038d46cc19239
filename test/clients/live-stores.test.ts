import { join, resolve } from 'node:path'
import type * as client from 'informerql/client'
import {
  foldConnection,
  FrameFold,
  liveCollection,
  liveStore,
  livePage,
  PageFold,
  WebSocketClient,
} from 'informerql/client'
import { describe, expect, it, vi } from 'vitest'
import { createProject } from './project.ts'
import { podNames, shop, shopForTests } from './shop.ts'

const open = shopForTests()
const waitMs = { timeout: 60_000 }

interface Pod {
  readonly id: string
  readonly metadata: { readonly name: string }
}

const query = `subscription {
  pods(namespace: "${shop}", coalesceMs: 0) {
    reset synced changes { type removal objectId object { id metadata { name } } }
  }
}`
const byName = (a: Pod, b: Pod) => (a.metadata.name < b.metadata.name ? -1 : 1)
const connected = () => new WebSocketClient({ url: open().gateway.url.replace('http', 'ws') })

describe('the store contract', () => {
  it('of Svelte: a store calls with the present snapshot at once, and with each later one once', async () => {
    const socket = connected()
    using pods = liveCollection<Pod>({ client: socket, query, compare: byName })
    const store = liveStore(pods)
    const told: string[] = []
    const leave = store.subscribe(({ status, rows }) => {
      told.push(`${status} ${rows.map(({ metadata }) => metadata.name).join()}`)
    })
    expect(told).toEqual(['loading '])
    await vi.waitFor(() => expect(told.at(-1)).toBe(`live ${podNames.join()}`), waitMs)
    await open().addPod('web-h')
    await vi.waitFor(() => expect(told.at(-1)).toContain('web-h'), waitMs)
    expect(new Set(told).size).toBe(told.length)
    leave()
    const { length } = told
    await open().deletePod('web-h')
    await vi.waitUntil(() => socket.isIdle, waitMs)
    expect(told).toHaveLength(length)
  })

  it('of Vue: a reference that is replaced by each snapshot shows every one, and leaves with its scope', async () => {
    const socket = connected()
    using pods = liveCollection<Pod>({ client: socket, query, compare: byName })
    // As docs/clients.md shows it with shallowRef and onScopeDispose.
    const shown = { value: pods.getSnapshot() }
    const dispose = pods.subscribe(() => {
      shown.value = pods.getSnapshot()
    })
    await vi.waitFor(() => expect(shown.value.status).toBe('live'), waitMs)
    const before = shown.value
    expect(pods.getSnapshot()).toBe(before)
    await open().addPod('web-h')
    await vi.waitFor(() => expect(shown.value.rows).toHaveLength(podNames.length + 1), waitMs)
    expect(before.rows).toHaveLength(podNames.length)
    dispose()
    await vi.waitUntil(() => socket.isIdle, waitMs)
    await open().deletePod('web-h')
  })

  it('is that of views, pages and values, too', () => {
    const socket = connected()
    const page = livePage<Pod>({ client: socket, query })
    const view = liveCollection<Pod>({ client: socket, query }).view({})
    for (const live of [page, view]) {
      let rows: readonly Pod[] | undefined
      liveStore<{ readonly rows: readonly Pod[] }>(live).subscribe((snapshot) => {
        rows = snapshot.rows
      })()
      expect(rows).toEqual([])
    }
  })
})

describe('@informerql/client beside informerql/client', () => {
  it('works with parts of the other, at run time and for the compiler', async () => {
    await using project = await createProject()
    // Another copy of the same sources, as the package has it.
    await project.program(
      'tsc',
      '-p',
      resolve('packages/client'),
      '--outDir',
      join(project.dir, 'other'),
    )
    const other = (await project.load('other/client.js')) as typeof client
    expect(other.PageFold).not.toBe(PageFold)
    const page = new other.PageFold<Pod>()
    const row = { id: 'a', metadata: { name: 'a' } }
    page.apply({
      reset: true,
      synced: true,
      totalCount: 3,
      changes: [{ step: 'INSERT', index: 0, objectId: 'a', object: row }],
    })
    const list = { nodes: [] as Pod[], pageInfo: { hasNextPage: false, endCursor: null } }
    expect(foldConnection(list, page)).toMatchObject({
      nodes: [row],
      pageInfo: { hasNextPage: true },
    })
    const socket = new other.WebSocketClient({ url: open().gateway.url.replace('http', 'ws') })
    using pods = liveCollection<Pod>({ client: socket, query, compare: byName })
    await pods.synced
    expect(pods.getSnapshot().rows.map(({ metadata }) => metadata.name)).toEqual(podNames)
    expect(new FrameFold().complete).toBe(false)

    // Two packages: the classes of one are not those of the other for the compiler, either.
    await project.write(
      'mixed.ts',
      `import { foldConnection, liveCollection, type CachedList } from '@informerql/client'
       import * as gateway from './other/client.js'
       interface Pod { readonly id: string }
       declare const list: CachedList<Pod>
       const client = new gateway.WebSocketClient({ url: 'wss://portal.example/graphql' })
       export const pods = liveCollection<Pod>({ client, query: 'subscription { pods { reset } }' })
       export const one = foldConnection(list, new gateway.FrameFold<Pod>())
       export const two = foldConnection(list, new gateway.PageFold<Pod>())\n`,
    )
    expect(await project.compile()).toBe('')
  })
})

import { join } from 'node:path'
import type { LiveTransport } from 'informerql/client'
import { useLiveCollection, useLivePage } from 'informerql/client/react'
import type { Page } from 'playwright-core'
import { createElement, StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeInBrowser, sentBy } from '../support/browser.ts'
import { serveFiles } from '../support/file-server.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { podNames, profile, shop, shopForTests } from './shop.ts'

/** A page whose components the test shows by `show({ … })`, under StrictMode. */
const program = `
import { WebSocketClient } from 'informerql/client'
import {
  useLiveCollection,
  useLivePage,
  useLiveValue,
  useSuspenseLiveCollection,
} from 'informerql/client/react'
import { Component, createElement, StrictMode, Suspense, use, useEffect } from 'react'
import { createRoot } from 'react-dom/client'

interface Pod {
  readonly metadata: { readonly name: string }
}
interface Shown {
  readonly selector?: string
  readonly backwards?: boolean
  readonly page?: boolean
  readonly counts?: boolean
  readonly suspended?: boolean
  readonly enabled?: boolean
  /** How many lists of the same pods. */
  readonly lists?: number
  readonly suspense?: boolean
  readonly field?: string
}

const client = new WebSocketClient({ url: new URLSearchParams(location.search).get('gateway') ?? '' })
const never = new Promise<never>(() => {})
let mounts = 0

function List({ selector, backwards = false, suspended = false, enabled = true }: Shown) {
  const { rows, status, error } = useLiveCollection<Pod>({
    client,
    enabled,
    query: \`subscription ($selector: String, $resumeFrom: String) {
      pods(namespace: "${shop}", labelSelector: $selector, resumeFrom: $resumeFrom, coalesceMs: 0) {
        reset synced resumeToken
        changes { type removal objectId object { id metadata { name } } }
      }
    }\`,
    variables: { selector },
    compare: (a, b) => (a.metadata.name < b.metadata.name ? -1 : 1) * (backwards ? -1 : 1),
  })
  useEffect(() => {
    mounts++
  }, [])
  if (suspended) use(never)
  return createElement('output', {}, [status, rows.map(({ metadata }) => metadata.name), error?.message].join(' '))
}

function First() {
  const { rows, totalCount, status } = useLivePage<Pod>({
    client,
    query: \`subscription ($resumeFrom: String) {
      podsPage(namespace: "${shop}", first: 2, resumeFrom: $resumeFrom, coalesceMs: 0) {
        reset synced totalCount resumeToken
        changes { step index from objectId object { id metadata { name } } }
      }
    }\`,
  })
  return createElement('output', {}, [status, totalCount, rows.map(({ metadata }) => metadata.name)].join(' '))
}

function Counts() {
  const { value, status } = useLiveValue<{ totalCount: number }>({
    client,
    query: \`subscription { podFacets(namespace: "${shop}", coalesceMs: 0) { totalCount } }\`,
  })
  return createElement('output', {}, [status, value?.totalCount].join(' '))
}

function Suspending({ field = 'pods' }: Shown) {
  const { rows, status } = useSuspenseLiveCollection<Pod>({
    client,
    query: \`subscription ($resumeFrom: String) {
      \${field}(namespace: "${shop}", resumeFrom: $resumeFrom, coalesceMs: 0) {
        reset synced resumeToken
        changes { type removal objectId object { id metadata { name } } }
      }
    }\`,
    compare: (a, b) => (a.metadata.name < b.metadata.name ? -1 : 1),
  })
  return createElement('output', {}, [status, rows.map(({ metadata }) => metadata.name)].join(' '))
}

class Boundary extends Component<{ readonly children: unknown }, { readonly message?: string }> {
  override state: { readonly message?: string } = {}
  static getDerivedStateFromError = ({ message }: Error) => ({ message })
  override render() {
    const { message } = this.state
    return message === undefined ? (this.props.children as never) : createElement('output', {}, message)
  }
}

function App(shown: Shown) {
  if (shown.suspense) {
    const fallback = createElement('output', {}, 'suspended')
    const inner = createElement(Suspense, { fallback }, createElement(Suspending, shown))
    return createElement(Boundary, { children: inner })
  }
  const lists = Array.from({ length: shown.lists ?? 1 }, (_, key) => createElement(List, { key, ...shown, backwards: key % 2 === 1 || shown.backwards === true }))
  return shown.counts ? createElement(Counts) : shown.page ? createElement(First) : lists
}

const root = createRoot(document.body)
Object.assign(globalThis, {
  mounts: () => mounts,
  show: (shown?: Shown) =>
    root.render(shown && createElement(StrictMode, {}, createElement(App, shown))),
})
`

const open = shopForTests()

describeInBrowser('a hook under StrictMode', (browser) => {
  const dist = () => join(open().project.dir, 'dist')
  const parts = new AsyncDisposableStack()
  let files: Awaited<ReturnType<typeof serveFiles>>
  let gateway: ServedGateway
  let shared: Page
  beforeAll(async () => {
    const { project } = open()
    await project.write('main.ts', program)
    await project.write(
      'index.html',
      '<!doctype html><script type="module" src="./main.ts"></script>',
    )
    await build({
      root: project.dir,
      configFile: false,
      logLevel: 'warn',
      // StrictMode mounts components twice in React's development build only.
      define: { 'process.env.NODE_ENV': '"development"' },
      build: { outDir: dist(), emptyOutDir: true },
      resolve: { conditions: ['informerql-source', 'module', 'browser'] },
    })
    files = parts.use(await serveFiles(dist()))
    const clusters = [{ name: 'default', ...open().cluster.selection }]
    gateway = parts.use(
      await serveGateway({ clusters, profile }, { allowedOrigins: [files.origin] }),
    )
    // One for all tests, which load it anew: a new page takes four times as long.
    shared = await browser().newPage()
    parts.defer(() => shared.close())
  })
  afterAll(() => parts.disposeAsync())

  /** The page, loaded anew from an allowed origin: what it sends, what it shows, and a function that renders. */
  async function openPage(path = '/graphql') {
    const sent = sentBy(shared)
    const url = new URL(path, gateway.url.replace('http', 'ws'))
    await shared.goto(`${files.origin}/?gateway=${url.href}`)
    return {
      sent,
      show: (shown?: object) => shared.evaluate(`show(${JSON.stringify(shown)})`),
      shows: (text: string | RegExp) => shared.locator('output').getByText(text).first().waitFor(),
      all: () => shared.locator('output').allTextContents(),
      mounts: () => shared.evaluate('mounts()'),
      [Symbol.asyncDispose]: async () => void (await shared.goto('about:blank')),
    }
  }

  const forwards = `live ${podNames.join()}`
  const backwards = `live ${podNames.toReversed().join()}`

  it('compiles', async () => {
    expect(await open().project.compile()).toBe('')
  })

  it('connects once though its component is mounted twice, and follows the list', async () => {
    await using page = await openPage()
    await page.show({})
    await page.shows(forwards)
    expect(await page.mounts()).toBe(2)
    expect(page.sent).toEqual(['connected', 'subscribe 1'])
    await open().addPod('web-h')
    await page.shows(`${forwards},web-h`)
    await open().deletePod('web-h')
    await page.shows(new RegExp(`${forwards} $`))
  })

  it('leaves with its component, and connects again with the next one', async () => {
    await using page = await openPage()
    await page.show({})
    await page.shows(forwards)
    await page.show()
    await expect
      .poll(() => page.sent)
      .toEqual(['connected', 'subscribe 1', 'complete 1', 'disconnected'])
    page.sent.length = 0
    await page.show({})
    await page.shows(forwards)
    expect(page.sent).toEqual(['connected', 'subscribe 2'])
  })

  it('follows another list when the variables change, by the same connection', async () => {
    await using page = await openPage()
    await page.show({})
    await page.shows(forwards)
    await open().labelPod('web-b', 'other')
    await page.show({ selector: 'app=other' })
    await page.shows(/^live web-b $/)
    await expect
      .poll(() => page.sent)
      .toEqual(['connected', 'subscribe 1', 'subscribe 2', 'complete 1'])
    await open().labelPod('web-b', 'web')
    await page.shows(/^live {2}$/)
  })

  it('sorts again when the order changes, and asks nothing', async () => {
    await using page = await openPage()
    await page.show({})
    await page.shows(forwards)
    await page.show({ backwards: true })
    await page.shows(backwards)
    await open().addPod('web-h')
    await page.shows(backwards.replace(' ', ' web-h,'))
    await open().deletePod('web-h')
    await page.shows(backwards)
    await page.show({})
    await page.shows(forwards)
    expect(page.sent).toEqual(['connected', 'subscribe 1'])
  })

  it('never connects for a component that suspends before it is mounted', async () => {
    await using page = await openPage()
    await page.show({ suspended: true })
    await page.show({ page: true })
    await page.shows(/^live/)
    expect(await page.mounts()).toBe(0)
    expect(page.sent).toEqual(['connected', 'subscribe 1'])
  })

  it('shares one subscription with the components that ask the same, each in its order', async () => {
    await using page = await openPage()
    await page.show({ lists: 3 })
    await expect
      .poll(async () => (await page.all()).map((text) => text.trim()))
      .toEqual([forwards, backwards, forwards])
    expect(page.sent).toEqual(['connected', 'subscribe 1'])
    await open().addPod('web-h')
    await expect
      .poll(async () => (await page.all()).map((text) => text.trim()))
      .toEqual([
        `${forwards},web-h`,
        backwards.replace('live ', 'live web-h,'),
        `${forwards},web-h`,
      ])
    await open().deletePod('web-h')
    // One stays, and so does the subscription.
    await page.show({ lists: 1 })
    await page.shows(new RegExp(`^${forwards} $`))
    expect(page.sent).toEqual(['connected', 'subscribe 1'])
    await page.show()
    await expect
      .poll(() => page.sent)
      .toEqual(['connected', 'subscribe 1', 'complete 1', 'disconnected'])
  })

  it('subscribes while it is enabled, and keeps its rows while it is not', async () => {
    await using page = await openPage()
    await page.show({ enabled: false })
    await page.shows(/^idle {2}$/)
    expect(page.sent).toEqual([])
    await page.show({ enabled: true })
    await page.shows(forwards)
    await page.show({ enabled: false })
    await page.shows(forwards.replace('live', 'idle'))
    await expect.poll(() => page.sent.at(-1)).toBe('disconnected')
    await page.show({ enabled: true })
    await page.shows(forwards)
  })

  it('suspends until the first snapshot is complete, by one subscription', async () => {
    await using page = await openPage()
    await page.show({ suspense: true })
    await page.shows(forwards)
    expect(page.sent).toEqual(['connected', 'subscribe 1'])
    await open().addPod('web-h')
    await page.shows(`${forwards},web-h`)
    await open().deletePod('web-h')
    await page.shows(new RegExp(`${forwards}$`))
    await page.show()
    await expect.poll(() => page.sent.at(-1)).toBe('disconnected')
  })

  it('throws the error of a subscription that has failed, where it suspends', async () => {
    await using page = await openPage()
    await page.show({ suspense: true, field: 'pots' })
    await page.shows(/pots/)
    expect(await page.all()).toEqual([expect.stringContaining('pots')])
  })

  it('shows a live page', async () => {
    await using page = await openPage()
    await page.show({ page: true })
    await page.shows(`live ${podNames.length} web-a,web-b`)
    await open().addPod('web-aa')
    await page.shows(`live ${podNames.length + 1} web-a,web-aa`)
    await open().deletePod('web-aa')
    await page.shows(`live ${podNames.length} web-a,web-b`)
    expect(page.sent).toEqual(['connected', 'subscribe 1'])
  })

  it('shows live counts', async () => {
    await using page = await openPage()
    await page.show({ counts: true })
    await page.shows(`live ${podNames.length}`)
    await open().addPod('web-h')
    await page.shows(`live ${podNames.length + 1}`)
    await open().deletePod('web-h')
    await page.shows(`live ${podNames.length}`)
    expect(page.sent).toEqual(['connected', 'subscribe 1'])
  })

  it('tells what to check where the URL is wrong', async () => {
    await using page = await openPage('/nothing')
    await page.show({})
    await page.shows(/^loading {2}the connection failed \(1006\): check the URL/)
    expect(page.sent).not.toContain('subscribe 1')
  })
})

describe('a hook on a server', () => {
  it('shows a list that loads, and never connects', () => {
    const client: LiveTransport = {
      subscribe() {
        throw new Error('a rendering on a server connects')
      },
      on() {
        throw new Error('a rendering on a server listens')
      },
    }
    const query = 'subscription { pods { reset synced changes { type objectId object { id } } } }'
    const List = () => {
      const { rows, status } = useLiveCollection<object>({ client, query })
      const page = useLivePage<object>({ client, query })
      return createElement('p', {}, [status, rows.length, page.status, page.totalCount].join())
    }
    const html = renderToString(createElement(StrictMode, {}, createElement(List)))
    expect(html).toBe('<p>loading,0,loading,</p>')
  })
})

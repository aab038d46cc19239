import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const workload = 'demo/Deployment.apps/payments/card-gateway'
const views = [
  ['a Deployment', workload, ''],
  ['what is related to a Deployment', workload, '?tab=related'],
  ['the graph around a Deployment', workload, '?tab=graph'],
  ['the events of a Deployment', workload, '?tab=events'],
  ['a node', 'demo/Node//worker-a-001', ''],
  ['a namespace', 'demo/Namespace//payments', ''],
  ['a Secret', 'demo/Secret/payments/card-gateway-credentials', ''],
] as const

/** What a page asks for by HTTP, and by subscriptions of its socket. */
interface Asked {
  /** Each question, in order. */
  readonly questions: string[]
  /** Those without a first answer. */
  readonly open: Set<unknown>
}

const watched = (page: Page): Asked => {
  const questions: string[] = []
  const open = new Set<unknown>()
  page.on('request', (request) => {
    const body = request.postData() ?? ''
    questions.push(`${request.method()} ${request.url()} ${body.slice(0, 200)}`)
    // A socket has no end.
    if (request.resourceType() !== 'websocket') open.add(request)
  })
  page.on('requestfinished', (request) => void open.delete(request))
  page.on('requestfailed', (request) => void open.delete(request))
  page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => {
      const text = String(payload)
      const { type, id } = JSON.parse(text) as { type: string; id?: string }
      if (type === 'ping' || type === 'pong') return
      questions.push(text.slice(0, 300))
      if (type === 'subscribe') open.add(id)
      if (type === 'complete') open.delete(id)
    })
    socket.on('framereceived', ({ payload }) => {
      open.delete((JSON.parse(String(payload)) as { id?: string }).id)
    })
    socket.on('close', () => open.clear())
  })
  return { questions, open }
}

/** Resolves once all is answered and three seconds have brought no question, with how many there were: a view may ask for more by what it got. */
const quiet = async ({ questions, open }: Asked): Promise<number> => {
  let before = -1
  await expect
    .poll(
      () => {
        const isQuiet = questions.length === before && open.size === 0
        before = questions.length
        return isQuiet
      },
      { interval: 3_000 },
    )
    .toBe(true)
  return before
}

describeInBrowser('A page that idles', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ hasMetrics: true })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it.each(views)('asks for nothing: %s', async (_view, nameId, tab) => {
    await using opened = await openPage(browser(), portal, { path: '/about:blank', isAlone: true })
    const { page } = opened
    const asked = watched(page)
    await page.clock.install()
    await page.goto(`/objects/${encodeURIComponent(nameId)}${tab}`)
    await page.getByRole('tabpanel').waitFor()
    const before = await quiet(asked)
    // Each of these lets the timers of the page run once.
    for (let passed = 0; passed < 10; passed++) await page.clock.fastForward(7_000)
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
    expect(asked.questions.slice(before)).toEqual([])
  })

  const api = (group: string, resource: string) => ({ group, version: 'v1', resource })
  const created = (kind: string, name: string, further: object): void => {
    const resource = { ConfigMap: 'configmaps', Pod: 'pods', Service: 'services' }[kind] ?? ''
    const metadata = {
      name,
      namespace: 'payments',
      ...('metadata' in further && (further.metadata as object)),
    }
    const object = { apiVersion: 'v1', kind, ...further, metadata }
    portal.cluster.storage.create(api('', resource), object)
  }
  const open = (nameId: string) =>
    openPage(browser(), portal, { path: `/objects/${encodeURIComponent(nameId)}` })

  it('shows what has come to be around an object, and that it is gone', async () => {
    const { storage } = portal.cluster
    created('Service', 'followed', {
      spec: { selector: { app: 'followed' }, ports: [{ port: 80 }] },
    })
    created('ConfigMap', 'followed', { data: { a: 'b' } })
    await using service = await open('demo/Service/payments/followed')
    await service.page.getByRole('tab', { name: 'Related' }).click()
    await service.page
      .getByText(/^Nothing/)
      .first()
      .waitFor()
    await using config = await open('demo/ConfigMap/payments/followed')
    await config.page.getByRole('tab', { name: 'Related' }).click()
    await config.page
      .getByText(/^Nothing uses it/)
      .first()
      .waitFor()
    const volumes = [{ name: 'all', configMap: { name: 'followed' } }]
    created('Pod', 'newcomer', {
      metadata: { labels: { app: 'followed' } },
      spec: { containers: [{ name: 'app', image: 'app:1' }], volumes },
    })
    const links = [service, config].map(({ page }) => page.getByRole('link', { name: 'newcomer' }))
    for (const link of links) await link.first().waitFor()
    storage.delete(api('', 'pods'), 'payments', 'newcomer')
    for (const link of links) await expect.poll(() => link.count()).toBe(0)
    await service.audit()
    await config.audit()
  })

  it('shows the events of what an object has come to own', async () => {
    const [, owner] = [...portal.cluster.storage.list(api('apps', 'deployments'))]
    expect(owner).toBeDefined()
    const { name = '', namespace = '', uid = '' } = owner?.metadata ?? {}
    await using opened = await open(`demo/Deployment.apps/${namespace}/${name}`)
    const { page } = opened
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByRole('checkbox').waitFor()
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid }]
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'owned-later', namespace, uid: 'of-owned-later', ownerReferences },
    }
    portal.cluster.storage.create(api('', 'configmaps'), object)
    portal.cluster.storage.create(api('', 'events'), {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'of-owned-later', namespace },
      involvedObject: { ...object.metadata, apiVersion: 'v1', kind: 'ConfigMap' },
      message: 'It is owned now',
      reason: 'Owned',
      type: 'Normal',
      lastTimestamp: new Date().toISOString(),
    })
    await page.getByText('It is owned now').waitFor()
    await opened.audit()
  })
})

describeInBrowser('The use of CPU and memory of an object', (browser) => {
  it('is shown as it is measured, without a question', async () => {
    const further = { cache: { usageIntervalMs: 500 } }
    await using portal = await servePortal({ hasMetrics: true, further })
    const path = `/objects/${encodeURIComponent('demo/Node//worker-a-001')}`
    await using opened = await openPage(browser(), portal, { path })
    const { page } = opened
    const asked = watched(page)
    const used = page.locator('[data-mark=used]').first()
    await used.waitFor()
    const before = await quiet(asked)
    const text = await used.innerText()
    await expect.poll(() => used.innerText()).not.toBe(text)
    expect(asked.questions.slice(before)).toEqual([])
  })
})

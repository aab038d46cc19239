import { afterAll, beforeAll, expect, it } from 'vitest'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, openPortal, type ServedPortal, servePortal } from './portal-page.ts'
import {
  changePod,
  countOf,
  headings,
  makePod,
  namesIn,
  podsOf,
  roomIn,
  rowOf,
} from './table-page.ts'

const commonKinds = [
  'pods',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'replicasets.apps',
  'jobs.batch',
  'cronjobs.batch',
  'horizontalpodautoscalers.autoscaling',
  'poddisruptionbudgets.policy',
  'services',
  'ingresses.networking.k8s.io',
  'endpointslices.discovery.k8s.io',
  'networkpolicies.networking.k8s.io',
  'configmaps',
  'secrets',
  'serviceaccounts',
  'persistentvolumes',
  'persistentvolumeclaims',
  'storageclasses.storage.k8s.io',
  'nodes',
  'namespaces',
  'events',
  'roles.rbac.authorization.k8s.io',
]

describeInBrowser('A table of the portal', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ pods: 120 })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const open = (path: string, more = {}) => openPage(browser(), portal, { path, ...more })

  it('shows pods with the columns of kubectl, live: what is made, changed and deleted', async () => {
    await using opened = await open('/kinds/pods?ns=default')
    const { page } = opened
    await page.getByText('There are no Pods in default.').waitFor()
    makePod(portal, 'fresh', { waiting: 'ContainerCreating' })
    const row = rowOf(page, 'fresh')
    await row.waitFor()
    expect(await headings(page)).toEqual([
      'Name',
      'Health',
      'Ready',
      'Status',
      'Restarts',
      'CPU',
      'Memory',
      'Age',
    ])
    expect(await row.getByRole('gridcell').nth(3).textContent()).toBe('ContainerCreating')
    changePod(portal, 'fresh', { waiting: 'CrashLoopBackOff' })
    await row.getByText('CrashLoopBackOff').waitFor()
    await row.getByText('Degraded').waitFor()
    // These cells glow.
    await row.locator('[data-column="Status"] [data-changed]').waitFor()
    await row.locator('[data-column="health"] [data-changed]').waitFor()
    expect(await row.locator('[data-column="Ready"] [data-changed]').count()).toBe(0)
    portal.cluster.storage.delete(podsOf, 'default', 'fresh')
    await row.waitFor({ state: 'detached' })
    await opened.audit()
  })

  it('has no columns for what the gateway does not hold of Secrets', async () => {
    await using opened = await open('/kinds/secrets')
    const { page } = opened
    await page.locator('[data-index]').first().waitFor()
    expect(await headings(page)).toEqual(['Name', 'Namespace', 'Age'])
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Namespace' }).waitFor()
    expect(await page.getByRole('menuitemcheckbox', { name: /^(Type|Data)$/ }).count()).toBe(0)
    expect(opened.problems).toEqual([])
  })

  it('shows a custom kind as soon as it is defined, with the columns of its definition', async () => {
    const path = '/apis/stable.example.com/v1/namespaces/default/widgets'
    await using opened = await open('/kinds/widgets.stable.example.com')
    const { page } = opened
    await page.getByText('There is no kind “widgets.stable.example.com” here.').waitFor()
    await define(portal)
    await page.getByText('There are no Widgets.').waitFor()
    await post(portal, path, widget('gear', 3))
    await rowOf(page, 'gear').waitFor()
    expect(await headings(page)).toContain('Size')
    await post(portal, path, widget('wheel', 12))
    await rowOf(page, 'wheel').waitFor()
    await page.getByRole('combobox', { name: 'Filter' }).fill('size:>5')
    await page.keyboard.press('Enter')
    await rowOf(page, 'gear').waitFor({ state: 'detached' })
    await rowOf(page, 'wheel').waitFor()
    await opened.audit()
  })

  it('is narrowed by a filter that is completed while it is typed, and that the address keeps', async () => {
    await using opened = await open('/kinds/pods')
    const { page } = opened
    const field = page.getByRole('combobox', { name: 'Filter' })
    const before = await countOf(page)
    await field.pressSequentially('hea')
    await page.getByRole('option', { name: /^health:/ }).waitFor()
    await field.press('Tab')
    await field.pressSequentially('deg')
    await page.getByRole('option', { name: /^degraded\s*\d+$/ }).waitFor()
    await field.press('Enter')
    await expect.poll(() => countOf(page)).toBeLessThan(before)
    expect(new URL(page.url()).searchParams.get('q')).toBe('health:degraded')
    await rowOf(page, /^invoice-worker/)
      .first()
      .waitFor()
    await opened.audit()

    await page.reload()
    await page.getByRole('button', { name: 'Change health:degraded' }).waitFor()
    await expect.poll(() => countOf(page)).toBeLessThan(before)
    await field.focus()
    await field.press('Backspace')
    await expect.poll(() => countOf(page)).toBe(before)
    expect(new URL(page.url()).searchParams.get('q')).toBeNull()
  })

  it('narrows by labels and by a part of the name, and says what no object matches', async () => {
    await using opened = await open('/kinds/pods')
    const { page } = opened
    const field = page.getByRole('combobox', { name: 'Filter' })
    const before = await countOf(page)
    await field.pressSequentially('label:app')
    await page.getByRole('option').first().waitFor()
    await field.press('ArrowDown')
    await field.press('Enter')
    expect(await field.inputValue()).toMatch(/^label:.*app.*=$/)
    await page.getByRole('option').first().waitFor()
    await field.press('ArrowDown')
    await field.press('Enter')
    await expect.poll(() => countOf(page)).toBeLessThan(before)
    await field.pressSequentially('zzz')
    await page.getByText('No Pods match.').waitFor()
    await page.getByText(`${before} without the filter`).waitFor()
    await opened.audit()
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await expect.poll(() => countOf(page)).toBe(before)
  })

  it('says what is wrong with a filter', async () => {
    await using opened = await open('/kinds/pods?q=phse:Running')
    await opened.page.getByText('no index "phse". Did you mean phase?').waitFor()
    // The rest of the filter, which is nothing, still holds.
    expect(await countOf(opened.page)).toBeGreaterThan(100)
    await opened.audit()
  })

  it('is sorted by a heading, and the address keeps the order', async () => {
    await using opened = await open('/kinds/pods')
    const { page } = opened
    await page.getByRole('columnheader', { name: 'Restarts' }).getByText('Restarts').click()
    await rowOf(page, /^invoice-worker/)
      .first()
      .waitFor()
    const restarts = async (): Promise<number[]> => {
      const rows = await page.locator('[data-index] [data-column="Restarts"]').allTextContents()
      return rows.slice(0, 5).map((text) => Number.parseInt(text, 10))
    }
    await expect
      .poll(async () => {
        const found = await restarts()
        return (found[0] ?? 0) > 1 && found.every((one, at) => one >= (found[at + 1] ?? 0))
      })
      .toBe(true)
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-restarts')
    expect(
      await page.getByRole('columnheader', { name: 'Restarts' }).getAttribute('aria-sort'),
    ).toBe('descending')
    await opened.audit()
  })

  it('shows other columns by choice, in the address and for the next time', async () => {
    await using opened = await open('/kinds/pods')
    const { page } = opened
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Node', exact: true }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Ready', exact: true }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader', { name: 'Node' }).waitFor()
    const shown = [
      'Name',
      'Namespace',
      'Health',
      'Status',
      'Restarts',
      'Node',
      'CPU',
      'Memory',
      'Age',
    ]
    await expect.poll(() => headings(page)).toEqual(shown)
    await page.locator('[data-column="Node"]', { hasText: 'worker-' }).first().waitFor()
    expect(new URL(page.url()).searchParams.get('cols')).toBe('Node,-Ready')
    await page.goto('/kinds/pods')
    await expect.poll(() => headings(page)).toEqual(shown)
    await opened.audit()
  })

  it('hides a column and widens another by their menus, and keeps both', async () => {
    await using opened = await open('/kinds/deployments.apps')
    const { page } = opened
    const name = page.getByRole('columnheader', { name: 'Name', exact: true })
    await rowOf(page, 'invoice-worker').first().waitFor()
    const { width = 0 } = (await name.boundingBox()) ?? {}
    await page.getByRole('button', { name: 'Sort, filter or hide Available' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Hide' }).click()
    await page.getByRole('columnheader', { name: 'Available' }).waitFor({ state: 'detached' })
    await page
      .getByRole('button', { name: 'Sort, filter or hide Name', exact: true })
      .press('Enter')
    await page.getByRole('menuitem', { name: 'Wider' }).click()
    const isWider = async () => ((await name.boundingBox())?.width ?? 0) > width
    await expect.poll(isWider).toBe(true)
    await page.goto('/kinds/deployments.apps')
    await expect.poll(isWider).toBe(true)
    expect(await headings(page)).not.toContain('Available')
    await opened.audit()
  })

  it('says that a kind cannot be followed if the gateway has no cache of it', async () => {
    await using opened = await open('/kinds/componentstatuses')
    const { page } = opened
    await page.getByText('The gateway has no cache of this kind').waitFor()
    await page.getByText('There are no ComponentStatuses.').waitFor()
    await opened.audit()
    expect(await countOf(page)).toBe(0)
  })

  it('counts the values of its indexes, each one click from being the filter', async () => {
    await using opened = await open('/kinds/pods')
    const { page } = opened
    await page.getByRole('button', { name: 'Facets' }).click()
    const value = page.getByRole('button', { name: /^payments\s*\d+$/ })
    await value.waitFor()
    const titles = page.getByRole('group', { name: 'Facets' }).getByRole('heading')
    const said = await titles.allTextContents()
    expect(said).toEqual(expect.arrayContaining(['Health', 'Namespace', 'Node name']))
    for (const title of said) expect(title).toMatch(/^[A-Z][a-z]*( [a-z]+| [A-Z]+)*$/)
    const node = titles.filter({ hasText: 'Node name' })
    expect(await node.getAttribute('title')).toBe('nodeName')
    await opened.audit()
    const [, count] = /(\d+)$/.exec((await value.textContent()) ?? '') ?? []
    await value.click()
    await expect.poll(() => countOf(page)).toBe(Number(count))
    expect(new URL(page.url()).searchParams.get('q')).toBe('namespace:payments')
  })

  it.each([
    { kind: 'pods', example: 'health:degraded' },
    { kind: 'namespaces', example: 'health:degraded' },
    { kind: 'configmaps', example: 'age:<1h' },
    { kind: 'networkpolicies.networking.k8s.io', example: 'age:<1h' },
  ])('has an example in its filter that the kind takes: $kind', async ({ kind, example }) => {
    await using opened = await open(`/kinds/${kind}`)
    const { page } = opened
    const field = page.getByRole('combobox', { name: 'Filter' })
    await field.waitFor()
    expect(await field.getAttribute('placeholder')).toBe(
      `Filter: a name, label:app=web, ${example}`,
    )
    await field.fill(example)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Remove ${example}` }).waitFor()
    // A token that the kind does not have is red.
    expect(await page.locator('[data-wrong]').count()).toBe(0)
    expect(opened.problems).toEqual([])
  })

  it('has room for the usual columns of pods at 1440 pixels, and scrolls to them where there is none', async () => {
    await using measured = await servePortal({ pods: 120, hasMetrics: true })
    await using opened = await openPage(browser(), measured, {
      path: '/kinds/pods',
      width: 1440,
      height: 900,
    })
    const { page } = opened
    const grid = page.getByRole('grid')
    const { over, cut } = await roomIn(page)
    expect(await over()).toBeLessThanOrEqual(0)
    expect(await cut()).toEqual([])
    const age = page.getByRole('columnheader', { name: 'Age' })
    for (const width of [760, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await expect.poll(over).toBeGreaterThan(0)
      await grid.evaluate((element) => element.scrollTo({ left: element.scrollWidth }))
      const { x, width: wide } = (await age.boundingBox()) ?? { x: 0, width: 0 }
      expect(x + wide).toBeLessThanOrEqual(width)
    }
    await opened.audit()
  })

  it('has room for the columns of pods of all clusters at 1440 pixels, and for names and health at 390', async () => {
    await using opened = await openPortal(browser(), {
      isFleet: true,
      pods: 180,
      path: '/kinds/pods?cluster=*',
      width: 1440,
      height: 900,
    })
    const { page } = opened
    const { over, cut } = await roomIn(page)
    expect((await headings(page)).slice(0, 4)).toEqual(['Name', 'Namespace', 'Cluster', 'Health'])
    expect(await over()).toBeLessThanOrEqual(0)
    expect(await cut()).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    await page.reload()
    await page.locator('[data-index] [data-column=health]').first().waitFor()
    expect((await headings(page)).slice(0, 2)).toEqual(['Name', 'Health'])
    const { x, width } = (await page
      .getByRole('columnheader', { name: 'Health' })
      .boundingBox()) ?? {
      x: 390,
      width: 390,
    }
    expect(x + width).toBeLessThanOrEqual(390)
    expect(await cut()).not.toContain('name')
    expect(await cut()).not.toContain('health')
    await opened.audit()
  })

  it.each([false, true])(
    'has all columns of the common kinds in view at 1440 pixels (of a fleet: %s)',
    async (isFleet) => {
      const options = { isFleet, pods: isFleet ? 180 : 120, hasMetrics: true, width: 1440 }
      await using opened = await openPortal(browser(), { ...options, path: '/' })
      const { page } = opened
      const wide: string[] = []
      const look = async (kind: string): Promise<void> => {
        await page.goto(`/kinds/${kind}${isFleet ? '?cluster=*' : ''}`)
        await page.locator('[data-index]').first().waitFor()
        const over = await page
          .getByRole('grid')
          .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
        if (over > 0) wide.push(`${kind} ${over}`)
      }
      for (const kind of commonKinds) await look(kind)
      expect(wide).toEqual([])
      if (isFleet) return
      await page.setViewportSize({ width: 1190, height: 800 })
      await look('pods')
      const { over } = await roomIn(page)
      expect(await over()).toBe(0)
      expect(wide).toEqual([])
      await opened.audit()
    },
  )

  it('opens the inspector and the page of an object by keyboard', async () => {
    await using opened = await open('/kinds/pods?ns=payments')
    const { page } = opened
    await rowOf(page, /^invoice-worker/)
      .first()
      .waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('j')
    await page.keyboard.press(' ')
    const inspector = page.getByRole('complementary')
    await inspector.waitFor()
    const first = new URL(page.url()).searchParams.get('open')
    expect(first).not.toBeNull()
    await opened.audit()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => new URL(page.url()).searchParams.get('open')).not.toBe(first)
    await page.keyboard.press('Escape')
    await inspector.waitFor({ state: 'detached' })
    await page.keyboard.press('Shift+ArrowDown')
    await page.getByRole('button', { name: /^2 selected/ }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/objects\//)
  })

  it('is entered from its filter by the arrow down', async () => {
    await using opened = await openPage(browser(), portal, { path: '/kinds/deployments.apps' })
    const { page } = opened
    await rowOf(page, 'invoice-worker').waitFor()
    await page.keyboard.press('f')
    await page.keyboard.type('invoice')
    await page.keyboard.press('Enter')
    const isFiltered = async () => (await namesIn(page)).every((name) => name.includes('invoice'))
    await expect.poll(isFiltered).toBe(true)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Deployment .*invoice/ }).waitFor()
    expect(opened.problems).toEqual([])
  })

  it.each([
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
    { width: 640, height: 400 },
  ])(
    'stays where it is when a selection begins and ends: $width by $height pixels',
    async (size) => {
      await using opened = await open('/kinds/pods', size)
      const { page } = opened
      const rows = page.locator('[data-index]')
      const boxes = rows.getByRole('checkbox')
      await page.getByText('The use of CPU and memory is not measured here').waitFor()
      const bar = page.getByRole('region', { name: 'Selection' })
      const placeOfSecond = () => boxes.nth(1).boundingBox()
      const before = await placeOfSecond()
      await boxes.first().check()
      await bar.waitFor()
      expect(await placeOfSecond()).toEqual(before)
      await boxes.first().uncheck()
      await bar.waitFor({ state: 'detached' })
      expect(await placeOfSecond()).toEqual(before)
      // The same at the end of the table, where it has been scrolled to since the selection began.
      await boxes.first().check()
      await bar.waitFor()
      await page.getByRole('grid').evaluate((grid) => grid.scrollTo({ top: grid.scrollHeight }))
      const cell = page.locator('[data-index="110"] [data-column="name"]')
      const last = rowOf(page, (await cell.textContent()) ?? '').getByRole('checkbox')
      const atEnd = await last.boundingBox()
      await page.getByRole('button', { name: '1 selected ×' }).click()
      await bar.waitFor({ state: 'detached' })
      expect(await last.boundingBox()).toEqual(atEnd)
      await opened.audit()
    },
  )

  it('stays where it is while it is scrolled to objects whose use is not known either', async () => {
    await using opened = await open('/kinds/pods')
    const { page } = opened
    const note = await page
      .getByText('The use of CPU and memory is not measured here')
      .elementHandle()
    await page.getByRole('grid').evaluate((grid) => grid.scrollTo({ top: grid.scrollHeight }))
    const use = page.locator('[data-index="110"] [data-column="usageCpu"]')
    await expect.poll(() => use.innerText()).toMatch(/\d/)
    // Not another one in its place.
    expect(await note?.evaluate((element) => element.isConnected)).toBe(true)
    expect(opened.problems).toEqual([])
  })

  it('keeps its rows in place while the pointer is over them', async () => {
    for (const name of ['held-b', 'held-c']) makePod(portal, name)
    await using opened = await open('/kinds/pods?q=held-*')
    const { page } = opened
    await rowOf(page, 'held-c').hover()
    makePod(portal, 'held-a')
    const above = page.getByRole('button', { name: '1 new above' })
    await above.waitFor()
    expect(await namesIn(page)).toEqual(['held-b', 'held-c'])
    changePod(portal, 'held-b', { waiting: 'CrashLoopBackOff' })
    await rowOf(page, 'held-b').getByText('CrashLoopBackOff').waitFor()
    await above.click()
    await expect.poll(() => namesIn(page)).toEqual(['held-a', 'held-b', 'held-c'])
    await page.getByRole('heading', { level: 1 }).hover()
    portal.cluster.storage.delete(podsOf, 'default', 'held-b')
    await expect.poll(() => namesIn(page)).toEqual(['held-a', 'held-c'])
    await opened.audit()
  })

  it('says that its rows may be out of date while the cluster cannot be reached, and goes on', async () => {
    makePod(portal, 'before')
    await using opened = await open('/kinds/pods?ns=default')
    const { page } = opened
    await rowOf(page, 'before').waitFor()
    const fault = { type: 'refuse-connections', forMs: 4_000 } as const
    portal.cluster.faults.inject({ fault })
    const note = page.getByText(
      /^demo cannot be reached since .*; its (Pods|objects) are as last known\.$/,
    )
    await note.waitFor()
    expect(await namesIn(page)).toContain('before')
    makePod(portal, 'meanwhile')
    await note.waitFor({ state: 'detached' })
    await rowOf(page, 'meanwhile').waitFor()
    await opened.audit()
  })

  it('of Events leads with their messages, which are the links, and leaves their names out', async () => {
    await using opened = await openPage(browser(), portal, { path: '/kinds/events', width: 1440 })
    const { page } = opened
    const row = page.locator('[data-index="0"]:not([data-loading])')
    await row.waitFor()
    const [first, second, third, ...others] = await headings(page)
    expect([first, second, third]).toEqual(['Last Seen', 'Type', 'Message'])
    expect(others).toEqual(['Reason', 'Object', 'Count', 'Namespace'])
    const cell = row.locator('[data-column="Message"]')
    const message = await cell.textContent()
    const widths = await page
      .locator('[data-index="0"] > *')
      .evaluateAll((cells) => cells.map(({ clientWidth }) => clientWidth))
    expect(Math.max(...widths)).toBe(await cell.evaluate(({ clientWidth }) => clientWidth))
    const link = cell.getByRole('link')
    expect(await link.getAttribute('href')).toMatch(/^\/objects\/demo\/Event\/[^/]+\/[^/]+$/)
    await row.getByRole('checkbox').click()
    await page.getByRole('button', { name: /^1 selected/ }).waitFor()
    await link.click()
    await page
      .getByRole('complementary')
      .getByText(message ?? '')
      .first()
      .waitFor()
    await opened.audit()
  })

  it('opens its query in GraphiQL', async () => {
    await using opened = await open('/kinds/pods?q=phase:Running')
    const { page } = opened
    await page.getByRole('button', { name: 'More', exact: true }).click()
    const item = page.getByRole('menuitem', { name: 'Show the query' })
    const href = await item.getAttribute('href')
    const { pathname, searchParams } = new URL(href ?? '', page.url())
    expect(pathname).toBe('/graphql')
    expect(searchParams.get('query')).toContain('objectListPage')
    expect(JSON.parse(searchParams.get('variables') ?? '{}')).toMatchObject({
      kind: 'Pod',
      where: { phase: { eq: 'Running' } },
    })
  })

  it('says that there is no such kind', async () => {
    await using opened = await open('/kinds/gizmos')
    const said = opened.page.getByText('There is no kind “gizmos” here.')
    await said.waitFor()
    expect(await opened.page.getByRole('grid').count()).toBe(0)
    await opened.audit()
  })

  it.each([400, 1024])('fits a window of %d pixels', async (width) => {
    await using opened = await open('/kinds/pods?q=health:degraded', { width })
    const { page } = opened
    await rowOf(page, /^invoice-worker/)
      .first()
      .waitFor()
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(wide).toBeLessThanOrEqual(width)
    await opened.audit()
  })
})

describeInBrowser('A table of the portal, for who may not see all,', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ pods: 120, asksWho: true })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('has what they may list, and says where that is', async () => {
    await using opened = await openPage(browser(), portal, { path: '/kinds/pods', viewer: 'ben' })
    const { page } = opened
    await page.getByText('You may list Pods in payments and storefront only.').waitFor()
    await rowOf(page, /^invoice-worker/)
      .first()
      .waitFor()
    const namespaces = await page.locator('[data-column="namespace"]').allTextContents()
    expect(new Set(namespaces)).toEqual(new Set(['payments', 'storefront']))
    await opened.audit()

    await page.goto('/kinds/pods?ns=identity')
    await page.getByText('You may list Pods in payments and storefront only.').waitFor()
  })

  it('of a kind that they may not list says so', async () => {
    await using opened = await openPage(browser(), portal, { path: '/kinds/nodes', viewer: 'ben' })
    const said = opened.page.getByText('There is no kind “nodes” here.')
    await said.waitFor()
    expect(await opened.page.getByRole('grid').count()).toBe(0)
    await opened.audit()
  })
})

const widget = (name: string, size: number) => ({
  apiVersion: 'stable.example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { size },
})

async function define(portal: ServedPortal): Promise<void> {
  const additionalPrinterColumns = [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'How large it is.' },
  ]
  const version = versionOf('v1', { size: { type: 'integer' } }, { additionalPrinterColumns })
  await post(portal, definitionsPath, definitionOf('Widget', 'stable.example.com', [version]))
}

async function post({ cluster }: ServedPortal, path: string, body: object): Promise<void> {
  const response = await fetch(new URL(path, cluster.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
}

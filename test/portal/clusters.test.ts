import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { breakPod } from './broken-pod.ts'
import { openPage, openPortal, type ServedPortal, servePortal } from './portal-page.ts'
import { headings } from './table-page.ts'

const problems = (page: Page) => page.getByRole('region', { name: 'Problems' })
const picker = (page: Page, chosen: string | RegExp = /^Cluster: /) =>
  page.getByRole('combobox', { name: chosen })
const option = (page: Page, cluster: string) => page.getByRole('option', { name: cluster })

/** Chooses one cluster, in the place of those before. */
async function choose(page: Page, cluster: string): Promise<void> {
  await picker(page).click()
  await option(page, cluster).hover()
  await option(page, cluster).getByText('only').click()
  await picker(page, `Cluster: ${cluster}`).waitFor()
}

describeInBrowser('The clusters of the portal', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ isFleet: true, pods: 180 })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('begin with all of them and their problems; one that is chosen has the overview, the address, and the next visit', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await picker(page, 'Cluster: All clusters').waitFor()
    expect(new URL(page.url()).searchParams.get('cluster')).toBe('*')
    await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
    const clusters = page.getByRole('region', { name: 'Clusters' }).getByRole('listitem')
    const ofOne = clusters.filter({ hasText: 'prod-us' }).getByRole('link', { name: /critical/ })
    await ofOne.waitFor()
    const [critical = NaN, warnings = NaN] =
      ((await ofOne.textContent()) ?? '').match(/\d+/g)?.map(Number) ?? []
    await opened.audit()
    await ofOne.click()
    await page.waitForURL((url) => url.pathname === '/problems')
    await picker(page, 'Cluster: prod-us').waitFor()
    await expect
      .poll(() => page.getByLabel('Number of problems').textContent())
      .toBe(String(critical + warnings))
    await page.getByRole('link', { name: 'Overview' }).click()
    await choose(page, 'staging')
    await choose(page, 'prod-us')
    expect(new URL(page.url()).search).toBe('?cluster=prod-us')
    await problems(page).getByRole('link', { name: 'payments/card-gateway' }).first().waitFor()
    await problems(page)
      .getByRole('link', { name: 'payments/invoice-worker' })
      .first()
      .waitFor({ state: 'detached' })
    await opened.audit()
    await page.goto('/')
    await picker(page, 'Cluster: prod-us').waitFor()
  })

  it('have tables of their own, with the filter kept, and without the object that was open', async () => {
    await using opened = await openPage(browser(), portal, { path: '/kinds/deployments.apps' })
    const { page } = opened
    const rows = page.getByRole('row')
    await page.getByRole('gridcell', { name: 'invoice-worker' }).first().waitFor()
    await rows.filter({ hasText: 'invoice-worker' }).first().click()
    await expect.poll(() => new URL(page.url()).searchParams.has('open')).toBe(true)
    await choose(page, 'staging')
    await expect.poll(() => page.url()).toMatch(/\/kinds\/deployments\.apps\?cluster=staging$/)
    await rows.filter({ hasText: 'search-api' }).first().getByText('Degraded').first().waitFor()
    await page.goBack()
    await picker(page, 'Cluster: prod-eu').waitFor()
  })

  it('have kinds of their own: the rail of one shows a kind that another one lacks', async () => {
    const path = '/kinds/salestaxes.fjordholt.example?cluster=prod-us'
    await using opened = await openPage(browser(), portal, { path })
    const { page } = opened
    await page.getByRole('gridcell', { name: 'texas' }).first().waitFor()
    await page
      .getByRole('link', { name: /SalesTaxes|Salestaxes/ })
      .first()
      .waitFor()
    await opened.audit()
    await choose(page, 'prod-eu')
    await page
      .getByText(/salestaxes\.fjordholt\.example/)
      .first()
      .waitFor()
    expect(await page.getByRole('gridcell', { name: 'texas' }).count()).toBe(0)
  })

  it('are all searched, those in scope first; what is found opens in its cluster, and a cluster is found by its name', async () => {
    await using opened = await openPage(browser(), portal, { path: '/?cluster=staging' })
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('deployment search-api')
    await page.getByRole('option').filter({ hasText: '· prod-eu' }).first().waitFor()
    await expect
      .poll(() => page.getByRole('option').first().textContent())
      .toMatch(/search-api.*· staging/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/objects/**')
    await page.getByRole('heading', { level: 1, name: /search-api/ }).waitFor()
    const path = page.getByRole('navigation', { name: 'Where the object belongs' })
    await expect.poll(() => path.textContent()).toContain('staging')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('prod-us')
    await page.getByRole('option', { name: /^prod-us\s?Connected/ }).waitFor()
    await page.keyboard.press('Enter')
    await picker(page, 'Cluster: prod-us').waitFor()
    await opened.audit()
  })

  it('follow an object that is opened by its address alone, and leave it when another one is chosen', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    const asked = await page.request.post('/graphql', {
      data: {
        query: `{ deployment(cluster: "prod-us", namespace: "payments", name: "card-gateway") { id } }`,
      },
    })
    const { data } = (await asked.json()) as {
      readonly data: { readonly deployment: { id: string } }
    }
    await page.goto(`/objects/${encodeURIComponent(data.deployment.id)}`)
    await page.getByRole('heading', { level: 1, name: /card-gateway/ }).waitFor()
    await picker(page, 'Cluster: prod-us').waitFor()
    expect(new URL(page.url()).searchParams.get('cluster')).toBe('prod-us')
    await page.goto(`/applications/${encodeURIComponent(data.deployment.id)}`)
    await picker(page, 'Cluster: prod-us').waitFor()
    await choose(page, 'staging')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/?cluster=staging')
  })
})

describeInBrowser('The portal over several clusters', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ isFleet: true, pods: 180, allowWrites: true })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('takes one cluster more, and all, by the picker; the address has them, and the next visit', async () => {
    await using opened = await openPage(browser(), portal, { path: '/?cluster=prod-eu' })
    const { page } = opened
    await picker(page).click()
    await option(page, 'prod-us').click()
    await picker(page, 'Cluster: prod-eu, prod-us').waitFor()
    expect(new URL(page.url()).searchParams.get('cluster')).toBe('prod-eu,prod-us')
    await problems(page).getByText('prod-us', { exact: true }).first().waitFor()
    await problems(page).getByText('prod-eu', { exact: true }).first().waitFor()
    await opened.audit()
    await page.getByRole('button', { name: 'All clusters' }).click()
    await picker(page, 'Cluster: All clusters').waitFor()
    expect(new URL(page.url()).searchParams.get('cluster')).toBe('*')
    await opened.audit()
    await page.goto('/')
    await picker(page, 'Cluster: All clusters').waitFor()
  })

  it('lists a kind of all clusters in one table with their names, and leads to the object in its own', async () => {
    const path = '/kinds/deployments.apps?cluster=*&q=search-api'
    await using opened = await openPage(browser(), portal, { path })
    const { page } = opened
    const cluster = (name: string) =>
      page.locator('[data-index] [data-column="cluster"]').filter({ hasText: name })
    await cluster('staging').first().waitFor()
    await cluster('prod-eu').first().waitFor()
    expect(await headings(page)).toContain('Cluster')
    await opened.audit()
    await cluster('staging').first().click()
    const inspector = page.getByRole('navigation', { name: 'Where the object belongs' })
    await expect.poll(() => inspector.textContent()).toContain('staging')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/objects/**')
    await page.getByRole('heading', { level: 1, name: /search-api/ }).waitFor()
    // The scope has the object's cluster: it stays.
    await picker(page, 'Cluster: All clusters').waitFor()
  })

  it('has the kinds of all clusters in the rail, and says quietly which clusters lack the one that is shown', async () => {
    const path = '/kinds/salestaxes.fjordholt.example?cluster=*'
    await using opened = await openPage(browser(), portal, { path })
    const { page } = opened
    await page.getByRole('gridcell', { name: 'texas' }).first().waitFor()
    const note = page.getByRole('status').getByText(/There are no Sales ?[Tt]axes in /)
    await note.waitFor()
    expect(await note.textContent()).toContain('prod-eu')
    expect(await note.getAttribute('data-wrong')).toBeNull()
    await opened.audit()
  })

  it('shows how full each cluster is, and each node of one, as the sums of the API say', async () => {
    await using opened = await openPage(browser(), portal, { path: '/?cluster=*' })
    const { page } = opened
    const lines = page
      .getByRole('region', { name: 'Requested of what there is' })
      .getByRole('listitem')
    await lines.first().waitFor()
    expect(await lines.count()).toBe(3)
    const asked = await page.request.post('/graphql', {
      data: {
        query: `{
          pods(
            cluster: "staging"
            first: 0
            where: { phase: { not: { in: ["Succeeded", "Failed"] } }, nodeName: { exists: true } }
          ) {
            sum(of: ["cpuRequests"]) { number }
          }
          nodes(cluster: "staging") { nodes { name } sum(of: ["cpuAllocatable"]) { number } }
        }`,
      },
    })
    const { data } = (await asked.json()) as {
      readonly data: {
        readonly pods: { readonly sum: readonly [{ readonly number: number }] }
        readonly nodes: {
          readonly nodes: readonly { readonly name: string }[]
          readonly sum: readonly [{ readonly number: number }]
        }
      }
    }
    const share = Math.round((100 * data.pods.sum[0].number) / data.nodes.sum[0].number)
    await lines
      .filter({ hasText: 'staging' })
      .filter({ hasText: `CPU${share} %` })
      .filter({ hasText: /cores requested, [0-9.,]+ used/ })
      .waitFor()
    await opened.audit()
    await choose(page, 'staging')
    await lines
      .filter({ hasText: data.nodes.nodes[0]?.name ?? '' })
      .first()
      .waitFor()
    // The fullest nodes, after the cluster itself.
    expect(await lines.first().textContent()).toContain(`CPU${share} %`)
    await opened.audit()
  })

  it('says what each share is of: the cluster is no fuller than its fullest node, and what has no node yet is told apart', async () => {
    const served = portal.clusters.find(({ name }) => name === 'prod-us')
    const pods = { group: '', version: 'v1', resource: 'pods' }
    const metadata = { name: 'much-too-large', namespace: 'payments' }
    served?.simulator.storage.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: {
        containers: [
          {
            name: 'main',
            image: 'large:1',
            resources: { requests: { cpu: '900', memory: '1Ti' } },
          },
        ],
      },
      status: { phase: 'Pending' },
    })
    await using opened = await openPage(browser(), portal, { path: '/?cluster=prod-us' })
    const { page } = opened
    const region = page.getByRole('region', { name: 'Requested of what there is' })
    const lines = region.getByRole('listitem')
    const waiting = region.getByText(/^\d+ pods? (has|have) no node yet, and requests? 9\d\d cores/)
    await waiting.waitFor()
    await region.getByText('used now').waitFor()
    const shares = async (): Promise<readonly number[]> =>
      (await lines.allTextContents()).map((text) => Number(/CPU(\d+) %/.exec(text)?.[1]))
    const [cluster = NaN, ...nodes] = await shares()
    expect(cluster).toBeLessThanOrEqual(Math.max(...nodes))
    await opened.audit()
    served?.simulator.storage.delete(pods, metadata.namespace, metadata.name)
    await waiting.waitFor({ state: 'detached' })
  })

  it.each([390, 320])('has everything in reach in a window of %d pixels', async (width) => {
    const path = '/?cluster=prod-eu&ns=payments,storefront'
    await using opened = await openPage(browser(), portal, { path, width })
    const { page } = opened
    await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
    const isWithin = (within: Locator): Promise<boolean> =>
      within.evaluateAll((all) =>
        all.every((one) => {
          const { left, right } = one.getBoundingClientRect()
          return left >= 0 && right <= innerWidth
        }),
      )
    const overflow = () =>
      page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
    const banner = page.getByRole('banner')
    await banner.getByRole('button', { name: 'You' }).click()
    await page.getByText('This gateway does not ask who you are.').waitFor()
    await page.keyboard.press('Escape')
    await banner.getByRole('button', { name: 'Theme' }).click()
    await page.getByRole('menuitemradio', { name: 'Dark' }).waitFor()
    await page.keyboard.press('Escape')
    expect(await isWithin(banner.getByRole('button'))).toBe(true)
    expect(await isWithin(banner.getByRole('combobox'))).toBe(true)
    expect(await overflow()).toBe(0)
    await opened.audit()
    await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().click()
    await page.waitForURL('**/objects/**')
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name: /^Scale/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('What changes').waitFor()
    expect(await isWithin(dialog.locator(':scope, :scope *'))).toBe(true)
    await page.keyboard.press('Escape')
    await page.getByRole('tab', { name: 'Logs' }).click()
    const text = page.getByRole('log').locator('[data-index] > span:last-child').first()
    await text.waitFor()
    const { width: textWidth = 0 } = (await text.boundingBox()) ?? {}
    expect(textWidth).toBeGreaterThan(width * 0.8)
    expect(await overflow()).toBe(0)
    expect(opened.problems).toEqual([])
  })

  it('finds objects of all clusters, with the names of these', async () => {
    await using opened = await openPage(browser(), portal, { path: '/?cluster=*' })
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('deployment search-api')
    await page.getByRole('option').filter({ hasText: '· staging' }).first().waitFor()
    // The first results may be those of a part of the text.
    await expect
      .poll(() => page.getByRole('option').filter({ hasText: '· prod-eu' }).count())
      .toBe(1)
    await opened.audit()
  })

  it('lists the applications of all clusters', async () => {
    await using opened = await openPage(browser(), portal, { path: '/applications?cluster=*' })
    const { page } = opened
    const rows = page.getByRole('row')
    await rows.filter({ hasText: '· staging' }).first().waitFor()
    await rows.filter({ hasText: '· prod-us' }).first().waitFor()
    expect(await rows.filter({ hasText: '· prod-eu' }).count()).toBeGreaterThan(0)
    await opened.audit()
  })
})

describeInBrowser('The portal, when a cluster is cut off', (browser) => {
  it('says so calmly, keeps what it knew, leaves the others alone, and goes on when it is back', async () => {
    await using opened = await openPortal(browser(), {
      isFleet: true,
      pods: 180,
      path: '/kinds/pods?q=card-gateway&cluster=prod-us',
    })
    const { page, clusters } = opened
    const faults = clusters[1]?.simulator.faults
    const pods = page.getByRole('gridcell', { name: /card-gateway-/ })
    await pods.first().waitFor()
    faults?.inject({ fault: { type: 'cut' } })
    const row = page.getByText(/^prod-us cannot be reached since .*; its objects are as last known/)
    await row.waitFor()
    expect(await pods.count()).toBeGreaterThan(0)
    await opened.audit()
    await page.goto('/?cluster=prod-us')
    await choose(page, 'prod-eu')
    await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
    faults?.inject({ fault: { type: 'mend' } })
    await page.goto('/kinds/pods?q=card-gateway&cluster=prod-us')
    await pods.first().waitFor()
    await row.waitFor({ state: 'detached' })
  })

  it('says it once on the overview, with its time', async () => {
    await using opened = await openPortal(browser(), {
      isFleet: true,
      pods: 120,
      hasArchive: true,
      path: '/?cluster=*',
    })
    const { page, clusters } = opened
    await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
    clusters[1]?.simulator.faults.inject({ fault: { type: 'cut' } })
    const row = page.getByText(/^prod-us cannot be reached since .*; its objects are as last known/)
    await row.waitFor()
    const tile = page.getByRole('region', { name: 'Clusters' }).getByRole('listitem')
    await tile.filter({ hasText: 'prod-us' }).getByText('Cannot be reached').waitFor()
    const badge = page.getByRole('navigation').getByRole('link', { name: /^Problems/ })
    await badge.click()
    await page.locator('main li', { hasText: 'ClusterUnreachable' }).waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
    const sayings = page.getByText(
      /prod-us.*cannot be reached|cannot reach|does not answer|ClusterUnreachable/,
    )
    await expect.poll(() => sayings.allTextContents()).toEqual([await row.textContent()])
    await opened.audit()
  })

  it('keeps the rows of the cluster that is cut among those of the others, says since when, and takes it back', async () => {
    await using opened = await openPortal(browser(), {
      isFleet: true,
      pods: 180,
      path: '/kinds/pods?q=card-gateway&cluster=*',
    })
    const { page, clusters } = opened
    const faults = clusters[1]?.simulator.faults
    const of = (cluster: string) =>
      page.locator('[data-index] [data-column="cluster"]').filter({ hasText: cluster })
    await of('prod-us').first().waitFor()
    const before = await of('prod-us').count()
    faults?.inject({ fault: { type: 'cut' } })
    const gap = page
      .getByRole('status')
      .getByText(/^prod-us cannot be reached since .*; its objects are as last known\.$/)
    await gap.waitFor({ timeout: 60_000 })
    expect(await of('prod-us').count()).toBe(before)
    // Said once, above the view. The first answer that says of it comes with the row or after it.
    const sayings = page.getByText(/cannot be reached|cannot reach|out of date/)
    await expect.poll(() => sayings.count()).toBe(1)
    await opened.audit()
    // The others go on.
    breakPod(opened.cluster, 'payments', 'card-gateway-while-away')
    await page.getByRole('gridcell', { name: 'card-gateway-while-away' }).waitFor()
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^Problems/ })
      .click()
    await page.getByRole('heading', { level: 1, name: 'Problems' }).waitFor()
    await expect.poll(() => sayings.count()).toBe(1)
    await page.goBack()
    await of('prod-us').first().click()
    await page.getByRole('complementary').getByRole('article').waitFor()
    await page.keyboard.press('4')
    await page.getByRole('tab', { name: 'Events', selected: true }).waitFor()
    await expect.poll(() => sayings.allTextContents()).toEqual([await gap.textContent()])
    await page.keyboard.press('Escape')
    faults?.inject({ fault: { type: 'mend' } })
    await gap.waitFor({ state: 'detached', timeout: 60_000 })
    expect(await of('prod-us').count()).toBe(before)
  })
})

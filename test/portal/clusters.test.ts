import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, openPortal, type ServedPortal, servePortal } from './portal-page.ts'

const degraded = (page: Page) => page.getByRole('region', { name: 'Degraded now' })
const picker = (page: Page) => page.getByRole('button', { name: /^Cluster: / })

async function choose(page: Page, cluster: string): Promise<void> {
  await picker(page).click()
  await page.getByRole('menuitemradio', { name: cluster }).click()
  await page.getByRole('button', { name: `Cluster: ${cluster}` }).waitFor()
}

describeInBrowser('The clusters of the portal', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ isFleet: true, pods: 180 })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('begin with the first one; another one that is chosen has the overview, the address, and the next visit', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await degraded(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
    expect(await picker(page).textContent()).toContain('prod-eu')
    await choose(page, 'prod-us')
    expect(new URL(page.url()).search).toBe('?cluster=prod-us')
    await degraded(page).getByRole('link', { name: 'payments/card-gateway' }).first().waitFor()
    await degraded(page)
      .getByRole('link', { name: 'payments/invoice-worker' })
      .first()
      .waitFor({ state: 'detached' })
    await opened.audit()
    await page.goto('/')
    await page.getByRole('button', { name: 'Cluster: prod-us' }).waitFor()
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
    await page.getByRole('button', { name: 'Cluster: prod-eu' }).waitFor()
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

  it('are searched one at a time, and what is found opens in its cluster', async () => {
    await using opened = await openPage(browser(), portal, { path: '/?cluster=staging' })
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('deployment search-api')
    await page.getByRole('option').filter({ hasText: 'search-api' }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/objects/*')
    await page.getByRole('heading', { level: 1, name: /search-api/ }).waitFor()
    const path = page.getByRole('navigation', { name: 'Where the object belongs' })
    await expect.poll(() => path.textContent()).toContain('staging')
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
    await page.getByRole('button', { name: 'Cluster: prod-us' }).waitFor()
    expect(new URL(page.url()).searchParams.get('cluster')).toBe('prod-us')
    await page.goto(`/applications/${encodeURIComponent(data.deployment.id)}`)
    await page.getByRole('button', { name: 'Cluster: prod-us' }).waitFor()
    await choose(page, 'staging')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/?cluster=staging')
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
    await page.getByText(/cannot reach the cluster/).waitFor({ timeout: 30_000 })
    expect(await pods.count()).toBeGreaterThan(0)
    await opened.audit()
    await page.goto('/?cluster=prod-us')
    await choose(page, 'prod-eu')
    await degraded(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
    faults?.inject({ fault: { type: 'mend' } })
    await page.goto('/kinds/pods?q=card-gateway&cluster=prod-us')
    await pods.first().waitFor()
    await page.getByText(/cannot reach the cluster/).waitFor({ state: 'detached', timeout: 60_000 })
  })
})

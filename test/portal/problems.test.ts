import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { breakPod, removePod } from './broken-pod.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const lines = (page: Page) => page.locator('main li[data-severity]')
const count = (page: Page) => page.getByLabel('Number of problems')

describeInBrowser('The problems of the portal', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ isFleet: true, pods: 180 })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('are the worst first, each with its reason, its owner and its cluster; one appears when a pod breaks, and goes when it is mended', async () => {
    await using opened = await openPage(browser(), portal, { path: '/problems?cluster=*' })
    const { page } = opened
    const worker = lines(page).filter({ hasText: 'payments/invoice-worker' })
    await worker.filter({ hasText: 'CrashLoopBackOff' }).first().waitFor()
    await worker.filter({ hasText: 'prod-eu' }).first().waitFor()
    const said = (await worker.first().textContent()) ?? ''
    expect(said).toContain('2 of 2 ready')
    expect(said).toMatch(/revision 34 to 35:.*image \S+:[\d.]+ → \S+:[\d.]+/)
    await page.getByText('just-broken').waitFor({ state: 'detached' })
    const badge = page.getByRole('navigation').getByRole('link', { name: /^Problems/ })
    const before = Number((await count(page).textContent())?.replaceAll(/\D/g, ''))
    await expect.poll(() => badge.textContent()).toBe(`Problems${before}`)
    const us = portal.clusters[1]?.simulator
    if (us === undefined) throw new Error('the fleet has prod-us')
    breakPod(us, 'storefront', 'just-broken')
    const broken = lines(page).filter({ hasText: 'storefront/just-broken' })
    await broken.getByText('back-off restarting just-broken').waitFor()
    expect(await broken.textContent()).toContain('prod-us')
    await expect.poll(() => badge.textContent()).toBe(`Problems${before + 1}`)
    await opened.audit()
    removePod(us, 'storefront', 'just-broken')
    await broken.waitFor({ state: 'detached' })
    await expect.poll(() => badge.textContent()).toBe(`Problems${before}`)
  })

  it('are narrowed by severity and kind in the address, and by the scope', async () => {
    await using opened = await openPage(browser(), portal, { path: '/problems?cluster=*' })
    const { page } = opened
    await lines(page).first().waitFor()
    await page.getByRole('button', { name: /^Deployment \d/ }).click()
    await page.getByRole('button', { name: /^Critical \d/ }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('type')).toBe('Deployment')
    expect(new URL(page.url()).searchParams.get('severity')).toBe('CRITICAL')
    await expect
      .poll(async () => {
        const texts = await lines(page).allTextContents()
        return texts.length > 0 && texts.every((text) => /^▲Critical.*Deployment/.test(text))
      })
      .toBe(true)
    await opened.audit()
    await page.goto('/problems?cluster=staging&ns=no-such-namespace')
    await page.getByText('Nothing is wrong.').waitFor()
    await opened.audit()
    await page.getByRole('button', { name: 'Look in all namespaces' }).click()
    await lines(page).first().waitFor()
  })

  it('lead to the object that has them by one click', async () => {
    await using opened = await openPage(browser(), portal, { path: '/problems?cluster=*' })
    const { page } = opened
    await page.getByRole('link', { name: 'payments/invoice-worker' }).first().click()
    await page.waitForURL('**/objects/**')
    await page.getByRole('heading', { level: 1, name: /invoice-worker/ }).waitFor()
    expect(new URL(page.url()).searchParams.get('cluster')).toBe('*')
  })
})

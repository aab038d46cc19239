import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'
import { makePod, rowOf } from './table-page.ts'

describeInBrowser('Back', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ pods: 400 })
    for (let number = 100; number < 160; number++) {
      makePod(portal, `broken-${number}`, { waiting: 'CrashLoopBackOff' })
    }
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const topOf = (page: Page, selector: string): Promise<number> =>
    page.locator(selector).evaluate((element) => element.scrollTop)
  const grid = '[role="grid"]'

  it('shows a table where it was left, far down, with its selection and the row of the keyboard', async () => {
    await using opened = await openPage(browser(), portal, { path: '/kinds/pods' })
    const { page } = opened
    await page.locator('[data-index="0"]:not([data-loading])').waitFor()
    await page.locator(grid).evaluate((element) => (element.scrollTop = 320 * 32))
    const row = page.locator('[data-index="325"]:not([data-loading])')
    await row.waitFor()
    await row.click({ modifiers: ['Control'] })
    await expect.poll(() => new URL(page.url()).searchParams.get('picked')).not.toBeNull()
    const top = await topOf(page, grid)
    const id = await row.getAttribute('id')
    await page.keyboard.press('Enter')
    await page.getByRole('tab', { name: 'Summary' }).waitFor()
    await page.goBack()
    await row.waitFor()
    expect(await topOf(page, grid)).toBe(top)
    expect(await row.getAttribute('aria-selected')).toBe('true')
    expect(await row.getAttribute('data-cursor')).toBe('true')
    await expect.poll(() => page.evaluate(() => document.activeElement?.role)).toBe('grid')
    expect(id).not.toBeNull()
    // A link to the same table begins anew.
    await page.getByRole('link', { name: /^Deployments/ }).click()
    await page.getByRole('heading', { name: 'Deployments' }).waitFor()
    await page.getByRole('link', { name: /^Pods/ }).click()
    await page.locator('[data-index="0"]:not([data-loading])').waitFor()
    expect(await topOf(page, grid)).toBe(0)
    await opened.audit()
  })

  it('shows the list of a filter before where it was', async () => {
    await using opened = await openPage(browser(), portal, { path: '/kinds/pods' })
    const { page } = opened
    await page.locator('[data-index="0"]:not([data-loading])').waitFor()
    await page.locator(grid).evaluate((element) => (element.scrollTop = 640))
    await page.locator('[data-index="25"]:not([data-loading])').waitFor()
    await page.getByRole('combobox', { name: 'Filter' }).fill('broken-10*')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByLabel('Number of objects').textContent()).toBe('10')
    await page.goBack()
    await expect.poll(() => topOf(page, grid)).toBe(640)
    await opened.audit()
  })

  it('shows the problems where they were left, with the focus on what was followed', async () => {
    await using opened = await openPage(browser(), portal, { path: '/problems' })
    const { page } = opened
    const link = page.getByRole('link', { name: 'default/broken-140' })
    await link.scrollIntoViewIfNeeded()
    const top = await topOf(page, '#view')
    expect(top).toBeGreaterThan(500)
    await link.click()
    await page.getByRole('heading', { name: 'Pod broken-140' }).waitFor()
    expect(await topOf(page, '#view')).toBe(0)
    await page.goBack()
    await expect.poll(() => topOf(page, '#view')).toBe(top)
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent))
      .toBe('default/broken-140')
    await opened.audit()
  })

  it('a link has the tab of the inspector and the picked rows', async () => {
    await using opened = await openPage(browser(), portal, { path: '/kinds/pods?q=broken-1*' })
    const { page } = opened
    await rowOf(page, 'broken-101').click()
    await page.getByRole('tab', { name: 'Events' }).click()
    await rowOf(page, 'broken-103').click({ modifiers: ['Control'] })
    await expect.poll(() => page.url()).toMatch(/tab=events.*picked=|picked=.*tab=events/)
    await page.reload()
    await page.getByRole('tab', { name: 'Events', selected: true }).waitFor()
    await page.getByRole('button', { name: /^1 selected/ }).waitFor()
    await opened.audit()
  })
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { breakPod } from './broken-pod.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

/** Marks the page, so that a reload shows. */
const mark = (page: Page): Promise<void> =>
  page.evaluate(() => {
    Object.assign(globalThis, { isMarked: true })
  })
const isMarked = (page: Page): Promise<boolean> => page.evaluate(() => 'isMarked' in globalThis)

const lineOf = (page: Page) => page.getByRole('banner').locator('output')

describeInBrowser('The line of the portal', (browser) => {
  let portal: ServedPortal
  let proxy: CutProxy
  beforeAll(async () => {
    portal = await servePortal()
    proxy = await startCutProxy(Number(new URL(portal.url).port))
  })
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]()
    await portal[Symbol.asyncDispose]()
  })

  it('survives a cut connection without a reload: the rows stay, it says since when, and what happened meanwhile appears', async () => {
    const url = `http://127.0.0.1:${proxy.port}/`
    await using opened = await openPage(browser(), { url })
    const { page } = opened
    await page.getByText('invoice-worker').first().waitFor()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
    await mark(page)
    await proxy.refuse()
    await expect.poll(() => lineOf(page).textContent()).toMatch(/^Offline since \d/)
    expect(await page.getByText('invoice-worker').count()).toBeGreaterThan(0)
    breakPod(portal.cluster, 'payments', 'broken-while-away')
    await proxy.listen()
    await page.getByRole('link', { name: 'broken-while-away' }).first().waitFor()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
    expect(await isMarked(page)).toBe(true)
    await opened.audit()
  })

  it('survives a gateway that is restarted', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await page.getByText('invoice-worker').first().waitFor()
    await mark(page)
    await portal.stop()
    await expect.poll(() => lineOf(page).textContent()).toMatch(/^Offline since \d/)
    breakPod(portal.cluster, 'payments', 'broken-before-start')
    await portal.start()
    await page.getByRole('link', { name: 'broken-before-start' }).first().waitFor()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
    expect(await isMarked(page)).toBe(true)
    await opened.audit()
  })

  it('does not call itself offline for a connection that is back at once', async () => {
    await using opened = await openPage(browser(), { url: `http://127.0.0.1:${proxy.port}/` })
    const { page } = opened
    await page.getByText('invoice-worker').first().waitFor()
    const said = await page.evaluateHandle(() => {
      const texts: string[] = []
      const line = document.querySelector('header output')
      if (line === null) throw new Error('the bar shows the line')
      new MutationObserver(() => texts.push(line.textContent ?? '')).observe(line, {
        characterData: true,
        childList: true,
        subtree: true,
      })
      return texts
    })
    proxy.cut()
    breakPod(portal.cluster, 'payments', 'broken-after-cut')
    await page.getByRole('link', { name: 'broken-after-cut' }).first().waitFor()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
    expect((await said.jsonValue()).filter((text) => text.startsWith('Offline'))).toEqual([])
    await opened.audit()
  })

  it('says that it catches up while the gateway has lost its cluster, and the rows stay', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await page.getByText('invoice-worker').first().waitFor()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
    portal.cluster.faults.inject({ fault: { type: 'refuse-connections', forMs: 8_000 } })
    await expect.poll(() => lineOf(page).textContent()).toMatch(/^Catching up \d+s$/)
    expect(await lineOf(page).getAttribute('title')).toMatch(/^Up to date until \d/)
    expect(await page.getByText('invoice-worker').count()).toBeGreaterThan(0)
    await opened.audit()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
  })
})

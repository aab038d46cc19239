import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulatedCluster } from 'informerql/simulator'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { startProgram } from '../support/example-process.ts'
import { freePort } from '../support/service-proxy.ts'
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

  it('comes by itself where it is opened while its gateway starts', async () => {
    await using stack = new AsyncDisposableStack()
    const cluster = stack.use(await startSimulatedCluster({ population: { pods: 20 } }))
    const folder = await mkdtemp(join(tmpdir(), 'informerql-starting-'))
    stack.defer(() => rm(folder, { recursive: true }))
    const config = join(folder, 'informerql.yaml')
    await writeFile(config, JSON.stringify({ clusters: [{ name: 'late', server: cluster.url }] }))
    const port = await freePort()
    // The cluster answers when the page has been looked at.
    cluster.faults.inject({ fault: { type: 'hang' } })
    const args = ['src/main.ts', 'serve', '--config', config, '--port', String(port)]
    stack.use(startProgram(process.execPath, args, { timeout: 120_000 }))
    const url = `http://127.0.0.1:${port}/`
    const status = (path: string): Promise<number> =>
      fetch(new URL(path, url)).then(
        (answer) => answer.status,
        () => 0,
      )
    await expect.poll(() => status('/livez'), { timeout: 60_000 }).toBe(200)
    const opened = stack.use(
      await openPage(browser(), { url }, { path: '/problems', expected: [/\b503\b/] }),
    )
    const { page } = opened
    await page.getByRole('heading', { name: 'Problems' }).waitFor()
    expect([await status('/readyz'), await status('/auth/login')]).toEqual([503, 503])
    cluster.faults.inject({ fault: { type: 'mend' } })
    await page.locator('main li[data-severity]').first().waitFor()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
    await opened.audit()
  })

  it('is not called live for long after the browser has said that its network is gone', async () => {
    await using opened = await openPage(browser(), { url: `http://127.0.0.1:${proxy.port}/` })
    const { page } = opened
    await page.getByText('invoice-worker').first().waitFor()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
    // The pings of every 20 seconds stand still.
    await page.clock.install()
    await page.reload()
    await page.getByText('invoice-worker').first().waitFor()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
    await page.clock.pauseAt(new Date(Date.now() + 1_000))
    proxy.mute()
    await page.evaluate(() => dispatchEvent(new Event('offline')))
    await page.clock.runFor(6_000)
    await expect.poll(() => lineOf(page).textContent()).toMatch(/^Offline since \d\d:\d\d$/)
    await page.clock.resume()
    proxy.cut()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
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

  it('has a row at the top while its cluster is cut off, from within seconds until it is back, and the rows stay', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await page.getByText('invoice-worker').first().waitFor()
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
    const row = page
      .getByRole('status')
      .getByText(/^demo cannot be reached since .*; its objects are as last known\.$/)
    const said = await page.evaluateHandle(() => {
      const texts: string[] = []
      const banner = document.querySelector('header')?.parentElement ?? document.body
      const note = (): void => {
        const text = banner.textContent ?? ''
        const isCut = /demo cannot be reached since [^;]*; its objects/.test(text)
        const now = `${isCut ? 'row' : 'no row'}${text.includes('Catching up') ? ', catching up' : ''}`
        if (texts.at(-1) !== now) texts.push(now)
      }
      new MutationObserver(note).observe(banner, {
        characterData: true,
        childList: true,
        subtree: true,
      })
      note()
      return texts
    })
    portal.cluster.faults.inject({ fault: { type: 'cut' } })
    await row.waitFor()
    await expect.poll(() => lineOf(page).textContent()).toBe('Cut off')
    expect(await page.getByText('invoice-worker').count()).toBeGreaterThan(0)
    await opened.audit()
    // Another view has the row as well, and what was known.
    await page.getByRole('link', { name: 'Pods' }).first().click()
    await page.getByRole('gridcell').first().waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    // As long as the page of a user who waits would be looked at.
    await page.waitForTimeout(9_000)
    await row.waitFor()
    portal.cluster.faults.inject({ fault: { type: 'mend' } })
    await row.waitFor({ state: 'detached' })
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
    // What is behind when the cluster is back may say that it catches up.
    const rows = (await said.jsonValue()).map((text) => text.replace(/^no row.*/, 'no row'))
    expect(rows.filter((text, at) => text !== rows[at - 1])).toEqual(['no row', 'row', 'no row'])
  })

  it('says within the page that a view which was not opened yet cannot be loaded, and opens it when the gateway is back', async () => {
    const url = `http://127.0.0.1:${proxy.port}/`
    const expected = [/A file of the page is missing/]
    await using opened = await openPage(browser(), { url }, { expected, isAlone: true })
    const { page } = opened
    await page.getByText('invoice-worker').first().waitFor()
    await mark(page)
    await proxy.refuse()
    await expect.poll(() => lineOf(page).textContent()).toMatch(/^Offline since \d/)
    await page.getByRole('link', { name: 'Applications' }).click()
    await page.getByRole('heading', { name: 'This view cannot be loaded now.' }).waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await isMarked(page)).toBe(true)
    await page.getByRole('link', { name: 'Applications' }).click()
    await page.getByRole('heading', { name: 'This view cannot be loaded now.' }).waitFor()
    expect(await page.title()).toBe('The view Applications cannot be loaded. · informerql')
    await opened.audit()
    await proxy.listen()
    await page.getByRole('heading', { name: 'Applications' }).waitFor()
    await expect.poll(() => page.title()).toBe('Applications · informerql')
    await expect.poll(() => lineOf(page).textContent()).toBe('Live')
  })

  it('asks for nothing while nothing changes, and its numbers follow what does', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    const badge = page.getByRole('link', { name: /^Problems/ })
    const pods = page.getByRole('navigation').getByRole('link', { name: /^Pods/ })
    await page.getByText('invoice-worker').first().waitFor()
    await expect.poll(() => pods.textContent()).toMatch(/\d$/)
    await expect.poll(() => badge.textContent()).toMatch(/\d$/)
    // What the page asks for at its start.
    await page.waitForLoadState('networkidle')
    const before = [await badge.textContent(), await pods.textContent()]
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.postData() ?? request.url()))
    await page.waitForTimeout(10_000)
    expect(requests).toEqual([])
    breakPod(portal.cluster, 'payments', 'broken-while-idle')
    await expect.poll(() => badge.textContent()).not.toBe(before[0])
    await expect.poll(() => pods.textContent()).not.toBe(before[1])
    expect(requests).toEqual([])
  })
})

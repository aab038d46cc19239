import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, openPortal, type ServedPortal, servePortal } from './portal-page.ts'

const field = (page: Page) => page.getByRole('combobox', { name: 'Search' })
const options = (page: Page) => page.getByRole('option')
const chosen = (page: Page) => page.getByRole('option', { selected: true })

describeInBrowser('The search of the portal', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal()
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('opens by Ctrl-K, finds an object while one types, and opens it by the keyboard', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
    await page.keyboard.type('invoice-work')
    await options(page).filter({ hasText: 'invoice-worker' }).first().waitFor()
    expect(await chosen(page).textContent()).toMatch(/^▲Degradedinvoice-workerpayments/)
    const [first, second] = await options(page).allTextContents()
    expect(first).toContain('Deployment')
    await page.keyboard.press('ArrowDown')
    expect(await chosen(page).textContent()).toBe(second)
    await page.keyboard.press('ArrowUp')
    await opened.audit()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/objects/**')
    await expect.poll(() => field(page).count()).toBe(0)
  })

  it('finds a kind by its name, its resource, or letters of it, and offers what was opened last', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    for (const text of ['StatefulSet', 'statefulsets', 'stfls', 'sts']) {
      await page.keyboard.press('/')
      await field(page).waitFor()
      await page.keyboard.type(text)
      await expect.poll(() => chosen(page).textContent()).toMatch(/^StatefulSets/)
      await page.keyboard.press('Escape')
      await field(page).waitFor({ state: 'detached' })
    }
    await page.keyboard.press('/')
    await field(page).waitFor()
    await page.keyboard.type('statefulsets')
    await expect.poll(() => chosen(page).textContent()).toMatch(/^StatefulSets/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/kinds/statefulsets.apps')
    await page.keyboard.press('Control+k')
    expect(await chosen(page).textContent()).toMatch(/^StatefulSets/)
    await opened.audit()
  })

  it('finds every view of the rail', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const rail = page.getByRole('navigation', { name: 'Menu' }).getByRole('list').first()
    const links = await rail.getByRole('link').all()
    const views = await Promise.all(
      links.map(async (one) => (await one.getAttribute('title')) ?? ''),
    )
    expect(views).toContain('Changes')
    for (const view of views) {
      await page.keyboard.press('Control+k')
      await field(page).waitFor()
      await page.keyboard.type(view)
      const found = page.getByRole('group', { name: 'Views' }).getByRole('option')
      await expect.poll(() => found.allTextContents()).toContain(view)
      await page.keyboard.press('Escape')
      await field(page).waitFor({ state: 'detached' })
    }
    expect(opened.problems).toEqual([])
  })

  it('takes a kind as the first word, looks in the scope alone, and says so', async () => {
    await using opened = await openPage(browser(), portal, { path: '/?ns=payments' })
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
    await page.keyboard.type('po worker')
    await options(page).filter({ hasText: 'Pod' }).first().waitFor()
    await expect
      .poll(
        async () =>
          new Set(await options(page).locator(':scope > span:last-child').allTextContents()),
      )
      .toEqual(new Set(['Pod']))
    await page.getByText('In payments', { exact: true }).waitFor()
    for (const text of await options(page).allTextContents()) expect(text).toContain('payments')
    await opened.audit()
  })

  it('says what was not looked into, and what to do when nothing is found', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
    await page.keyboard.type('no-such-thing')
    await page.getByText('Nothing has “no-such-thing” in its name or labels.').waitFor()
    await page.getByText(/^Not looked into: /).waitFor()
    expect(await options(page).count()).toBe(0)
    await opened.audit()
  })

  it('does what it offers: the dark theme, the keys, all namespaces', async () => {
    await using opened = await openPage(browser(), portal, { path: '/?ns=payments' })
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const choose = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await field(page).waitFor()
      await page.keyboard.type(text)
      await expect.poll(() => chosen(page).textContent()).toContain(text)
      await page.keyboard.press('Enter')
    }
    await choose('Use the dark theme')
    await page.locator('html[data-theme=dark]').waitFor({ state: 'attached' })
    await choose('Show all namespaces')
    await page.waitForURL((url) => url.search === '')
    await choose('Show the keys')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await opened.audit()
  })

  it('answers a letter within a moment (its time is in the log)', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
    await page.keyboard.type('ledger')
    await options(page).filter({ hasText: 'ledger' }).first().waitFor()
    const took: number[] = []
    for (const text of ['invoice', 'reconcile', 'route-plan']) {
      await field(page).fill('')
      // How long the first option takes to fit, from the moment when the field has the text.
      await page.evaluate((typed) => {
        const waitForOption = async (): Promise<number> => {
          const started = performance.now()
          const isShown = (): boolean =>
            document.querySelector('[role=option]')?.textContent.includes(typed) === true
          while (!isShown()) await new Promise(requestAnimationFrame)
          return performance.now() - started
        }
        const input = document.querySelector('[role=combobox][aria-autocomplete]')
        Object.assign(globalThis, {
          answered: new Promise((resolve) => {
            input?.addEventListener('input', () => resolve(waitForOption()), { once: true })
          }),
        })
      }, text)
      await field(page).fill(text)
      took.push(
        await page.evaluate(
          () => (globalThis as unknown as { readonly answered: Promise<number> }).answered,
        ),
      )
    }
    expect(took).toHaveLength(3)
    console.log(
      `search: first answer after ${took.map((ms) => ms.toFixed(0)).join(', ')} ms, 60 of it waiting for the next letter`,
    )
    await opened.audit()
  })

  it('finds what can be done with an object, and opens its dialog there', async () => {
    await using opened = await openPortal(browser(), { allowWrites: true })
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
    await page.keyboard.type('scale invoice')
    await expect.poll(() => chosen(page).textContent()).toMatch(/Scale invoice-worker.*Deployment/)
    const kinds = await options(page).locator(':scope > span:last-child').allTextContents()
    expect(kinds).not.toContain('Pod')
    await opened.audit()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/objects/**')
    await page.getByRole('dialog', { name: /^Scale: Deployment invoice-worker/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // Once: the page as such opens none.
    await page.reload()
    await page.getByRole('heading', { level: 1, name: /invoice-worker/ }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  it('finds actions and tabs by their words alone, says that a name must follow, and waits for it', async () => {
    await using opened = await openPortal(browser(), { allowWrites: true, allowExec: true })
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
    for (const [text, label] of [
      ['delete', 'Delete'],
      ['restart', 'Restart'],
      ['shell', 'Shell'],
      ['rollback', 'Roll back'],
      ['drain', 'Drain'],
      ['log', 'Logs'],
    ] as const) {
      await field(page).fill(text)
      await expect
        .poll(() => chosen(page).textContent())
        .toBe(`${label}type a name: ${label.toLowerCase()} NAME`)
      await page.locator('[role=listbox][aria-busy=false]').waitFor()
      expect(await options(page).first().textContent()).toMatch(new RegExp(`^${label}type`))
    }
    await opened.audit()
    await page.keyboard.press('Enter')
    expect(await field(page).inputValue()).toBe('Logs ')
    await page.keyboard.type('ledger')
    await expect.poll(() => chosen(page).textContent()).toMatch(/Logs ledger-.*payments/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/objects/**tab=logs')
    await page.getByRole('tab', { name: 'Logs', selected: true }).waitFor()
    for (const [text, title, end] of [
      ['rollback invoice', /Roll back invoice-worker/, 'Deployment'],
      ['edit invoice', /Edit invoice-worker/, 'Deployment'],
      ['shell ledger', /Shell ledger-/, 'Pod'],
    ] as const) {
      await page.keyboard.press('Control+k')
      await field(page).fill(text)
      await expect.poll(() => chosen(page).textContent()).toMatch(title)
      expect(await chosen(page).textContent()).toMatch(new RegExp(`${end}$`))
      await page.keyboard.press('Escape')
      await field(page).waitFor({ state: 'detached' })
    }
    expect(opened.problems).toEqual([])
  })

  it('puts clusters and views whose name begins so before objects with such a label, and never letters between', async () => {
    await using opened = await openPortal(browser(), { isFleet: true, allowWrites: true })
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
    const found = async (text: string): Promise<readonly string[]> => {
      await field(page).fill(text)
      await page.getByText(/^\d+ results?$/).waitFor({ state: 'attached' })
      await page.locator('[role=listbox][aria-busy=false]').waitFor()
      return await options(page).locator('[class*=title]').allTextContents()
    }
    const [eu, us, ...others] = await found('prod')
    expect([eu, us]).toEqual(['prod-eu', 'prod-us'])
    expect(others.length).toBeGreaterThan(0)
    const certificates = await found('cert')
    expect(certificates[0]).toBe('Certificates')
    expect(certificates).not.toContain('CustomResourceDefinitions')
    expect(certificates).not.toContain('staging')
    const logs = await found('log')
    expect(logs[0]).toBe('Logs')
    expect(logs).not.toContain('ClusterRoleBindings')
    await opened.audit()
  })

  it('takes a cluster as the last word', async () => {
    await using opened = await openPortal(browser(), {
      isFleet: true,
      allowWrites: true,
      path: '/?cluster=prod-eu',
    })
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    const places = async (text: string): Promise<ReadonlySet<string>> => {
      await field(page).fill(text)
      await page.getByText(/^\d+ results?$/).waitFor({ state: 'attached' })
      await page.locator('[role=listbox][aria-busy=false]').waitFor({ state: 'attached' })
      return new Set(await options(page).locator('[class*=detail]').allTextContents())
    }
    const placeIn = async (cluster: string): Promise<readonly [name: string, place: string]> => {
      const query = `{ deployments(cluster: "${cluster}", first: 1) { nodes { name namespace } } }`
      const { data } = await opened.gateway().query(query)
      const [{ name, namespace }] = data?.deployments.nodes ?? []
      return [name, `${namespace} · ${cluster}`]
    }
    const [ofUs, inUs] = await placeIn('prod-us')
    await expect.poll(() => places(`deploy ${ofUs} prod-us`)).toEqual(new Set([inUs]))
    const [ofStaging, inStaging] = await placeIn('staging')
    await expect.poll(() => places(`scale ${ofStaging} staging`)).toEqual(new Set([inStaging]))
    await opened.audit()
  })

  it('offers no actions with objects where the gateway takes no writes', async () => {
    await using opened = await openPage(browser(), portal)
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
    await page.keyboard.type('scale invoice')
    await page.getByText('Nothing has “scale invoice” in its name or labels.').waitFor()
    expect(await options(page).count()).toBe(0)
  })
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { breakPod, removePod } from './broken-pod.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const problems = (page: Page) => page.getByRole('region', { name: 'Problems' })

describeInBrowser('The frame of the portal', (browser) => {
  describe('where nobody is asked who they are', () => {
    let portal: ServedPortal
    beforeAll(async () => {
      portal = await servePortal()
    })
    afterAll(() => portal[Symbol.asyncDispose]())

    it('shows on the overview what is wrong, each with its reason, and a pod that breaks appears and goes', async () => {
      await using opened = await openPage(browser(), portal)
      const { page } = opened
      await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
      await expect
        .poll(() => problems(page).getByText('CrashLoopBackOff').count())
        .toBeGreaterThan(0)
      breakPod(portal.cluster, 'storefront', 'just-broken')
      await problems(page).getByText('back-off restarting just-broken').waitFor()
      await opened.audit()
      removePod(portal.cluster, 'storefront', 'just-broken')
      await problems(page).getByRole('link', { name: 'just-broken' }).waitFor({ state: 'detached' })
    })

    it('leads from a problem to its page by one click, and puts the focus on its heading', async () => {
      await using opened = await openPage(browser(), portal)
      const { page } = opened
      await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().click()
      await page.waitForURL('**/objects/**')
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
      await opened.audit()
    })

    it('says calmly that nothing is wrong in the namespaces in scope', async () => {
      await using opened = await openPage(browser(), portal, { path: '/?ns=default' })
      const { page } = opened
      await problems(page).getByText('Nothing is wrong.').waitFor()
      await opened.audit()
      await problems(page).getByRole('button', { name: 'Look in all namespaces' }).click()
      await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
      expect(new URL(page.url()).search).toBe('')
    })

    it('narrows by a scope that is typed, which survives navigation and a reload', async () => {
      await using opened = await openPage(browser(), portal)
      const { page } = opened
      await problems(page).getByRole('link', { name: 'logistics/route-planner' }).waitFor()
      await page.getByRole('combobox', { name: /Namespaces/ }).click()
      await page.getByPlaceholder('Find a namespace').fill('payments')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/?ns=payments')
      await problems(page)
        .getByRole('link', { name: 'logistics/route-planner' })
        .waitFor({ state: 'detached' })
      await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: 'Applications' }).click()
      await page.waitForURL('**/applications?ns=payments')
      await page.reload()
      await page.getByRole('combobox', { name: 'Namespaces: payments' }).waitFor()
      // A page that is opened anew begins where the user left.
      await page.goto('/')
      await page.getByRole('combobox', { name: 'Namespaces: payments' }).waitFor()
      expect(new URL(page.url()).search).toBe('?ns=payments')
      await opened.audit()
    })

    it('goes to views by keys, lists the keys, and folds the rail', async () => {
      await using opened = await openPage(browser(), portal)
      const { page } = opened
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.keyboard.press('g')
      await page.keyboard.press('p')
      await page.waitForURL('**/kinds/pods')
      await page.getByRole('heading', { name: 'Overview' }).waitFor({ state: 'detached' })
      await page.keyboard.press('g')
      await page.keyboard.press('o')
      await page.waitForURL((url) => url.pathname === '/')
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.textContent))
        .toBe('Overview')
      expect(await page.title()).toBe('Overview · informerql')
      await page.keyboard.press('[')
      await page.locator('nav[data-folded=true]').waitFor()
      await page.keyboard.press('[')
      await page.locator('nav[data-folded=false]').waitFor()
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).getByText('Go to Pods').waitFor()
      await opened.audit()
      await page.keyboard.press('Escape')
      await page.keyboard.press('Tab')
    })

    it('has its name, leads home by it, and leaves its frame out on paper', async () => {
      await using opened = await openPage(browser(), portal, { path: '/problems' })
      const { page } = opened
      await page.getByRole('link', { name: 'informerql' }).click()
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
      expect(await page.title()).toBe('Overview · informerql')
      await page.emulateMedia({ media: 'print' })
      expect(await page.getByRole('navigation', { name: 'Menu' }).isVisible()).toBe(false)
      expect(await page.getByRole('heading', { name: 'Overview', level: 1 }).isVisible()).toBe(true)
      await page.emulateMedia({ media: 'screen' })
      await opened.audit()
    })

    it('says of an address with a bad id what a good one is', async () => {
      await using opened = await openPage(browser(), portal, { path: '/objects/garbage' })
      const hint = opened.page.getByText('Use an id from an answer, or CLUSTER/')
      await hint.waitFor()
      expect(await hint.textContent()).toMatch(/\.$/)
      expect(await opened.page.title()).toBe('The object cannot be shown. · informerql')
      await opened.audit()
    })

    it('keeps a theme, also after a reload', async () => {
      await using opened = await openPage(browser(), portal)
      const { page } = opened
      await page.getByRole('button', { name: 'Theme' }).click()
      await page.getByRole('menuitemradio', { name: 'Dark' }).click()
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      await expect.poll(background).toBe('rgb(15, 17, 20)')
      await page.reload()
      expect(await background()).toBe('rgb(15, 17, 20)')
    })

    it('pins a view with its scope, and unpins it', async () => {
      await using opened = await openPage(browser(), portal, { path: '/?ns=payments' })
      const { page } = opened
      await page.getByRole('button', { name: 'Pin this view' }).click()
      const rail = page.getByRole('navigation')
      await page.getByRole('link', { name: 'Applications' }).click()
      await page.waitForURL('**/applications**')
      await page.reload()
      await rail.getByRole('link', { name: 'Overview · payments' }).click()
      await page.waitForURL('**/?ns=payments')
      await rail.getByRole('button', { name: 'Unpin Overview · payments' }).click()
      expect(await rail.getByRole('button', { name: /^Unpin/ }).count()).toBe(0)
      await opened.audit()
    })

    it('pins views under the names of their filters', async () => {
      const path = '/kinds/pods?q=health%3Adegraded&ns=payments'
      await using opened = await openPage(browser(), portal, { path })
      const { page } = opened
      await page.getByRole('heading', { level: 1, name: 'Pods' }).waitFor()
      await page.getByRole('button', { name: 'Pin this view' }).click()
      await page.goto('/problems?severity=CRITICAL')
      await page.getByRole('heading', { level: 1, name: 'Problems' }).waitFor()
      await page.getByRole('button', { name: 'Pin this view' }).click()
      const rail = page.getByRole('navigation')
      await rail.getByRole('link', { name: 'Problems · CRITICAL' }).waitFor()
      await rail.getByRole('link', { name: 'Pods · health:degraded · payments' }).click()
      await page.waitForURL('**/kinds/pods?*health*')
      expect(new URL(page.url()).searchParams.get('ns')).toBe('payments')
      await opened.audit()
    })

    it('says what an address without a view is, and where to go', async () => {
      await using opened = await openPage(browser(), portal, { path: '/no/such/view' })
      await opened.page.getByText('There is no such page.').waitFor()
      await opened.audit()
      await opened.page.getByRole('link', { name: 'Go to the overview' }).click()
      await opened.page.getByRole('heading', { name: 'Overview' }).waitFor()
      expect(new URL(opened.page.url()).pathname).toBe('/')
    })

    it('reloads once where a file of the view is gone, as after an update, and then says that the view has failed', async () => {
      const expected = [/Failed to load resource|A file of the page is missing/]
      await using opened = await openPage(browser(), portal, { expected })
      const { page } = opened
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      let loads = 0
      page.on('load', () => loads++)
      await page.route('**/assets/applications-*.js', (route) => route.abort())
      await page.getByRole('link', { name: 'Applications' }).click()
      await page.getByRole('heading', { name: 'This view has failed.' }).waitFor()
      expect(loads).toBe(1)
      await opened.audit()
      await page.unroute('**/assets/applications-*.js')
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
    })

    it.each([1024, 400])('fits a window of %d pixels', async (width) => {
      await using opened = await openPage(browser(), portal, { width })
      const { page } = opened
      await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
      const overflow = () =>
        page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        )
      expect(await overflow()).toBe(0)
      await opened.audit()
      if (width > 600) return
      await page.getByRole('button', { name: 'Unfold the menu' }).click()
      await page.getByRole('link', { name: 'Applications' }).click()
      await page.waitForURL('**/applications')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    })
  })

  describe('where callers are asked who they are', () => {
    let portal: ServedPortal
    const refused = [/status of 401/]
    beforeAll(async () => {
      portal = await servePortal({ asksWho: true })
    })
    afterAll(() => portal[Symbol.asyncDispose]())

    it('asks for a token, says that a wrong one is refused, and shows two people what each may see', async () => {
      await using opened = await openPage(browser(), portal, { expected: refused })
      const { page } = opened
      await page.getByRole('heading', { name: 'This gateway asks who you are' }).waitFor()
      await opened.audit()
      const give = async (token: string): Promise<void> => {
        await page.getByLabel('Bearer token').fill(token)
        await page.getByRole('button', { name: 'Sign in' }).click()
      }
      await give('no-such-token')
      await page.getByText('The gateway does not accept this token.').waitFor()
      await give('ann-token')
      await problems(page).getByRole('link', { name: 'logistics/route-planner' }).waitFor()
      await page.getByRole('button', { name: 'You: ann' }).click()
      await page.getByText('You may list objects in every namespace.').waitFor()
      await opened.audit()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await give('ben-token')
      await problems(page).getByRole('link', { name: 'payments/invoice-worker' }).first().waitFor()
      await page.getByText('You see payments, storefront: what you may list.').waitFor()
      const capacity = page.getByRole('region', { name: 'Requested by your pods' })
      await capacity.getByText('Of your pods alone: you may not list the others.').waitFor()
      // Not a share of nodes that ben may not see.
      await capacity
        .getByRole('listitem')
        .filter({ hasText: 'payments' })
        .getByText(/cores$/)
        .waitFor()
      expect(await capacity.getByText('%').count()).toBe(0)
      expect(
        await problems(page).getByRole('link', { name: 'logistics/route-planner' }).count(),
      ).toBe(0)
      await problems(page)
        .getByText(/Not looked at.* Node\b/)
        .waitFor()
      await page.getByRole('combobox', { name: /Namespaces/ }).click()
      expect(await page.getByRole('option').allTextContents()).toEqual(['payments', 'storefront'])
      await opened.audit()
    })
  })
})

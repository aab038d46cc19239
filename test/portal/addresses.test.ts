import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'
import { makePod, podsOf, rowOf } from './table-page.ts'

describeInBrowser('The addresses of the portal', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ isFleet: true, pods: 60 })
    makePod(portal, 'one')
    makePod(portal, 'two')
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const search = (page: Page): URLSearchParams => new URL(page.url()).searchParams
  const inspector = (page: Page, name: string) =>
    page.getByRole('complementary').getByRole('heading', { name })
  const makeAnew = (name: string): void => {
    portal.cluster.storage.delete(podsOf, 'default', name)
    makePod(portal, name)
  }
  const idOf = async (name: string): Promise<string> => {
    const { data } = await portal
      .gateway()
      .query(`{ object(id: "prod-eu/Pod/default/${name}") { id } }`)
    return data.object.id as string
  }

  it('another namespace closes what is open of the one before, and leaves the page of its object; what belongs to it stays', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/kinds/pods?cluster=prod-eu&open=prod-eu%2FPod%2Fdefault%2Fone&q=one|two',
    })
    const { page } = opened
    await inspector(page, 'Pod one').waitFor()
    const choose = async (name: string): Promise<void> => {
      await page.getByRole('combobox', { name: /^Namespaces/ }).click()
      await page.getByPlaceholder('Find a namespace').fill(name)
      await page.keyboard.press('Enter')
      await page.keyboard.press('Escape')
    }
    await choose('default')
    await expect.poll(() => search(page).get('ns')).toBe('default')
    await inspector(page, 'Pod one').waitFor()
    await page.getByRole('combobox', { name: /^Namespaces/ }).click()
    await page.getByRole('button', { name: 'Show all namespaces' }).click()
    await page.keyboard.press('Escape')
    await expect.poll(() => search(page).get('ns')).toBeNull()
    await inspector(page, 'Pod one').waitFor()
    await choose('payments')
    await expect.poll(() => search(page).get('ns')).toBe('payments')
    await inspector(page, 'Pod one').waitFor({ state: 'detached' })
    expect(search(page).get('open')).toBeNull()
    expect(search(page).get('q')).toBe('one|two')
    await opened.audit()
    await page.goto('/objects/prod-eu/Pod/default/one?cluster=prod-eu')
    await page.getByRole('heading', { level: 1, name: 'Pod one' }).waitFor()
    await choose('default')
    await expect.poll(() => search(page).get('ns')).toBe('default')
    await page.getByRole('heading', { level: 1, name: 'Pod one' }).waitFor()
    await page.goto('/objects/prod-eu/Pod/default/one?cluster=prod-eu')
    await page.getByRole('heading', { level: 1, name: 'Pod one' }).waitFor()
    await choose('payments')
    await expect.poll(() => new URL(page.url()).pathname).toBe('/')
    expect(search(page).get('ns')).toBe('payments')
    expect(opened.problems).toEqual([])
  })

  it('a row of a table is a link: Ctrl-click opens it in another tab, a plain click beside the table', async () => {
    const path = '/kinds/pods?cluster=prod-eu&ns=default'
    await using opened = await openPage(browser(), portal, { path })
    const { page } = opened
    const link = rowOf(page, 'one').getByRole('link', { name: 'one' })
    const address = '/objects/prod-eu/Pod/default/one?cluster=prod-eu&ns=default'
    expect(await link.getAttribute('href')).toBe(address)
    const tab = page.context().waitForEvent('page')
    await link.click({ modifiers: ['ControlOrMeta'] })
    const other = await tab
    await other.getByRole('heading', { level: 1, name: 'Pod one' }).waitFor()
    await other.close()
    expect(search(page).get('picked')).toBeNull()
    await link.click()
    await inspector(page, 'Pod one').waitFor()
    expect(search(page).get('open')).toBe('prod-eu/Pod/default/one')
    // The keys go on with the rows.
    await page.keyboard.press('ArrowDown')
    await inspector(page, 'Pod two').waitFor()
    expect(search(page).get('open')).toBe('prod-eu/Pod/default/two')
    await rowOf(page, 'one').getByRole('checkbox').click()
    expect(search(page).get('picked')).toBe('prod-eu/Pod/default/one')
    await opened.audit()
  })

  it('what is open and picked in a table is who has the name by then', async () => {
    await using opened = await openPage(browser(), portal, { path: '/problems' })
    const { page } = opened
    const first = await idOf('one')
    makeAnew('one')
    const of = (names: string, open: string): string =>
      `/kinds/pods?cluster=prod-eu&ns=default&picked=${encodeURIComponent(names)}&open=${encodeURIComponent(open)}`
    await expect.poll(() => idOf('one')).not.toBe(first)
    await page.goto(
      of('prod-eu/Pod/default/one,prod-eu/Pod/default/gone', 'prod-eu/Pod/default/one'),
    )
    await inspector(page, 'Pod one').waitFor()
    await page.getByRole('button', { name: /^1 selected/ }).waitFor()
    await page.getByText(/^1 is gone/).waitFor()
    expect(await rowOf(page, 'one').getAttribute('data-picked')).toBe('true')
    expect(await rowOf(page, 'one').getAttribute('data-open')).toBe('true')
    expect(search(page).get('picked')).toBe('prod-eu/Pod/default/one')
    // Addresses with ids are older, and go on.
    const id = await idOf('two')
    await page.goto(of(id, id))
    await inspector(page, 'Pod two').waitFor()
    await page.getByRole('button', { name: /^1 selected/ }).waitFor()
    await opened.audit()
  })

  it('the page of a deleted pod leads to the one that was made anew, at the same address', async () => {
    const path = '/objects/prod-eu/Pod/default/two?cluster=prod-eu'
    await using opened = await openPage(browser(), portal, { path })
    const { page } = opened
    await page.getByRole('heading', { level: 1, name: 'Pod two' }).waitFor()
    makeAnew('two')
    const link = page.getByRole('link', { name: 'Open it' })
    await link.waitFor()
    expect(await link.getAttribute('href')).toContain('/objects/prod-eu/Pod/default/two')
    await link.click()
    await page.getByText('This is its last state.').first().waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'Pod two' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/objects/prod-eu/Pod/default/two')
    await opened.audit()
  })

  it('applications and comparisons name their objects, and take their ids', async () => {
    const path = '/applications?cluster=prod-eu&ns=payments'
    await using opened = await openPage(browser(), portal, { path })
    const { page } = opened
    await page.getByRole('link', { name: 'card-gateway' }).first().click()
    const heading = page.getByRole('heading', { level: 1, name: 'card-gateway' })
    await heading.waitFor()
    const name = 'prod-eu/Deployment.apps/payments/card-gateway'
    expect(new URL(page.url()).pathname).toBe(`/applications/${name}`)
    await page
      .getByRole('link', { name: /^card-gateway-/ })
      .first()
      .waitFor()
    const { data } = await portal.gateway().query(`{ object(id: "${name}") { id } }`)
    await page.goto(`/applications/${data.object.id}?cluster=prod-eu`)
    await heading.waitFor()
    await page.getByRole('link', { name: 'Open as an object' }).click()
    await page.waitForURL(`**/objects/${name}?**`)
    await page.getByRole('link', { name: 'Compare' }).click()
    await page.waitForURL((url) => url.searchParams.get('left') === name)
    await page.getByRole('button', { name: /^prod-us/ }).click()
    await page.waitForURL((url) => url.searchParams.get('right') === name.replace('eu', 'us'))
    await page
      .getByText(/fields? differs?\./)
      .first()
      .waitFor()
    expect(await page.title()).toBe(
      'Compare Deployment card-gateway · prod-eu · prod-us · informerql',
    )
    await opened.audit()
  })

  it('the id by name of what has no namespace opens it, as it is and encoded', async () => {
    const nameId = 'prod-eu/Namespace//payments'
    await using opened = await openPage(browser(), portal, { path: `/objects/${nameId}` })
    const { page } = opened
    const heading = page.getByRole('heading', { level: 1, name: 'Namespace payments' })
    await heading.waitFor()
    await page.goto(`/objects/${encodeURIComponent(nameId)}`)
    await heading.waitFor()
    await page.waitForURL('**/objects/prod-eu/Namespace/-/payments**')
    expect(await page.getByText('There is no such page.').count()).toBe(0)
    await opened.audit()
  })

  it.each(['/', '/kinds/pods', '/problems', '/objects/nope/Pod/default/one'])(
    'a cluster that there is not is said once, with a way to all of them: %s',
    async (path) => {
      await using opened = await openPage(browser(), portal, { path: `${path}?cluster=nope` })
      const { page } = opened
      await page.getByRole('heading', { name: 'The gateway has no cluster nope.' }).waitFor()
      expect(await page.getByText('nope').count()).toBe(1)
      expect(await page.getByText('BAD_USER_INPUT').count()).toBe(0)
      await opened.audit()
      await page.getByRole('button', { name: 'Show all clusters' }).click()
      await page.getByRole('combobox', { name: 'Cluster: All clusters' }).waitFor()
      await page.getByRole('heading', { name: 'The gateway' }).waitFor({ state: 'detached' })
    },
  )

  it.each([
    ['/access?cluster=prod-eu&verb=delete&type=Pod', 'Who may do what · delete · Pod · prod-eu'],
    ['/kinds/pods?cluster=prod-us&q=health%3Adegraded', 'Pods · health:degraded · prod-us'],
    ['/kinds/pods?cluster=*&q=health%3Adegraded', 'Pods · health:degraded'],
    [
      '/objects/prod-us/Deployment.apps/payments/card-gateway?cluster=*&tab=logs&logs=level%3Aerror',
      'Deployment card-gateway · logs · level:error · prod-us · payments',
    ],
    ['/compare?cluster=prod-eu', 'Compare · prod-eu'],
  ])('a pin and the tab of the browser say what is seen: %s', async (path, title) => {
    await using opened = await openPage(browser(), portal, { path })
    const { page } = opened
    await expect.poll(() => page.title()).toBe(`${title} · informerql`)
    const { pathname, searchParams } = new URL(page.url())
    await page.getByRole('button', { name: 'Pin this view' }).click()
    await page.goto('/create')
    await page.getByRole('link', { name: title, exact: true }).click()
    await page.waitForURL((url) => url.pathname === pathname)
    expect(search(page).toString()).toBe(searchParams.toString())
    await opened.audit()
  })
})

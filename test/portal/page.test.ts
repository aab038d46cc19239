import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, openPortal, type ServedPortal, servePortal } from './portal-page.ts'

describeInBrowser('The portal', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal()
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('loads at / and shows the clusters', async () => {
    await using opened = await openPage(browser(), portal)
    await opened.page.getByText('demo').first().waitFor()
    expect(opened.problems).toEqual([])
  })

  it('loads at the address of any view', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/kinds/deployments.apps?ns=shop',
    })
    await opened.page.getByRole('navigation').first().waitFor()
    expect(new URL(opened.page.url()).pathname).toBe('/kinds/deployments.apps')
    expect(opened.problems).toEqual([])
  })

  it('shows a viewer who is signed in what the viewer may see', async () => {
    await using opened = await openPortal(browser(), { viewer: 'ben', path: '/' })
    await opened.page.getByText('demo').first().waitFor()
    expect(opened.problems).toEqual([])
  })
})

import type { Locator } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, servePortal } from './portal-page.ts'
import { countOf, makePod, podsOf, rowOf } from './table-page.ts'

describeInBrowser('A long table of the portal', (browser) => {
  it('scrolls to its middle and to its end, stays live there, and keeps what is in view in its place', async () => {
    await using portal = await servePortal({ pods: 3_000 })
    await using opened = await openPage(browser(), portal, { path: '/kinds/pods?sort=name' })
    const { page } = opened
    await page.locator('[data-index="0"]').waitFor()
    const all = await countOf(page)
    expect(all).toBeGreaterThanOrEqual(2_900)
    const grid = page.getByRole('grid')
    expect(Number(await grid.getAttribute('aria-rowcount'))).toBe(all + 1)

    await scrollTo(grid, 0.5)
    const middle = page.locator(`[data-index="${Math.floor(all / 2)}"]`)
    await middle.waitFor()
    const name = (await middle.getByRole('gridcell').first().textContent()) ?? ''
    const pod = [...portal.cluster.storage.list(podsOf)].find(
      ({ metadata }) => metadata?.name === name,
    )
    if (pod?.metadata === undefined) throw new Error(`there is no pod ${name}`)
    const status = { phase: 'Failed', reason: 'Evicted' }
    portal.cluster.storage.update(podsOf, { ...pod, status })
    await middle.getByText('Evicted').waitFor()

    await grid.evaluate((element) => element.scrollTo({ top: 1_600 }))
    const fiftieth = page.locator('[data-index="50"]')
    await fiftieth.waitFor()
    const kept = rowOf(page, (await fiftieth.getByRole('gridcell').first().textContent()) ?? '')
    const before = await kept.boundingBox()
    makePod(portal, 'a-first')
    await expect.poll(() => countOf(page)).toBe(all + 1)
    await expect.poll(() => kept.getAttribute('data-index')).toBe('51')
    expect((await kept.boundingBox())?.y).toBe(before?.y)

    await scrollTo(grid, 1)
    const last = page.locator(`[data-index="${all}"]`)
    await last.waitFor()
    makePod(portal, 'zzz-the-last-one')
    await expect.poll(() => countOf(page)).toBe(all + 2)
    await scrollTo(grid, 1)
    await rowOf(page, 'zzz-the-last-one').waitFor()
    await opened.audit()
  })
})

async function scrollTo(grid: Locator, part: number): Promise<void> {
  await grid.evaluate((element, to) => {
    element.scrollTop = (element.scrollHeight - element.clientHeight) * to
  }, part)
}

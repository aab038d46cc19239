import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage } from './portal-page.ts'
import { largestPicture, pictureOf, startViews, type ViewedWorld, viewNames } from './views.ts'

/** A phone; 1,440 by 900 pixels at 200 %; and a small window on a desk, at which a button was cut once. */
const windows = [
  { width: 390, height: 844 },
  { width: 720, height: 450 },
  { width: 1190, height: 700 },
] as const

/** Links with an opaque id: `/objects/MQBwcm9k`. */
const withIds = ['objects/MQ', 'applications/MQ', '=MQ'].map((part) => `[href*="${part}"]`)

describeInBrowser('Each view of the portal', (browser) => {
  let world: ViewedWorld
  beforeAll(async () => {
    world = await startViews(180)
  })
  afterAll(() => world[Symbol.asyncDispose]())

  it.each(viewNames)(
    'is whole at 390 pixels and at 200 %, without scrollbars across or side by side, axe finds nothing, its links name what they lead to, and its picture has less than 150 KB: %s',
    async (name) => {
      const view = world.views.find((one) => one.name === name)
      if (view === undefined) throw new Error(`there is a view ${name}`)
      const { path, url = world.url, expected = [], show, without } = view
      const [first, ...others] = windows
      await using stack = new AsyncDisposableStack()
      stack.defer(async () => view.end?.())
      const opened = stack.use(await openPage(browser(), { url }, { path, expected, ...first }))
      const { page } = opened
      await show(page)
      await page.waitForLoadState('networkidle')
      expect(await faultsIn(page)).toEqual([])
      expect(await page.locator(`a:is(${withIds.join()})`).count()).toBe(0)
      await opened.audit(without)
      for (const size of others) {
        await page.setViewportSize(size)
        await expect.poll(() => faultsIn(page)).toEqual([])
        await opened.audit(without)
      }
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.waitForLoadState('networkidle')
      expect((await pictureOf(page)).length).toBeLessThan(largestPicture)
      expect(opened.problems).toEqual([])
    },
  )
})

/** What does not fit: sideways scrolling of the page, controls that are cut or out of reach, scrollbars beside one another. */
async function faultsIn(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const faults: string[] = []
    const named = (element: Element): string =>
      `${element.tagName.toLowerCase()} ${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40)}`
    const parents = function* (element: Element): Generator<Element> {
      for (let at = element.parentElement; at !== null; at = at.parentElement) yield at
    }
    for (const element of [
      document.documentElement,
      ...document.querySelectorAll('main, [role=tabpanel]'),
    ]) {
      const over = element.scrollWidth - element.clientWidth
      if (over > 0) faults.push(`${named(element)} is ${over} pixels too wide`)
    }
    // The views scroll, below the bar.
    const below = document.documentElement.scrollHeight - innerHeight
    if (below > 0) faults.push(`the page scrolls by ${below} pixels`)
    const controls = 'button, a[href], input, select, textarea, [role=menuitem], [role=option]'
    const modal = document.querySelector('[role=dialog], [role=menu]')
    for (const control of (modal ?? document).querySelectorAll(controls)) {
      const { left, right, width, height } = control.getBoundingClientRect()
      const style = getComputedStyle(control)
      if (width < 2 || height < 2 || style.visibility !== 'visible') continue
      // A graph is moved by the pointer and by keys, and stands "As a list" as well.
      if (control.closest('[aria-hidden=true], [inert], .react-flow__viewport') !== null) continue
      let [from, to] = [0, innerWidth]
      for (const parent of parents(control)) {
        const { overflowX } = getComputedStyle(parent)
        const box = parent.getBoundingClientRect()
        // What scrolls is in reach.
        const scrolls = overflowX === 'auto' || overflowX === 'scroll'
        if (scrolls && parent.scrollWidth > parent.clientWidth + 1) {
          ;[from, to] = [-Infinity, Infinity]
          break
        }
        if (overflowX !== 'visible')
          [from, to] = [Math.max(from, box.left), Math.min(to, box.right)]
      }
      const isText = style.textOverflow === 'ellipsis' && style.overflow === 'hidden'
      if (left < from - 1 || (right > to + 1 && !isText)) {
        faults.push(`${named(control)} is cut: ${left} to ${right} in ${from} to ${to}`)
      }
    }
    const scrolls = [...document.querySelectorAll('body *')].filter((element) => {
      const { overflowY, visibility } = getComputedStyle(element)
      const isScroller = overflowY === 'auto' || overflowY === 'scroll'
      return (
        isScroller && visibility === 'visible' && element.scrollHeight > element.clientHeight + 1
      )
    })
    for (const inner of scrolls) {
      const { right, height } = inner.getBoundingClientRect()
      if (height > 0 && height < 48)
        faults.push(`${named(inner)} has ${height} pixels to scroll in`)
      for (const outer of scrolls) {
        if (outer === inner || !outer.contains(inner)) continue
        const apart = outer.getBoundingClientRect().right - right
        if (apart < 24) faults.push(`${named(inner)} scrolls beside ${named(outer)}`)
      }
    }
    return faults
  })
}

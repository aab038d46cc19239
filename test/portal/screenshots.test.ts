import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage } from './portal-page.ts'
import { largestPicture, pictureOf, startViews, type ViewedWorld, viewNames } from './views.ts'

/** Where the pictures go: to a folder of the documentation by `npm run screenshots --workspace @informerql/portal`. Otherwise none are made here. */
const kept = process.env['SCREENSHOTS']
const windows = { 1440: { width: 1440, height: 900 }, 390: { width: 390, height: 844 } }

describe('the pictures of the portal in the documentation', () => {
  if (kept !== undefined) describeInBrowser('of each view', (browser) => pictureAll(kept, browser))

  it('are all in docs/portal-views.md', async () => {
    const text = await readFile(new URL('../../docs/portal-views.md', import.meta.url), 'utf8')
    const pictures = viewNames.flatMap((name) =>
      ['1440-light', '1440-dark', '390-light', '390-dark'].map(
        (form) => `images/portal-${name}-${form}.webp`,
      ),
    )
    expect(pictures.filter((picture) => !text.includes(picture))).toEqual([])
  })
})

function pictureAll(folder: string, browser: () => Browser): void {
  let world: ViewedWorld
  beforeAll(async () => {
    await mkdir(folder, { recursive: true })
    world = await startViews()
  })
  afterAll(() => world[Symbol.asyncDispose]())

  it.each(viewNames)('show the view, in less than 150 KB: %s', async (name) => {
    const view = world.views.find((one) => one.name === name)
    if (view === undefined) throw new Error(`there is a view ${name}`)
    for (const [width, size] of Object.entries(windows)) {
      for (const theme of ['light', 'dark'] as const) {
        const { url = world.url, path, expected = [] } = view
        await using stack = new AsyncDisposableStack()
        stack.defer(async () => view.end?.())
        const { page, problems } = stack.use(
          await openPage(browser(), { url }, { path, expected, theme, ...size }),
        )
        await view.show(page)
        // What comes after the first rows: counts, facets, the layout of a graph.
        await page.waitForLoadState('networkidle')
        await page.waitForTimeout(500)
        const picture = await pictureOf(page)
        await writeFile(join(folder, `portal-${name}-${width}-${theme}.webp`), picture)
        expect(picture.length).toBeLessThan(largestPicture)
        expect(problems).toEqual([])
        // The README has this one, for readers of npm as well.
        if (name !== 'table' || width !== '1440') continue
        await page.setViewportSize({ width: 1200, height: 700 })
        await page.waitForTimeout(500)
        await writeFile(join(folder, `portal-table-${theme}.png`), await page.screenshot())
      }
    }
  })
}

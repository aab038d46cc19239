import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage } from './portal-page.ts'
import { startViews, type ViewedWorld, viewNames } from './views.ts'

/** Where the pictures go: to a folder of the documentation by `npm run screenshots --workspace @informerql/portal`. */
const kept = process.env['SCREENSHOTS']
/** All of them where they are kept; how views are on a phone and in the dark is tested in narrow.test.ts. */
const themes = kept === undefined ? (['light'] as const) : (['light', 'dark'] as const)
const windows = {
  1440: { width: 1440, height: 900 },
  ...(kept === undefined ? {} : { 390: { width: 390, height: 844 } }),
}
const largest = 150_000

describeInBrowser('the pictures of the portal in the documentation', (browser) => {
  let world: ViewedWorld
  let folder = ''
  beforeAll(async () => {
    folder = kept ?? (await mkdtemp(join(tmpdir(), 'informerql-pictures-')))
    await mkdir(folder, { recursive: true })
    world = await startViews()
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    if (kept === undefined) await rm(folder, { recursive: true })
  })

  it.each(viewNames)('show the view, in less than 150 KB: %s', async (name) => {
    const view = world.views.find((one) => one.name === name)
    if (view === undefined) throw new Error(`there is a view ${name}`)
    for (const [width, size] of Object.entries(windows)) {
      for (const theme of themes) {
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
        const picture = await webp(page)
        await writeFile(join(folder, `portal-${name}-${width}-${theme}.webp`), picture)
        expect(picture.length).toBeLessThan(largest)
        expect(problems).toEqual([])
        // The README has this one, for readers of npm as well.
        if (name !== 'table' || width !== '1440') continue
        await page.setViewportSize({ width: 1200, height: 700 })
        await page.waitForTimeout(500)
        await writeFile(join(folder, `portal-table-${theme}.png`), await page.screenshot())
      }
    }
  })

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

/** What the page shows, as WebP: a third of the bytes of a PNG. */
async function webp(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 60 })
  await session.detach()
  return Buffer.from(data, 'base64')
}

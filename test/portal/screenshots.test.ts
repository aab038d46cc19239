import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { FakePrometheus } from '../support/fake-prometheus.ts'
import { deliver } from './deliveries.ts'
import { openPage, servePortal, type ServedPortal } from './portal-page.ts'
import { runningPod } from './running-pod.ts'

/** Where the pictures go: to a folder of the documentation by `npm run screenshots --workspace @informerql/portal`. */
const kept = process.env['SCREENSHOTS']
/** In the dark, too, where they are kept. */
const themes = kept === undefined ? (['light'] as const) : (['light', 'dark'] as const)
const window = { width: 1200, height: 700 }
const largest = 200_000

interface Picture {
  /** `docs/images/portal-NAME-THEME.png`. */
  readonly name: string
  readonly path: string
  /** Brings the view to what is to be seen. */
  readonly show: (page: Page) => Promise<void>
}

describeInBrowser('the pictures of the portal in the documentation', (browser) => {
  const prometheus = new FakePrometheus()
  let served: ServedPortal
  let folder = ''
  let worker = ''
  let other = ''
  let pod = ''
  beforeAll(async () => {
    folder = kept ?? (await mkdtemp(join(tmpdir(), 'informerql-pictures-')))
    await mkdir(folder, { recursive: true })
    const url = await prometheus.listen()
    served = await servePortal({
      pods: 400,
      allowWrites: true,
      allowExec: true,
      hasMetrics: true,
      further: { prometheus: { url } },
    })
    const { deployments } = await served
      .gateway()
      .data(
        `{ deployments(namespaces: ["payments"], where: { name: { eq: "invoice-worker" } }) { nodes { id } } }`,
      )
    worker = deployments.nodes[0].id
    const { deployments: others } = await served
      .gateway()
      .data(
        `{ deployments(namespaces: ["storefront"], first: 1, orderBy: [{ name: ASC }]) { nodes { id } } }`,
      )
    other = others.nodes[0].id
    const { name, namespace = '' } = runningPod(served).metadata
    pod = encodeURIComponent(`demo/Pod/${namespace}/${name}`)
    prometheus.series.push({
      metric: { namespace, pod: name },
      cpu: (step) => 0.03 + 0.02 * Math.sin(step / 6) ** 2 + (step > 40 ? 0.02 : 0),
    })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await prometheus[Symbol.asyncDispose]()
    if (kept === undefined) await rm(folder, { recursive: true })
  })

  const pictures = (): readonly Picture[] => [
    {
      name: 'overview',
      path: '/',
      show: (page) => page.getByText('invoice-worker').first().waitFor(),
    },
    {
      name: 'table',
      path: '/kinds/pods?ns=payments&q=phase%3ARunning&sort=-restarts',
      async show(page) {
        await page.getByRole('row').filter({ hasText: 'invoice-worker' }).first().click()
        await page.getByRole('complementary').getByRole('article').waitFor()
      },
    },
    {
      name: 'bulk',
      path: '/kinds/deployments.apps?ns=payments,storefront',
      async show(page) {
        await page.locator('[data-index]').nth(2).waitFor()
        await page.getByRole('checkbox', { name: 'Select all' }).click()
        const bar = page.getByRole('region', { name: 'Selection' })
        await bar.getByRole('button', { name: 'Actions' }).click()
        await page.getByRole('menuitem', { name: 'Restart…' }).click()
        await page.getByText(/^All \d+ objects would change\.$/).waitFor()
      },
    },
    {
      name: 'object',
      path: `/objects/${worker}`,
      show: (page) => page.getByRole('tab', { name: 'Summary' }).waitFor(),
    },
    {
      name: 'graph',
      path: `/objects/${worker}?tab=graph`,
      show: (page) => page.locator('.react-flow__node').nth(5).waitFor(),
    },
    {
      name: 'shell',
      path: `/objects/${pod}?tab=shell`,
      async show(page) {
        await page.getByRole('button', { name: 'Open a shell' }).click()
        const rows = page.locator('.xterm-rows')
        await rows.getByText('/ #').first().waitFor()
        for (const line of ['ps', 'cat /etc/os-release']) {
          await page.keyboard.type(line)
          await page.keyboard.press('Enter')
        }
        await rows.getByText('IMAGE=').waitFor()
      },
    },
    {
      name: 'charts',
      path: `/objects/${pod}`,
      async show(page) {
        await page.getByText('Use over the last hour').click()
        await page.locator('canvas').nth(1).waitFor()
      },
    },
    {
      name: 'application',
      path: `/applications/${worker}`,
      show: (page) => page.locator('.react-flow__node').nth(5).waitFor(),
    },
    {
      name: 'compare',
      path: `/compare?left=${worker}&right=${other}`,
      show: (page) => page.getByText(/fields? differs?\./).waitFor(),
    },
    {
      name: 'create',
      path: '/create?kind=deployments.apps&ns=payments',
      async show(page) {
        await page.locator('.cm-line').getByText('kind: Deployment').waitFor()
        await page.getByRole('button', { name: 'Review', exact: true }).click()
        await page.getByRole('button', { name: 'Apply 1 document' }).waitFor()
      },
    },
    {
      name: 'logs',
      path: `/objects/${worker}?tab=logs&logs=level%3Aerror+columns%3Ayes`,
      show: (page) =>
        page
          .getByRole('log')
          .getByText(/^cannot start/)
          .first()
          .waitFor(),
    },
    {
      name: 'access',
      path: '/access?type=Pod&ns=payments',
      show: (page) => page.getByRole('table').waitFor(),
    },
    {
      name: 'search',
      path: '/',
      async show(page) {
        await page.getByText('invoice-worker').first().waitFor()
        await page.keyboard.press('Control+k')
        await page.keyboard.type('invoice')
        await page.getByRole('option').filter({ hasText: 'invoice' }).first().waitFor()
      },
    },
    // The last one: what it delivers would be in the others.
    {
      name: 'delivery',
      path: '/delivery',
      async show(page) {
        if (!isDelivered) await deliver(served)
        isDelivered = true
        await page.reload()
        await page.getByText('OutOfSync').waitFor()
      },
    },
  ]

  let isDelivered = false
  it('show each view, in less than 200 KB', async () => {
    const sizes: Record<string, number> = {}
    for (const { name, path, show } of pictures()) {
      for (const theme of themes) {
        await using opened = await openPage(browser(), served, { path, theme, ...window })
        const { page, problems } = opened
        await show(page)
        // What comes after the first rows: counts, facets, the layout of a graph.
        await page.waitForLoadState('networkidle')
        await page.waitForTimeout(500)
        const png = await page.screenshot()
        sizes[`${name}-${theme}`] = png.length
        await writeFile(join(folder, `portal-${name}-${theme}.png`), png)
        expect(problems).toEqual([])
      }
    }
    const large = Object.entries(sizes).filter(([, size]) => size >= largest)
    expect(large).toEqual([])
  })
})

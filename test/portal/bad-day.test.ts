import { resources } from 'informerql/kubernetes'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { breakPod, removePod } from './broken-pod.ts'
import { deliver, release } from './deliveries.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'
import { runningPod } from './running-pod.ts'

interface CutView {
  readonly path: (portal: ServedPortal) => string
  /** What is known before, and stays. */
  readonly known: (page: Page) => Promise<void>
  /** What happens while the cluster is away. */
  readonly change: (portal: ServedPortal) => void
  readonly changed: (page: Page) => Promise<void>
}

const objectAt = (nameId: string): string => `/objects/${encodeURIComponent(nameId)}`
const node = 'worker-a-001'

const views: Readonly<Record<string, CutView>> = {
  Delivery: {
    path: () => '/delivery',
    known: (page) => page.getByRole('rowheader', { name: /^storefront/ }).waitFor(),
    change: (portal) => release(portal, 3, 'failed'),
    changed: (page) =>
      page
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader', { name: /^redis/ }) })
        .getByText('failed')
        .waitFor(),
  },
  'The page of a namespace': {
    path: () => objectAt('demo/Namespace//payments'),
    known: (page) => page.getByRole('link', { name: 'invoice-worker' }).first().waitFor(),
    change: ({ cluster }) => breakPod(cluster, 'payments', 'broken-meanwhile'),
    changed: (page) => page.getByRole('link', { name: 'broken-meanwhile' }).first().waitFor(),
  },
  'The page of a node': {
    path: () => objectAt(`demo/Node//${node}`),
    known: (page) => page.getByRole('heading', { name: `Node ${node}` }).waitFor(),
    change({ cluster: { storage } }) {
      const [held] = [...storage.list(resources.nodes, '')].filter(
        ({ metadata }) => metadata.name === node,
      )
      if (held === undefined) throw new Error(`there is no ${node}`)
      const taints = [{ key: 'bad-day', effect: 'NoSchedule' }]
      storage.update(resources.nodes, { ...held, spec: { ...(held['spec'] as object), taints } })
    },
    changed: (page) => page.getByText('bad-day').first().waitFor(),
  },
  'The page of a pod': {
    path: () => objectAt('demo/Pod/storefront/bad-day'),
    known: (page) => page.getByRole('tabpanel').getByText('main').first().waitFor(),
    change: ({ cluster }) => removePod(cluster, 'storefront', 'bad-day'),
    changed: (page) => page.getByText(/^Deleted at .*This is its last state\./).waitFor(),
  },
  Logs: {
    path(portal) {
      const { name } = runningPod(portal).metadata
      return `${objectAt(`demo/Pod/payments/${name}`)}?tab=logs`
    },
    known: (page) => page.getByRole('log').locator('time').first().waitFor(),
    change: () => {},
    changed: (page) => page.getByText(/^[1-9]\d* of \d+ streaming/).waitFor(),
  },
}

describeInBrowser(
  'A page of the portal that was opened while access could not be reviewed',
  (browser) => {
    it('comes by itself when it can be', async () => {
      await using portal = await servePortal({ asksWho: true })
      portal.cluster.faults.inject({
        fault: { type: 'status', code: 500 },
        match: { resource: 'subjectaccessreviews' },
        times: 1_000_000,
      })
      await using opened = await openPage(browser(), portal, {
        path: '/kinds/deployments.apps?ns=payments',
        viewer: 'ben',
      })
      const { page } = opened
      await page.getByText('This could not be read.').waitFor()
      portal.cluster.faults.clear()
      await page.locator('[data-index]').first().waitFor()
      expect(await page.getByText('This could not be read.').count()).toBe(0)
      await opened.audit()
    })
  },
)

describeInBrowser('While its cluster is cut', (browser) => {
  it.each(Object.entries(views))(
    '%s keeps what it has, says since when, and goes on',
    async (_name, { path, known, change, changed }) => {
      await using portal = await servePortal()
      await deliver(portal)
      breakPod(portal.cluster, 'storefront', 'bad-day')
      await using opened = await openPage(browser(), portal, { path: path(portal) })
      const { page } = opened
      await known(page)
      portal.cluster.faults.inject({ fault: { type: 'cut' } })
      const notice = page
        .getByRole('status')
        .getByText(/^demo cannot be reached since .*; its objects are as last known\.$/)
      await notice.waitFor()
      await known(page)
      change(portal)
      await opened.audit()
      portal.cluster.faults.inject({ fault: { type: 'mend' } })
      await notice.waitFor({ state: 'detached' })
      await changed(page)
      expect(opened.problems).toEqual([])
    },
  )
})

describeInBrowser('A write of the portal', (browser) => {
  it('is refused at once where the browser has no network, and not kept for later', async () => {
    await using portal = await servePortal({ allowWrites: true })
    const { data } = await portal
      .gateway()
      .query('{ deployments(namespace: "storefront", first: 1) { nodes { id } } }')
    const [{ id }] = data?.deployments.nodes ?? []
    await using opened = await openPage(browser(), portal, {
      path: `/objects/${id}`,
      expected: [/ERR_INTERNET_DISCONNECTED/],
    })
    const { page } = opened
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Restart…' }).click()
    const dialog = page.getByRole('dialog')
    const button = dialog.getByRole('button', { name: 'Restart' })
    await expect.poll(() => button.isEnabled()).toBe(true)
    await page.context().setOffline(true)
    await button.click()
    await dialog.getByText('The gateway cannot be reached.').waitFor()
    await page.context().setOffline(false)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    // A write that waited would be sent before what is asked now.
    await page.getByRole('tab', { name: 'Access' }).click()
    await page.getByRole('heading', { name: 'This Deployment', exact: true }).waitFor()
    const after = await portal.gateway().query(`{ object(id: "${id}") { json } }`)
    expect(JSON.stringify(after.data?.object.json)).not.toContain('restartedAt')
    expect(opened.problems).toEqual([])
  })
})

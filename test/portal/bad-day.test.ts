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

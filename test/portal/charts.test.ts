import type { Unstructured } from 'informerql/kubernetes'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { FakePrometheus } from '../support/fake-prometheus.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'
import { runningPod } from './running-pod.ts'

const podsOf = { group: '', version: 'v1', resource: 'pods' } as const
const nodesOf = { group: '', version: 'v1', resource: 'nodes' }
const title = 'Use over the last hour'

describeInBrowser('The charts of use', (browser) => {
  const prometheus = new FakePrometheus()
  let portal: ServedPortal
  let pod = ''
  beforeAll(async () => {
    const url = await prometheus.listen()
    portal = await servePortal({ hasMetrics: true, further: { prometheus: { url } } })
    const found = runningPod(portal)
    const { name, namespace = '' } = found.metadata
    pod = encodeURIComponent(`demo/Pod/${namespace}/${name}`)
    prometheus.series.push({ metric: { namespace, pod: name }, cpu: (step) => 0.01 * (step + 1) })
    prometheus.series.push({ metric: { node: 'worker-a-001' }, cpu: 2 })
    const status = found['status'] as { containerStatuses: object[] }
    portal.cluster.storage.update(podsOf, {
      ...found,
      status: {
        ...status,
        containerStatuses: status.containerStatuses.map((one) => ({
          ...one,
          restartCount: 1,
          lastState: {
            terminated: {
              exitCode: 137,
              reason: 'OOMKilled',
              finishedAt: new Date(Date.now() - 20 * 60_000).toISOString(),
            },
          },
        })),
      },
    })
  })
  afterAll(async () => {
    await portal[Symbol.asyncDispose]()
    await prometheus[Symbol.asyncDispose]()
  })

  it.each([1280, 390])(
    'are loaded when they are opened, with what happened and the values as a table, at %i px',
    async (width) => {
      await using opened = await openPage(browser(), portal, { path: `/objects/${pod}`, width })
      const { page } = opened
      const fold = page.locator('summary').getByText(title)
      await fold.waitFor()
      const loaded = () =>
        page.evaluate(() =>
          performance
            .getEntriesByType('resource')
            .filter(({ name }) => name.includes('use-charts')),
        )
      expect(await loaded()).toEqual([])
      await page.locator('summary', { hasText: title }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('img', { name: /^CPU from \d\d:\d\d to \d\d:\d\d\./ }).waitFor()
      await page.getByRole('img', { name: /^Memory from/ }).waitFor()
      expect((await loaded()).length).toBeGreaterThan(0)
      expect(await page.locator('canvas').count()).toBe(2)
      await page.getByText('From Prometheus.').waitFor()
      await page.getByText('used 600m').waitFor()
      const box = await page.locator('.u-over').first().boundingBox()
      if (box === null) throw new Error('the chart has a place')
      await page.mouse.move(box.x + box.width / 2, box.y + 20)
      await expect.poll(() => page.getByText(/^used \d+(?:m| MiB) at \d\d:\d\d$/).count()).toBe(2)
      const happened = page.getByRole('list', { name: 'What happened' })
      expect(await happened.innerText()).toMatch(/\d\d:\d\d .* restarted: OOMKilled/)
      const table = page.locator('summary').getByText('As a table')
      await table.click()
      const rows = page.getByRole('row').filter({ hasText: /^\d\d:\d\d/ })
      await expect.poll(() => rows.count()).toBe(60)
      expect((await rows.last().innerText()).replaceAll(/\s+/g, ' ')).toMatch(
        /^\d\d:\d\d 600m 614 MiB$/,
      )
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      expect(overflow).toBe(0)
      await opened.audit()
      // Whoever opens them once finds them open.
      await page.goto('/objects/demo%2FNode%2F%2Fworker-a-001')
      await page.getByRole('img', { name: /^CPU/ }).waitFor()
      await page.getByText('used 2', { exact: true }).first().waitFor()
      await opened.audit()
    },
  )

  it('say that Prometheus does not answer, and show what the gateway has measured', async () => {
    prometheus.behaviour = 'fails'
    await using opened = await openPage(browser(), portal, {
      path: `/objects/${encodeURIComponent('demo/Deployment.apps/payments/card-gateway')}`,
    })
    const { page } = opened
    await page.getByText(title).click()
    await page.getByText('Prometheus does not answer:').waitFor()
    await page
      .getByText(/As the gateway has measured since \d\d:\d\d, while somebody looked\./)
      .waitFor()
    await page.getByText('The pods that exist now, together.').waitFor()
    await page.locator('canvas').nth(1).waitFor()
    prometheus.behaviour = 'answers'
    expect(await page.locator('canvas').count()).toBe(2)
    await opened.audit()
  })
})

describeInBrowser('The charts of use without measurements', (browser) => {
  it('say why there are none', async () => {
    await using portal = await servePortal()
    await using opened = await openPage(browser(), portal, {
      path: `/objects/${encodeURIComponent('demo/Namespace//payments')}`,
    })
    const { page } = opened
    await page.getByText(title).click()
    const unmeasured =
      'The use of CPU and memory is not measured here: the cluster has no metrics-server.'
    await expect.poll(() => page.getByText(unmeasured).count()).toBe(2)
    expect(await page.locator('canvas').count()).toBe(0)
    await opened.audit()
  })
})

describeInBrowser(
  'The charts of use of a Prometheus, in a cluster without a metrics-server',
  (browser) => {
    const prometheus = new FakePrometheus()
    let portal: ServedPortal
    beforeAll(async () => {
      const url = await prometheus.listen()
      prometheus.series.push({ metric: { node: 'worker-a-001' }, cpu: 2 })
      portal = await servePortal({ hasArchive: true, further: { prometheus: { url } } })
      // What is there when the archive begins has not changed.
      await vi.waitFor(
        async () => {
          const since = new Date().toISOString()
          const asked = `{ changes(types: ["Deployment", "Node"], since: "${since}") { incomplete { code } } }`
          const { data } = await portal.gateway().query(asked)
          if (data.changes.incomplete.length > 0) throw new Error('the archive has not begun')
        },
        { timeout: 60_000, interval: 50 },
      )
    })
    afterAll(async () => {
      await portal[Symbol.asyncDispose]()
      await prometheus[Symbol.asyncDispose]()
    })

    const marks = (page: Page) => page.getByRole('list', { name: 'What happened' })

    it('of a node show when it was cordoned, and when it was not ready', async () => {
      const { storage } = portal.cluster
      const update = (change: (node: Node) => Node): void => {
        const node = storage.get(nodesOf, '', 'worker-a-001') as Node
        storage.update(nodesOf, change(node))
      }
      const isReady = (status: string) => (node: Node) => ({
        ...node,
        status: {
          ...node.status,
          conditions: node.status.conditions.map((one) =>
            one.type === 'Ready' ? { ...one, status } : one,
          ),
        },
      })
      update((node) => ({ ...node, spec: { ...node.spec, unschedulable: true } }))
      update(isReady('False'))
      await using opened = await openPage(browser(), portal, {
        path: `/objects/${encodeURIComponent('demo/Node//worker-a-001')}`,
      })
      const { page } = opened
      await page.getByText(title).click()
      await page.getByText('From Prometheus.').waitFor()
      await page.locator('canvas').nth(1).waitFor()
      await marks(page)
        .getByText(/\d\d:\d\d cordoned/)
        .waitFor()
      await marks(page)
        .getByText(/\d\d:\d\d not ready/)
        .waitFor()
      await opened.audit()
      expect(await marks(page).getByRole('listitem').count()).toBe(2)
    })

    it('of a Deployment show when it was rolled back, and to what', async () => {
      const { storage } = portal.cluster
      const [deploymentsOf, replicaSetsOf] = ['deployments', 'replicasets'].map((resource) => ({
        group: 'apps',
        version: 'v1',
        resource,
      })) as [typeof nodesOf, typeof nodesOf]
      const revised = <T extends { metadata: object & { annotations?: object } }>(
        { metadata, ...object }: T,
        revision: string,
      ) => ({
        ...object,
        metadata: {
          ...metadata,
          annotations: { ...metadata.annotations, 'deployment.kubernetes.io/revision': revision },
        },
      })
      const deployment = storage.get(deploymentsOf, 'payments', 'card-gateway')
      const sets = [...storage.list(replicaSetsOf, 'payments')].filter(({ metadata }) =>
        metadata.name.startsWith('card-gateway-'),
      )
      const [older] = sets.toSorted((a, b) => revisionOf(a) - revisionOf(b))
      if (deployment === undefined || older === undefined) throw new Error('the scenario has them')
      const next = String(Math.max(...sets.map(revisionOf)) + 1)
      storage.update(replicaSetsOf, revised(older, next) as never)
      storage.update(deploymentsOf, revised(deployment, next) as never)
      await using opened = await openPage(browser(), portal, {
        path: `/objects/${encodeURIComponent('demo/Deployment.apps/payments/card-gateway')}`,
      })
      const { page } = opened
      await page.getByText(title).click()
      await marks(page).getByText(`rolled back to ${older.metadata.name}`).waitFor()
      expect(await marks(page).getByText('rollout of').count()).toBe(0)
      await opened.audit()
    })
  },
)

interface Node extends Unstructured {
  readonly spec: object
  readonly status: { readonly conditions: readonly { readonly type: string }[] }
}

const revisionOf = ({ metadata }: { metadata: { annotations?: Record<string, string> } }): number =>
  Number(metadata.annotations?.['deployment.kubernetes.io/revision'])

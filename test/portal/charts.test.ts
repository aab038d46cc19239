import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { FakePrometheus } from '../support/fake-prometheus.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'
import { runningPod } from './running-pod.ts'

const podsOf = { group: '', version: 'v1', resource: 'pods' } as const
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

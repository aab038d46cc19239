import { expect, it } from 'vitest'
import { breakPod } from '../portal/broken-pod.ts'
import { openPage, servePortal } from '../portal/portal-page.ts'
import { describeInBrowser } from '../support/browser.ts'
import { serveGateway } from '../support/gateway.ts'
import { startPostgres } from '../support/postgres.ts'
import { agreedHolders, heldAt, sharedBetween } from './settled-holders.ts'
import { freePort } from './shared-gateways.ts'

describeInBrowser('The portal of a gateway whose cluster another one holds', (browser) => {
  it('is the same for a day: lists, problems, search, an object, its logs, a write, the past; also after the other one has gone', async () => {
    await using stack = new AsyncDisposableStack()
    const postgres = stack.use(await startPostgres())
    const archive = { archive: { url: await postgres.database() } }
    const port = await freePort()
    const portal = stack.use(
      await servePortal({
        isFleet: true,
        pods: 60,
        allowWrites: true,
        server: { port },
        further: { ...archive, share: { address: `http://127.0.0.1:${port}` } },
      }),
    )
    const clusters = portal.clusters.map(({ name, simulator }) => ({ name, server: simulator.url }))
    const here = { ...portal.gateway(), address: `http://127.0.0.1:${port}` }
    const { there: other, held } = await sharedBetween(here, async () => {
      const elsewhere = await freePort()
      const share = { address: `http://127.0.0.1:${elsewhere}` }
      const options = { clusters, ...archive, allowWrites: true, share }
      return { ...(await serveGateway(options, { port: elsewhere })), ...share }
    })
    let isGone = false
    const end = async (): Promise<void> => {
      if (!isGone) await other[Symbol.asyncDispose]()
      isGone = true
    }
    stack.defer(end)
    const [cluster = ''] = heldAt(other, held)
    const { simulator } = portal.clusters.find(({ name }) => name === cluster) ?? {}
    if (simulator === undefined) throw new Error(`no cluster ${cluster}`)

    breakPod(simulator, 'payments', 'of-the-morning')
    await using opened = await openPage(browser(), portal, { path: '/?cluster=*' })
    const { page } = opened
    const problems = page.getByRole('region', { name: 'Problems' })
    await problems.getByRole('link', { name: 'payments/of-the-morning', exact: true }).waitFor()
    await page.goto('/kinds/pods?cluster=*&q=of-the-day')
    breakPod(simulator, 'payments', 'of-the-day')
    const row = page.locator('[data-index]').filter({ hasText: 'of-the-day' })
    await row.filter({ hasText: cluster }).waitFor()
    await row.first().click()
    const path = page.getByRole('navigation', { name: 'Where the object belongs' })
    await expect.poll(() => path.textContent()).toContain(cluster)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/objects/**')
    await page.getByRole('heading', { level: 1, name: 'of-the-day' }).waitFor()
    const pod = new URL(page.url()).pathname
    await page.goto(`${pod}?tab=history`)
    await page.locator('main li[data-type]').filter({ hasText: 'Created' }).waitFor()

    await page.keyboard.press('Control+k')
    await page.keyboard.type('pod of-the-day')
    await page.getByRole('option').filter({ hasText: 'of-the-day' }).first().waitFor()
    await page.keyboard.press('Escape')

    const where = '{ health: { eq: HEALTHY }, replicas: { gt: 0 } }'
    const { deployments } = await portal
      .gateway()
      .data(`{ deployments(cluster: "${cluster}", where: ${where}, first: 1) { nodes { id } } }`)
    const deployment = `/objects/${deployments.nodes[0].id}`
    await page.goto(`${deployment}?tab=logs`)
    await page.getByText(/\d+ of \d+ streaming/).waitFor()
    await page.goto(deployment)
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Scale…' }).click()
    const dialog = page.getByRole('dialog')
    const replicas = dialog.getByRole('spinbutton', { name: 'Replicas' })
    await replicas.fill(String(Number(await replicas.inputValue()) + 1))
    await dialog.getByText('spec.replicas').waitFor()
    await page.keyboard.press('Enter')
    await dialog.getByText('The number is set.').waitFor()
    await page.goto('/changes?cluster=*')
    const scaled = page.locator('main li[data-type]').filter({ hasText: 'spec/replicas' })
    await scaled.filter({ hasText: cluster }).first().waitFor()

    await page.goto('/kinds/pods?cluster=*&q=of-the-day')
    await row.first().waitFor()
    await end()
    expect(new Set(Object.values(await agreedHolders([here])))).toEqual(new Set([here.address]))
    breakPod(simulator, 'payments', 'of-the-day-after')
    await row.filter({ hasText: 'of-the-day-after' }).waitFor()
    await page.goto('/?cluster=*')
    await problems.getByRole('link', { name: 'payments/of-the-morning', exact: true }).waitFor()
    expect(opened.problems).toEqual([])
  }, 300_000)
})

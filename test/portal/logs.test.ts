import { readFile } from 'node:fs/promises'
import { resources, type Unstructured } from 'informerql/kubernetes'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

describeInBrowser('Logs', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal()
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const open = async (list: string, namespace: string, name: string) => {
    const at = `namespace: "${namespace}", where: { name: { eq: "${name}" } }`
    const { found } = await portal.gateway().data(`{ found: ${list}(${at}) { nodes { id } } }`)
    const { id } = (found as { readonly nodes: readonly { readonly id: string }[] }).nodes[0] ?? {}
    return openPage(browser(), portal, { path: `/objects/${id}?tab=logs` })
  }
  const lines = (page: Page) => page.getByRole('log')

  it('of a workload say why it crashes, and are filtered', async () => {
    await using opened = await open('deployments', 'payments', 'invoice-worker')
    const { page } = opened
    await lines(page).getByText('"level":"info"').first().waitFor()
    await page.getByText(/\d+ of \d+ streaming/).waitFor()
    await page.getByRole('searchbox', { name: 'Contains' }).fill('"level":"fatal"')
    await lines(page).getByText('queue.dsn is not set').first().waitFor()
    expect(await lines(page).getByText('"level":"info"').count()).toBe(0)
    await page.getByText(/\d+ not streaming/).click()
    await page
      .getByText(/invoice-worker: waits \(CrashLoopBackOff/)
      .first()
      .waitFor()
    await opened.audit()
  })

  it('are filtered by level and time, have columns, and keep it in the address', async () => {
    await using opened = await open('deployments', 'payments', 'invoice-worker')
    const { page } = opened
    await lines(page).getByText('"level":"info"').first().waitFor()
    // Names of pods differ at their ends.
    const pod = lines(page).locator('[title^="invoice-worker-"]').first()
    expect(await pod.textContent()).not.toContain('invoice-worker-')
    await page.getByText(/^Times: /).waitFor()
    await page.getByRole('combobox', { name: 'Level' }).selectOption('Errors')
    await lines(page).getByText('queue.dsn is not set').first().waitFor()
    expect(await lines(page).getByText('"level":"info"').count()).toBe(0)
    await page.getByRole('combobox', { name: 'Since' }).selectOption('24 hours')
    await page.getByRole('checkbox', { name: 'Columns' }).check()
    await lines(page).getByText('msg', { exact: true }).waitFor()
    await lines(page).getByTitle('fatal').first().waitFor()
    await expect
      .poll(() => new URL(page.url()).searchParams.get('logs'))
      .toBe('level:error since:24h columns:yes')
    await opened.audit()
    await page.reload()
    await lines(page).getByTitle('fatal').first().waitFor()
    expect(await page.getByRole('combobox', { name: 'Level' }).inputValue()).toBe('error')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('invoice-worker.log')
    expect(await readFile(await download.path(), 'utf8')).toMatch(
      /^\S+Z invoice-worker-\S+ invoice-worker \{.*"level":"fatal"/m,
    )
  })

  it('have room on a narrow screen', async () => {
    const { found } = await portal
      .gateway()
      .data(
        `{ found: deployments(namespace: "storefront", where: { name: { eq: "shop-web" } }) { nodes { id } } }`,
      )
    const path = `/objects/${found.nodes[0].id}?tab=logs`
    await using opened = await openPage(browser(), portal, { path, width: 390 })
    await lines(opened.page).getByText('"msg":"request"').first().waitFor()
    const width = (): Promise<number> =>
      lines(opened.page).evaluate((log) => log.querySelector('[data-level]')?.clientWidth ?? 0)
    await expect.poll(width).toBeGreaterThan(320)
    await opened.audit()
  })

  it('follow a rollout, and stand still while they are held', async () => {
    const { storage } = portal.cluster
    const old = [...storage.list(resources.pods)].find(
      ({ metadata }) =>
        metadata.namespace === 'storefront' &&
        metadata.labels?.['app.kubernetes.io/name'] === 'shop-web',
    )
    if (old === undefined) throw new Error('shop-web has pods')
    await using opened = await open('deployments', 'storefront', 'shop-web')
    const { page } = opened
    await page.getByRole('combobox', { name: 'Container' }).selectOption('shop-web')
    await lines(page).getByText('"msg":"request"').first().waitFor()
    await page.getByRole('button', { name: 'Hold' }).click()
    const { resourceVersion: _, ...metadata } = old.metadata
    const startedAt = new Date().toISOString()
    const status = old['status'] as {
      readonly containerStatuses: readonly { readonly name: string }[]
    }
    storage.create(resources.pods, {
      ...old,
      metadata: { ...metadata, name: 'shop-web-next', uid: 'uid-of-the-next' },
      status: {
        ...status,
        containerStatuses: status.containerStatuses.map((one) => ({
          ...one,
          containerID: `containerd://next-${one.name}`,
          state: { running: { startedAt } },
        })),
      },
    } as Unstructured)
    await page.getByRole('button', { name: /Go on \(\d+ new lines?\)/ }).waitFor()
    expect(
      await lines(page)
        .getByTitle(/^shop-web-next /)
        .count(),
    ).toBe(0)
    await page.getByRole('button', { name: /Go on/ }).click()
    await lines(page)
      .getByTitle(/^shop-web-next /)
      .first()
      .waitFor()
    storage.delete(resources.pods, 'storefront', old.metadata.name)
    await page.getByText(/\d+ of \d+ streaming/).waitFor()
    await opened.audit()
  })

  it('a kind without pods has no tab for them', async () => {
    await using opened = await open('configMaps', 'storefront', 'shop-web-config')
    const { page } = opened
    await page.getByRole('tab', { name: 'YAML' }).waitFor()
    expect(await page.getByRole('tab', { name: 'Logs' }).count()).toBe(0)
    await page.getByRole('tab', { name: 'Summary', selected: true }).waitFor()
  })
})

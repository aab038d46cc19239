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

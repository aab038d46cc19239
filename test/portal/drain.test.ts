import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { chosen, idOf } from './chosen-action.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const isHealthy = 'health: { eq: HEALTHY }'

describeInBrowser('The dialog of a drain', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ asksWho: true, allowWrites: true })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('goes on while it is closed, and shows the progress again', async () => {
    const id = await idOf(portal, 'nodes', `where: { ${isHealthy} }`)
    await using opened = await openPage(browser(), portal, {
      path: `/objects/${id}`,
      viewer: 'ann',
    })
    const { page } = opened
    const dialog = await chosen(page, 'Drain…')
    await dialog.getByText('Nothing is done before you accept what is lost:').waitFor()
    await dialog.getByText(/^The data in the emptyDir volumes of \d+ pods?\.$/).waitFor()
    await dialog.getByText('The pods themselves start again on other nodes.').waitFor()
    expect(await dialog.textContent()).not.toContain('deleteEmptyDirData')
    await dialog.getByRole('checkbox', { name: /emptyDir/ }).check()
    await dialog.getByText(/^\d+ pods? ha(s|ve) to go\.$/).waitFor()
    // What is lost is said once it is accepted, too.
    await dialog.getByText(/^The data in the emptyDir volumes of \d+ pods?\.$/).waitFor()
    await opened.audit()
    await dialog.getByRole('button', { name: 'Drain' }).click()
    await dialog.getByRole('progressbar').waitFor()
    await opened.audit()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    await chosen(page, 'Drain…')
    await dialog.getByRole('progressbar').waitFor()
    const pods = dialog.getByRole('list', { name: 'The pods of the node' }).getByRole('listitem')
    await pods.filter({ hasText: 'is gone' }).first().waitFor()
    await pods.filter({ hasText: 'stays: its DaemonSet would start it again' }).first().waitFor()
    // Of a broken Deployment no pod may go.
    await pods.filter({ hasText: 'waits for its budget' }).first().waitFor()
    await dialog.getByRole('button', { name: 'Stop' }).click()
    await dialog.getByText(/^The drain was stopped\./).waitFor()
    const { data } = await portal
      .gateway()
      .as('ann-token')
      .query(`{ object(id: "${id}") { ... on Node { spec { unschedulable } } } }`)
    expect(data?.object.spec.unschedulable).toBe(true)
  })

  it('says that the drain stops without the gateway, and counts what had gone before when it goes on', async () => {
    await using own = await servePortal({ asksWho: true, allowWrites: true })
    await using proxy = await startCutProxy(Number(new URL(own.url).port))
    const id = await idOf(own, 'nodes', `where: { ${isHealthy} }`)
    const url = `http://127.0.0.1:${proxy.port}/`
    const path = `/objects/${id}`
    await using opened = await openPage(browser(), { url }, { path, viewer: 'ann' })
    const { page } = opened
    const dialog = await chosen(page, 'Drain…')
    await dialog.getByRole('checkbox', { name: /emptyDir/ }).check()
    await dialog.getByText(/^\d+ pods? ha(s|ve) to go\.$/).waitFor()
    await dialog.getByRole('button', { name: 'Drain' }).click()
    const pods = dialog.getByRole('list', { name: 'The pods of the node' }).getByRole('listitem')
    await pods.filter({ hasText: 'waits for its budget' }).first().waitFor()
    await expect
      .poll(() => pods.filter({ hasText: /waits for its turn|is ending/ }).count())
      .toBe(0)
    const counted = (): Promise<string> => dialog.getByText(/^\d+ of \d+ pods gone$/).innerText()
    const before = await counted()
    expect(before).not.toMatch(/^0 /)
    await proxy.refuse()
    await dialog.getByText(/^The connection to the gateway is lost: .* the drain stops/).waitFor()
    expect(await dialog.getByText('Pods are being evicted.').count()).toBe(0)
    await proxy.listen()
    await dialog.getByText('Pods are being evicted.').waitFor()
    expect(await counted()).toBe(before)
    await dialog.getByRole('button', { name: 'Stop' }).click()
    await dialog.getByText(/^The drain was stopped\./).waitFor()
  })
})

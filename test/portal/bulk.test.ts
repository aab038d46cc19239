import type { Locator, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type PortalPage, type ServedPortal, servePortal } from './portal-page.ts'
import { makePod, podsOf, rowOf } from './table-page.ts'

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

describeInBrowser('Bulk', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ asksWho: true, allowWrites: true })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const open = (path: string, more = {}): Promise<PortalPage> =>
    openPage(browser(), portal, { path, viewer: 'ann', ...more })

  it('restarts the selected workloads, after one dry run with its consequences', async () => {
    await using opened = await open('/kinds/deployments.apps?ns=storefront')
    const { page } = opened
    const boxes = page.getByRole('grid').getByRole('checkbox', { name: /^Select (?!all|none)/ })
    await boxes.nth(1).waitFor()
    const names = await page.locator('[data-index] [data-column="name"]').allTextContents()
    await boxes.nth(0).check()
    await boxes.nth(1).check()
    await page.getByRole('button', { name: '2 selected ×' }).waitFor()
    const dialog = await chosen(page, 'Restart…')
    await dialog.getByRole('heading', { name: 'Restart: 2 Deployments' }).waitFor()
    await dialog.getByText('All 2 objects would change.').waitFor()
    const table = dialog.getByRole('table', { name: 'The objects' })
    for (const name of names.slice(0, 2)) {
      await table
        .getByRole('row')
        .filter({ hasText: name })
        .getByText(/^\d+ pods? (is|are) replaced$/)
        .waitFor()
    }
    await opened.audit()
    await dialog.getByRole('button', { name: 'Restart 2' }).click()
    // It is written, and not over: the pods are replaced one by one.
    await dialog.getByText('The restarts of 2 objects have begun.').waitFor()
    expect(await dialog.getByText(/\bdone\b/).count()).toBe(0)
    await table.getByText('begun', { exact: true }).first().waitFor()
    await opened.audit()
    await dialog.getByText('0 of 2 rolled out.').waitFor()
    const [first = '', second = ''] = names
    rollOut(portal, first)
    await dialog.getByText('1 of 2 rolled out.').waitFor()
    rollOut(portal, second)
    await dialog.getByText('2 of 2 rolled out.').waitFor()
    expect(await table.getByText('rolled out', { exact: true }).count()).toBe(2)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { data } = await portal
      .gateway()
      .as('ann-token')
      .query('{ deployments(namespace: "storefront") { nodes { name json } } }')
    const restarted = data?.deployments.nodes
      .filter(({ json }: Restarted) => JSON.stringify(json).includes('restartedAt'))
      .map(({ name }: Restarted) => name)
    expect(restarted.toSorted()).toEqual(names.slice(0, 2).toSorted())
  })

  it('says what is used before it deletes, asks for the number, and leaves out what is refused', async () => {
    for (const name of ['plain', 'used', 'held']) make(portal, `gone-${name}`)
    portal.cluster.storage.create(podsOf, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'default', name: 'user' },
      spec: {
        containers: [{ name: 'main', image: 'example/main:1' }],
        volumes: [{ name: 'v', configMap: { name: 'gone-used' } }],
      },
      status: { phase: 'Running' },
    })
    await using opened = await open('/kinds/configmaps?q=gone-*')
    const { page } = opened
    await rowOf(page, 'gone-used').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByRole('button', { name: '3 selected ×' }).waitFor()
    refuseOnce(portal, 'delete', 'gone-held')
    const dialog = await chosen(page, 'Delete…')
    await dialog.getByText('1 is used by others, which may fail without it.').waitFor()
    await dialog.getByText('1 object uses it: Pod user').waitFor()
    await dialog.getByText('2 of 3 objects would change.').waitFor()
    await dialog.getByText('1 is refused and left out.').waitFor()
    await dialog.getByText(/no deletion on Fridays/).waitFor()
    const confirm = dialog.getByRole('button', { name: 'Delete 2' })
    expect(await confirm.isDisabled()).toBe(true)
    await opened.audit()
    await dialog.getByRole('textbox', { name: 'Type 2 to confirm' }).fill('2')
    await confirm.click()
    await dialog.getByText('2 objects done.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    // What is deleted is not selected any more, and the page says so.
    await page.getByText('2 are gone and not selected any more').waitFor()
    await page.getByRole('button', { name: '1 selected ×' }).waitFor()
    await rowOf(page, 'gone-held').waitFor()
    expect(opened.problems).toEqual([])
  })

  it('keeps its dialog open, and says so, when all of its objects are gone', async () => {
    for (const name of ['a', 'b']) make(portal, `brief-${name}`)
    await using opened = await open('/kinds/configmaps?q=brief-*')
    const { page } = opened
    await rowOf(page, 'brief-a').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByRole('button', { name: '2 selected ×' }).waitFor()
    const dialog = await chosen(page, 'Delete…')
    await dialog.getByText('All 2 objects would change.').waitFor()
    const { storage } = portal.cluster
    storage.delete(configMaps, 'default', 'brief-a')
    await dialog.getByText('1 object is gone meanwhile.').waitFor()
    await dialog.getByRole('button', { name: 'Delete 1' }).waitFor()
    storage.delete(configMaps, 'default', 'brief-b')
    await dialog.getByText('2 objects are gone meanwhile.').waitFor()
    expect(await dialog.getByRole('button', { name: 'Delete 0' }).isDisabled()).toBe(true)
    await opened.audit()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('2 are gone and not selected any more').waitFor()
  })

  it('says of pods which are made anew and whose data is lost, and evicts them', async () => {
    const ownerOf = (kind: string, apiVersion: string) => ({
      ownerReferences: [{ apiVersion, kind, name: 'ended', uid: 'ended', controller: true }],
    })
    const makeOwned = (name: string, phase: string, metadata: object, volumes: readonly object[]) =>
      portal.cluster.storage.create(podsOf, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'default', name, ...metadata },
        spec: { containers: [{ name: 'main', image: 'example/main:1' }], volumes },
        status: { phase },
      })
    const tmp = [{ name: 'tmp', emptyDir: {} }]
    makeOwned('loses-again', 'Running', ownerOf('ReplicaSet', 'apps/v1'), tmp)
    makeOwned('loses-job', 'Succeeded', ownerOf('Job', 'batch/v1'), tmp)
    makeOwned('loses-none', 'Running', {}, [])
    await using opened = await open('/kinds/pods?q=loses-*')
    const { page } = opened
    await rowOf(page, 'loses-none').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    const dialog = await chosen(page, 'Delete…')
    const consequences = dialog.getByRole('region', { name: 'Consequences' })
    await consequences.getByText('1 of 3 is made again by its controller.').waitFor()
    await consequences.getByText('2 lose the data in their emptyDir volumes.').waitFor()
    const row = dialog.getByRole('row').filter({ hasText: 'loses-again' })
    await row.getByText(/emptyDir volumes is lost; ReplicaSet ended makes a new one$/).waitFor()
    await opened.audit()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    // An eviction says the same, and asks the budgets.
    await chosen(page, 'Evict…')
    await consequences.getByText('2 lose the data in their emptyDir volumes.').waitFor()
    await dialog.getByText('All 3 objects would change.').waitFor()
    await dialog.getByRole('button', { name: 'Evict 3' }).click()
    // It stays although all that was selected is gone.
    await dialog.getByText('3 objects done.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('3 are gone and not selected any more').waitFor()
    expect(opened.problems).toEqual([])
  })

  it('shows the whole line of consequences: five users, an autoscaler, and what manages it', async () => {
    make(portal, 'five-users', {
      annotations: {
        'meta.helm.sh/release-name': 'a-release-whose-name-is-as-long-as-names-are-in-companies',
        'meta.helm.sh/release-namespace': 'default',
      },
    })
    make(portal, 'five-nobody')
    for (let at = 0; at < 5; at++) {
      portal.cluster.storage.create(podsOf, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'default', name: `one-of-five-users-${at}` },
        spec: {
          containers: [{ name: 'main', image: 'example/main:1' }],
          volumes: [{ name: 'v', configMap: { name: 'five-users' } }],
        },
        status: { phase: 'Running' },
      })
    }
    await using opened = await open('/kinds/configmaps?q=five-*')
    const { page } = opened
    await rowOf(page, 'five-users').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    const dialog = await chosen(page, 'Delete…')
    await dialog.getByText('All 2 objects would change.').waitFor()
    const line = dialog.getByText(/^5 objects use it: .* and 2 more; managed by Helm a-release/)
    await line.waitFor()
    expect(
      await line.evaluate(
        (element) =>
          element.scrollWidth <= element.clientWidth &&
          element.scrollHeight <= element.clientHeight,
      ),
    ).toBe(true)
    const [first, second] = await dialog.getByRole('row').filter({ hasText: 'five-' }).all()
    const above = await first?.boundingBox()
    const below = await second?.boundingBox()
    expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual((below?.y ?? 0) + 1)
    await opened.audit()
  })

  it('says how many Argo CD, Flux and Helm manage, and what they do about it', async () => {
    const tracking = 'shop:/ConfigMap:default/managed-argo'
    const flux = 'kustomize.toolkit.fluxcd.io'
    make(portal, 'managed-argo', { annotations: { 'argocd.argoproj.io/tracking-id': tracking } })
    for (const name of ['managed-helm', 'managed-helm-2']) {
      const annotations = {
        'meta.helm.sh/release-name': 'shop',
        'meta.helm.sh/release-namespace': 'default',
      }
      make(portal, name, { annotations })
    }
    const labels = { [`${flux}/name`]: 'apps', [`${flux}/namespace`]: 'flux-system' }
    make(portal, 'managed-flux', { labels })
    make(portal, 'managed-nobody')
    await using opened = await open('/kinds/configmaps?q=managed-*')
    const { page } = opened
    await rowOf(page, 'managed-flux').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByRole('button', { name: '5 selected ×' }).waitFor()
    const dialog = await chosen(page, 'Delete…')
    const consequences = dialog.getByRole('region', { name: 'Consequences' })
    const unseen = 'of which you see no more. If it syncs by itself, it makes this again.'
    await consequences.getByText(`1 of 5 says that it is of Flux, ${unseen}`).waitFor()
    await consequences.getByText(`1 of 5 says that it is of Argo CD, ${unseen}`).waitFor()
    await consequences
      .getByText('2 of 5 are managed by Helm. It makes this again at its next upgrade.')
      .waitFor()
    const row = dialog.getByRole('row').filter({ hasText: 'managed-argo' })
    await row.getByText('says that it is of Argo CD shop').waitFor()
    await opened.audit()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await chosen(page, 'Set a label…')
    await consequences
      .getByText('2 of 5 are managed by Helm. It sets back what others change at its next upgrade.')
      .waitFor()
    expect(opened.problems).toEqual([])
  })

  it('says that what manages workloads does not revert their restart', async () => {
    for (const name of ['by-helm', 'by-nobody']) {
      const annotations = {
        'meta.helm.sh/release-name': 'shop',
        'meta.helm.sh/release-namespace': 'default',
      }
      const template = {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'example/main:1' }] },
      }
      portal.cluster.storage.create(deployments, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { namespace: 'default', name, ...(name === 'by-helm' && { annotations }) },
        spec: { replicas: 1, selector: { matchLabels: { app: name } }, template },
      })
    }
    await using opened = await open('/kinds/deployments.apps?ns=default')
    const { page } = opened
    await rowOf(page, 'by-helm').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    const dialog = await chosen(page, 'Restart…')
    await dialog.getByText('1 of 2 is managed by Helm. It does not revert this.').waitFor()
    expect(opened.problems).toEqual([])
  })

  it('retries those that failed', async () => {
    for (const name of ['one', 'two', 'three']) make(portal, `retried-${name}`)
    await using opened = await open('/kinds/configmaps?q=retried-*')
    const { page } = opened
    await rowOf(page, 'retried-one').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    const dialog = await chosen(page, 'Set a label…')
    await dialog.getByLabel('Key').fill('team')
    await dialog.getByRole('textbox', { name: 'Value' }).fill('blue')
    await dialog.getByRole('button', { name: 'See what changes' }).click()
    await dialog.getByText('All 3 objects would change.').waitFor()
    await dialog.getByText('metadata.labels.team: – → blue').first().waitFor()
    refuseOnce(portal, 'patch', 'retried-two')
    await dialog.getByRole('button', { name: 'Set a label 3' }).click()
    await dialog.getByText('2 objects done.').waitFor()
    await dialog.getByText('1 failed.').waitFor()
    await opened.audit()
    await dialog.getByRole('button', { name: 'Retry the 1 that failed' }).click()
    await dialog.getByText('3 objects done.').waitFor()
    expect(await labelled(portal, 'team=blue')).toBe(3)
  })

  it('fails while the cluster is cut, and is retried when it is back', async () => {
    for (const name of ['one', 'two', 'three']) make(portal, `cut-off-${name}`)
    await using opened = await open('/kinds/configmaps?q=cut-off-*', {
      expected: [/status of 503/],
    })
    const { page } = opened
    await rowOf(page, 'cut-off-one').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    const dialog = await chosen(page, 'Set an annotation…')
    await dialog.getByLabel('Key').fill('team')
    await dialog.getByLabel('Value').fill('red')
    await dialog.getByRole('button', { name: 'See what changes' }).click()
    await dialog.getByText('All 3 objects would change.').waitFor()
    const { faults } = portal.cluster
    faults.inject({ fault: { type: 'cut' } })
    await dialog.getByRole('button', { name: 'Set an annotation 3' }).click()
    const again = dialog.getByRole('button', { name: /^Retry the \d that failed$/ })
    await dialog.getByText('3 failed.').waitFor()
    // It fails again until the cluster is back.
    const refused = page.waitForResponse((response) => isWrite(response.request()))
    await again.click()
    await refused
    await dialog.getByText('3 failed.').waitFor()
    faults.inject({ fault: { type: 'mend' } })
    await expect
      .poll(async () => {
        if (await again.isVisible()) await again.click()
        return await dialog.getByText('3 objects done.').isVisible()
      })
      .toBe(true)
    expect(opened.problems).toEqual([])
  })

  it('writes no more once the gateway does not know the user any more', async () => {
    for (let at = 0; at < 60; at++) make(portal, `unknown-${at}`)
    await using opened = await open('/kinds/configmaps?q=unknown-*', {
      isAlone: true,
      expected: [/status of 401/],
    })
    const { page } = opened
    await rowOf(page, 'unknown-0').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    const dialog = await chosen(page, 'Delete…')
    await dialog.getByText('All 60 objects would change.').waitFor()
    await dialog.getByRole('textbox', { name: 'Type 60 to confirm' }).fill('60')
    let refused = 0
    page.on('response', (response) => {
      if (response.status() === 401) refused++
    })
    await page.evaluate(() => sessionStorage.setItem('informerql.token', 'ended'))
    await dialog.getByRole('button', { name: 'Delete 60' }).click()
    await page.getByRole('textbox', { name: /token/i }).waitFor()
    const { data } = await portal
      .gateway()
      .as('ann-token')
      .query('{ configMaps(where: { name: { startsWith: "unknown-" } }) { totalCount } }')
    expect(data?.configMaps.totalCount).toBe(60)
    expect(refused).toBeLessThan(12)
  })

  it('keeps the selection while the user scrolls and filters, and says what has gone', async () => {
    for (const name of ['kept-a', 'kept-b', 'kept-c']) makePod(portal, name)
    await using opened = await open('/kinds/pods?q=kept-*')
    const { page } = opened
    for (const name of ['kept-a', 'kept-b', 'kept-c']) {
      await rowOf(page, name).getByRole('checkbox').check()
    }
    const field = page.getByRole('combobox', { name: 'Filter' })
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await field.fill('name:kept-b,kept-c')
    await page.keyboard.press('Enter')
    await page.getByText('1 not in this list').waitFor()
    await page.getByRole('button', { name: '3 selected ×' }).waitFor()
    const grid = page.getByRole('grid')
    await grid.evaluate((element) => element.scrollTo({ top: 1_000_000 }))
    await grid.evaluate((element) => element.scrollTo({ top: 0 }))
    await page.getByRole('button', { name: '3 selected ×' }).waitFor()
    for (const name of ['kept-a', 'kept-b']) {
      portal.cluster.storage.delete(podsOf, 'default', name)
    }
    await page.getByText('2 are gone and not selected any more').waitFor()
    await page.getByRole('button', { name: '1 selected ×' }).waitFor()
    expect(await page.getByText('not in this list').count()).toBe(0)
    await opened.audit()
  })

  it('is by keyboard alone, and tells those who may not that they are refused', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/kinds/deployments.apps?ns=payments',
      viewer: 'ben',
    })
    const { page } = opened
    await page.locator('[data-index]').nth(1).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+a')
    await page.getByRole('button', { name: /selected ×$/ }).waitFor()
    await page.getByRole('button', { name: 'Actions', exact: true }).waitFor()
    await page.keyboard.press('A')
    await page.getByRole('menuitem', { name: 'Restart…' }).waitFor()
    await page.keyboard.type('Re')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/^0 of \d+ objects would change\.$/).waitFor()
    await dialog.getByText(/(is|are) refused and left out\./).waitFor()
    expect(await dialog.getByRole('button', { name: 'Restart 0' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('A')
    await page.getByRole('menuitem', { name: 'Set a label…' }).waitFor()
    await page.keyboard.type('Set a l')
    await page.keyboard.press('Enter')
    const key = dialog.getByLabel('Key')
    await expect.poll(() => key.evaluate((field) => field.matches(':focus'))).toBe(true)
    expect(opened.problems).toEqual([])
  })

  it('is whole at 390 pixels', async () => {
    await using opened = await open('/kinds/nodes', { width: 390, height: 800 })
    const { page } = opened
    await page.locator('[data-index]').nth(2).waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    const dialog = await chosen(page, 'Cordon…')
    await dialog.getByText(/objects would change\.$/).waitFor()
    const { x, width } = (await dialog.boundingBox()) ?? { x: -1, width: 0 }
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(390)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(wide).toBeLessThanOrEqual(390)
    await opened.audit()
  })
})

describeInBrowser('Bulk of many', (browser) => {
  it('labels 1,200 objects while the page is used, four at a time; stops when told to, and goes on', async () => {
    await using portal = await servePortal({
      pods: 20,
      allowWrites: true,
      further: { writes: { writesPerMinute: 100_000 } },
    })
    for (let at = 0; at < 1_200; at++) make(portal, `many-${String(at).padStart(4, '0')}`)
    await using opened = await openPage(browser(), portal, { path: '/kinds/configmaps?q=many-*' })
    const { page } = opened
    const writes = writesOf(page)
    await rowOf(page, 'many-0000').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByRole('button', { name: '1,200 selected ×' }).waitFor()
    const dialog = await chosen(page, 'Set a label…')
    await dialog.getByLabel('Key').fill('wave')
    await dialog.getByRole('textbox', { name: 'Value' }).fill('1')
    await dialog.getByRole('button', { name: 'See what changes' }).click()
    await dialog.getByRole('progressbar').waitFor()
    await dialog.getByText('All 1,200 objects would change.').waitFor({ timeout: longMs })
    // Only what is in view is drawn.
    expect(await dialog.getByRole('row').count()).toBeLessThan(40)
    await dialog.getByRole('button', { name: 'Set a label 1,200' }).click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    const chip = page.getByRole('button', { name: /^Set a label: [\d,]+ of 1,200$/ })
    await chip.waitFor()
    // The page answers meanwhile: by a filter, whose rows are those that are written.
    await page.getByRole('combobox', { name: 'Filter' }).fill('many-1199')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByLabel('Number of objects').innerText()).toBe('1')
    await chip.click()
    await dialog.getByRole('button', { name: 'Stop', exact: true }).click()
    await dialog.getByText('It was stopped.').waitFor()
    const goOn = dialog.getByRole('button', { name: /^Go on with [\d,]+$/ })
    const rest = Number(/[\d,]+$/.exec(await goOn.innerText())?.[0].replace(',', ''))
    expect(rest).toBeGreaterThan(0)
    await expect.poll(() => labelled(portal, 'wave=1')).toBe(1_200 - rest)
    await goOn.click()
    await dialog.getByText('1,200 objects done.').waitFor({ timeout: longMs })
    await opened.audit()
    await dialog.getByRole('button', { name: 'Close' }).click()
    expect(await labelled(portal, 'wave=1')).toBe(1_200)
    expect(writes.most).toBe(4)
  }, 900_000)

  it('waits for its turn where the gateway takes no more writes, says so, and can be stopped', async () => {
    await using portal = await servePortal({
      pods: 20,
      allowWrites: true,
      further: { writes: { writesPerMinute: 120 } },
    })
    for (let at = 0; at < 200; at++) make(portal, `slow-${String(at).padStart(3, '0')}`)
    await using opened = await openPage(browser(), portal, { path: '/kinds/configmaps?q=slow-*' })
    const { page } = opened
    await rowOf(page, 'slow-000').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    const dialog = await chosen(page, 'Delete…')
    await dialog.getByText(/^The gateway takes 120 writes a minute from one user/).waitFor()
    await opened.audit()
    await dialog.getByRole('button', { name: 'Stop, and take those that are tried' }).click()
    const said = dialog.getByText(/^1[2-9]\d of 200 objects would change\.$/)
    await said.waitFor()
    const tried = /^\d+/.exec((await said.textContent()) ?? '')?.[0] ?? ''
    await dialog.getByText(`${200 - Number(tried)} are not tried and left out.`).waitFor()
    // Nothing was refused: what the gateway does not take yet waits.
    expect(await dialog.getByText('refused and left out').count()).toBe(0)
    await dialog.getByRole('textbox', { name: `Type ${tried} to confirm` }).fill(tried)
    await dialog.getByRole('button', { name: `Delete ${tried}` }).click()
    await dialog.getByText(/^[1-9]\d* of \d+ objects done$/).waitFor()
    await dialog.getByRole('button', { name: 'Stop', exact: true }).click()
    await dialog.getByText('It was stopped.').waitFor()
    await dialog.getByRole('button', { name: /^Go on with \d+$/ }).waitFor()
    expect(opened.problems).toEqual([])
  })

  it('stops when the gateway is gone, and goes on when it is back', async () => {
    await using portal = await servePortal({
      pods: 20,
      allowWrites: true,
      further: { writes: { writesPerMinute: 400 } },
    })
    for (let at = 0; at < 300; at++) make(portal, `cut-${String(at).padStart(3, '0')}`)
    await using opened = await openPage(browser(), portal, { path: '/kinds/configmaps?q=cut-*' })
    const { page } = opened
    await rowOf(page, 'cut-000').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    const dialog = await chosen(page, 'Delete…')
    await dialog.getByText('All 300 objects would change.').waitFor()
    await dialog.getByRole('textbox', { name: 'Type 300 to confirm' }).fill('300')
    await dialog.getByRole('button', { name: 'Delete 300' }).click()
    await dialog.getByText(/^\d+ of 300 objects done$/).waitFor()
    await portal.stop()
    await dialog.getByText(/^The gateway does not answer, so it was stopped\./).waitFor()
    await portal.start()
    await page.getByText('Live', { exact: true }).waitFor()
    await dialog.getByRole('button', { name: /^Go on with \d+$/ }).click()
    await expect
      .poll(
        async () =>
          (
            await portal
              .gateway()
              .query('{ configMaps(where: { name: { startsWith: "cut-" } }) { totalCount } }')
          ).data?.configMaps.totalCount,
      )
      .toBe(0)
    await dialog.getByRole('status').waitFor()
  })
})

/** For what takes thousands of writes. */
const longMs = 360_000

const isWrite = (request: Request): boolean => /\bmutation\b/.test(request.postData() ?? '')

/** Counts the writes that a page has under way at the same time. */
function writesOf(page: Page): { readonly most: number } {
  const under = new Set<Request>()
  const seen = { most: 0 }
  page.on('request', (request) => {
    if (!isWrite(request)) return
    under.add(request)
    seen.most = Math.max(seen.most, under.size)
  })
  const ended = (request: Request): void => void under.delete(request)
  page.on('requestfinished', ended)
  page.on('requestfailed', ended)
  return seen
}

interface Restarted {
  readonly name: string
  readonly json: unknown
}

/** Tells that the pods of a Deployment are replaced, as its controller does. */
function rollOut({ cluster: { storage } }: ServedPortal, name: string): void {
  const deployment = storage.get(deployments, 'storefront', name)
  const { generation } = (deployment?.metadata ?? {}) as { readonly generation?: number }
  const status = { ...(deployment?.['status'] as object), observedGeneration: generation }
  storage.update(deployments, { ...deployment, status } as never)
}

/** Chooses an action of the selection: its dialog. */
async function chosen(page: Page, name: string): Promise<Locator> {
  const bar = page.getByRole('region', { name: 'Selection' })
  await bar.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name, exact: true }).click()
  return page.getByRole('dialog')
}

function make({ cluster }: Pick<ServedPortal, 'cluster'>, name: string, metadata = {}): void {
  cluster.storage.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name, ...metadata },
    data: { colour: 'blue' },
  })
}

/** The next write of an object is refused. */
function refuseOnce({ cluster }: ServedPortal, verb: 'delete' | 'patch', name: string): void {
  const message =
    'admission webhook "fridays.example.com" denied the request: no deletion on Fridays'
  const fault = { type: 'status', code: 403, reason: 'Forbidden', message } as const
  cluster.faults.inject({
    match: { verb, path: `/api/v1/namespaces/default/configmaps/${name}` },
    fault,
  })
}

async function labelled(
  { gateway }: Pick<ServedPortal, 'gateway'>,
  labelSelector: string,
): Promise<number> {
  const { data } = await gateway()
    .as('ann-token')
    .query(`{ configMaps(labelSelector: "${labelSelector}") { totalCount } }`)
  return data?.configMaps.totalCount
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resources, type Unstructured } from 'informerql/kubernetes'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const pods = { group: '', version: 'v1', resource: 'pods' }

const lines = (page: Page) => page.locator('main li[data-type]')

const revisionKey = 'deployment.kubernetes.io/revision'

describeInBrowser('The changes of the portal', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ hasArchive: true })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const write = (name: string, value: string): void => {
    const { storage } = portal.cluster
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'payments' },
      data: { level: value },
    }
    if (storage.get(configMaps, 'payments', name) === undefined) storage.create(configMaps, object)
    else storage.update(configMaps, object)
  }

  it('appear as they happen, with the field before and after, on their page and on the overview, and are narrowed by the address', async () => {
    await using opened = await openPage(browser(), portal, { path: '/changes' })
    const { page } = opened
    await page.getByRole('heading', { name: 'Changes' }).waitFor()
    write('settings', 'debug')
    await lines(page).filter({ hasText: 'Created' }).filter({ hasText: 'settings' }).waitFor()
    write('settings', 'info')
    const changed = lines(page).filter({ hasText: 'Changed' }).filter({ hasText: 'settings' })
    await changed.filter({ hasText: 'data/level debug → info' }).waitFor()
    write('others', 'x')
    await lines(page).filter({ hasText: 'others' }).waitFor()
    await page.getByLabel('Name contains').fill('settings')
    await lines(page).filter({ hasText: 'others' }).waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('name')).toBe('settings')
    await changed.waitFor()
    await opened.audit()
    await page.goto('/')
    await page.getByRole('region', { name: 'Latest changes' }).getByText('others').first().waitFor()
    await opened.audit()
  })

  it('of the status alone are left out where one asks for it, by the address too', async () => {
    const { storage } = portal.cluster
    const pod = (image: string, phase: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'phased', namespace: 'payments' },
      spec: { containers: [{ name: 'main', image }] },
      status: { phase },
    })
    storage.create(pods, pod('shop:1', 'Pending'))
    await using opened = await openPage(browser(), portal, { path: '/changes?name=phased' })
    const { page } = opened
    await lines(page).filter({ hasText: 'Created' }).waitFor()
    storage.update(pods, pod('shop:1', 'Running'))
    storage.update(pods, pod('shop:2', 'Running'))
    const ofStatus = lines(page).filter({ hasText: 'phase Pending → Running' })
    await ofStatus.waitFor()
    await page.getByLabel('Without changes of the status alone').check()
    await ofStatus.waitFor({ state: 'detached' })
    await lines(page).filter({ hasText: 'image shop:1 → shop:2' }).waitFor()
    expect(new URL(page.url()).searchParams.get('without')).toBe('status')
    await opened.audit()
    await page.reload()
    await lines(page).filter({ hasText: 'image shop:1 → shop:2' }).waitFor()
    expect(await lines(page).count()).toBe(2)
    await page.getByLabel('Without changes of the status alone').uncheck()
    await ofStatus.waitFor()
    expect(new URL(page.url()).searchParams.get('without')).toBeNull()
  })

  it('of one object are in its history, and its state then stands beside what it is', async () => {
    write('compared', 'one')
    const { data } = await portal
      .gateway()
      .query(
        '{ objectByRef(apiVersion: "v1", kind: "ConfigMap", namespace: "payments", name: "compared") { id } }',
      )
    await using opened = await openPage(browser(), portal, {
      path: `/objects/${encodeURIComponent(data.objectByRef.id)}?tab=history`,
    })
    const { page } = opened
    await lines(page).filter({ hasText: 'Created' }).waitFor()
    write('compared', 'two')
    await lines(page).filter({ hasText: 'data/level one → two' }).waitFor()
    await opened.audit()
    await lines(page)
      .filter({ hasText: 'Created' })
      .getByRole('button', { name: 'Compare with now' })
      .click()
    await page.locator('.cm-deletedChunk').filter({ hasText: 'level: one' }).waitFor()
    await page.locator('.cm-changedLine').filter({ hasText: 'level: two' }).waitFor()
    await page.getByRole('button', { name: 'Back to the changes' }).click()
    await lines(page).filter({ hasText: 'Created' }).waitFor()
    portal.cluster.storage.delete(configMaps, 'payments', 'compared')
    await page.reload()
    await lines(page).filter({ hasText: 'Removed' }).waitFor()
    expect(await lines(page).count()).toBe(3)
    // What is gone is shown as it was: last, and before.
    const yaml = page.getByLabel('The object as YAML')
    await page.getByRole('button', { name: 'Its last state' }).click()
    await page.getByText(/^As it was when it was removed at \d\d:\d\d:\d\d\./).waitFor()
    await yaml.getByText('level: two').waitFor()
    await opened.audit()
    await page.getByRole('button', { name: 'Back to the changes' }).click()
    await lines(page)
      .filter({ hasText: 'Created' })
      .getByRole('button', { name: 'As it was' })
      .click()
    await yaml.getByText('level: one').waitFor()
    expect(await page.locator('.cm-changedLine').count()).toBe(0)
  })

  it('of the status alone are left out of a history until they are asked for, and what is empty says since when', async () => {
    const { storage } = portal.cluster
    const pod = (image: string, phase: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'busy', namespace: 'payments' },
      spec: { containers: [{ name: 'main', image }] },
      status: { phase },
    })
    storage.create(pods, pod('shop:1', 'Pending'))
    const { data } = await portal
      .gateway()
      .query(
        '{ objectByRef(apiVersion: "v1", kind: "Pod", namespace: "payments", name: "busy") { id } deployments(namespace: "payments", first: 1) { nodes { id } } }',
      )
    await using opened = await openPage(browser(), portal, {
      path: `/objects/${encodeURIComponent(data.objectByRef.id)}?tab=history`,
    })
    const { page } = opened
    await lines(page).filter({ hasText: 'Created' }).waitFor()
    storage.update(pods, pod('shop:1', 'Running'))
    storage.update(pods, pod('shop:2', 'Running'))
    await lines(page).filter({ hasText: 'image shop:1 → shop:2' }).waitFor()
    expect(await lines(page).count()).toBe(2)
    await page.getByLabel('With changes of the status alone').check()
    await lines(page).filter({ hasText: 'phase Pending → Running' }).waitFor()
    expect(new URL(page.url()).searchParams.get('history')).toBe('status')
    await opened.audit()
    await page.reload()
    await lines(page).filter({ hasText: 'phase Pending → Running' }).waitFor()
    // It was made while the archive looked: nothing is before that.
    expect(await page.getByText('The archive begins').count()).toBe(0)
    const [deployment] = data.deployments.nodes
    await page.goto(`/objects/${encodeURIComponent(deployment.id)}?tab=history`)
    await page
      .getByText(/^Nothing but the status has changed since .*\d.*, when the archive begins\.$/)
      .waitFor()
    await page.getByLabel('With changes of the status alone').check()
    await page.getByText(/^Nothing has changed since .*\d.*, when the archive begins\.$/).waitFor()
    await opened.audit()
  })

  it('are not said to be none across a time in which nothing was seen', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-portal-archive-'))
    try {
      const archive = { url: `file:${join(folder, 'archive.db')}`, kinds: ['configMaps'] }
      await using served = await servePortal({ further: { archive } })
      const { storage } = served.cluster
      const quiet = { name: 'quiet', namespace: 'payments' }
      storage.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: quiet })
      const asked =
        (): string => `{ changes(types: ["ConfigMap"], since: "${new Date().toISOString()}") { incomplete { code } }
        objectByRef(apiVersion: "v1", kind: "ConfigMap", namespace: "payments", name: "quiet") { id } }`
      await expect
        .poll(async () => (await served.gateway().query(asked())).data.changes.incomplete)
        .toEqual([])
      await served.stop()
      const meanwhile = { ...quiet, name: 'meanwhile' }
      storage.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: meanwhile })
      storage.compact()
      await served.start()
      const ever = asked().replace(/since: "[^"]*"/, 'since: "2001-01-01T00:00:00Z"')
      await expect
        .poll(async () => (await served.gateway().query(ever)).data.changes.incomplete)
        .toContainEqual({ code: 'ARCHIVE_GAP' })
      const { data } = await served.gateway().query(asked())
      await using opened = await openPage(browser(), served, {
        path: `/objects/${encodeURIComponent(data.objectByRef.id)}?tab=history`,
      })
      const { page } = opened
      await page.getByText(/^No change was seen but of the status since /).waitFor()
      await page.getByText(/^From .* to .* the gateway did not see what changed\.$/).waitFor()
      expect(await page.getByText('has changed since').count()).toBe(0)
      await opened.audit()
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('name their cluster where several are in view', async () => {
    await using fleet = await servePortal({ isFleet: true, hasArchive: true })
    const name = 'prod-us'
    const { storage } = fleet.clusters.find((one) => one.name === name)?.simulator ?? fleet.cluster
    await using opened = await openPage(browser(), fleet, { path: '/changes?cluster=*' })
    const { page } = opened
    const made = { name: 'of-one', namespace: 'payments' }
    await page.getByRole('heading', { name: 'Changes' }).waitFor()
    await expect
      .poll(async () => {
        storage.create(configMaps, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { ...made, name: `${made.name}-${performance.now()}` },
        })
        return await lines(page).filter({ hasText: made.name }).count()
      })
      .toBeGreaterThan(0)
    const ofOne = lines(page).filter({ hasText: made.name }).first()
    expect(await ofOne.innerText()).toContain(name)
    await opened.audit()
    await page.goto('/?cluster=*')
    const latest = page.getByRole('region', { name: 'Latest changes' })
    await latest.getByText(name, { exact: true }).first().waitFor()
    await page.goto(`/changes?cluster=${name}`)
    await ofOne.waitFor()
    expect(await ofOne.innerText()).not.toContain(name)
  })

  it('that explain a problem stand under it', async () => {
    const { storage } = portal.cluster
    const pod = (image: string, status: object) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'lone', namespace: 'payments' },
      spec: { containers: [{ name: 'main', image }] },
      status,
    })
    const container = { name: 'main', imageID: '', restartCount: 0 }
    const running = { running: { startedAt: new Date().toISOString() } }
    const runs = { ...container, image: 'shop:1', ready: true, state: running }
    storage.create(pods, pod('shop:1', { phase: 'Running', containerStatuses: [runs] }))
    await using opened = await openPage(browser(), portal, { path: '/changes?name=lone' })
    const { page } = opened
    await lines(page).filter({ hasText: 'Created' }).waitFor()
    const waiting = { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }
    const fails = { ...container, image: 'shop:2', ready: false, state: waiting }
    // A condition has whole seconds: the change must not be behind it.
    const lastTransitionTime = new Date(Date.now() + 1_000).toISOString()
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime }]
    const broken = { phase: 'Running', conditions, containerStatuses: [fails] }
    storage.update(pods, pod('shop:2', broken))
    await page.goto('/problems')
    const problem = page.locator('main').getByRole('listitem').filter({ hasText: 'payments/lone' })
    await problem.first().filter({ hasText: 'image shop:1 → shop:2' }).waitFor()
    expect(await problem.first().textContent()).toContain('ImagePullBackOff')
    await opened.audit()
  })

  it('do not hide behind a restart what the last revision has changed', async () => {
    const { storage } = portal.cluster
    const place = { name: 'stuck', namespace: 'payments' }
    const labels = { app: 'stuck' }
    const apps = { apiVersion: 'apps/v1' }
    const templateOf = (image: string, annotations: object) => ({
      metadata: { labels, annotations },
      spec: { containers: [{ name: 'main', image }] },
    })
    const deploymentOf = (revision: number, template: object): Unstructured => ({
      ...apps,
      kind: 'Deployment',
      metadata: { ...place, annotations: { [revisionKey]: String(revision) } },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    })
    const ownedBy = ({ kind, metadata }: Unstructured) => ({
      ownerReferences: [
        { ...apps, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true },
      ],
    })
    const broken = templateOf('stuck:2', {})
    const deployment = storage.create(resources.deployments, deploymentOf(2, broken))
    const putSet = (revision: number, template: object, status: object): Unstructured =>
      storage.create(resources.replicaSets, {
        ...apps,
        kind: 'ReplicaSet',
        metadata: {
          name: `stuck-${revision}`,
          namespace: place.namespace,
          annotations: { [revisionKey]: String(revision) },
          ...ownedBy(deployment),
        },
        spec: { replicas: 1, selector: { matchLabels: labels }, template },
        status,
      })
    putSet(1, templateOf('stuck:1', {}), { replicas: 1, availableReplicas: 1 })
    putSet(2, broken, { replicas: 0 })
    await using opened = await openPage(browser(), portal, { path: '/changes?name=stuck' })
    const { page } = opened
    await lines(page).filter({ hasText: 'Created' }).first().waitFor()
    const restart = { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() }
    const restarted = templateOf('stuck:2', restart)
    storage.update(resources.deployments, deploymentOf(3, restarted))
    const set = putSet(3, restarted, { replicas: 1 })
    // A condition has whole seconds: the change must not be behind it.
    const lastTransitionTime = new Date(Date.now() + 1_000).toISOString()
    const waiting = { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }
    storage.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'stuck-3-pod', namespace: place.namespace, ...ownedBy(set) },
      spec: { containers: [{ name: 'main', image: 'stuck:2' }] },
      status: {
        phase: 'Pending',
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime }],
        containerStatuses: [
          {
            name: 'main',
            imageID: '',
            image: 'stuck:2',
            restartCount: 0,
            ready: false,
            state: waiting,
          },
        ],
      },
    })
    await page.goto('/problems')
    const problem = page.locator('main').getByRole('listitem').filter({ hasText: 'payments/stuck' })
    await problem.first().filter({ hasText: 'Created' }).waitFor()
    await problem
      .first()
      .filter({ hasText: /revision 1 to 3:.*image stuck:1 → stuck:2/ })
      .waitFor()
    expect(opened.problems).toEqual([])
  })
})

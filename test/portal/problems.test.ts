import { createHash } from 'node:crypto'
import { resources, type Unstructured } from 'informerql/kubernetes'
import type { Simulator } from 'informerql/simulator'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { breakPod, removePod } from './broken-pod.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const lines = (page: Page) => page.locator('main li[data-severity]')
const count = (page: Page) => page.getByLabel('Number of problems')

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A Deployment with these revisions, and a pod of the last one that crashes. */
function putRollout(
  simulator: Simulator,
  name: string,
  revisions: readonly { readonly image: string; readonly checksum: string }[],
  { namespace = 'storefront', since }: { readonly namespace?: string; readonly since?: Date } = {},
): ReturnType<typeof owned> | undefined {
  const { storage } = simulator
  const apps = { apiVersion: 'apps/v1' }
  const owned = ({ kind, metadata }: Unstructured) => ({
    ownerReferences: [
      { ...apps, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true },
    ],
  })
  const annotated = (revision: number) => ({
    annotations: { 'deployment.kubernetes.io/revision': String(revision) },
  })
  const selector = { matchLabels: { app: name } }
  const deployment = storage.create(resources.deployments, {
    ...apps,
    kind: 'Deployment',
    metadata: { name, namespace, ...annotated(revisions.length) },
    spec: { replicas: 1, selector, template: {} },
  } as Unstructured)
  for (const [at, { image, checksum }] of revisions.entries()) {
    const template = {
      metadata: { labels: selector.matchLabels, annotations: { checksum } },
      spec: {
        terminationGracePeriodSeconds: at,
        containers: [{ name: 'main', image, env: [{ name: 'AT', value: String(at) }] }],
      },
    }
    const set = storage.create(resources.replicaSets, {
      ...apps,
      kind: 'ReplicaSet',
      metadata: { name: `${name}-${at}`, namespace, ...annotated(at + 1), ...owned(deployment) },
      spec: { replicas: 1, selector, template },
    } as Unstructured)
    if (at < revisions.length - 1) continue
    breakPod(simulator, namespace, `${name}-pod`, owned(set), since)
    return owned(set)
  }
  return undefined
}

describeInBrowser('The problems of the portal', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ isFleet: true, pods: 180 })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('are the worst first, each with its reason, its owner and its cluster; one appears when a pod breaks, and goes when it is mended', async () => {
    await using opened = await openPage(browser(), portal, { path: '/problems?cluster=*' })
    const { page } = opened
    const worker = lines(page).filter({ hasText: 'payments/invoice-worker' })
    await worker.filter({ hasText: 'CrashLoopBackOff' }).first().waitFor()
    await worker.filter({ hasText: 'prod-eu' }).first().waitFor()
    const said = (await worker.first().textContent()) ?? ''
    expect(said).toContain('2 of 2 ready')
    expect(said).toMatch(/revision 34 to 35:.*image \S+:[\d.]+ → \S+:[\d.]+/)
    await page.getByText('just-broken').waitFor({ state: 'detached' })
    const badge = page.getByRole('navigation').getByRole('link', { name: /^Problems/ })
    const before = Number((await count(page).textContent())?.replaceAll(/\D/g, ''))
    await expect.poll(() => badge.textContent()).toBe(`Problems${before}`)
    const us = portal.clusters[1]?.simulator
    if (us === undefined) throw new Error('the fleet has prod-us')
    breakPod(us, 'storefront', 'just-broken')
    const broken = lines(page).filter({ hasText: 'storefront/just-broken' })
    await broken.getByText('back-off restarting just-broken').waitFor()
    expect(await broken.textContent()).toContain('prod-us')
    await expect.poll(() => badge.textContent()).toBe(`Problems${before + 1}`)
    await opened.audit()
    removePod(us, 'storefront', 'just-broken')
    await broken.waitFor({ state: 'detached' })
    await expect.poll(() => badge.textContent()).toBe(`Problems${before}`)
  })

  it.each(['/', '/problems'])(
    'are never said to be none at %s before they are there',
    async (path) => {
      await using opened = await openPage(browser(), portal, { path: '/changes' })
      const { page } = opened
      await page.getByRole('heading', { name: 'Changes' }).waitFor()
      // The rows of the list wait, while its number comes.
      const held: (() => void)[] = []
      let isHeld = true
      await page.routeWebSocket('**/graphql', (socket) => {
        const server = socket.connectToServer()
        const lists = new Set<string>()
        socket.onMessage((message) => {
          const { id, type, payload } = JSON.parse(String(message))
          if (type === 'subscribe' && /subscription Problems\b/.test(payload.query)) lists.add(id)
          server.send(message)
        })
        server.onMessage((message) => {
          const pass = (): void => socket.send(message)
          if (isHeld && lists.has(JSON.parse(String(message)).id)) held.push(pass)
          else pass()
        })
      })
      await page.goto(path)
      await expect.poll(() => page.locator('main').innerText()).toMatch(/Problems\s+\d/)
      await expect.poll(() => held.length).toBeGreaterThan(0)
      expect(await page.getByText('Nothing is wrong.').count()).toBe(0)
      expect(await page.getByRole('link', { name: /^All \d+ problems/ }).count()).toBe(0)
      isHeld = false
      for (const pass of held) pass()
      await lines(page).first().waitFor()
      await opened.audit()
    },
  )

  it('cut hashes of what changed to their beginning, and open the fields that are not shown', async () => {
    const eu = portal.clusters[0]?.simulator
    if (eu === undefined) throw new Error('the fleet has prod-eu')
    const [before, after] = [digest('before'), digest('after')]
    putRollout(eu, 'hashed', [
      { image: `hashed@sha256:${before}`, checksum: before },
      { image: `hashed@sha256:${after}`, checksum: after },
    ])
    await using opened = await openPage(browser(), portal, { path: '/problems?cluster=prod-eu' })
    const { page } = opened
    const line = lines(page).filter({ hasText: 'storefront/hashed' })
    const image = line.locator('ins', { hasText: `hashed@sha256:${after.slice(0, 12)}…` })
    await image.waitFor()
    expect(await image.getAttribute('title')).toBe(`hashed@sha256:${after}`)
    expect(await line.textContent()).not.toContain(after)
    const checksum = line.locator('ins', { hasText: new RegExp(`^${after.slice(0, 12)}…$`) })
    expect(await checksum.isVisible()).toBe(false)
    const more = line.locator('summary', { hasText: 'and 2 more' })
    await more.focus()
    await page.keyboard.press('Enter')
    await checksum.waitFor()
    expect(await checksum.getAttribute('title')).toBe(after)
    await opened.audit()
  })

  it('have what most objects have before the newest, unless the newest are asked for; lines stay in their places under the pointer', async () => {
    const eu = portal.clusters[0]?.simulator
    if (eu === undefined) throw new Error('the fleet has prod-eu')
    const namespace = 'ordered'
    const crashing = (name: string, pods: number, sinceMinutes: number): void => {
      const since = new Date(Date.now() - 60_000 * sinceMinutes)
      const revisions = [{ image: `${name}:1`, checksum: digest(name) }]
      const owned = putRollout(eu, name, revisions, { namespace, since })
      for (let at = 1; at < pods; at++) breakPod(eu, namespace, `${name}-${at}`, owned, since)
    }
    crashing('many', 3, 20)
    await using opened = await openPage(browser(), portal, {
      path: `/problems?cluster=prod-eu&ns=${namespace}`,
    })
    const { page } = opened
    const names = () => page.locator('main li[data-severity] a[title*="/"]').allTextContents()
    const shown = async (...all: readonly string[]): Promise<void> => {
      await expect.poll(names).toEqual(all.map((name) => `${namespace}/${name}`))
    }
    await shown('many')
    crashing('few', 2, 10)
    await shown('many', 'few')
    await page.getByRole('button', { name: 'Newest first' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('order')).toBe('newest')
    await shown('few', 'many')
    await page.reload()
    await shown('few', 'many')
    await opened.audit()
    await page.getByRole('button', { name: 'Newest first' }).click()
    await shown('many', 'few')
    await page.getByRole('link', { name: `${namespace}/few` }).hover()
    crashing('most', 4, 5)
    const more = page.getByRole('button', { name: '1 new above' })
    await more.waitFor()
    await shown('many', 'few')
    removePod(eu, namespace, 'few-1')
    removePod(eu, namespace, 'few-pod')
    await page.locator('main li[data-over]', { hasText: `${namespace}/few` }).waitFor()
    await shown('many', 'few')
    await opened.audit()
    await page.mouse.move(0, 0)
    await shown('most', 'many')
    await more.waitFor({ state: 'detached' })
  })

  it('are narrowed by severity and kind in the address, and by the scope', async () => {
    await using opened = await openPage(browser(), portal, { path: '/problems?cluster=*' })
    const { page } = opened
    await lines(page).first().waitFor()
    await page.getByRole('button', { name: /^Deployment \d/ }).click()
    await page.getByRole('button', { name: /^Critical \d/ }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('type')).toBe('Deployment')
    expect(new URL(page.url()).searchParams.get('severity')).toBe('CRITICAL')
    await expect
      .poll(async () => {
        const texts = await lines(page).allTextContents()
        return texts.length > 0 && texts.every((text) => /^▲Critical.*Deployment/.test(text))
      })
      .toBe(true)
    await opened.audit()
    await page.goto('/problems?cluster=staging&ns=no-such-namespace')
    await page.getByText('Nothing is wrong.').waitFor()
    await opened.audit()
    await page.getByRole('button', { name: 'Look in all namespaces' }).click()
    await lines(page).first().waitFor()
  })

  it('lead to the object that has them by one click', async () => {
    await using opened = await openPage(browser(), portal, { path: '/problems?cluster=*' })
    const { page } = opened
    await page.getByRole('link', { name: 'payments/invoice-worker' }).first().click()
    await page.waitForURL('**/objects/**')
    await page.getByRole('heading', { level: 1, name: /invoice-worker/ }).waitFor()
    expect(new URL(page.url()).searchParams.get('cluster')).toBe('*')
  })
})

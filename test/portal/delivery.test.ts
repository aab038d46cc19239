import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { deliver, release } from './deliveries.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const idOf = async (
  portal: ServedPortal,
  list: string,
  name: string,
  token?: string,
): Promise<string> => {
  const gateway = token === undefined ? portal.gateway() : portal.gateway().as(token)
  const { found } = await gateway.data(
    `{ found: ${list}(namespace: "storefront", where: { name: { eq: "${name}" } }) { nodes { id } } }`,
  )
  return found.nodes[0].id
}

describeInBrowser('Delivery', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal()
    await deliver(portal)
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('says so where nothing delivers', async () => {
    await using opened = await openPage(browser(), portal, { path: '/delivery?ns=default' })
    const none = opened.page.getByText('Nothing here is delivered by Argo CD, Flux or Helm')
    await none.waitFor()
    await opened.page.goto('/delivery')
    await opened.page.getByRole('rowheader').first().waitFor()
    expect(await none.isVisible()).toBe(false)
    await opened.audit()
  })

  it('says once in the head of an Application that it is healthy, and that it is out of sync', async () => {
    const name = encodeURIComponent('demo/Application.argoproj.io/storefront/storefront')
    await using opened = await openPage(browser(), portal, { path: `/objects/${name}` })
    const head = opened.page.getByRole('article').locator('header')
    await head
      .getByText('OutOfSync: 3 objects differ from the source: 1 of them missing in the cluster.')
      .waitFor()
    expect(await head.getByText('Healthy', { exact: true }).count()).toBe(1)
    await opened.audit()
  })

  it('lists what Argo CD, Flux and Helm deliver, with state, revision, source and drift', async () => {
    await using opened = await openPage(browser(), portal, { path: '/delivery' })
    const { page } = opened
    const row = (name: RegExp) =>
      page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) })
    const application = row(/^storefront/)
    await application
      .getByText('OutOfSync · 3 objects differ from the source: 1 of them missing in the cluster')
      .waitFor()
    expect(await application.textContent()).toContain('0123456')
    await application.getByText('https://git.example/shop deploy main').waitFor()
    await row(/^infra/)
      .getByText('BuildFailed', { exact: true })
      .waitFor()
    await row(/^infra/)
      .getByText('GitRepository/fleet ./infra')
      .waitFor()
    await row(/^redis/)
      .getByText('deployed')
      .waitFor()
    await row(/^redis/)
      .getByText('2 revisions kept')
      .waitFor()
    await opened.audit()
    // Live: the next revision takes the place of the one before.
    release(portal, 3, 'failed')
    await row(/^redis/)
      .getByText('failed')
      .waitFor()
    await application.getByRole('link', { name: 'storefront' }).click()
    await page.getByRole('heading', { name: 'Application storefront' }).waitFor()
    const objects = page
      .getByRole('region')
      .or(page.locator('section'))
      .filter({ hasText: 'What it delivers' })
    const [first] = await objects.first().getByRole('listitem').allTextContents()
    expect(first).toMatch(/Deployment.*shop-web.*OutOfSync/)
    await page.getByRole('link', { name: 'shop-web' }).first().waitFor()
    await opened.audit()
  })

  it('says of what is out of sync that it is missing, why no fields are named, and how Argo CD names them', async () => {
    const id = await idOf(portal, 'argoApplications', 'storefront')
    await using opened = await openPage(browser(), portal, { path: `/objects/${id}` })
    const { page } = opened
    const entry = (name: string) => page.getByRole('listitem').filter({ hasText: name })
    await entry('shop-flags').getByText('OutOfSync: missing in the cluster').waitFor()
    await entry('shop-theme').getByText('OutOfSync: missing in the cluster').waitFor()
    await entry('Deployment').getByText('OutOfSync', { exact: true }).first().waitFor()
    await page.getByText('Argo CD says which objects differ, and not in which fields.').waitFor()
    await page.getByText('argocd app diff storefront/storefront', { exact: true }).waitFor()
    await page.getByRole('button', { name: /^Copy the command/ }).waitFor()
    await opened.audit()
    await page.goto('/kinds/applications.argoproj.io')
    await page.getByRole('heading', { level: 1, name: /^Argo CD Applications/ }).waitFor()
    await page.goto('/delivery')
    await page.getByRole('heading', { name: 'Argo CD Applications' }).waitFor()
    expect(opened.problems).toEqual([])
  })

  it('says on an object what manages it, with the way there', async () => {
    const deployment = await idOf(portal, 'deployments', 'shop-web')
    await using opened = await openPage(browser(), portal, { path: `/objects/${deployment}` })
    const { page } = opened
    await page
      .getByText(
        /Managed by Argo CD Application storefront\. It sets back what others change when somebody syncs it/,
      )
      .waitFor()
    const header = page.getByRole('article').locator('header')
    await header
      .getByText(/Managed by/)
      .getByRole('link', { name: 'storefront' })
      .click()
    await page.getByRole('heading', { name: 'Application storefront' }).waitFor()
    await page.goto(`/objects/${await idOf(portal, 'configMaps', 'flux-config')}`)
    await header.getByText(/Managed by Flux Kustomization/).waitFor()
    await header.getByRole('link', { name: 'storefront/infra' }).click()
    await page.getByRole('heading', { name: 'Kustomization infra' }).waitFor()
    await page.getByRole('link', { name: 'flux-config' }).waitFor()
    await page.goto(`/objects/${await idOf(portal, 'configMaps', 'helm-config')}`)
    await header.getByText(/Managed by Helm release storefront\/redis/).waitFor()
    await header.getByRole('link', { name: 'storefront/redis' }).click()
    await page.getByRole('heading', { name: 'Helm release redis' }).waitFor()
    await page.getByRole('link', { name: 'helm-config' }).waitFor()
    await page.getByText('redis-18.4.0').waitFor()
    await page.getByText('this gateway does not read what Secrets hold. Helm shows them').waitFor()
    const command = 'helm --kube-context demo -n storefront get values redis --revision 2'
    await page.getByText(command, { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Show the chart and the values' }).count()).toBe(
      0,
    )
    expect(await page.getByText('of-the-release').count()).toBe(0)
    await opened.audit()
  })
})

describeInBrowser('Delivery, where callers are asked who they are', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ asksWho: true, further: { secretData: true } })
    await deliver(portal, 'ann-token')
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('shows the values of a release to those who may read its Secret, and others neither it nor them', async () => {
    const id = await idOf(portal, 'secrets', 'sh.helm.release.v1.redis.v2', 'ann-token')
    const path = `/objects/${id}`
    await using opened = await openPage(browser(), portal, { path, viewer: 'ann' })
    await opened.page.getByRole('button', { name: 'Show the chart and the values' }).click()
    await opened.page.getByText('password: of-the-release').waitFor()
    await opened.audit()
    await using other = await openPage(browser(), portal, { path, viewer: 'ben' })
    await other.page
      .getByText('You may not see this.')
      .or(other.page.getByText('There is nothing here that you may see.'))
      .waitFor()
    await other.page.goto('/delivery')
    await other.page.getByRole('heading', { name: 'Delivery' }).waitFor()
    expect(await other.page.getByText('redis').count()).toBe(0)
    expect(other.problems).toEqual([])
  })
})

describeInBrowser('An Application of Argo CD that delivers to another cluster', (browser) => {
  it('leads to its objects there, or says which cluster it is', async () => {
    await using portal = await servePortal({ isFleet: true, pods: 90 })
    await deliver(portal)
    const resource = { group: 'argoproj.io', version: 'v1alpha1', resource: 'applications' }
    const { storage } = portal.cluster
    const to = (destination: object): void => {
      const application = storage.get(resource, 'storefront', 'storefront')
      if (application === undefined) throw new Error('the Application is there')
      const spec = { ...(application['spec'] as object), destination }
      storage.update(resource, { ...application, spec } as never)
    }
    to({ name: 'prod-us', namespace: 'storefront' })
    const id = encodeURIComponent('prod-eu/Application.argoproj.io/storefront/storefront')
    await using opened = await openPage(browser(), portal, { path: `/objects/${id}` })
    const { page } = opened
    await page.getByText('They are in cluster prod-us.').waitFor()
    const link = page.getByRole('tabpanel').getByRole('link', { name: 'shop-web' }).first()
    expect(decodeURIComponent((await link.getAttribute('href')) ?? '')).toContain('prod-us/')
    await opened.audit()
    to({ server: 'https://far.example:6443', namespace: 'storefront' })
    await page.getByText('They are in another cluster, https://far.example:6443').waitFor()
    await expect.poll(() => link.count()).toBe(0)
    to({ server: 'https://kubernetes.default.svc', namespace: 'storefront' })
    await expect
      .poll(async () => decodeURIComponent((await link.getAttribute('href')) ?? ''))
      .toContain('prod-eu/')
    await opened.audit()
  })
})

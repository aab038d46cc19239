import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Simulator } from 'informerql/simulator'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { signInAuth, type SignInProvider, startSignInProvider } from '../access/sign-in-provider.ts'
import { describeInBrowser, sentBy } from '../support/browser.ts'
import { breakPod } from './broken-pod.ts'
import { openPage, type PortalPage, type ServedPortal, servePortal } from './portal-page.ts'

const namespaceOf = { payments: 'oidc:payments', storefront: 'oidc:orders' }

describeInBrowser('Signing in', (browser) => {
  let dir: string
  let provider: SignInProvider
  let portal: ServedPortal

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portal-sign-in-'))
    provider = await startSignInProvider()
    portal = await servePortal({
      asksWho: true,
      auth: await signInAuth(provider, dir),
    })
    provider.register(new URL(portal.url).origin)
    bindTeams(portal.cluster)
  })
  beforeEach(() => {
    provider.tokenSeconds = 300
  })
  afterAll(async () => {
    await portal[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
    await rm(dir, { recursive: true })
  })

  /** A page whose browser may go to the provider. */
  const open = async (path: string, ...expected: readonly RegExp[]): Promise<PortalPage> =>
    openPage(browser(), portal, {
      path,
      isAlone: true,
      expected: [new RegExp(`^request to ${provider.url}`), /status of 404/, ...expected],
    })
  const choose = async (page: Page, person: string): Promise<void> =>
    page.getByRole('link', { name: person }).click()
  const signIn = async (page: Page, person: string): Promise<void> => {
    await page.getByRole('link', { name: 'Sign in' }).click()
    await choose(page, person)
  }

  it('leads to the provider and back to the same place, and shows two people what is theirs', async () => {
    const path = '/kinds/pods?q=phase%3ARunning'
    await using opened = await open(path)
    const { page } = opened
    await page.getByRole('heading', { name: 'Sign in to see your clusters' }).waitFor()
    await hasNameAndMark(page)
    await opened.audit()
    await signIn(page, 'Alice Adams')
    await page.getByRole('grid').getByText('payments').first().waitFor()
    expect(page.url()).toBe(new URL(path, portal.url).href)
    expect(await page.getByRole('grid').getByText('storefront').count()).toBe(0)

    await page.getByRole('button', { name: 'You: Alice Adams' }).click()
    const menu = page.getByRole('dialog')
    await menu.getByText('oidc:alice').waitFor()
    await menu.getByText('Groups: oidc:payments').waitFor()
    await menu.getByText('You may list objects in payments only.').waitFor()
    await opened.audit()

    // The provider knows Alice, and asks nevertheless.
    await menu.getByRole('link', { name: 'Switch user' }).click()
    await choose(page, 'Bob Brown')
    await page.getByRole('grid').getByText('storefront').first().waitFor()
    expect(page.url()).toBe(new URL(path, portal.url).href)
    expect(await page.getByRole('grid').getByText('payments').count()).toBe(0)

    await page.getByRole('button', { name: 'You: Bob Brown' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: /yes/i }).click()
    await page.getByRole('heading', { name: 'Sign in to see your clusters' }).waitFor()
  })

  it('says in the same look that it was refused, has expired, or that the provider is away', async () => {
    await using opened = await open('/', /status of 40[03]/, /status of 503/)
    const { page } = opened
    const failed = async (title: string, code: string): Promise<void> => {
      await page.getByRole('heading', { name: title }).waitFor()
      await page.getByText(code).waitFor()
      await hasNameAndMark(page)
      await opened.audit()
    }
    const began = page.waitForRequest(/[?&]state=/)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Alice Adams' }).waitFor()
    const state = new URL((await began).url()).searchParams.get('state') ?? ''
    const denied = { error: 'access_denied', state, iss: provider.url }
    await page.goto(new URL(`/auth/callback?${new URLSearchParams(denied)}`, portal.url).href)
    await failed('The sign-in was refused', 'SIGN_IN_REFUSED')
    await page.goto(new URL('/auth/callback?state=another&code=none', portal.url).href)
    await failed('This sign-in has expired', 'SIGN_IN_EXPIRED')
    provider.broken = true
    await portal.stop()
    await portal.start()
    await page.goto(new URL('/auth/login', portal.url).href)
    await failed('Signing in is not possible now', 'PROVIDER_UNAVAILABLE')
    provider.broken = false
    await page.getByRole('link', { name: 'Sign in again' }).click()
    await page.getByRole('link', { name: 'Alice Adams' }).waitFor()
    expect(opened.problems).toEqual([])
  })

  it('keeps what is live alive through renewals', async () => {
    provider.tokenSeconds = 8
    await using opened = await open('/kinds/pods?q=renewed')
    const { page } = opened
    await signIn(page, 'Alice Adams')
    await page.getByRole('button', { name: 'You: Alice Adams' }).waitFor()
    const sent = sentBy(page)
    await page.reload()
    await expect.poll(() => sent).toContainEqual('connected')
    const asked = (): number => provider.requests.filter((one) => one === 'POST /token').length
    const before = asked()
    // A page that is starting may leave its first subscription, and close the connection until the next.
    await expect.poll(() => asked() - before, { timeout: 60_000, interval: 200 }).toBe(1)
    sent.length = 0
    // The third renewal is after the end of the first token.
    await expect.poll(() => asked() - before, { timeout: 60_000, interval: 200 }).toBe(3)
    breakPod(portal.cluster, 'payments', 'renewed')
    await page.getByRole('grid').getByText('renewed').waitFor()
    expect(sent.filter((one) => /connected/.test(one))).toEqual([])
    expect(opened.problems).toEqual([])
  })

  it('is over in a tab that is looked at again when another one has signed in', async () => {
    await using opened = await open('/kinds/deployments.apps', /status of 401/)
    const { page } = opened
    await signIn(page, 'Alice Adams')
    await page.getByRole('grid').getByText('payments').first().waitFor()
    await page.evaluate(async () => fetch('/auth/logout', { method: 'POST' }))
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    const other = await page.context().newPage()
    await other.goto('/')
    // The provider knows Alice.
    await other.getByRole('link', { name: 'Sign in' }).click()
    await other.getByRole('button', { name: 'You: Alice Adams' }).waitFor()
    // Not at once: a tab does not ask again within five seconds.
    await expect
      .poll(async () => {
        await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
        return await page.getByRole('grid').getByText('payments').count()
      })
      .toBeGreaterThan(0)
    expect(new URL(page.url()).pathname).toBe('/kinds/deployments.apps')
  })

  it('says that a session has ended while the page was open, and leads back to the same place', async () => {
    // A question that is under way when the session ends.
    await using opened = await open('/kinds/deployments.apps', /status of 401/)
    const { page } = opened
    await signIn(page, 'Alice Adams')
    await page.getByRole('grid').getByText('payments').first().waitFor()
    await page.evaluate(async () => fetch('/auth/logout', { method: 'POST' }))
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    expect(await page.getByText('payments').count()).toBe(0)
    await opened.audit()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('grid').getByText('payments').first().waitFor()
    expect(new URL(page.url()).pathname).toBe('/kinds/deployments.apps')
  })
})

/** Expects the name and the mark of the product. */
async function hasNameAndMark(page: Page): Promise<void> {
  const product = page.getByText('informerql', { exact: true })
  await product.waitFor()
  expect(await product.locator('svg path').getAttribute('d')).toBe('M9 10h14M9 16h14M9 22h8')
}

function bindTeams({ storage }: Simulator): void {
  const group = 'rbac.authorization.k8s.io'
  for (const [namespace, team] of Object.entries(namespaceOf)) {
    storage.create(
      { group, version: 'v1', resource: 'rolebindings' },
      {
        apiVersion: `${group}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'team', namespace },
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'view' },
        subjects: [{ apiGroup: group, kind: 'Group', name: team }],
      },
    )
  }
}

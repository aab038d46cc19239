import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { portalFolder } from 'informerql'
import { startSimulatedCluster } from 'informerql/simulator'
import { expect, it, vi } from 'vitest'
import { signInAuth, type SignInProvider, startSignInProvider } from '../access/sign-in-provider.ts'
import { describeInBrowser, sentBy } from '../support/browser.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { openPage } from './portal-page.ts'

interface SignInPortal extends AsyncDisposable {
  readonly provider: SignInProvider
  readonly gateway: ServedGateway
  readonly origin: string
}

/** A portal whose users sign in at a provider. The simulated cluster lets everyone do anything. */
const serveSignIn = async (): Promise<SignInPortal> => {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'portal-sign-in-'))
  stack.defer(() => rm(dir, { recursive: true }))
  const provider = stack.use(await startSignInProvider())
  const cluster = stack.use(
    await startSimulatedCluster({ population: { pods: 30 }, churn: { eventsPerSecond: 0 } }),
  )
  const auth = await signInAuth(provider, dir)
  const clusters = [{ name: 'demo', server: cluster.url }]
  const gateway = stack.use(await serveGateway({ clusters }, {}, { portalFolder, auth }))
  const { origin } = new URL(gateway.url)
  provider.register(origin)
  const started = stack.move()
  return { provider, gateway, origin, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

describeInBrowser('the portal of a gateway that signs its users in', (browser) => {
  it('leads to the provider and back to its address, names the user, lives on through a renewal, and signs out', async () => {
    await using served = await serveSignIn()
    const { provider, origin } = served
    await using opened = await openPage(browser(), { url: `${origin}/` }, { path: '/livez' })
    const { page, problems } = opened
    provider.tokenSeconds = 6
    await page.goto(`${origin}/kinds/pods?q=cart`)
    await page.getByRole('link', { name: 'Alice Adams' }).click()
    await page.waitForURL(`${origin}/kinds/pods?q=cart`)
    const firstEndMs = Date.now() + 6_000
    await page.getByRole('button', { name: 'You: oidc:alice' }).waitFor()
    const sent = sentBy(page)
    provider.tokenSeconds = 300
    await vi.waitUntil(() => Date.now() > firstEndMs + 2_000, 20_000)
    expect(sent).not.toContain('disconnected')
    await page.getByRole('button', { name: 'You: oidc:alice' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL((url) => url.origin === provider.url)
    const cookies = await page.context().cookies(origin)
    expect(cookies.filter(({ name }) => name.startsWith('__Host-informerql'))).toEqual([])
    // The pages of the provider have their own.
    expect(problems.filter((problem) => /^error:|Content Security/.test(problem))).toEqual([])
  })
})

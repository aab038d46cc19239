import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuthenticationOptions, CodedError, type SignInReport } from 'informerql'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { openSessionSocket } from './session-socket.ts'
import {
  type SignInAuth,
  signInAuth,
  type SignInProvider,
  startSignInProvider,
} from './sign-in-provider.ts'
import { type Me, Visitor } from './visitor.ts'

const waiting = { timeout: 60_000 }
const whoAmI = '{ viewer { username } }'
const alice = { data: { viewer: { username: 'oidc:alice' } } }

describe('a browser that is signed out stays so:', () => {
  let dir: string
  let simulator: Simulator
  let provider: SignInProvider
  let auth: SignInAuth
  let gateway: ServedGateway
  let origin: string
  const reports: SignInReport[] = []

  const serve = (login: Partial<AuthenticationOptions['login']> = {}): Promise<ServedGateway> =>
    serveGateway(
      {
        clusters: [{ name: 'one', server: simulator.url }],
        audit: { answered: () => {}, signedIn: (report) => void reports.push(report) },
      },
      {},
      { auth: { ...auth, login: { ...auth.login, ...login } } },
    )
  const signedIn = async (): Promise<Visitor> => {
    const browser = new Visitor(origin)
    await browser.signIn('alice')
    return browser
  }
  /** The same browser at another replica: cookies know no ports. */
  const at = ({ url }: ServedGateway, browser: Visitor): Visitor => {
    const there = new Visitor(new URL(url).origin)
    for (const [name, value] of browser.cookies) there.cookies.set(name, value)
    return there
  }
  const namesOf = (browser: Visitor): readonly string[] => [...browser.cookies.keys()]
  const postLogout = (to: string, token: string) =>
    new Visitor(to).send(
      `${to}/auth/backchannel-logout`,
      { 'content-type': 'application/x-www-form-urlencoded' },
      { method: 'POST', body: new URLSearchParams({ logout_token: token }).toString() },
    )
  const revocations = (): number =>
    provider.requests.filter((one) => one === 'POST /token/revocation').length
  /** Begins a renewal, whose answer the provider holds back until `release`. */
  const renewing = async (
    browser: Visitor,
  ): Promise<{ readonly me: Promise<Me>; readonly release: () => void }> => {
    const { expiresInMs = 0, renewInMs = 0 } = await browser.me()
    const dueMs = Date.now() + renewInMs + 50
    await vi.waitUntil(() => Date.now() > dueMs, waiting)
    expect(expiresInMs).toBeGreaterThan(0)
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const before = provider.holds
    provider.held = promise
    provider.tokenSeconds = 300
    const me = browser.me()
    await vi.waitUntil(() => provider.holds > before, waiting)
    provider.requests.length = 0
    return { me, release }
  }

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sign-out-'))
    simulator = await startSimulator()
    provider = await startSignInProvider()
    auth = await signInAuth(provider, dir)
    gateway = await serve()
    ;({ origin } = new URL(gateway.url))
    provider.register(origin)
  })
  beforeEach(() => {
    provider.tokenSeconds = 300
    provider.held = undefined
    reports.length = 0
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
    await rm(dir, { recursive: true })
  })

  it('a renewal that ends after the sign-out sets no cookie, and its tokens are withdrawn', async () => {
    provider.tokenSeconds = 4
    const browser = await signedIn()
    const page = browser.copy()
    const { me, release } = await renewing(browser)
    await page.fetch('/auth/logout', { method: 'POST' })
    const before = revocations()
    release()
    expect(await me).toMatchObject({ signedIn: false })
    expect(namesOf(browser)).toEqual([])
    expect(revocations()).toBe(before + 1)
    expect(reports.at(-1)).toMatchObject({ event: 'renewal', code: 'UNAUTHENTICATED' })
  })

  it('a renewal that ends after a logout by the provider sets no cookie, and its tokens are withdrawn', async () => {
    provider.tokenSeconds = 4
    const browser = await signedIn()
    const { me, release } = await renewing(browser)
    const answer = await postLogout(origin, await provider.logoutToken({ sub: 'alice' }))
    expect(answer.status).toBe(200)
    release()
    expect(await me).toMatchObject({ signedIn: false })
    expect(namesOf(browser)).toEqual([])
    expect(revocations()).toBe(1)
  })

  it('the cookie of a renewal at another replica, set after the sign-out, is refused by every replica, and its tokens are withdrawn', async () => {
    await using replica = await serve()
    provider.tokenSeconds = 4
    const browser = await signedIn()
    const there = at(replica, browser)
    const stolen = there.copy()
    const { me, release } = await renewing(there)
    await browser.fetch('/auth/logout', { method: 'POST' })
    release()
    // Replica and provider cannot know yet.
    expect(await me).toMatchObject({ signedIn: true })
    using socket = openSessionSocket(replica.url, {
      cookie: there.cookieFor(new URL(replica.url).origin),
      origin: new URL(replica.url).origin,
    })
    expect(await socket.opened).toBe(true)
    for (const [name, value] of browser.cookies) there.cookies.set(name, value)
    const early = at(gateway, there)
    const before = revocations()
    const ended = { status: 401, errors: [{ message: 'the session has ended' }] }
    expect(await there.query(whoAmI)).toMatchObject(ended)
    await vi.waitUntil(() => revocations() > before, waiting)
    expect(await socket.closed).toBe(4403)
    // By now the replica knows, whatever a cookie says.
    expect(await stolen.query(whoAmI)).toMatchObject({ status: 401 })
    expect(await early.query(whoAmI)).toMatchObject(ended)
    expect(await there.me()).toMatchObject({ signedIn: false })
    expect(namesOf(there)).toEqual(['__Host-informerql-ended'])
    // The next session of the browser is another one.
    await browser.signIn('alice')
    expect(await browser.query(whoAmI)).toMatchObject(alice)
    expect(await at(replica, browser).query(whoAmI)).toMatchObject(alice)
  })

  it('a logout token of the provider counts once, and ends no session that began after it, at any replica', async () => {
    await using replica = await serve()
    const before = await signedIn()
    const token = await provider.logoutToken({ sub: 'alice' })
    const issuedS = Math.floor(Date.now() / 1_000)
    expect((await postLogout(origin, token)).status).toBe(200)
    expect(await before.query(whoAmI)).toMatchObject({ status: 401 })
    await vi.waitUntil(() => Math.floor(Date.now() / 1_000) > issuedS + 1, waiting)
    const after = await signedIn()
    const replayed = await postLogout(origin, token)
    expect(replayed.status).toBe(403)
    expect(replayed.text).toContain('TOKEN_REFUSED')
    // Another replica has not seen it.
    expect((await postLogout(new URL(replica.url).origin, token)).status).toBe(200)
    expect(await after.query(whoAmI)).toMatchObject(alice)
    expect(await at(replica, after).query(whoAmI)).toMatchObject(alice)
    expect(await at(replica, before).query(whoAmI)).toMatchObject({ status: 401 })
    const unnamed = await provider.logoutToken({ sub: 'alice', jti: ['not a name'] })
    expect((await postLogout(origin, unnamed)).status).toBe(403)
    expect((await postLogout(origin, await provider.logoutToken({ sub: 'alice' }))).status).toBe(
      200,
    )
    expect(await after.query(whoAmI)).toMatchObject({ status: 401 })
  })

  it('and nobody signs in while nothing may be answered, as without an audit log; sessions end all the same', async () => {
    const unavailable = new CodedError('AUDIT_UNAVAILABLE', 'the audit log cannot be written')
    let refused: CodedError | undefined
    await using refusing = await serveGateway(
      { clusters: [{ name: 'one', server: simulator.url }] },
      {},
      { auth, refusal: () => refused },
    )
    const browser = new Visitor(new URL(refusing.url).origin)
    const there = at(refusing, await signedIn())
    refused = unavailable
    for (const path of ['/auth/login', '/auth/callback?code=a&state=b']) {
      expect((await browser.fetch(path)).status).toBe(503)
    }
    expect((await there.fetch('/auth/logout', { method: 'POST' })).status).toBe(200)
    expect(await there.me()).toMatchObject({ signedIn: false })
  })

  it('a session cookie that cannot be read is refused, also where signing in is optional', async () => {
    await using optional = await serve({ required: false })
    const browser = at(optional, await signedIn())
    const anonymous = new Visitor(new URL(optional.url).origin)
    expect(await anonymous.query(whoAmI)).toMatchObject({ data: { viewer: null } })
    const [[name = '', value = ''] = []] = browser.cookies
    const unreadable: readonly [string, string][] = [
      [name, value.slice(0, -1)],
      [name, 'x'],
      [`${name}-1`, value],
    ]
    for (const [as, text] of unreadable) {
      const broken = anonymous.copy()
      broken.cookies.set(as, text)
      expect(await broken.query(whoAmI), text).toMatchObject({
        status: 401,
        errors: [{ extensions: { code: 'UNAUTHENTICATED', login: '/auth/login' } }],
      })
      const { origin: there } = new URL(optional.url)
      using socket = openSessionSocket(optional.url, {
        cookie: broken.cookieFor(there),
        origin: there,
      })
      expect(await socket.closed).toBe(4403)
      // The page asks, and its user goes on without a session.
      expect(await broken.me()).toMatchObject({ signedIn: false, required: false })
      expect(await broken.query(whoAmI)).toMatchObject({ data: { viewer: null } })
    }
  })

  it('the audit log names whose sessions the provider has ended, and whose session each is', async () => {
    const file = join(dir, 'audit.log')
    const { oidc, login, mode } = auth
    const config = {
      clusters: [{ name: 'one', server: simulator.url }],
      server: { port: 0 },
      audit: { file },
      auth: { mode, oidc, login },
    }
    const configFile = join(dir, 'informerql.json')
    await writeFile(configFile, JSON.stringify(config))
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    const child: ChildProcess = spawn(
      process.execPath,
      ['src/main.ts', 'serve', '--config', configFile, '--log-format', 'json'],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH, NODE_COMPILE_CACHE } },
    )
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => void (said += chunk.toString()))
    try {
      await vi.waitUntil(() => /answers at \S+\n/.test(said), { timeout: 60_000 })
      const { origin: there } = new URL(/answers at ([^"\s]+)/.exec(said)?.[1] ?? '')
      provider.register(there)
      const browser = new Visitor(there)
      await browser.signIn('alice')
      const token = await provider.logoutToken({ sub: 'alice', sid: 'of the provider' })
      await postLogout(there, token)
      await postLogout(there, token)
      await postLogout(there, 'forged')
      const lines = async (): Promise<readonly Record<string, unknown>[]> =>
        (await readFile(file, 'utf8'))
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>)
      await vi.waitUntil(async () => (await lines()).length === 4, waiting)
      const [signIn, ...outs] = await lines()
      expect(signIn).toMatchObject({ event: 'sign-in', user: 'oidc:alice', sub: 'alice' })
      expect(signIn?.['sid']).toEqual(expect.any(String))
      const named = { event: 'provider-sign-out', sub: 'alice', sid: 'of the provider' }
      expect(outs[0]).toMatchObject({ ...named, decision: 'allowed' })
      expect(outs[1]).toMatchObject({ ...named, decision: 'refused', codes: ['TOKEN_REFUSED'] })
      expect(outs[2]).toMatchObject({ event: 'provider-sign-out', decision: 'refused' })
      expect(outs[2]).not.toHaveProperty('sub')
    } finally {
      provider.register(origin)
      child.kill()
      await once(child, 'exit')
    }
  })
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuthenticationOptions, GatewayMetrics, type SignInReport } from 'informerql'
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
import { Visitor } from './visitor.ts'

const waiting = { timeout: 60_000 }
const whoAmI = '{ viewer { username groups } }'
const alice = { username: 'oidc:alice', groups: ['oidc:payments', 'system:authenticated'] }
const bob = { username: 'oidc:bob', groups: ['oidc:orders', 'system:authenticated'] }

describe('browser sign-in at an OpenID Connect provider', () => {
  let dir: string
  let simulator: Simulator
  let provider: SignInProvider
  let gateway: ServedGateway
  let origin: string
  let auth: SignInAuth

  const serve = (login: Partial<AuthenticationOptions['login']> = {}): Promise<ServedGateway> =>
    serveGateway(
      { clusters: [{ name: 'one', server: simulator.url }] },
      {},
      { auth: { ...auth, login: { ...auth.login, ...login } } },
    )
  const visitor = (): Visitor => new Visitor(origin)

  /** An event stream of `fetch`, read until it ends. */
  const openStream = async (cookie: string): Promise<{ ended: boolean; end: () => void }> => {
    const leave = new AbortController()
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        'sec-fetch-site': 'same-origin',
        cookie,
        origin,
      },
      body: JSON.stringify({ query: 'subscription { namespaces { __typename } }' }),
      signal: leave.signal,
    })
    expect(response.status).toBe(200)
    const stream = { ended: false, end: () => leave.abort() }
    const read = async (): Promise<void> => {
      for await (const _ of response.body ?? []);
    }
    void read()
      .catch(() => {})
      .finally(() => (stream.ended = true))
    return stream
  }

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sign-in-'))
    simulator = await startSimulator()
    provider = await startSignInProvider()
    auth = await signInAuth(provider, dir)
    gateway = await serve()
    ;({ origin } = new URL(gateway.url))
    provider.register(origin)
  })
  beforeEach(() => {
    provider.tokenSeconds = 300
    provider.broken = false
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
    await rm(dir, { recursive: true })
  })

  it('makes the browser a session of the user whom the provider names, and no page can read it', async () => {
    const browser = visitor()
    const before = await browser.query(whoAmI)
    expect(before).toMatchObject({
      status: 401,
      errors: [{ extensions: { code: 'UNAUTHENTICATED', login: '/auth/login' } }],
    })
    const back = await browser.signIn('alice', '/pods?tab=1#top', (next) => next.includes('/pods'))
    expect(back.url).toBe(`${origin}/pods?tab=1#top`)
    const cookies = back.headers['set-cookie'] ?? []
    const session = cookies.find((one) => one.startsWith('__Host-informerql-session='))
    expect(session).toMatch(/; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/)
    expect(await browser.query(whoAmI)).toMatchObject({ data: { viewer: alice } })
    expect(await browser.me()).toMatchObject({
      signedIn: true,
      user: { name: 'Alice Adams', ...alice },
    })
    const other = visitor()
    await other.signIn('bob')
    expect(await other.query(whoAmI)).toMatchObject({ data: { viewer: bob } })
  })

  it('renews the session ahead of its end, and its WebSockets and event streams live on', async () => {
    provider.tokenSeconds = 8
    const browser = visitor()
    await browser.signIn('alice')
    const before = browser.cookieFor(origin)
    const { expiresInMs = 0, renewInMs = 0 } = await browser.me()
    expect(browser.cookieFor(origin)).toBe(before)
    expect(renewInMs).toBeLessThan(expiresInMs)
    const firstEndMs = Date.now() + expiresInMs
    using socket = openSessionSocket(gateway.url, { cookie: before, origin })
    expect(await socket.opened).toBe(true)
    const stream = await openStream(before)
    provider.tokenSeconds = 300
    await vi.waitUntil(async () => ((await browser.me()).expiresInMs ?? 0) > 60_000, waiting)
    await vi.waitUntil(() => Date.now() > firstEndMs + 1_000, waiting)
    expect(await socket.ask(whoAmI)).toMatchObject({ data: { viewer: alice } })
    expect(browser.cookieFor(origin)).not.toBe(before)
    expect(stream.ended).toBe(false)
    stream.end()
    // The cookie that was replaced is worth nothing to a new request.
    const old = await visitor().send(`${origin}/graphql?query=${encodeURIComponent(whoAmI)}`, {
      cookie: before,
      'sec-fetch-site': 'same-origin',
      'sec-fetch-dest': 'empty',
    })
    expect(old.status).toBe(401)
  })

  it('lets a WebSocket at one replica live on by a renewal at another one', async () => {
    await using replica = await serve()
    const there = new URL(replica.url).origin
    provider.tokenSeconds = 8
    const browser = visitor()
    await browser.signIn('alice')
    const cookie = browser.cookieFor(origin)
    const { expiresInMs = 0, socketAuthorization: early = '' } = await browser.me()
    const firstEndMs = Date.now() + expiresInMs
    using socket = openSessionSocket(replica.url, { cookie, origin: there })
    using lasting = openSessionSocket(replica.url, { cookie, origin: there })
    expect(await Promise.all([socket.opened, lasting.opened])).toEqual([true, true])
    provider.tokenSeconds = 300
    await vi.waitUntil(async () => ((await browser.me()).expiresInMs ?? 0) > 60_000, waiting)
    const { socketAuthorization = '' } = await browser.me()
    await lasting.ping({ authorization: socketAuthorization })
    await vi.waitUntil(() => Date.now() > firstEndMs + 500, waiting)
    expect(await lasting.ask(whoAmI)).toMatchObject({ data: { viewer: alice } })
    // It is for a WebSocket of this session, and for nothing else.
    const other = visitor()
    await other.signIn('bob')
    using ofBob = openSessionSocket(gateway.url, { cookie: other.cookieFor(origin), origin })
    expect(await ofBob.opened).toBe(true)
    await ofBob.ping({ authorization: socketAuthorization })
    expect(await ofBob.ask(whoAmI)).toMatchObject({ data: { viewer: bob } })
    for (const authorization of [socketAuthorization, early]) {
      const answer = await visitor().send(`${gateway.url}?query=${encodeURIComponent(whoAmI)}`, {
        authorization,
        'graphql-require-preflight': '1',
      })
      expect(answer.status).toBe(401)
    }
  })

  it('ends with the token where it is not renewed: 401, and 4403 for its WebSockets', async () => {
    provider.tokenSeconds = 2
    const browser = visitor()
    await browser.signIn('alice')
    using socket = openSessionSocket(gateway.url, { cookie: browser.cookieFor(origin), origin })
    expect(await socket.opened).toBe(true)
    expect(await socket.closed).toBe(4403)
    expect(await browser.query(whoAmI)).toMatchObject({
      status: 401,
      errors: [{ message: 'the session has ended', extensions: { login: '/auth/login' } }],
    })
    // The page asks, and goes on.
    expect(await browser.me()).toMatchObject({ signedIn: true })
    expect(await browser.query(whoAmI)).toMatchObject({ data: { viewer: alice } })
  })

  it('renews once for many requests at the same time', async () => {
    provider.tokenSeconds = 2
    const browser = visitor()
    await browser.signIn('alice')
    const copies = Array.from({ length: 5 }, () => browser.copy())
    const dueMs = Date.now() + 1_100
    await vi.waitUntil(() => Date.now() > dueMs, waiting)
    provider.requests.length = 0
    provider.tokenSeconds = 300
    const all = await Promise.all(copies.map(async (one) => one.me()))
    expect(all.every(({ signedIn, expiresInMs = 0 }) => signedIn && expiresInMs > 60_000)).toBe(
      true,
    )
    expect(provider.requests.filter((one) => one === 'POST /token')).toHaveLength(1)
  })

  it('ends by signing out: here at once, at the provider, and for its WebSockets', async () => {
    const browser = visitor()
    await browser.signIn('alice')
    const stolen = browser.copy()
    using socket = openSessionSocket(gateway.url, { cookie: browser.cookieFor(origin), origin })
    expect(await socket.opened).toBe(true)
    provider.requests.length = 0
    const { status, text } = await browser.fetch('/auth/logout', { method: 'POST' })
    expect(status).toBe(200)
    const { location } = JSON.parse(text) as { readonly location: string }
    expect(new URL(location).origin).toBe(provider.url)
    expect(new URL(location).searchParams.get('post_logout_redirect_uri')).toBe(`${origin}/`)
    expect((await browser.send(location)).status).toBe(200)
    expect(await socket.closed).toBe(4403)
    expect([...browser.cookies.keys()]).toEqual(['__Host-informerql-ended'])
    expect(await browser.me()).toMatchObject({ signedIn: false, required: true })
    expect(await stolen.query(whoAmI)).toMatchObject({ status: 401 })
    expect(await stolen.me()).toMatchObject({ signedIn: false })
    expect(provider.requests).toContain('POST /token/revocation')
  })

  it('ends by the provider, at the back channel', async () => {
    const browser = visitor()
    await browser.signIn('alice')
    const other = visitor()
    await other.signIn('bob')
    using socket = openSessionSocket(gateway.url, { cookie: browser.cookieFor(origin), origin })
    expect(await socket.opened).toBe(true)
    // Signing out at the provider itself, with its own page.
    const page = await browser.go(`${provider.url}/session/end`)
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page.text) ?? []
    const confirmed = await browser.send(
      `${provider.url}/session/end/confirm`,
      { 'content-type': 'application/x-www-form-urlencoded' },
      { method: 'POST', body: `xsrf=${xsrf}&logout=yes` },
    )
    expect(confirmed.status).toBe(303)
    expect(await socket.closed).toBe(4403)
    expect(await browser.query(whoAmI)).toMatchObject({ status: 401 })
    expect(await other.query(whoAmI)).toMatchObject({ data: { viewer: bob } })
    const forged = await browser.send(
      `${origin}/auth/backchannel-logout`,
      { 'content-type': 'application/x-www-form-urlencoded' },
      { method: 'POST', body: 'logout_token=eyJhbGciOiJub25lIn0.e30.' },
    )
    expect(forged).toMatchObject({ status: 403 })
    expect(forged.text).toContain('TOKEN_REFUSED')
  })

  it('ends at the back channel by the user, where the provider has not named its own session', async () => {
    const [named, unnamed, other] = [visitor(), visitor(), visitor()]
    await named.signIn('alice')
    provider.register(origin, false)
    await unnamed.signIn('alice')
    await other.signIn('bob')
    const body = new URLSearchParams({
      logout_token: await provider.logoutToken({ sub: 'alice', sid: 'another session' }),
    })
    const answer = await visitor().send(
      `${origin}/auth/backchannel-logout`,
      { 'content-type': 'application/x-www-form-urlencoded' },
      { method: 'POST', body: body.toString() },
    )
    provider.register(origin)
    expect(answer.status).toBe(200)
    expect(await unnamed.query(whoAmI)).toMatchObject({ status: 401 })
    expect(await named.query(whoAmI)).toMatchObject({ data: { viewer: alice } })
    expect(await other.query(whoAmI)).toMatchObject({ data: { viewer: bob } })
  })

  it('refuses an answer of the provider that comes again, has another state, or is of another browser', async () => {
    const browser = visitor()
    const last = (next: string): boolean => next.includes('/auth/callback')
    const { url: callback } = await browser.signIn('alice', '/', last)
    const beforeCode = browser.copy()
    const other = new URL(callback)
    other.searchParams.set('state', 'another')
    const wrong = await browser.go(other.href)
    expect(wrong.status).toBe(400)
    expect(wrong.text).toContain('SIGN_IN_EXPIRED')
    expect((await visitor().go(callback)).text).toContain('SIGN_IN_EXPIRED')
    const done = await browser.go(callback, () => true)
    expect(done.status).toBe(303)
    expect((await browser.go(callback)).text).toContain('SIGN_IN_EXPIRED')
    const replayed = await beforeCode.go(callback)
    expect(replayed.status).toBe(403)
    expect(replayed.text).toContain('SIGN_IN_REFUSED')
    expect(await beforeCode.query(whoAmI)).toMatchObject({ status: 401 })
    const denied = visitor()
    const began = await denied.go(`${origin}/auth/login`, (next) => next.startsWith(provider.url))
    const state = new URL(began.url).searchParams.get('state')
    const query = `error=access_denied&error_description=<b>no</b>&state=${state}&iss=${provider.url}`
    const said = await denied.go(`${origin}/auth/callback?${query}`)
    expect(said.status).toBe(403)
    expect(said.text).toContain('access_denied: &lt;b&gt;no&lt;/b&gt;')
  })

  it.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/%2Fevil.example',
    '/%5Cevil.example',
    '/%252Fevil.example',
    '/./%2fevil.example',
    '/.//evil.example',
    '/\tevil',
    'javascript:alert(1)',
    'pods',
  ])('returns to no other place than its own pages: %j', async (address) => {
    const login = `${origin}/auth/login?return=${encodeURIComponent(address)}`
    const answer = await visitor().go(login)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('RETURN_ADDRESS')
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  it('reports each sign-in and sign-out to the audit log and to the metrics, without tokens', async () => {
    const reports: SignInReport[] = []
    const metrics = new GatewayMetrics()
    await using observed = await serveGateway(
      {
        clusters: [{ name: 'one', server: simulator.url }],
        metrics,
        audit: { answered: () => {}, signedIn: (report) => void reports.push(report) },
      },
      {},
      { auth },
    )
    const at = new URL(observed.url).origin
    provider.register(at)
    try {
      const browser = new Visitor(at)
      await browser.signIn('alice')
      await browser.fetch('/auth/logout', { method: 'POST' })
      await fetch(`${at}/auth/callback?code=of-another&state=unknown`)
    } finally {
      provider.register(origin)
    }
    const seen = reports.map(({ viewer, ...rest }) => ({ ...rest, user: viewer?.username }))
    const by = { address: '127.0.0.1', requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) }
    const names = { subject: 'alice', providerSession: expect.any(String) }
    expect(seen).toEqual([
      { event: 'sign-in', code: '', user: 'oidc:alice', ...names, ...by },
      { event: 'sign-out', code: '', user: 'oidc:alice', ...names, ...by },
      { event: 'sign-in', code: 'SIGN_IN_EXPIRED', user: undefined, ...by },
    ])
    const text = await metrics.text()
    expect(text).toContain('informerql_sign_ins_total{event="sign-in",code=""} 1\n')
    expect(text).toContain('informerql_sign_ins_total{event="sign-in",code="SIGN_IN_EXPIRED"} 1\n')
  })

  it('goes on to answer a browser that was sent to begin many sign-ins', async () => {
    const browser = visitor()
    await browser.signIn('alice')
    const begin = (path: string) =>
      browser.send(`${origin}/auth/login?return=${encodeURIComponent(path)}`)
    for (let tab = 0; tab < 10; tab++) {
      const answer = await begin(`/${'a'.repeat(2_500)}`)
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('RETURN_ADDRESS')
      expect((await begin(`/${'a'.repeat(999)}`)).status).toBe(303)
    }
    // Beside a session of the largest size, within the 16 KiB of headers.
    const pending = [...browser.cookies].filter(([name]) => name.includes('login'))
    expect(pending.join().length).toBeLessThan(4_000)
    expect(await browser.query(whoAmI)).toMatchObject({ data: { viewer: alice } })
  })

  it('is optional on this machine alone, and then a session that has ended is refused, too', async () => {
    const clusters = [{ name: 'one', server: simulator.url }]
    const optional = { ...auth, login: { ...auth.login, required: false } }
    await expect(
      serveGateway({ clusters }, { host: '0.0.0.0' }, { auth: optional }),
    ).rejects.toMatchObject({ code: 'UNSAFE_ADDRESS' })
    await using own = await serveGateway({ clusters }, {}, { auth: optional })
    const { origin: there } = new URL(own.url)
    const browser = visitor()
    await browser.signIn('alice')
    // The same secrets: a replica.
    const signedIn = new Visitor(there)
    for (const [name, value] of browser.cookies) signedIn.cookies.set(name, value)
    const left = signedIn.copy()
    expect(await signedIn.query(whoAmI)).toMatchObject({ data: { viewer: alice } })
    await signedIn.fetch('/auth/logout', { method: 'POST' })
    expect(await left.query(whoAmI)).toMatchObject({ status: 401 })
  })

  it('takes the cookie from pages of its own origin alone', async () => {
    const browser = visitor()
    await browser.signIn('alice')
    const cookie = browser.cookieFor(origin)
    for (const foreign of ['https://evil.example', origin.replace('http:', 'https:'), 'null']) {
      const answer = await browser.query(whoAmI, foreign)
      expect([401, 403], foreign).toContain(answer.status)
      using socket = openSessionSocket(gateway.url, { cookie, origin: foreign })
      expect(await socket.opened).toBe(false)
    }
    using unnamed = openSessionSocket(gateway.url, { cookie })
    expect(await unnamed.closed).toBe(4401)
    const post = { method: 'POST', body: JSON.stringify({ query: whoAmI }) }
    const json = { 'content-type': 'application/json' }
    // A POST names its origin in every browser.
    expect((await browser.send(gateway.url, json, post)).status).toBe(401)
    const sameSite = { ...json, origin, 'sec-fetch-site': 'same-site' }
    expect((await browser.send(gateway.url, sameSite, post)).status).toBe(401)
    expect(
      (await browser.fetch('/auth/logout', { method: 'POST' }, 'https://evil.example')).status,
    ).toBe(403)
    expect(await browser.go(`${origin}/auth/logout`)).toMatchObject({ status: 200 })
    expect(await browser.query(whoAmI)).toMatchObject({ data: { viewer: alice } })
  })

  it('says in a page that the provider does not answer, and keeps the sessions that last', async () => {
    const browser = visitor()
    await browser.signIn('alice')
    provider.broken = true
    await using fresh = await serve()
    const page = await new Visitor(new URL(fresh.url).origin).go(
      `${new URL(fresh.url).origin}/auth/login`,
    )
    expect(page.status).toBe(503)
    expect(page.text).toContain('PROVIDER_UNAVAILABLE')
    expect(await browser.query(whoAmI)).toMatchObject({ data: { viewer: alice } })
    expect(await browser.me()).toMatchObject({ signedIn: true })
  })

  it('opens sessions of an earlier secret, and of no other one', async () => {
    const browser = visitor()
    await browser.signIn('alice')
    const secretsOf = async (...secrets: readonly string[]): Promise<string> => {
      const file = join(dir, 'other-secrets')
      await writeFile(file, secrets.join('\n'))
      return file
    }
    const seenAt = async (served: ServedGateway): Promise<unknown> => {
      const there = new Visitor(new URL(served.url).origin)
      for (const [name, value] of browser.cookies) there.cookies.set(name, value)
      return there.query(whoAmI)
    }
    const rotated = await secretsOf('n'.repeat(40), 's'.repeat(40))
    await using after = await serve({ sessionSecretFile: rotated })
    expect(await seenAt(after)).toMatchObject({ data: { viewer: alice } })
    const foreign = await secretsOf('n'.repeat(40))
    await using other = await serve({ sessionSecretFile: foreign })
    expect(await seenAt(other)).toMatchObject({ status: 401 })
    const short = await secretsOf('short')
    await expect(serve({ sessionSecretFile: short })).rejects.toThrow(
      'auth.login.sessionSecretFile',
    )
  })

  it('knows the user by the access token, where API servers get that one', async () => {
    await using served = await serve({ apiServerToken: 'access' })
    const there = new URL(served.url).origin
    provider.register(there)
    const browser = new Visitor(there)
    try {
      await browser.signIn('alice')
    } finally {
      provider.register(origin)
    }
    expect(await browser.query(whoAmI)).toMatchObject({
      data: { viewer: { username: 'oidc:alice' } },
    })
  })

  it('behind a proxy is at the address that browsers see, and for its pages alone', async () => {
    const seen = 'https://portal.example.com'
    await using served = await serveGateway(
      { clusters: [{ name: 'one', server: simulator.url }] },
      { publicUrl: seen },
      { auth },
    )
    const there = new URL(served.url).origin
    const began = await visitor().send(`${there}/auth/login`, { host: 'portal.example.com' })
    const { searchParams } = new URL(began.headers.location ?? '')
    expect(searchParams.get('redirect_uri')).toBe(`${seen}/auth/callback`)
    expect(searchParams.get('code_challenge_method')).toBe('S256')
    const browser = visitor()
    await browser.signIn('alice')
    const cookie = browser.cookieFor(origin)
    const asked = async (from: string): Promise<number> => {
      const headers = { host: 'portal.example.com', origin: from, cookie }
      const body = JSON.stringify({ query: whoAmI })
      const json = { ...headers, 'content-type': 'application/json' }
      return (await visitor().send(served.url, json, { method: 'POST', body })).status
    }
    expect(await asked(seen)).toBe(200)
    expect(await asked('http://portal.example.com')).toBe(401)
  })

  it('holds the tokens of a user with many groups in several cookies, and refuses what does not fit', async () => {
    const browser = visitor()
    await browser.signIn('carol')
    const names = [...browser.cookies.keys()].filter((name) => name.includes('session'))
    expect(names).toEqual(['__Host-informerql-session', '__Host-informerql-session-1'])
    const { viewer } = (await browser.query(whoAmI)).data as { viewer: { groups: string[] } }
    expect(viewer.groups).toHaveLength(101)
    // The next user of the browser needs one.
    const other = visitor()
    for (const [name, value] of browser.cookies) other.cookies.set(name, value)
    await other.signIn('alice')
    expect([...other.cookies.keys()]).toEqual(['__Host-informerql-session'])
    expect(await other.query(whoAmI)).toMatchObject({ data: { viewer: alice } })
    const page = await visitor().signIn('dave')
    expect(page.status).toBe(403)
    expect(page.text).toContain('SESSION_TOO_LARGE')
  })

  it('is refused with a page that says why, where the token is not one that the gateway takes', async () => {
    await using strict = await serveGateway(
      { clusters: [{ name: 'one', server: simulator.url }] },
      {},
      { auth: { ...auth, audiences: ['another-client'] } },
    )
    const there = new URL(strict.url).origin
    provider.register(there)
    try {
      const page = await new Visitor(there).signIn('alice')
      expect(page.status).toBe(403)
      expect(page.text).toContain('TOKEN_REFUSED')
      expect(page.text).toContain('auth.audiences')
    } finally {
      provider.register(origin)
    }
  })
})

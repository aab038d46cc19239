import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AuthenticationOptions } from 'informerql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSessionSocket } from '../access/session-socket.ts'
import {
  type SignInAuth,
  signInAuth,
  type SignInProvider,
  startSignInProvider,
} from '../access/sign-in-provider.ts'
import { Visitor } from '../access/visitor.ts'
import { type GraphQLAnswer, serveGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { freePort, SharedGateways, type SharingGateway } from './shared-gateways.ts'

const patience = { timeout: 60_000, interval: 200 }
const count = 12
const all = '{ pods(clusters: ["*"]) { totalCount } }'
const whole = { data: { pods: { totalCount: count } } }
const refused = { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }

describe('a session that begins at one of the gateways that share clusters', needsPostgres, () => {
  const stack = new AsyncDisposableStack()
  let dir = ''
  let shared: SharedGateways
  let provider: SignInProvider
  let auth: SignInAuth
  let here: SharingGateway
  let there: SharingGateway

  const serve = async (
    login: Partial<AuthenticationOptions['login']> = {},
  ): Promise<SharingGateway> => {
    const port = await freePort()
    const address = `http://127.0.0.1:${port}`
    const gateway = await serveGateway(
      { ...shared.options, share: { address } },
      { port },
      { auth: { ...auth, login: { ...auth.login, ...login } } },
    )
    return { ...gateway, address }
  }

  /** Asks as a page of the gateway itself, with a cookie. */
  const ask = async (
    { address, url }: SharingGateway,
    query: string,
    cookie: string,
  ): Promise<GraphQLAnswer> => {
    const { text } = await new Visitor(address).send(
      url,
      {
        'content-type': 'application/json',
        'sec-fetch-site': 'same-origin',
        origin: address,
        cookie,
      },
      { method: 'POST', body: JSON.stringify({ query }) },
    )
    return JSON.parse(text) as GraphQLAnswer
  }

  const heldBy = async (gateway: SharingGateway, cookie: string): Promise<string> => {
    const { data } = await ask(here, '{ gatewayClusters { name holder } }', cookie)
    const holder = gateway.address
    return data?.gatewayClusters.find((one: { holder: unknown }) => one.holder === holder)?.name
  }

  const aboutOne = (name: string): string =>
    `{ viewer { username } pods(cluster: "${name}") { totalCount } }`
  const one = { data: { viewer: { username: 'oidc:alice' }, pods: { totalCount: 1 } } }

  const signedIn = async (): Promise<Visitor> => {
    const browser = new Visitor(here.address)
    await browser.signIn('alice')
    return browser
  }

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'shared-sessions-'))
    stack.defer(() => rm(dir, { recursive: true }))
    shared = stack.use(await SharedGateways.start(count))
    provider = stack.use(await startSignInProvider())
    auth = await signInAuth(provider, dir)
    here = stack.use(await serve())
    there = stack.use(await serve())
    provider.register(here.address)
  }, 240_000)

  afterAll(async () => {
    await stack.disposeAsync()
  })

  it('holds at the others, for what is merged and what goes on to one of them, also by WebSocket', async () => {
    const browser = await signedIn()
    const cookie = browser.cookieFor(here.address)
    await expect.poll(() => heldBy(here, cookie), patience).toBeDefined()
    await expect.poll(() => heldBy(there, cookie), patience).toBeDefined()
    const clusters = [await heldBy(here, cookie), await heldBy(there, cookie)]
    for (const gateway of [here, there]) {
      await expect.poll(() => ask(gateway, all, cookie), patience).toEqual(whole)
      using socket = openSessionSocket(gateway.url, { cookie, origin: gateway.address })
      expect(await socket.opened).toBe(true)
      expect(await socket.ask(all)).toEqual(whole)
      for (const cluster of clusters) {
        expect(await ask(gateway, aboutOne(cluster), cookie)).toEqual(one)
        expect(await socket.ask(aboutOne(cluster))).toEqual(one)
      }
      const live = await socket.ask('subscription { pods(clusters: ["*"]) { reset } }')
      expect(live).toEqual({ data: { pods: { reset: true } } })
    }
  })

  it('ends at the gateway where its user signs out, also for what others ask it', async () => {
    const browser = await signedIn()
    const cookie = browser.cookieFor(here.address)
    // Until no more clusters go from one to the other.
    let before = ''
    for (let stable = 0; stable < 15; await sleep(200)) {
      const holders = JSON.stringify(await ask(there, '{ gatewayClusters { holder } }', cookie))
      stable = holders === before ? stable + 1 : 0
      before = holders
    }
    const cluster = await heldBy(here, cookie)
    expect(await ask(there, aboutOne(cluster), cookie)).toEqual(one)
    expect((await browser.fetch('/auth/logout', { method: 'POST' })).status).toBe(200)
    expect(await ask(here, all, cookie)).toMatchObject(refused)
    // A copy of the cookie is known there until its token ends.
    expect(await ask(there, aboutOne(cluster), cookie)).toMatchObject(refused)
    const { data } = await ask(there, all, cookie)
    expect(data.pods.totalCount).toBeLessThan(count)
    // The browser says itself that the session has ended.
    const both = `${cookie}; ${browser.cookieFor(here.address)}`
    expect(await ask(there, all, both)).toMatchObject(refused)
    expect(await ask(there, all, cookie)).toMatchObject(refused)
  })

  it('is told in the log where a gateway has other secrets', async () => {
    const sessionSecretFile = join(dir, 'other')
    await writeFile(sessionSecretFile, 'o'.repeat(40))
    await using other = await serve({ sessionSecretFile })
    const cookie = (await signedIn()).cookieFor(here.address)
    await expect.poll(() => heldBy(other, cookie), patience).toBeDefined()
    const asked = aboutOne(await heldBy(other, cookie))
    expect(await ask(here, asked, cookie)).toMatchObject(refused)
    expect(here.log.join('\n')).toContain(
      'refuses the credentials of a caller, which this gateway accepts',
    )
  })

  it('needs secrets that all of them know', async () => {
    await expect(serve({ sessionSecretFile: undefined })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'auth.login.sessionSecretFile',
    })
  })
})

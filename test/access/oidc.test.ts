import { once } from 'node:events'
import type { AuthenticationOptions, Viewer } from 'informerql'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createCertificateAuthority } from '../api-server/certificates.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { openSessionSocket } from './session-socket.ts'
import { startTokenIssuer, type TokenIssuer } from './token-issuer.ts'

const query = '{ gatewayClusters { name } }'
const answer = { data: { gatewayClusters: [{ name: 'one' }] } }
const unauthenticated = { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }
const defaults = {
  algorithms: ['RS256'],
  usernameClaim: 'sub',
  groupsPrefix: '',
  extraClaims: {},
  requiredClaims: {},
}

describe('JWTs of an OpenID Connect issuer', () => {
  let simulator: Simulator
  let issuer: TokenIssuer
  let gateway: ServedGateway
  let viewers: (Viewer | undefined)[] = []

  const serve = (
    oidc: Partial<AuthenticationOptions['oidc']> = {},
    auth: Partial<AuthenticationOptions> = {},
  ): Promise<ServedGateway> =>
    serveGateway(
      { clusters: [{ name: 'one', server: simulator.url }] },
      {},
      {
        auth: {
          ...auth,
          mode: 'oidc',
          audiences: ['gateway', 'portal'],
          oidc: { ...defaults, issuer: issuer.url, ...oidc },
        },
        context: ({ viewer }) => {
          viewers.push(viewer)
          return {}
        },
      },
    )
  /** Who a token makes of its bearer; `undefined`: nobody. */
  const viewerOf = async (served: ServedGateway, token: string): Promise<Viewer | undefined> => {
    viewers = []
    const answered = await served.as(token).query(query)
    if (answered.errors !== undefined) expect(answered).toMatchObject(unauthenticated)
    return viewers[0]
  }

  beforeAll(async () => {
    simulator = await startSimulator()
    issuer = await startTokenIssuer()
    gateway = await serve()
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await issuer[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  it('are verified here, by HTTP and by WebSocket', async () => {
    const token = await issuer.sign({ sub: 'ann' })
    const caller = gateway.as(token)
    viewers = []
    expect(await caller.query(query)).toEqual(answer)
    expect(await firstAnswer(caller.connect(), query)).toEqual(answer)
    const ann = {
      username: `${issuer.url}#ann`,
      uid: '',
      groups: ['system:authenticated'],
      extra: {},
    }
    expect(viewers).toEqual([ann, ann])
    expect(issuer.reads()).toBe(1)
  })

  it.each<[string, object, object, Partial<Viewer> | undefined]>([
    ['a prefix of names', { usernamePrefix: 'oidc:' }, { sub: 'ann' }, { username: 'oidc:ann' }],
    ['no prefix', { usernamePrefix: '-' }, { sub: 'ann' }, { username: 'ann' }],
    ['an email', { usernameClaim: 'email' }, { email: 'a@b.c' }, { username: 'a@b.c' }],
    [
      'an email that is verified',
      { usernameClaim: 'email' },
      { email: 'a@b.c', email_verified: true },
      { username: 'a@b.c' },
    ],
    [
      'one that is not',
      { usernameClaim: 'email' },
      { email: 'a@b.c', email_verified: false },
      undefined,
    ],
    ['no name', { usernameClaim: 'email' }, { sub: 'ann' }, undefined],
    [
      'groups',
      { groupsClaim: 'roles', groupsPrefix: 'oidc:' },
      { sub: 'ann', roles: ['a', 'b', 'a'] },
      { groups: ['oidc:a', 'oidc:b', 'system:authenticated'] },
    ],
    [
      'one group',
      { groupsClaim: 'role' },
      { sub: 'ann', role: 'a' },
      { groups: ['a', 'system:authenticated'] },
    ],
    ['groups that are none', { groupsClaim: 'role' }, { sub: 'ann', role: [1] }, undefined],
    ['a uid', { uidClaim: 'sub' }, { sub: 'ann' }, { uid: 'ann' }],
    [
      'extra',
      { extraClaims: { 'example.com/tenant': 'tenant' } },
      { sub: 'ann', tenant: 'red' },
      { extra: { 'example.com/tenant': ['red'] } },
    ],
    ['a claim as it has to be', { requiredClaims: { hd: 'b.c' } }, { sub: 'ann', hd: 'b.c' }, {}],
    [
      'one as it must not be',
      { requiredClaims: { hd: 'b.c' } },
      { sub: 'ann', hd: 'x' },
      undefined,
    ],
    ['one of several audiences', {}, { sub: 'ann', aud: ['x', 'portal'] }, {}],
  ])('are read as the API server reads them: %s', async (_, oidc, claims, expected) => {
    await using served = await serve(oidc)
    const viewer = await viewerOf(served, await issuer.sign({ ...claims }))
    expect([viewer]).toMatchObject([expected])
  })

  it('are refused where they are not for the gateway, not of the issuer, old, or not signed by its keys', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    const claims = { sub: 'ann' }
    const valid = await issuer.sign(claims)
    const [header = '', payload = '', signature = ''] = valid.split('.')
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
    const other = Buffer.from('{"sub":"root"}').toString('base64url')
    for (const token of [
      await issuer.sign({ ...claims, aud: 'others' }),
      await issuer.sign(claims, { issuer: 'https://id.example.com' }),
      await issuer.sign(claims, { expiresAt: '-1s' }),
      await issuer.sign(claims, { key: privateKey }),
      `${header}.${other}.${signature}`,
      `${unsigned}.${payload}.`,
      'no.jwt.atall',
      'opaque',
    ]) {
      expect(await viewerOf(gateway, token)).toBeUndefined()
    }
    expect(await viewerOf(gateway, await issuer.sign(claims, { kid: false }))).toBeDefined()
  })

  it('by new keys are accepted, and those by keys that were withdrawn are not', async () => {
    await using own = await startTokenIssuer()
    await using served = await serve({ issuer: own.url }, { knownMs: 1_000 })
    const before = await own.sign({ sub: 'ann' })
    expect(await viewerOf(served, before)).toBeDefined()
    await own.rotate()
    await expect.poll(async () => viewerOf(served, await own.sign({ sub: 'ann' }))).toBeDefined()
    await expect
      .poll(async () => viewerOf(served, before), { timeout: 60_000, interval: 500 })
      .toBeUndefined()
  })

  it('cannot be verified while the issuer does not answer, which is said as such, and passes', async () => {
    await using own = await startTokenIssuer()
    await using served = await serve({ issuer: own.url })
    own.broken = true
    const token = await own.sign({ sub: 'ann' })
    expect(await served.as(token).query(query)).toMatchObject({
      errors: [{ extensions: { code: 'IDENTITY_UNAVAILABLE' } }],
    })
    own.broken = false
    expect(await served.as(token).query(query)).toEqual(answer)
    expect(served.log.join('\n')).toContain('tokens cannot be verified')
  })

  it('end the WebSocket when they expire, and its client may come back', async () => {
    const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws')
    await once(socket, 'open')
    const token = await issuer.sign({ sub: 'ann' }, { expiresAt: '2s' })
    const payload = { authorization: `Bearer ${token}` }
    socket.send(JSON.stringify({ type: 'connection_init', payload }))
    await once(socket, 'message')
    const [code] = (await once(socket, 'close')) as [number]
    expect(code).toBe(4403)
    expect(await viewerOf(gateway, token)).toBeUndefined()
  })

  it('let a WebSocket that is open last longer, where a ping brings a newer one of the same user', async () => {
    const first = await issuer.sign({ sub: 'ann' }, { expiresAt: '2s' })
    const headers = { authorization: `Bearer ${first}` }
    using lasting = openSessionSocket(gateway.url, headers)
    using refused = openSessionSocket(gateway.url, headers)
    expect(await Promise.all([lasting.opened, refused.opened])).toEqual([true, true])
    await lasting.ping({ authorization: `Bearer ${await issuer.sign({ sub: 'ann' })}` })
    await refused.ping({ authorization: `Bearer ${await issuer.sign({ sub: 'bob' })}` })
    expect(await refused.closed).toBe(4403)
    expect(await lasting.ask(query)).toEqual(answer)
  })

  it('cut off the stream of events that they opened when they expire', async () => {
    const token = await issuer.sign({ sub: 'ann' }, { expiresAt: '2s' })
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ query: 'subscription { nodes { synced } }' }),
      signal: AbortSignal.timeout(20_000),
    })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow('terminated')
  })

  it('are trusted by the certificates of a private CA', async () => {
    await using authority = await createCertificateAuthority()
    const tls = await authority.issue({ name: 'issuer' })
    await using own = await startTokenIssuer({ tls })
    const token = await own.sign({ sub: 'ann' })
    await using trusting = await serve({ issuer: own.url, caFile: authority.caFile })
    expect(await viewerOf(trusting, token)).toBeDefined()
    await using other = await serve({ issuer: own.url })
    expect(await other.as(token).query(query)).toMatchObject({
      errors: [{ extensions: { code: 'IDENTITY_UNAVAILABLE' } }],
    })
  })

  it('need an issuer and an audience', async () => {
    const clusters = [{ name: 'one', server: simulator.url }]
    const start = (auth: object): Promise<unknown> =>
      serveGateway({ clusters }, {}, { auth: { mode: 'oidc', ...auth } })
    await expect(start({})).rejects.toThrow('auth.oidc is missing')
    await expect(start({ oidc: { ...defaults, issuer: issuer.url } })).rejects.toThrow(
      'auth.audiences is empty',
    )
  })
})

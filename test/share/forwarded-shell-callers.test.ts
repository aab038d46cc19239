import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultAuthenticationOptions } from 'informerql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signInAuth, startSignInProvider } from '../access/sign-in-provider.ts'
import { Visitor } from '../access/visitor.ts'
import {
  type Certificate,
  type CertificateAuthority,
  createCertificateAuthority,
} from '../api-server/certificates.ts'
import { openShell, type ShellClient, type ShellTls } from '../exec/shell-client.ts'
import { needsPostgres } from '../support/postgres.ts'
import { grant, type ShellGateways, startShellGateways } from './shell-gateways.ts'

describe('a shell of a session, in a cluster that another gateway holds', needsPostgres, () => {
  const stack = new AsyncDisposableStack()
  const tools = 'https://tools.example'
  let gateways: ShellGateways

  beforeAll(async () => {
    const dir = await mkdtemp(join(tmpdir(), 'shell-sessions-'))
    stack.defer(() => rm(dir, { recursive: true }))
    const provider = stack.use(await startSignInProvider())
    const auth = await signInAuth(provider, dir)
    gateways = stack.use(
      await startShellGateways({ auth, isOpen: true, exec: { allowedOrigins: [tools] } }),
    )
    provider.register(gateways.here.address)
  }, 240_000)

  afterAll(() => stack.disposeAsync())

  const signedIn = async (): Promise<Visitor> => {
    const visitor = new Visitor(gateways.here.address)
    await visitor.signIn('alice')
    return visitor
  }
  const open = async (cookie: string, origin = gateways.here.address): Promise<ShellClient> => {
    const { here, cluster } = gateways
    return await openShell(here.url, { cluster }, { cookie, origin })
  }

  it('opens by its cookie through the gateway where it began, as its user, and ends when the user signs out', async () => {
    const { here, there } = gateways
    const visitor = await signedIn()
    using shell = await open(visitor.cookieFor(here.address))
    await shell.printed('# ')
    shell.type('echo by a cookie\r')
    await shell.printed('\nby a cookie')
    expect(there.began.map(({ viewer }) => viewer?.username)).toEqual(['oidc:alice'])
    expect(here.began).toEqual([])
    expect((await visitor.fetch('/auth/logout', { method: 'POST' })).status).toBe(200)
    expect(await shell.ended()).toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(shell.closed?.code).toBe(4401)
    await expect.poll(() => there.ended.length).toBe(1)
  })

  it('does not open by the cookie for a page of another origin, also of one that may open shells', async () => {
    const { here, there } = gateways
    const before = there.began.length
    const cookie = (await signedIn()).cookieFor(here.address)
    using shell = await open(cookie, tools)
    expect(await shell.ended()).toMatchObject({ code: 'UNAUTHENTICATED' })
    await expect(open(cookie, 'https://evil.example')).rejects.toThrow('403')
    await expect(open(cookie, there.address)).rejects.toThrow('403')
    expect(there.began).toHaveLength(before)
    expect(there.refused).toEqual([])
  })
})

describe('shells between gateways with TLS', needsPostgres, () => {
  const stack = new AsyncDisposableStack()
  let authority: CertificateAuthority
  let own: Certificate

  beforeAll(async () => {
    authority = stack.use(await createCertificateAuthority())
    own = await authority.issue({ name: 'gateway' })
  })

  afterAll(() => stack.disposeAsync())

  const server = (): { tlsCert: string; tlsKey: string } => ({
    tlsCert: own.certFile,
    tlsKey: own.keyFile,
  })

  it('open by the token of the caller, and go on', async () => {
    await using gateways = await startShellGateways({
      server: server(),
      share: { caFile: authority.caFile },
    })
    const { here, there, cluster } = gateways
    const start = { authorization: 'Bearer of-ann', cluster }
    using shell = await openShell(here.url, start, {}, { ca: authority.ca })
    await shell.printed('# ')
    shell.type('echo by TLS\r')
    await shell.printed('\nby TLS')
    shell.type('exit 4\r')
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 4 })
    expect(there.ended).toMatchObject([{ outcome: 'EXITED', exitCode: 4 }])
  }, 240_000)

  it('do not open at a gateway whose certificate is of another CA, and the log names the option', async () => {
    const stranger = stack.use(await createCertificateAuthority('another-ca'))
    await using gateways = await startShellGateways({
      server: server(),
      share: { caFile: stranger.caFile },
    })
    const { here, there, cluster } = gateways
    const start = { authorization: 'Bearer of-ann', cluster }
    using shell = await openShell(here.url, start, {}, { ca: authority.ca })
    expect(await shell.ended()).toMatchObject({ code: 'CLUSTER_UNREACHABLE', retryAfterMs: 1_000 })
    expect(here.log.join('\n')).toContain('share.caFile')
    expect([...there.began, ...there.refused]).toEqual([])
  }, 240_000)

  describe('behind a proxy that signs users in', () => {
    let gateways: ShellGateways
    let proxy: Certificate

    beforeAll(async () => {
      proxy = await authority.issue({ name: 'front-proxy' })
      const { certFile, keyFile } = await authority.issue({ name: 'a-gateway' })
      const { requestHeader } = defaultAuthenticationOptions()
      const allowedNames = ['front-proxy', 'a-gateway']
      gateways = stack.use(
        await startShellGateways({
          server: { ...server(), tlsClientCa: authority.caFile },
          share: { caFile: authority.caFile, certFile, keyFile },
          auth: { mode: 'request-header', requestHeader: { ...requestHeader, allowedNames } },
        }),
      )
      grant(gateways.simulator.storage, 'shell-users', undefined, {
        kind: 'Group',
        name: 'shell-users',
      })
    }, 240_000)

    const as = (user: string, groups: string[] = []): Record<string, string | string[]> => ({
      'x-remote-user': user,
      'x-remote-group': groups,
    })
    const ended = async (
      headers: Record<string, string | string[]>,
      certificate: Partial<Certificate> = proxy,
      url = gateways.here.url,
    ): Promise<unknown> => {
      const { cluster } = gateways
      const { cert, key } = certificate
      const tls: ShellTls = { ca: authority.ca, ...(cert && key ? { cert, key } : {}) }
      using shell = await openShell(url, { cluster }, headers, tls)
      return await shell.ended()
    }

    it('are those of whom the proxy has named: the holder reviews their rights, and needs a token of their own', async () => {
      const { here, there } = gateways
      expect(await ended(as('zoe'))).toMatchObject({ code: 'FORBIDDEN' })
      // A right of the group, so that the holder knows the groups, too. The gateways impersonate nobody.
      expect(await ended(as('zoe', ['shell-users', 'night, shift']))).toMatchObject({
        code: 'TOKEN_NEEDED',
      })
      const viewers = there.refused.map(({ viewer, outcome }) => [outcome, viewer?.username])
      expect(viewers).toEqual([
        ['FORBIDDEN', 'zoe'],
        ['TOKEN_NEEDED', 'zoe'],
      ])
      expect(there.refused[1]?.viewer?.groups).toEqual([
        'shell-users',
        'night, shift',
        'system:authenticated',
      ])
      expect(here.refused).toEqual([])
    })

    it('are refused to those who name themselves, with and without the header of a gateway', async () => {
      const { here, there } = gateways
      const before = there.refused.length
      const somebody = await authority.issue({ name: 'somebody' })
      const forged = { ...as('zoe', ['shell-users']), 'informerql-forwarded': here.address }
      for (const { url } of [here, there]) {
        for (const certificate of [{}, somebody]) {
          for (const headers of [as('zoe', ['shell-users']), forged]) {
            expect(await ended(headers, certificate, url)).toMatchObject({
              code: 'UNAUTHENTICATED',
            })
          }
        }
      }
      expect(there.refused).toHaveLength(before)
    })
  })
})

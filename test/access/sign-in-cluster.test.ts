import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuthenticationOptions } from 'informerql'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '../api-server/certificates.ts'
import { type ControlPlane, findControlPlane, startControlPlane } from '../support/control-plane.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { openSessionSocket } from './session-socket.ts'
import { signInAuth, type SignInProvider, startSignInProvider } from './sign-in-provider.ts'
import { Visitor } from './visitor.ts'

const startMs = 180_000
const rbac = '/apis/rbac.authorization.k8s.io/v1'
/** Makes a ConfigMap. */
const created = (namespace: string): string =>
  `mutation { apply(manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: by-alice, namespace: ${namespace}}}") { __typename } }`
const secrets = '{ secrets { nodes { namespace name data } } }'

describe.skipIf(!('binDir' in findControlPlane()))(
  'a session, where a real API server trusts the same provider:',
  () => {
    let dir: string
    let authority: CertificateAuthority
    let provider: SignInProvider
    let plane: ControlPlane
    let gateway: ServedGateway
    let origin: string

    const make = async (path: string, body: object): Promise<void> => {
      const { status, text } = await plane.request(path, { method: 'POST', body })
      expect([201, 409], text).toContain(status)
    }
    const visitor = (): Visitor => new Visitor(origin, authority.ca)

    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), 'sign-in-cluster-'))
      authority = await createCertificateAuthority()
      provider = await startSignInProvider({ tls: await authority.issue({ name: 'provider' }) })
      plane = await startControlPlane({
        serverFlags: [
          `--oidc-issuer-url=${provider.url}`,
          `--oidc-ca-file=${authority.caFile}`,
          '--oidc-client-id=gateway',
          '--oidc-username-claim=sub',
          '--oidc-username-prefix=oidc:',
          '--oidc-groups-claim=groups',
          '--oidc-groups-prefix=oidc:',
        ],
      })
      const resources = ['secrets', 'configmaps']
      const rules = [
        { apiGroups: [''], resources, verbs: ['get', 'list', 'watch', 'create', 'patch'] },
      ]
      await make(`${rbac}/clusterroles`, { metadata: { name: 'team' }, rules })
      for (const team of ['payments', 'orders']) {
        const metadata = { name: team }
        const namespaced = `${rbac}/namespaces/${team}/rolebindings`
        await make('/api/v1/namespaces', { metadata })
        await make(`/api/v1/namespaces/${team}/secrets`, { metadata, stringData: { of: team } })
        await make(namespaced, {
          metadata,
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'team' },
          subjects: [
            { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: `oidc:${team}` },
          ],
        })
      }
      const { oidc, login, ...others } = await signInAuth(provider, dir)
      const auth: AuthenticationOptions = {
        ...others,
        oidc: { ...oidc, caFile: authority.caFile },
        login: { ...login, bearerTokens: 'token-review' },
      }
      const clusters = [{ name: 'one', kubeconfig: plane.kubeconfigPath }]
      gateway = await serveGateway({ clusters, secretData: true, allowWrites: true }, {}, { auth })
      ;({ origin } = new URL(gateway.url))
      provider.register(origin)
    }, startMs)
    afterAll(async () => {
      await (gateway as ServedGateway | undefined)?.[Symbol.asyncDispose]()
      await (plane as ControlPlane | undefined)?.[Symbol.asyncDispose]()
      await provider[Symbol.asyncDispose]()
      await authority[Symbol.asyncDispose]()
      await rm(dir, { recursive: true })
    })

    const secretOf = (team: string): object => ({
      data: {
        secrets: {
          nodes: [
            { namespace: team, name: team, data: { of: Buffer.from(team).toString('base64') } },
          ],
        },
      },
    })

    it('reads and writes there with the own token of its user', async () => {
      const [alice, bob] = [visitor(), visitor()]
      await alice.signIn('alice')
      await bob.signIn('bob')
      // The API server looks for the provider's keys every few seconds, until it has found them.
      await vi.waitUntil(async () => (await alice.query(secrets)).errors === undefined, 60_000)
      expect(await alice.query(secrets)).toMatchObject(secretOf('payments'))
      expect(await bob.query(secrets)).toMatchObject(secretOf('orders'))
      expect(await alice.query(created('payments'))).not.toHaveProperty('errors')
      const refused = await alice.query(created('orders'))
      expect(refused).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] })
      expect(await alice.query(created('payments'), 'https://evil.example')).not.toHaveProperty(
        'data',
      )
    })

    it('goes on with a renewed token, and ends when its user signs out', async () => {
      provider.tokenSeconds = 8
      const alice = visitor()
      await alice.signIn('alice')
      const cookie = alice.cookieFor(origin)
      const { expiresInMs = 0 } = await alice.me()
      const firstEndMs = Date.now() + expiresInMs
      using socket = openSessionSocket(gateway.url, { cookie, origin })
      expect(await socket.opened).toBe(true)
      expect(await socket.ask(secrets)).toMatchObject(secretOf('payments'))
      provider.tokenSeconds = 300
      await vi.waitUntil(async () => ((await alice.me()).expiresInMs ?? 0) > 60_000, 20_000)
      // A kube-apiserver tolerates no expired token, whatever the clocks say a moment earlier.
      await vi.waitUntil(() => Date.now() > firstEndMs + 1_000, 20_000)
      expect(await alice.query(secrets)).toMatchObject(secretOf('payments'))
      expect(await socket.ask(secrets)).toMatchObject(secretOf('payments'))
      const stolen = alice.copy()
      await alice.fetch('/auth/logout', { method: 'POST' })
      expect(await socket.closed).toBe(4403)
      expect(await alice.query(secrets)).toMatchObject({ status: 401 })
      expect(await stolen.query(created('payments'))).toMatchObject({
        status: 401,
        errors: [{ message: 'the session has ended' }],
      })
    })

    it('goes side by side with bearer tokens that the API server reviews', async () => {
      await make('/api/v1/namespaces/payments/serviceaccounts', { metadata: { name: 'robot' } })
      const path = '/api/v1/namespaces/payments/serviceaccounts/robot/token'
      const { text } = await plane.request(path, { method: 'POST', body: { spec: {} } })
      const { token } = (JSON.parse(text) as { readonly status: { readonly token: string } }).status
      expect(await gateway.as(token).query('{ viewer { username } }')).toEqual({
        data: { viewer: { username: 'system:serviceaccount:payments:robot' } },
      })
    })
  },
)

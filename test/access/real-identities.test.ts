import type { AuthenticationOptions, Viewer } from 'informerql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createCertificateAuthority,
  type CertificateAuthority,
} from '../api-server/certificates.ts'
import { type ControlPlane, findControlPlane, startControlPlane } from '../support/control-plane.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { startTokenIssuer, type TokenIssuer } from './token-issuer.ts'

const found = findControlPlane()
const isThere = 'binDir' in found
const query = '{ gatewayClusters { name } }'
const startMs = 180_000

describe.skipIf(!isThere)('who asks is the same to the gateway as to a real API server:', () => {
  let plane: ControlPlane
  let authority: CertificateAuthority
  let issuer: TokenIssuer
  let viewers: (Viewer | undefined)[] = []

  beforeAll(async () => {
    authority = await createCertificateAuthority()
    issuer = await startTokenIssuer({ tls: await authority.issue({ name: 'issuer' }) })
    plane = await startControlPlane({
      serverFlags: [
        `--oidc-issuer-url=${issuer.url}`,
        `--oidc-ca-file=${authority.caFile}`,
        '--oidc-client-id=gateway',
        '--oidc-groups-claim=roles',
        '--oidc-groups-prefix=oidc:',
        '--oidc-required-claim=hd=example.com',
      ],
    })
  }, startMs)
  afterAll(async () => {
    await (plane as ControlPlane | undefined)?.[Symbol.asyncDispose]()
    await issuer[Symbol.asyncDispose]()
    await authority[Symbol.asyncDispose]()
  })

  const serve = (
    auth: Partial<AuthenticationOptions>,
    options: { readonly secretData?: boolean } = {},
  ): Promise<ServedGateway> =>
    serveGateway(
      { clusters: [{ name: 'one', kubeconfig: plane.kubeconfigPath }], ...options },
      {},
      {
        auth,
        context: ({ viewer }) => {
          viewers.push(viewer)
          return {}
        },
      },
    )
  /** What the API server says of the bearer of a token; `undefined`: nobody. */
  const knownThere = async (token: string): Promise<Viewer | undefined> => {
    const { status, text } = await plane.request(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      {
        method: 'POST',
        token,
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      },
    )
    if (status === 401) return undefined
    expect(status, text).toBe(201)
    const { userInfo } = (JSON.parse(text) as SelfSubjectReview).status
    return { uid: '', groups: [], extra: {}, ...userInfo }
  }
  /** What the gateway says, by both transports. */
  const knownHere = async (gateway: ServedGateway, token: string): Promise<Viewer | undefined> => {
    viewers = []
    const caller = gateway.as(token)
    const { errors } = await caller.query(query)
    if (errors !== undefined) {
      expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED')
      return undefined
    }
    await firstAnswer(caller.connect(), query)
    const [viewer, again] = viewers
    expect(again).toEqual(viewer)
    return viewer
  }
  const tokenFor = async (account: string, spec: object): Promise<string> => {
    const path = `/api/v1/namespaces/default/serviceaccounts/${account}/token`
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
    const { status, text } = await plane.request(path, { method: 'POST', body })
    expect(status, text).toBe(201)
    return (JSON.parse(text) as TokenRequest).status.token
  }

  /** The options of `oidc` that say what the flags of the API server say. */
  const byIssuer = (): Partial<AuthenticationOptions> => ({
    mode: 'oidc',
    audiences: ['gateway'],
    oidc: {
      issuer: issuer.url,
      caFile: authority.caFile,
      algorithms: ['RS256'],
      usernameClaim: 'sub',
      groupsClaim: 'roles',
      groupsPrefix: 'oidc:',
      extraClaims: {},
      requiredClaims: { hd: 'example.com' },
    },
  })
  const make = async (path: string, body: object): Promise<void> => {
    const { status, text } = await plane.request(path, { method: 'POST', body })
    expect(status, text).toBe(201)
  }

  it('by tokens of ServiceAccounts, until those are gone', async () => {
    const body = { metadata: { name: 'robot' } }
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    const { status, text } = await plane.request(accounts, { method: 'POST', body })
    expect(status, text).toBe(201)
    await using gateway = await serve({ mode: 'token-review', knownMs: 1_000 })
    const token = await tokenFor('robot', { expirationSeconds: 600 })
    const viewer = await knownThere(token)
    expect(viewer?.username).toBe('system:serviceaccount:default:robot')
    expect(await knownHere(gateway, token)).toEqual(viewer)
    // For others than the API server.
    const foreign = await tokenFor('robot', { audiences: ['gateway'] })
    expect(await knownHere(gateway, foreign)).toBeUndefined()
    await using strict = await serve({ mode: 'token-review', audiences: ['gateway'] })
    expect((await knownHere(strict, foreign))?.username).toBe(viewer?.username)
    expect(await knownHere(strict, token)).toBeUndefined()

    await plane.request(`${accounts}/robot`, { method: 'DELETE' })
    await expect
      .poll(async () => knownHere(gateway, token), { timeout: 60_000, interval: 500 })
      .toBeUndefined()
  })

  it('by JWTs of an issuer that both trust', async () => {
    await using gateway = await serve(byIssuer())
    const hd = 'example.com'
    const ann = await issuer.sign({ sub: 'ann', hd, roles: ['a', 'b'] })
    // It asks its issuer in the background, and knows nobody before.
    await expect
      .poll(async () => (await knownThere(ann))?.username, { timeout: 60_000, interval: 500 })
      .toBe(`${issuer.url}#ann`)
    for (const claims of [
      { sub: 'ann', hd, roles: ['a', 'b'] },
      { sub: 'bob', hd, roles: 'one' },
      { sub: 'cid', hd },
      { sub: 'ann', roles: [] },
      { sub: 'ann', hd: 'other.example' },
      { sub: 'ann', hd, aud: 'others' },
      { hd },
    ]) {
      const token = await issuer.sign(claims)
      const [there, here] = [await knownThere(token), await knownHere(gateway, token)]
      expect(withoutId(here), JSON.stringify(claims)).toEqual(withoutId(there))
    }
  })

  it('and what Secrets hold is read with the very JWT, as the API server lets its owner', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
    const apiGroup = 'rbac.authorization.k8s.io'
    const allow = async (name: string, subject: object, rule: object): Promise<void> => {
      const rules = [{ apiGroups: [''], resources: ['secrets'], ...rule }]
      await make(`${rbac}/roles`, { metadata: { name }, rules })
      const roleRef = { apiGroup, kind: 'Role', name }
      const subjects = [{ apiGroup, ...subject }]
      await make(`${rbac}/rolebindings`, { metadata: { name }, roleRef, subjects })
    }
    await allow('lists', { kind: 'Group', name: 'oidc:staff' }, { verbs: ['list'] })
    await allow('gets', { kind: 'User', name: `${issuer.url}#ann` }, { verbs: ['get'] })
    const data = { key: 'b2Y=' }
    const type = 'example.com/key'
    await make('/api/v1/namespaces/default/secrets', { metadata: { name: 'door' }, type, data })
    await using gateway = await serve(byIssuer(), { secretData: true })
    const claims = { hd: 'example.com', roles: ['staff'] }
    const [ann, bob] = await Promise.all(
      ['ann', 'bob'].map(async (sub) => gateway.as(await issuer.sign({ sub, ...claims }))),
    )
    const door = '{ secrets(namespace: "default") { nodes { metadata { name } data type } } }'
    const metadata = { name: 'door' }
    const whole = { data: { secrets: { nodes: [{ metadata, data, type }] } } }
    await expect.poll(() => ann?.query(door)).toEqual(whole)
    expect(ann && (await firstAnswer(ann.connect(), door))).toEqual(whole)
    const refused = await bob?.query(door)
    expect(refused?.data.secrets.nodes).toEqual([{ metadata, data: null, type: null }])
    const codes = refused?.errors?.map(({ extensions }) => extensions.code)
    expect(codes).toEqual(['FORBIDDEN', 'FORBIDDEN'])
    expect(JSON.stringify([gateway.log, refused])).not.toContain('b2Y=')
  })
})

interface SelfSubjectReview {
  readonly status: { readonly userInfo: Partial<Viewer> & Pick<Viewer, 'username'> }
}

interface TokenRequest {
  readonly status: { readonly token: string }
}

/** The API server tells the id of each JWT in `extra`, where it has one. */
const withoutId = (viewer: Viewer | undefined): object | undefined => {
  if (viewer === undefined) return undefined
  const { groups, extra: _, ...rest } = viewer
  return { ...rest, groups: groups.toSorted() }
}

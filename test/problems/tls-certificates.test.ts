import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reads, startSmallWorld } from '../access/small-world.ts'
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '../api-server/certificates.ts'
import { created } from '../gateway/created.ts'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'

const day = 86_400_000
const now = Math.floor(Date.now() / 1_000) * 1_000
const at = (days: number): Date => new Date(now + days * day)

let authority: CertificateAuthority
beforeAll(async () => {
  authority = await createCertificateAuthority()
})
afterAll(async () => authority[Symbol.asyncDispose]())

/** A TLS Secret whose certificate ends so many days from now. */
const secret = async (name: string, to: number, annotations: Fields = {}): Promise<Fields> => {
  const hosts = [`${name}.example.com`, '10.0.0.1']
  const { cert, key } = await authority.issue({ name, hosts, from: at(-10), to: at(to) })
  return {
    metadata: { name, annotations },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': cert, 'tls.key': key },
  }
}

const facts =
  'totalCount visible types complete notLookedAt incomplete { cluster type code message }'
const rows = `${facts} pageInfo { hasNextPage endCursor } nodes {
  cluster notAfter names issuer renewalTime object { kind name } secret { kind name } }`

describe('The certificates of TLS', () => {
  let simulators: readonly Simulator[] = []
  let gateway: ServedGateway
  beforeAll(async () => {
    simulators = await Promise.all([0, 1].map(() => startSimulator({})))
    const [one, two] = simulators as readonly [Simulator, Simulator]
    for (const cluster of simulators) {
      await created(cluster, '/api/v1/namespaces', { metadata: { name: 'shop' } })
    }
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const version = versionOf('v1', {})
    version.schema.openAPIV3Schema.properties.spec = open
    await created(one, definitionsPath, definitionOf('Certificate', 'cert-manager.io', [version]))
    const certificates = '/apis/cert-manager.io/v1/namespaces/shop/certificates'
    const made = (name: string, status: Fields): Fields => ({
      apiVersion: 'cert-manager.io/v1',
      kind: 'Certificate',
      metadata: { name },
      spec: {
        secretName: `${name}-tls`,
        dnsNames: ['shop.example.com', 'www.example.com'],
        issuerRef: { kind: 'ClusterIssuer', name: 'letsencrypt' },
      },
      status,
    })
    await created(one, certificates, made('web', { notAfter: at(20), renewalTime: at(5) }))
    await created(one, certificates, made('waiting', {}))
    const secrets = '/api/v1/namespaces/shop/secrets'
    await created(one, secrets, await secret('soon', 3))
    await created(
      one,
      secrets,
      await secret('web-tls', 20, { 'cert-manager.io/certificate-name': 'web' }),
    )
    await created(two, secrets, await secret('later', 40))
    await created(two, secrets, await secret('spent', -1))
    gateway = await serveGateway({
      clusters: [
        { name: 'one', server: one.url },
        { name: 'two', server: two.url },
      ],
      secretData: true,
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const one of simulators) await one[Symbol.asyncDispose]()
  })

  it('are those of cert-manager and of Secrets, those not issued and then the soonest end first', async () => {
    const { tlsCertificates: all } = await gateway.data(`{ tlsCertificates { ${rows} } }`)
    const { nodes, pageInfo, ...read } = all
    expect(read).toEqual({
      totalCount: 3,
      visible: 'ALL',
      types: ['CertManagerCertificate', 'Secret'],
      complete: true,
      notLookedAt: [],
      incomplete: [],
    })
    expect(pageInfo.hasNextPage).toBe(false)
    const issued = { issuer: 'ClusterIssuer letsencrypt', cluster: 'one' }
    const names = ['shop.example.com', 'www.example.com']
    expect(nodes).toEqual([
      {
        ...issued,
        names,
        notAfter: null,
        renewalTime: null,
        object: { kind: 'Certificate', name: 'waiting' },
        secret: { kind: 'Secret', name: 'waiting-tls' },
      },
      {
        cluster: 'one',
        notAfter: at(3).toISOString(),
        names: ['soon.example.com', '10.0.0.1'],
        issuer: 'test-ca',
        renewalTime: null,
        object: { kind: 'Secret', name: 'soon' },
        secret: { kind: 'Secret', name: 'soon' },
      },
      {
        ...issued,
        names,
        notAfter: expect.stringMatching(/Z$/),
        renewalTime: expect.stringMatching(/Z$/),
        object: { kind: 'Certificate', name: 'web' },
        secret: { kind: 'Secret', name: 'web-tls' },
      },
    ])
  })

  it('are merged over clusters, by pages and up to a time', async () => {
    const names = async (args: string, after: string | null = null): Promise<Fields> => {
      const query = `query ($after: String) { tlsCertificates(clusters: ["*"], after: $after ${args}) { ${rows} } }`
      const { tlsCertificates: page } = await gateway.data(query, { after })
      return { ...page, names: page.nodes.map(({ object }: Fields) => object.name) }
    }
    const all = ['waiting', 'spent', 'soon', 'web', 'later']
    await expect.poll(async () => (await names('')).names).toEqual(all)
    expect((await names('')).complete).toBe(true)
    const first = await names('first: 2')
    expect(first.names).toEqual(all.slice(0, 2))
    const rest = await names('first: 9', first.pageInfo.endCursor)
    expect(rest.names).toEqual(all.slice(2))
    expect((await names(`endsBefore: "${at(10).toISOString()}"`)).names).toEqual(['spent', 'soon'])
    expect((await names('namespace: "elsewhere"')).names).toEqual([])
  })

  it('are without Secrets where the gateway serves no data of Secrets, which is said', async () => {
    await using plain = await serveGateway({
      clusters: [{ name: 'one', server: simulators[0]?.url ?? '' }],
    })
    const { tlsCertificates: all } = await plain.data(`{ tlsCertificates { ${rows} } }`)
    expect(all).toMatchObject({
      totalCount: 2,
      complete: false,
      notLookedAt: ['Secret'],
      incomplete: [
        {
          cluster: 'one',
          type: 'Secret',
          code: 'UNSUPPORTED',
          message: 'the gateway serves no data of Secrets: secretData is off',
        },
      ],
    })
    await using off = await serveGateway({
      clusters: [{ name: 'one', server: simulators[0]?.url ?? '' }],
      secretData: true,
      problemRules: { off: ['expiringTlsSecrets'] },
    })
    const { tlsCertificates: ofOff } = await off.data(`{ tlsCertificates { ${rows} } }`)
    expect(ofOff).toMatchObject({
      notLookedAt: ['Secret'],
      incomplete: [{ code: 'UNSUPPORTED', message: 'the rule expiringTlsSecrets is off' }],
    })
  })

  it.each([
    [500, 'CLUSTER_UNREACHABLE'],
    [403, 'FORBIDDEN'],
  ])(
    'are incomplete where the list of the Secrets fails with %i, and say why',
    async (status, code) => {
      const [one] = simulators as readonly [Simulator, Simulator]
      await using served = await serveGateway({
        clusters: [{ name: 'one', server: one.url }],
        secretData: true,
      })
      // Their metadata are in the cache.
      await served.data('{ secrets(first: 1) { totalCount } }')
      const match = { resource: 'secrets', verb: 'list' } as const
      const fault = { type: 'status', code: status, message: 'not these' } as const
      one.faults.inject({ fault, match, times: 1_000_000 })
      try {
        const { data } = await served.query(`{ tlsCertificates { ${rows} } }`)
        expect(data.tlsCertificates).toMatchObject({
          totalCount: 2,
          complete: false,
          notLookedAt: ['Secret'],
          incomplete: [
            { cluster: 'one', type: 'Secret', code, message: expect.stringContaining('not these') },
          ],
        })
      } finally {
        one.faults.clear()
      }
    },
  )

  it('have no key, whoever asks for what', async () => {
    const text = JSON.stringify(
      await gateway.data(`{ tlsCertificates(clusters: ["*"]) { ${rows} } }`),
    )
    expect(text).not.toContain('PRIVATE')
    expect(text).not.toContain('LS0t')
  })
})

it('The certificates of Secrets are for those who may get them, and to others it is said that there may be more', async () => {
  await using world = await startSmallWorld()
  for (const namespace of ['one', 'two']) {
    await world.make(`/api/v1/namespaces/${namespace}/secrets`, await secret(`of-${namespace}`, 5))
  }
  const lists = { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }
  await world.allow('one', 'alice', 'alice', [lists])
  await world.allow('one', 'bob', 'bob', [reads('', 'secrets')])
  await using served = await serveViewers({ clusters: [world.selection], secretData: true })
  const asked = async (name: string, ...groups: readonly string[]): Promise<Fields> => {
    const { data, errors } = await served.query(
      caller(name, ...groups),
      `{ tlsCertificates { ${rows} } }`,
    )
    expect(errors).toBeUndefined()
    const { nodes, visible, notLookedAt, incomplete } = data.tlsCertificates
    const why = incomplete.map(({ type, message }: Fields) => `${type}: ${message}`)
    expect(incomplete.map(({ type }: Fields) => type)).toEqual(notLookedAt)
    return [nodes.map(({ object }: Fields) => object.name), visible, why]
  }
  expect(await asked('root', 'system:masters')).toEqual([['of-one', 'of-two'], 'ALL', []])
  expect(await asked('bob')).toEqual([['of-one'], 'NAMESPACES', []])
  expect(await asked('alice')).toEqual([[], 'NAMESPACES', []])
  expect(await asked('carol')).toEqual([[], 'NAMESPACES', ['Secret: you may not list Secret']])
})

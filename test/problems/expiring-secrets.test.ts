import { X509Certificate } from 'node:crypto'
import { FrameFold } from 'informerql/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reads, startSmallWorld } from '../access/small-world.ts'
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '../api-server/certificates.ts'
import { describeClusters, type Fields } from '../gateway/test-cluster.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'

const wait = { timeout: 60_000, interval: 50 }
const day = 86_400_000
const at = (days: number): Date => new Date(Date.now() + days * day)
const rows = 'nodes { kind reason severity message object { name } }'
const named = (nodes: readonly Fields[]): readonly string[] =>
  nodes
    .filter(({ kind }) => kind === 'Secret')
    .map(({ reason, severity, object }) => `${object.name} ${reason} ${severity}`)
    .toSorted()

let authority: CertificateAuthority
beforeAll(async () => {
  authority = await createCertificateAuthority()
})
afterAll(async () => authority[Symbol.asyncDispose]())

/** A Secret with a certificate that began and ends so many days from now. */
const secret = async (
  name: string,
  from: number,
  to: number,
  more: Fields = {},
): Promise<Fields> => {
  const { cert, key } = await authority.issue({ name, from: at(from), to: at(to) })
  return {
    metadata: { name, ...more },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': cert, 'tls.key': key },
  }
}

/** A certificate that begins at no time. */
function withoutBegin(certificate: string): string {
  const { raw } = new X509Certificate(certificate)
  // The first GeneralizedTime: a type, a length, and `20260831120000Z`.
  const begin = raw.indexOf(Buffer.from([0x18, 15]))
  raw.write('20269999999999Z', begin + 2)
  return `-----BEGIN CERTIFICATE-----\n${raw.toString('base64')}\n-----END CERTIFICATE-----\n`
}

const expired = ['soon ExpiresSoon WARNING', 'spent Expired CRITICAL']

describeClusters('TLS Secrets near their end', (cluster) => {
  const secrets = '/api/v1/namespaces/tls/secrets'
  const send = async (method: 'POST' | 'DELETE', path: string, body?: Fields): Promise<void> => {
    const { status, text } = await cluster().request(path, { method, body })
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
  }
  beforeAll(async () => {
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'tls' } })
    for (const one of [
      await secret('fine', -10, 60),
      await secret('soon', -80, 3),
      // The last tenth of its life has not begun.
      await secret('short', -1, 2),
      await secret('spent', -90, -1),
      await secret('issued', -90, -1, {
        annotations: { 'cert-manager.io/certificate-name': 'issued' },
      }),
      { ...(await secret('opaque', -90, -1)), type: 'Opaque' },
    ]) {
      await send('POST', secrets, one)
    }
  })

  const serve = (secretData: boolean): Promise<ServedGateway> =>
    serveGateway({ clusters: [{ name: 'one', ...cluster().selection }], secretData })

  it('are told beside a Secret whose certificate has a date that is none', async () => {
    await using gateway = await serve(true)
    const wrong = await secret('wrong', -90, -1)
    wrong['stringData']['tls.crt'] = withoutBegin(wrong['stringData']['tls.crt'])
    await send('POST', secrets, wrong)
    const { problems, tlsCertificates } = await gateway.data(`{
      problems(namespace: "tls") { ${rows} }
      tlsCertificates(namespace: "tls") { nodes { notBefore notAfter object { name } } }
    }`)
    expect(named(problems.nodes)).toEqual(expired)
    const ends = tlsCertificates.nodes.map(({ object }: Fields) => object.name)
    expect(ends).toEqual(['spent', 'short', 'soon', 'fine'])
    await send('DELETE', `${secrets}/wrong`)
  })

  it('are told at once by their data, where the gateway serves it', async () => {
    await using gateway = await serve(true)
    const { problems } = await gateway.data(`{ problems(namespace: "tls") { ${rows} } }`)
    expect(named(problems.nodes)).toEqual(expired)
    expect(problems.nodes[0].message).toMatch(/^the certificate has expired at \S+Z$/)
    const ofAll = async (): Promise<readonly string[]> =>
      named((await gateway.data(`{ problems(clusters: ["*"]) { ${rows} } }`)).problems.nodes)
    await expect.poll(ofAll, wait).toEqual(expired)
  })

  it('are not looked for where it does not, or where the rule is off', async () => {
    await using gateway = await serve(false)
    await using off = await serveGateway({
      clusters: [{ name: 'one', ...cluster().selection }],
      secretData: true,
      problemRules: { off: ['expiringTlsSecrets'] },
    })
    for (const from of [gateway, off]) {
      const { problems } = await from.data(`{ problems(namespace: "tls") { ${rows} } }`)
      expect(named(problems.nodes)).toEqual([])
    }
  })

  it('come to subscribers, and go when the certificate is renewed', async () => {
    await using gateway = await serve(true)
    const fold = new FrameFold<Fields>()
    const client = gateway.connect()
    const frames = client.iterate<Fields>({
      query: `subscription { problems(namespace: "tls", coalesceMs: 10) { reset synced changes {
        type removal objectId object { id kind reason severity object { name } } } } }`,
    })
    const reading = (async () => {
      for await (const { data } of frames) fold.apply(data?.['problems'])
    })()
    const shown = (): readonly string[] => named([...fold.objects.values()])
    await expect.poll(shown, wait).toEqual(expired)
    await send('DELETE', `${secrets}/spent`)
    await expect.poll(shown, wait).toEqual(expired.slice(0, 1))
    await frames.return?.()
    await reading
    await client.dispose()
  })
})

describe('TLS Secrets near their end', () => {
  it('are told to those who may get them, and to nobody else', async () => {
    await using world = await startSmallWorld()
    for (const namespace of ['one', 'two']) {
      await world.make(`/api/v1/namespaces/${namespace}/secrets`, await secret('spent', -90, -1))
    }
    const lists = { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }
    await world.allow('one', 'alice', 'alice', [lists])
    await world.allow('one', 'bob', 'bob', [reads('', 'secrets')])
    await using served = await serveViewers({ clusters: [world.selection], secretData: true })
    const found = async (name: string): Promise<readonly string[]> => {
      const { data } = await served.query(caller(name), `{ problems { ${rows} } }`)
      return named(data.problems.nodes)
    }
    expect(await found('bob')).toEqual(['spent Expired CRITICAL'])
    expect(await found('alice')).toEqual([])
    expect(await found('carol')).toEqual([])
    const followed = async (name: string): Promise<readonly string[]> => {
      const { data } = await firstAnswer(
        served.connect(caller(name)),
        `subscription { problems { changes { object { kind reason severity object { name } } } } }`,
      )
      return named(data?.['problems'].changes.map(({ object }: Fields) => object))
    }
    await expect.poll(() => followed('bob'), wait).toEqual(['spent Expired CRITICAL'])
    expect(await followed('alice')).toEqual([])
  })
})

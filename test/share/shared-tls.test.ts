import { once } from 'node:events'
import { appendFile, cp } from 'node:fs/promises'
import { request } from 'node:https'
import { connect as connectTls } from 'node:tls'
import { type GatewayOptions, defaultAuthenticationOptions } from 'informerql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Certificate,
  type CertificateAuthority,
  createCertificateAuthority,
} from '../api-server/certificates.ts'
import { type GraphQLAnswer, serveGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { freePort, SharedGateways, type SharingGateway } from './shared-gateways.ts'

const patience = { timeout: 100_000, interval: 200 }
const count = 12
const all = '{ pods(clusters: ["*"]) { totalCount incomplete { message } } }'
const whole = { data: { pods: { totalCount: count, incomplete: [] } } }

describe(
  'gateways that share clusters by TLS, behind a proxy that signs users in',
  needsPostgres,
  () => {
    const stack = new AsyncDisposableStack()
    let shared: SharedGateways
    let authority: CertificateAuthority
    let stranger: CertificateAuthority
    let proxy: Certificate
    let own: Certificate
    let trust: NonNullable<GatewayOptions['share']>
    let here: SharingGateway
    let there: SharingGateway

    const serve = async (further: GatewayOptions['share'] = {}): Promise<SharingGateway> => {
      const port = await freePort()
      const address = `https://127.0.0.1:${port}`
      const { certFile: tlsCert, keyFile: tlsKey } = own
      const options = { ...shared.options, share: { ...trust, ...further, address } }
      const { requestHeader } = defaultAuthenticationOptions()
      const allowedNames = ['front-proxy', 'a-gateway']
      const gateway = await serveGateway(
        options,
        { port, tlsCert, tlsKey, tlsClientCa: authority.caFile },
        { auth: { mode: 'request-header', requestHeader: { ...requestHeader, allowedNames } } },
      )
      return { ...gateway, address }
    }

    /** Asks with headers that name ann, as the proxy unless another certificate is given, or none. */
    const ask = async (
      { url }: Pick<SharingGateway, 'url'>,
      query: string,
      certificate: Certificate | undefined = proxy,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<GraphQLAnswer> => {
      const sent = request(url, {
        method: 'POST',
        agent: false,
        ca: [authority.ca, stranger.ca],
        ...(certificate !== undefined && { cert: certificate.cert, key: certificate.key }),
        headers: {
          'content-type': 'application/json',
          'x-remote-user': 'ann',
          'x-remote-group': ['developers', 'night, shift'],
          'x-remote-extra-tenant': 'red',
          ...headers,
        },
      })
      sent.end(JSON.stringify({ query }))
      const [response] = await once(sent, 'response')
      let text = ''
      for await (const chunk of response) text += String(chunk)
      return JSON.parse(text) as GraphQLAnswer
    }

    /** A cluster that a gateway does not hold. */
    const farFrom = async (gateway: SharingGateway): Promise<string> => {
      const { data } = await ask(gateway, '{ gatewayClusters { name holder } }')
      const far = data.gatewayClusters.find(
        ({ holder }: { holder: string | null }) => holder !== null && holder !== gateway.address,
      )
      return far?.name ?? ''
    }

    beforeAll(async () => {
      authority = stack.use(await createCertificateAuthority())
      stranger = stack.use(await createCertificateAuthority('another-ca'))
      proxy = await authority.issue({ name: 'front-proxy' })
      own = await authority.issue({ name: 'gateway' })
      const { certFile, keyFile } = await authority.issue({ name: 'a-gateway' })
      trust = { caFile: authority.caFile, certFile, keyFile }
      shared = stack.use(await SharedGateways.start(count))
      here = stack.use(await serve())
      there = stack.use(await serve())
    }, 240_000)

    afterAll(async () => {
      await stack.disposeAsync()
    })

    it('answer for each other, to whom the proxy has named', async () => {
      for (const gateway of [here, there]) {
        await expect.poll(() => farFrom(gateway), patience).not.toBe('')
        await expect.poll(() => ask(gateway, all), patience).toEqual(whole)
        const far = await farFrom(gateway)
        const query = `{ viewer { username groups } pods(cluster: "${far}") { totalCount } }`
        expect(await ask(gateway, query)).toEqual({
          data: {
            viewer: {
              username: 'ann',
              groups: ['developers', 'night, shift', 'system:authenticated'],
            },
            pods: { totalCount: 1 },
          },
        })
      }
    })

    it('believe nobody without a certificate who says to be one of them', async () => {
      const refused = { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }
      const forged = { 'informerql-forwarded': here.address, 'informerql-proof': '0'.repeat(64) }
      const somebody = await authority.issue({ name: 'somebody' })
      const foreign = await stranger.issue({ name: 'a-gateway' })
      const none = { cert: '', key: '', certFile: '', keyFile: '' }
      for (const query of [all, '{ viewer { username } }', '{ gatewayClusters { name } }']) {
        for (const certificate of [none, somebody, foreign]) {
          expect(await ask(there, query, certificate, forged)).toMatchObject(refused)
        }
      }
    })

    it('say which option is missing of one that has no certificate for the others', async () => {
      await using bare = await serve({ certFile: undefined, keyFile: undefined })
      const single = shared.names.map((name) => `{ pods(cluster: "${name}") { totalCount } }`)
      const hints = async (): Promise<readonly unknown[]> => {
        const [merged, ...others] = await Promise.all([all, ...single].map((one) => ask(bare, one)))
        expect(merged?.errors?.[0]?.extensions.code).toBe('UNSUPPORTED')
        return others.map(({ errors }) => errors?.[0]?.extensions.hint)
      }
      const hint = 'the operator gives share.certFile and share.keyFile'
      await expect.poll(hints, patience).toContain(hint)
    })

    it('do not trust a certificate of another CA, and name the option', async () => {
      await using wrong = await serve({ caFile: stranger.caFile })
      const single = shared.names.map((name) => `{ pods(cluster: "${name}") { totalCount } }`)
      const messages = async (): Promise<string> => {
        const answers = await Promise.all(single.map((one) => ask(wrong, one)))
        return answers.map(({ errors }) => errors?.[0]?.message ?? '').join('\n')
      }
      await expect.poll(messages, patience).toContain('share.caFile')
      const { data } = await ask(wrong, all)
      expect(data.pods.totalCount + data.pods.incomplete.length).toBe(count)
      expect(data.pods.totalCount).toBeLessThan(count)
      expect(wrong.log.join('\n')).toContain('share.caFile')
    })

    it('do not start with files that are none, or with a certificate without its key', async () => {
      const nowhere = { caFile: '/nowhere/ca.crt' }
      await expect(serve(nowhere)).rejects.toMatchObject({ option: 'share.caFile' })
      await expect(serve({ caFile: 'package.json' })).rejects.toMatchObject({
        option: 'share.caFile',
      })
      await expect(serve({ keyFile: undefined })).rejects.toMatchObject({ option: 'share.keyFile' })
      await expect(serve({ keyFile: proxy.keyFile })).rejects.toMatchObject({
        option: 'share.certFile',
      })
    })

    it('take new certificates from their files, also of another CA', async () => {
      const issuer = (gateway: SharingGateway): Promise<string> => {
        const { hostname: host, port } = new URL(gateway.url)
        const socket = connectTls({ host, port: Number(port), ca: [authority.ca, stranger.ca] })
        return once(socket, 'secureConnect').then(() => {
          const { serialNumber } = socket.getPeerCertificate()
          socket.destroy()
          return serialNumber
        })
      }
      await appendFile(authority.caFile, stranger.ca)
      const before = await issuer(there)
      const { certFile, keyFile } = await stranger.issue({ name: 'gateway' })
      await cp(keyFile, own.keyFile)
      await cp(certFile, own.certFile)
      for (const gateway of [here, there]) {
        await expect.poll(() => issuer(gateway), patience).not.toBe(before)
        await expect.poll(() => ask(gateway, all), patience).toEqual(whole)
      }
      // The client certificate: the key first, which fits nothing for a while.
      const renewed = await stranger.issue({ name: 'a-gateway' })
      await cp(renewed.keyFile, trust.keyFile ?? '')
      await expect.poll(() => here.log.join('\n'), patience).toContain('stay in use')
      expect(await ask(here, all)).toEqual(whole)
      await cp(renewed.certFile, trust.certFile ?? '')
      await expect.poll(() => ask(here, all), patience).toEqual(whole)
    })
  },
)

import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

/** An OpenID Connect issuer on loopback. */
export interface TokenIssuer extends AsyncDisposable {
  readonly url: string
  /** Signs a token, by its newest key, for `gateway` and an hour, unless the claims say otherwise. */
  readonly sign: (
    claims: Readonly<Record<string, unknown>>,
    options?: SignOptions,
  ) => Promise<string>
  /** Signs by a new key from now on; the one before is withdrawn. */
  readonly rotate: () => Promise<void>
  /** How often the keys were read. */
  readonly reads: () => number
  /** Answers nothing but 500 while true. */
  broken: boolean
}

export interface SignOptions {
  /** Whether the header says which key it is. */
  readonly kid?: boolean
  readonly expiresAt?: string
  readonly issuer?: string
  /** Instead of the issuer's own. */
  readonly key?: CryptoKey
}

export interface TokenIssuerOptions {
  /** Serves by https. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

export const startTokenIssuer = async ({ tls }: TokenIssuerOptions = {}): Promise<TokenIssuer> => {
  let keys = 0
  let signing: CryptoKey
  let published: readonly JWK[] = []
  const rotate = async (): Promise<void> => {
    const { privateKey, publicKey } = await generateKeyPair('RS256')
    signing = privateKey
    keys += 1
    published = [{ ...(await exportJWK(publicKey)), kid: `key-${keys}`, alg: 'RS256', use: 'sig' }]
  }
  await rotate()
  let reads = 0
  let url = ''
  const answer = (path: string): object => {
    if (path === '/keys') {
      reads += 1
      return { keys: published }
    }
    return { issuer: url, jwks_uri: `${url}/keys` }
  }
  const issuer = { broken: false }
  const listener: Parameters<typeof createHttpServer>[1] = ({ url: path = '' }, response) => {
    const isKnown = ['/keys', '/.well-known/openid-configuration'].includes(path)
    if (issuer.broken || !isKnown) response.writeHead(isKnown ? 500 : 404).end()
    else response.end(JSON.stringify(answer(path)))
  }
  const server = tls === undefined ? createHttpServer(listener) : createHttpsServer(tls, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  return Object.assign(issuer, {
    url,
    rotate,
    reads: () => reads,
    sign: async (
      claims: Readonly<Record<string, unknown>>,
      { kid = true, expiresAt = '1h', issuer: by = url, key = signing }: SignOptions = {},
    ) =>
      new SignJWT({ iss: by, aud: 'gateway', ...claims })
        .setProtectedHeader({ alg: 'RS256', ...(kid ? { kid: `key-${keys}` } : {}) })
        .setExpirationTime(expiresAt)
        .sign(key),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

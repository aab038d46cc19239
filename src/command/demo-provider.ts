/*
 * An OpenID Connect provider on loopback, without passwords: a page on which a visitor chooses who to be. It has the
 * authorization code flow with PKCE and refresh tokens, so that the demo signs in as any deployment does.
 */

import {
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  verify as verifySignature,
} from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { calculatePKCECodeChallenge } from 'openid-client'
import { exportJWK, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { HostNames } from '../lib/host-names.ts'
import { isRecord } from '../lib/json.ts'
import { readUpTo } from '../lib/read-body.ts'
import { isLoopback } from '../server/guard/request-guard.ts'
import { plainPage, plainPagePolicy } from '../server/http/plain-page.ts'

export interface DemoPerson {
  readonly email: string
  readonly name: string
  /** For the page on which a visitor chooses: what the person does, and may see. */
  readonly does: string
  readonly groups: readonly string[]
}

export const demoClient = 'informerql-demo'

const tokenSeconds = 3_600
/** Codes and refresh tokens that are remembered. */
const most = 1_000
const codeMs = 60_000
const maxBodyBytes = 16_384
const host = '127.0.0.1'
const hosts = new HostNames(host)

interface Granted {
  readonly person: DemoPerson
  readonly nonce: string | undefined
  readonly challenge: string
  readonly redirectUri: string
}

export class DemoProvider implements AsyncDisposable {
  #people: readonly DemoPerson[] = []
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  readonly #publicKey = createPublicKey(this.#key)
  readonly #codes = new LRUCache<string, Granted>({ max: most, ttl: codeMs })
  readonly #refreshTokens = new LRUCache<string, DemoPerson>({ max: most })
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  #url = ''

  /** The issuer; known once it listens. */
  get url(): string {
    return this.#url
  }

  async listen(people: readonly DemoPerson[]): Promise<void> {
    this.#people = people
    this.#server.listen(0, host)
    await once(this.#server, 'listening')
    const { port } = this.#server.address() as AddressInfo
    this.#url = `http://${host}:${port}`
  }

  /** Whose token it is; `undefined` for one that this provider has not signed, or that has expired. */
  personOf(token: string): DemoPerson | undefined {
    const [head = '', body = '', signature = ''] = token.split('.')
    const key = { key: this.#publicKey, dsaEncoding: 'ieee-p1363' } as const
    const isOwn = verifySignature(
      'sha256',
      Buffer.from(`${head}.${body}`),
      key,
      Buffer.from(signature, 'base64url'),
    )
    if (!isOwn) return undefined
    const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString())
    if (!isRecord(claims) || Number(claims['exp']) * 1_000 <= Date.now()) return undefined
    return this.#people.find(({ email }) => email === claims['sub'])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '/' } = request
    const address = URL.canParse(url, this.#url) ? new URL(url, this.#url) : new URL(this.#url)
    response.setHeader('cache-control', 'no-store')
    if (!hosts.has(request.headers.host)) {
      sendJson(response, 403, { error: 'unknown_host' })
      return
    }
    try {
      switch (`${method} ${address.pathname}`) {
        case 'GET /.well-known/openid-configuration':
          sendJson(response, 200, {
            issuer: this.#url,
            authorization_endpoint: `${this.#url}/authorize`,
            token_endpoint: `${this.#url}/token`,
            jwks_uri: `${this.#url}/keys`,
            end_session_endpoint: `${this.#url}/end-session`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            code_challenge_methods_supported: ['S256'],
            id_token_signing_alg_values_supported: ['ES256'],
            token_endpoint_auth_methods_supported: ['none'],
          })
          return
        case 'GET /keys': {
          const key = await exportJWK(this.#publicKey)
          sendJson(response, 200, { keys: [{ ...key, kid: 'demo', alg: 'ES256', use: 'sig' }] })
          return
        }
        case 'GET /authorize':
          this.#authorize(address, response)
          return
        case 'POST /token': {
          const body = await readUpTo(maxBodyBytes, request)
          if (body.length > maxBodyBytes) throw new RangeError('the body is too large')
          await this.#issue(new URLSearchParams(body.toString()), response)
          return
        }
        case 'GET /end-session': {
          const back = address.searchParams.get('post_logout_redirect_uri') ?? ''
          if (!isOfThisMachine(back)) sendJson(response, 400, { error: 'invalid_request' })
          else response.writeHead(303, { location: back, 'content-length': 0 }).end()
          return
        }
        default:
          sendJson(response, 404, { error: 'not_found' })
      }
    } catch {
      if (response.headersSent) response.destroy()
      else sendJson(response, 400, { error: 'invalid_request' })
    }
  }

  /** Shows the people, or goes back with a code for the one who was chosen. */
  #authorize(address: URL, response: ServerResponse): void {
    const { searchParams: asked } = address
    const redirectUri = asked.get('redirect_uri') ?? ''
    const challenge = asked.get('code_challenge') ?? ''
    const isOurs = asked.get('client_id') === demoClient && isOfThisMachine(redirectUri)
    if (!isOurs || challenge === '' || asked.get('code_challenge_method') !== 'S256') {
      sendJson(response, 400, { error: 'invalid_request' })
      return
    }
    const person = this.#people.find(({ email }) => email === asked.get('person'))
    if (person === undefined) {
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': plainPagePolicy,
      })
      response.end(chooser(this.#people, asked))
      return
    }
    const code = randomBytes(24).toString('base64url')
    this.#codes.set(code, {
      person,
      nonce: asked.get('nonce') ?? undefined,
      challenge,
      redirectUri,
    })
    const back = new URL(redirectUri)
    back.searchParams.set('code', code)
    back.searchParams.set('state', asked.get('state') ?? '')
    response.writeHead(303, { location: back.href, 'content-length': 0 }).end()
  }

  async #issue(form: URLSearchParams, response: ServerResponse): Promise<void> {
    // A code and a refresh token count once.
    let granted: (Pick<Granted, 'person'> & Partial<Granted>) | undefined
    if (form.get('grant_type') === 'refresh_token') {
      const token = form.get('refresh_token') ?? ''
      const person = this.#refreshTokens.get(token)
      this.#refreshTokens.delete(token)
      granted = person && { person }
    } else {
      const code = form.get('code') ?? ''
      const known = this.#codes.get(code)
      this.#codes.delete(code)
      const challenge = await calculatePKCECodeChallenge(form.get('code_verifier') ?? '')
      const isAsked = known?.redirectUri === form.get('redirect_uri')
      if (known?.challenge === challenge && isAsked) granted = known
    }
    if (granted === undefined) {
      sendJson(response, 400, { error: 'invalid_grant' })
      return
    }
    const { person, nonce } = granted
    const refreshToken = randomBytes(24).toString('base64url')
    this.#refreshTokens.set(refreshToken, person)
    const { email, name, groups } = person
    const idToken = await new SignJWT({
      email,
      name,
      groups,
      ...(nonce === undefined ? {} : { nonce }),
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'demo' })
      .setIssuer(this.#url)
      .setSubject(email)
      .setAudience(demoClient)
      .setIssuedAt()
      .setExpirationTime(`${tokenSeconds}s`)
      .sign(this.#key)
    sendJson(response, 200, {
      access_token: randomBytes(24).toString('base64url'),
      token_type: 'Bearer',
      expires_in: tokenSeconds,
      id_token: idToken,
      refresh_token: refreshToken,
    })
  }
}

function isOfThisMachine(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname } = new URL(address)
  return protocol === 'http:' && isLoopback(hostname.replaceAll(/[[\]]/g, ''))
}

function chooser(people: readonly DemoPerson[], asked: URLSearchParams): string {
  const choices = people.map(({ email, name, does }) => {
    const chosen = new URLSearchParams(asked)
    chosen.set('person', email)
    const address = `/authorize?${chosen.toString()}`.replaceAll('&', '&amp;')
    return `<li><a href="${address}"><b>${name}</b><span>${does}</span><code>${email}</code></a></li>`
  })
  const html = `<p>The demo's identity provider asks for no password. Each person has other permissions in the simulated clusters.</p>
<ul>
${choices.join('\n')}
</ul>`
  return plainPage('Who are you?', html, chooserStyle)
}

const chooserStyle = `ul { list-style: none; padding: 0 }
a { display: block; padding: 0.8rem 1rem; margin: 0.6rem 0; border: 1px solid; border-radius: 0.5rem; color: inherit; text-decoration: none }
a:hover, a:focus { text-decoration: underline }
span, code { display: block; font-size: 0.9rem }
code { opacity: 0.7 }`

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

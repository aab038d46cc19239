import { type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { GraphQLAnswer } from '../support/gateway.ts'

/** An answer to a browser. */
export interface VisitAnswer {
  readonly url: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A browser of few abilities: it keeps cookies by origin, and says where its requests come from. */
export class Visitor {
  readonly #origin: string
  readonly #ca: string | undefined
  readonly #jars = new Map<string, Map<string, string>>()

  /** `origin` is the gateway's. */
  constructor(origin: string, ca?: string) {
    this.#origin = origin
    this.#ca = ca
  }

  /** The cookies that the browser has for the gateway, by name. */
  get cookies(): Map<string, string> {
    return this.#jarOf(this.#origin)
  }

  /** A copy of the browser, with its cookies as they are now. */
  copy(): Visitor {
    const other = new Visitor(this.#origin, this.#ca)
    for (const [origin, jar] of this.#jars) other.#jars.set(origin, new Map(jar))
    return other
  }

  /** The `Cookie` header for an origin. */
  cookieFor(origin: string): string {
    return [...this.#jarOf(origin)].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** One request, without following redirections. */
  async send(
    url: string,
    headers: Readonly<Record<string, string>> = {},
    { method = 'GET', body }: { readonly method?: string; readonly body?: string } = {},
  ): Promise<VisitAnswer> {
    const { origin, protocol } = new URL(url)
    const send = protocol === 'https:' ? httpsRequest : httpRequest
    const cookie = this.cookieFor(origin)
    const { promise, resolve, reject } = Promise.withResolvers<VisitAnswer>()
    const options = {
      method,
      ...(this.#ca === undefined ? {} : { ca: this.#ca }),
      headers: {
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
      signal: AbortSignal.timeout(30_000),
    }
    send(url, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => {
        for (const text of response.headers['set-cookie'] ?? []) this.#keep(origin, text)
        const { statusCode: status = 0, headers: answered } = response
        resolve({ url, status, headers: answered, text: Buffer.concat(chunks).toString() })
      })
    })
      .once('error', reject)
      .end(body)
    return promise
  }

  /** Goes to an address as a browser does, and follows redirections while `until` does not say to stop. */
  async go(url: string, until: (next: string) => boolean = () => false): Promise<VisitAnswer> {
    const answer = await this.send(url, {
      accept: 'text/html',
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    })
    const { location } = answer.headers
    if (location === undefined) return answer
    const next = new URL(location, url).href
    return until(next) ? { ...answer, url: next } : this.go(next, until)
  }

  /**
   * Signs in as one of the provider's people. Resolves with the answer of the page that the gateway returns to; or, with
   * `until`, with the address that would have been next.
   */
  async signIn(
    account: string,
    returnTo = '/graphql/schema',
    until?: (next: string) => boolean,
  ): Promise<VisitAnswer> {
    const login = `${this.#origin}/auth/login?return=${encodeURIComponent(returnTo)}`
    const chooser = await this.go(login, (next) => next.includes('/choose/'))
    return this.go(`${chooser.url}/${account}`, until)
  }

  /** A request by `fetch` of a page of an origin. */
  async fetch(
    path: string,
    { method = 'GET', body }: { readonly method?: string; readonly body?: string } = {},
    from: string = this.#origin,
  ): Promise<VisitAnswer> {
    const isOwn = from === this.#origin
    const headers = {
      accept: 'application/json',
      'sec-fetch-site': isOwn ? 'same-origin' : 'cross-site',
      'sec-fetch-mode': 'cors',
      'sec-fetch-dest': 'empty',
      ...(method === 'GET' && isOwn ? {} : { origin: from }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    return this.send(this.#origin + path, headers, {
      method,
      ...(body === undefined ? {} : { body }),
    })
  }

  /** `fetch('/auth/me')` of the gateway's page. */
  async me(): Promise<Me> {
    const { text, status } = await this.fetch('/auth/me')
    return { status, ...(JSON.parse(text) as object) } as Me
  }

  /** One operation, by a page of an origin. */
  async query(
    query: string,
    from: string = this.#origin,
  ): Promise<GraphQLAnswer & { status: number }> {
    const body = JSON.stringify({ query })
    const { status, text } = await this.fetch('/graphql', { method: 'POST', body }, from)
    return { status, ...(JSON.parse(text) as GraphQLAnswer) }
  }

  #jarOf(origin: string): Map<string, string> {
    const jar = this.#jars.get(origin) ?? new Map<string, string>()
    this.#jars.set(origin, jar)
    return jar
  }

  #keep(origin: string, text: string): void {
    const [pair = '', ...attributes] = text.split('; ')
    const [name = '', ...value] = pair.split('=')
    const jar = this.#jarOf(origin)
    const isOver = attributes.some((one) => /^max-age=0$|^expires=thu, 01 jan 1970/i.test(one))
    if (isOver) jar.delete(name)
    else jar.set(name, value.join('='))
  }
}

/** The answer of `/auth/me`. */
export interface Me {
  readonly status: number
  readonly signedIn: boolean
  readonly required: boolean
  readonly login: string
  readonly user?: {
    readonly name: string
    readonly username: string
    readonly groups: readonly string[]
  }
  readonly renewInMs?: number
  readonly expiresInMs?: number
  readonly socketAuthorization?: string
}

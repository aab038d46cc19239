/*
 * The keys of an OpenID Connect issuer. The first token leads to the discovery document, which names the address of the
 * keys. A token with an unknown key, and old age, lead to another read of the keys.
 */

import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { CodedError } from '../../lib/coded-error.ts'

/** The minimum interval between two reads of the keys because of tokens with unknown keys. */
const keysCooldownMs = 1_000
/** The maximum age of the keys, so that withdrawn keys are forgotten. */
const keysMaxAgeMs = 600_000

export class IssuerKeys {
  readonly #options: IssuerConnection
  #found: Promise<JWTVerifyGetKey> | undefined

  constructor(options: IssuerConnection) {
    this.#options = options
  }

  /** Finds the keys. Rejects with {@link IssuerError}; the next call tries again. */
  async find(): Promise<JWTVerifyGetKey> {
    const finding = (this.#found ??= this.#discover())
    try {
      return await finding
    } catch (error) {
      if (this.#found === finding) this.#found = undefined
      throw error
    }
  }

  async #discover(): Promise<JWTVerifyGetKey> {
    const { issuer, deadlineMs } = this.#options
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    let document: { readonly issuer?: unknown; readonly jwks_uri?: unknown } | null
    try {
      document = JSON.parse(await this.#get(url)) as typeof document
    } catch (error) {
      throw error instanceof IssuerError ? error : new IssuerError(url, 'it is not JSON', error)
    }
    if (document?.issuer !== issuer) {
      throw new IssuerError(url, `it names the issuer ${JSON.stringify(document?.issuer)}`)
    }
    const keysUrl = document.jwks_uri
    if (typeof keysUrl !== 'string' || !URL.canParse(keysUrl)) {
      throw new IssuerError(url, 'it names no jwks_uri')
    }
    return createRemoteJWKSet(new URL(keysUrl), {
      timeoutDuration: deadlineMs,
      cooldownDuration: keysCooldownMs,
      cacheMaxAge: keysMaxAgeMs,
      [customFetch]: async (from) => new Response(await this.#get(from)),
    })
  }

  async #get(url: string): Promise<string> {
    const answer = await askIssuer(this.#options, url)
    if (answer.status !== 200) throw new IssuerError(url, `it answers ${answer.status}`)
    return answer.text()
  }
}

export interface IssuerConnection {
  /** The value of `iss`: `https://id.example.com`. */
  readonly issuer: string
  /** The trusted certificates, PEM; absent: Node's. */
  readonly ca?: string | undefined
  /** The deadline of each request. */
  readonly deadlineMs: number
}

export class IssuerError extends CodedError {
  constructor(url: string, problem: string, cause?: unknown) {
    super('OIDC_ISSUER', `${url}: ${problem}`, {
      value: url,
      cause,
      hint: 'check auth.oidc.issuer, and whether the gateway reaches it',
    })
  }
}

interface IssuerRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A text, or the parameters of a form. */
  readonly body?: unknown
}

const maxAnswerBytes = 1_048_576

/**
 * Sends one request to the issuer and resolves with its answer, of any status, at most 1 MiB long. Uses the configured
 * certificates, which `fetch` does not support. Rejects with {@link IssuerError}, within the deadline.
 */
export function askIssuer(
  { ca, deadlineMs }: Pick<IssuerConnection, 'ca' | 'deadlineMs'>,
  url: string,
  { method = 'GET', headers = {}, body }: IssuerRequest = {},
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      reject(error instanceof IssuerError ? error : new IssuerError(url, error.message, error))
    }
    const send = url.startsWith('https:') ? httpsRequest : httpRequest
    const text =
      body instanceof URLSearchParams || typeof body === 'string' ? String(body) : undefined
    const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }
    const signal = AbortSignal.timeout(deadlineMs)
    const options = {
      method,
      headers: { ...headers, ...length },
      signal,
      ...(ca === undefined ? {} : { ca }),
    }
    const read = (answer: IncomingMessage): void => {
      const chunks: Buffer[] = []
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > maxAnswerBytes) answer.destroy(new IssuerError(url, 'it is too large'))
      })
      answer.once('error', fail)
      answer.once('end', () => {
        const { statusCode: status = 502 } = answer
        const received = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        )
        const whole = bodiless.has(status) ? null : Buffer.concat(chunks)
        resolve(new Response(whole, { status, headers: received }))
      })
    }
    try {
      send(url, options, read).once('error', fail).end(text)
    } catch (error) {
      fail(error as Error)
    }
  })
}

/** Statuses for which `Response` accepts no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

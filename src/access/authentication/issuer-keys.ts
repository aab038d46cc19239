import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { askIssuer, type IssuerConnection, IssuerError } from './issuer-request.ts'

/** The minimum interval of reading the keys again, after a token with an unknown key. */
const keysCooldownMs = 1_000
/** The maximum age of the keys, so that withdrawn keys are forgotten. */
const keysMaxAgeMs = 600_000

/**
 * The keys of an OpenID Connect issuer: found through its discovery document at the first token, and read again after a
 * token with an unknown key.
 */
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

  /** The body of a 200 answer. */
  async #get(url: string): Promise<string> {
    const answer = await askIssuer(this.#options, url)
    if (answer.status !== 200) throw new IssuerError(url, `it answers ${answer.status}`)
    return answer.text()
  }
}

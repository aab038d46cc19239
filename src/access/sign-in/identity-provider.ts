/*
 * The relying party of an OpenID Connect provider (authorization code flow with PKCE, by `openid-client`). `begin` makes
 * the address for the browser, `redeem` exchanges the returned code for tokens, and further methods renew and withdraw
 * them. Each request has the deadline. All methods reject with {@link SignInError}: SIGN_IN_REFUSED if the provider
 * refuses or its answer belongs to another sign-in, PROVIDER_UNAVAILABLE otherwise.
 */

import * as client from 'openid-client'
import { askIssuer, type IssuerConnection } from '../authentication/issuer.ts'
import { type PendingSignIn } from './sealed-cookies.ts'
import { SignInError } from '../authentication/authenticator.ts'
import type { SignInOptions } from '../authentication/authentication-options.ts'

export interface IdentityProviderOptions
  extends IssuerConnection, Pick<SignInOptions, 'clientId' | 'scopes' | 'authorizationParameters'> {
  readonly clientSecret: string | undefined
}

export interface IssuedTokens {
  readonly accessToken: string
  readonly idToken: string | undefined
  readonly refreshToken: string | undefined
  /** The verified claims of the ID token. */
  readonly claims: client.IDToken | undefined
}

/** Tolerated difference between the clocks of provider and gateway, in seconds. */
const clockToleranceS = 10

export class IdentityProvider {
  readonly #options: IdentityProviderOptions
  #found: Promise<client.Configuration> | undefined

  constructor(options: IdentityProviderOptions) {
    this.#options = options
  }

  /**
   * The address to send a browser to, and the values that verify its return. `asksAgain`: the provider asks for the user
   * even if it already knows one (OpenID Connect Core 1.0, 3.1.2.1: `prompt`).
   */
  async begin(
    redirectUri: string,
    asksAgain: boolean,
  ): Promise<Pick<PendingSignIn, 'state' | 'nonce' | 'codeVerifier'> & { location: string }> {
    const { scopes, authorizationParameters } = this.#options
    const state = client.randomState()
    const nonce = client.randomNonce()
    const codeVerifier = client.randomPKCECodeVerifier()
    const challenge = await client.calculatePKCECodeChallenge(codeVerifier)
    return this.#ask((provider) => {
      const location = client.buildAuthorizationUrl(provider, {
        ...authorizationParameters,
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        code_challenge: challenge,
        code_challenge_method: 'S256',
        state,
        nonce,
        ...(asksAgain ? { prompt: 'login' } : {}),
      }).href
      return { state, nonce, codeVerifier, location }
    })
  }

  /** Exchanges the code in the callback's URL for tokens. */
  async redeem(
    callback: URL,
    { state, nonce, codeVerifier }: Pick<PendingSignIn, 'state' | 'nonce' | 'codeVerifier'>,
  ): Promise<IssuedTokens> {
    return this.#ask(async (provider) =>
      issuedBy(
        await client.authorizationCodeGrant(provider, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        }),
      ),
    )
  }

  async refresh(refreshToken: string): Promise<IssuedTokens> {
    return this.#ask(async (provider) =>
      issuedBy(await client.refreshTokenGrant(provider, refreshToken)),
    )
  }

  /** Withdraws a refresh token (RFC 7009), if the provider supports it. */
  async revoke(refreshToken: string): Promise<void> {
    await this.#ask(async (provider) => {
      if (provider.serverMetadata().revocation_endpoint === undefined) return
      await client.tokenRevocation(provider, refreshToken, { token_type_hint: 'refresh_token' })
    })
  }

  /** The address at which a browser ends its session at the provider; `undefined` if the provider has none. */
  async signOutAddress(returnTo: string, idToken: string | undefined): Promise<string | undefined> {
    return this.#ask((provider) => {
      if (provider.serverMetadata().end_session_endpoint === undefined) return undefined
      return client.buildEndSessionUrl(provider, {
        post_logout_redirect_uri: returnTo,
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
      }).href
    })
  }

  async #ask<T>(ask: (provider: client.Configuration) => T | Promise<T>): Promise<T> {
    const finding = (this.#found ??= this.#discover())
    let provider: client.Configuration
    try {
      provider = await finding
    } catch (error) {
      if (this.#found === finding) this.#found = undefined
      throw unavailable(error)
    }
    try {
      return await ask(provider)
    } catch (error) {
      throw failureOf(error)
    }
  }

  async #discover(): Promise<client.Configuration> {
    const { issuer, clientId, clientSecret, deadlineMs } = this.#options
    const execute = issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
    const timeout = deadlineMs / 1_000
    const ask: client.CustomFetch = (url, request) => askIssuer(this.#options, url, request)
    const known = { [client.clockTolerance]: clockToleranceS }
    const found = await client.discovery(new URL(issuer), clientId, known, client.None(), {
      execute,
      timeout,
      [client.customFetch]: ask,
    })
    const metadata = found.serverMetadata()
    // The provider's default is `client_secret_basic` (OpenID Connect Discovery 1.0, section 3).
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata
    const withSecret = methods.includes('client_secret_basic')
      ? client.ClientSecretBasic
      : client.ClientSecretPost
    const way = clientSecret === undefined ? client.None() : withSecret(clientSecret)
    const provider = new client.Configuration(metadata, clientId, known, way)
    provider.timeout = timeout
    provider[client.customFetch] = ask
    for (const apply of execute) apply(provider)
    // Also verifies the signature of ID tokens, although they come over TLS.
    client.enableNonRepudiationChecks(provider)
    return provider
  }
}

type TokenAnswer = client.TokenEndpointResponse & client.TokenEndpointResponseHelpers

function issuedBy(answer: TokenAnswer): IssuedTokens {
  return {
    accessToken: answer.access_token,
    idToken: answer.id_token,
    refreshToken: answer.refresh_token,
    claims: answer.claims(),
  }
}

/** Codes of `openid-client` for the answer to another sign-in: another state, nonce, issuer or audience. */
const refusals: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
])

/** The error of a failed request: the provider refuses it, or does not answer. */
function failureOf(error: unknown): SignInError {
  const isResponse = error instanceof client.ResponseBodyError
  const isAuthorization = error instanceof client.AuthorizationResponseError
  const isRefusal =
    isAuthorization ||
    (isResponse
      ? // The client's own credentials are the operator's business.
        error.status < 500 && !['invalid_client', 'unauthorized_client'].includes(error.error)
      : error instanceof client.ClientError && refusals.has(error.code ?? ''))
  if (!isRefusal) return unavailable(error)
  const said =
    isAuthorization || isResponse
      ? [error.error, error.error_description].filter((text) => text !== undefined).join(': ')
      : (error as Error).message
  const problem = `the identity provider refuses: ${said.slice(0, 500)}`
  return new SignInError('SIGN_IN_REFUSED', problem, {
    hint: 'sign in again; if that fails too, ask the operator of the identity provider',
    cause: error,
  })
}

function unavailable(error: unknown): SignInError {
  if (error instanceof SignInError) return error
  return new SignInError('PROVIDER_UNAVAILABLE', 'the identity provider does not answer', {
    hint: "try again in a moment; the gateway's log says why",
    cause: error,
  })
}

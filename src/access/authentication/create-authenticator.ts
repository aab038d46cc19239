/*
 * Makes the authenticator of the configured mode. It checks the options of the mode, reads their files, and connects the
 * parts: a TokenReview at an API server, the keys of an issuer, browser sign-in, or the headers of a proxy.
 */

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CodedError } from '../../lib/coded-error.ts'
import type { AuthenticationOptions } from './authentication-options.ts'
import type { AuthenticationObserver, Authenticator } from './authenticator.ts'
import { IdentityProvider } from '../sign-in/identity-provider.ts'
import { SealedCookies } from '../sign-in/sealed-cookies.ts'
import { SignIn } from '../sign-in/sign-in.ts'
import { IssuerKeys, type IssuerConnection } from './issuer.ts'
import { oidcAuthenticator, type OidcOptions } from './oidc.ts'
import { requestHeaderAuthenticator } from './request-header.ts'
import { type ReviewToken, tokenReviewAuthenticator } from './bearer-token.ts'

interface AuthenticatorSources {
  /** Makes a reviewer that sends tokens to the API server of a cluster; default: the default cluster. */
  readonly reviewToken: (cluster: string | undefined, deadlineMs: number) => ReviewToken
  readonly observer?: AuthenticationObserver
}

function optionError(option: string, problem: string, hint: string): CodedError {
  return new CodedError('AUTH_OPTIONS', `${option} ${problem}`, { value: option, hint })
}

/**
 * Makes the configured authenticator; `undefined` for mode `none`. Throws a `CodedError` if options are missing or a
 * file cannot be read.
 */
export function createAuthenticator(
  options: AuthenticationOptions,
  { reviewToken, observer }: AuthenticatorSources,
): Authenticator | undefined {
  const { audiences, knownMs, cluster, tokenClusters, deadlineMs } = options
  const { systemIdentityClusters = cluster === undefined ? undefined : [cluster] } = options
  const bearer = { cluster, tokenClusters, systemIdentityClusters, audiences, knownMs, observer }
  switch (options.mode) {
    case 'none':
      return undefined
    case 'token-review':
      return tokenReviewAuthenticator(bearer, reviewToken(cluster, deadlineMs))
    case 'oidc': {
      const { mapping, connection } = issuerOf(options)
      if (audiences.length === 0) {
        const hint =
          'name the client that tokens are issued for: the API server calls it --oidc-client-id'
        throw optionError('auth.audiences', 'is empty', hint)
      }
      return oidcAuthenticator(bearer, mapping, new IssuerKeys(connection))
    }
    case 'oidc-login': {
      const { login } = options
      if (login === undefined) {
        const hint = 'give auth.login.clientId, the ID by which the provider knows this gateway'
        throw optionError('auth.login', 'is missing', hint)
      }
      const { mapping, connection } = issuerOf(options)
      const keys = new IssuerKeys(connection)
      const ofClient = audiences.length === 0 ? [login.clientId] : audiences
      const tokens = oidcAuthenticator({ ...bearer, audiences: ofClient }, mapping, keys)
      const { clientSecretFile: file, sessionSecretFile, bearerTokens } = login
      const clientSecret = file && textIn('auth.login.clientSecretFile', file).trim()
      return new SignIn({
        ...login,
        ...mapping,
        cluster,
        tokenClusters,
        provider: new IdentityProvider({ ...connection, ...login, clientSecret }),
        keys,
        cookies: new SealedCookies(sessionSecretsIn(sessionSecretFile)),
        tokens,
        bearers:
          bearerTokens === 'oidc'
            ? tokens
            : tokenReviewAuthenticator(bearer, reviewToken(cluster, deadlineMs)),
        proxies: requestHeaderAuthenticator(options.requestHeader, systemIdentityClusters),
        failed: (error) => observer?.unavailable(error),
        report: (step) => observer?.signedIn?.(step),
      })
    }
    case 'request-header':
      return requestHeaderAuthenticator(options.requestHeader, systemIdentityClusters)
  }
}

/** The connection to the issuer, and the mapping of its claims. Throws as {@link createAuthenticator} does. */
export function issuerOf({ oidc, deadlineMs }: AuthenticationOptions): {
  readonly mapping: OidcOptions
  readonly connection: IssuerConnection
} {
  if (oidc === undefined) {
    const hint = 'give auth.oidc.issuer, and how its claims are read'
    throw optionError('auth.oidc', 'is missing', hint)
  }
  const { issuer, caFile } = oidc
  const ca = caFile === undefined ? undefined : textIn('auth.oidc.caFile', caFile)
  return { mapping: oidc, connection: { issuer, ca, deadlineMs } }
}

const leastSecretLength = 32

function sessionSecretsIn(file: string | undefined): readonly [string, ...string[]] {
  if (file === undefined) return [randomBytes(32).toString('base64url')]
  const option = 'auth.login.sessionSecretFile'
  const lines = textIn(option, file)
    .split('\n')
    .map((line) => line.trim())
  const [first, ...others] = lines.filter((line) => line !== '')
  const isShort = [first ?? '', ...others].some((line) => line.length < leastSecretLength)
  if (first === undefined || isShort) {
    const hint = `write one secret a line, of ${leastSecretLength} characters or more: openssl rand -base64 32`
    throw optionError(option, 'has no secrets, or one that is too short', hint)
  }
  return [first, ...others]
}

function textIn(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const hint = 'name a readable file'
    throw optionError(option, (error as Error).message, hint)
  }
}

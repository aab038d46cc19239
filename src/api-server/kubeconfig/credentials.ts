/*
 * The credentials for requests to one cluster. They come from the kubeconfig and its files, or from a plugin or an identity
 * provider, and are kept for some seconds. Equal credentials are the same object, so that after a refusal `replace` can
 * tell whether newer ones exist.
 */

import type { OutgoingHttpHeaders } from 'node:http'
import type { RequestOptions } from 'node:https'
import { isDeepStrictEqual } from 'node:util'
import { textOf } from '../../kubernetes/fields.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { present } from '../../lib/options.ts'
import { checkValidity, readTokenFile, tlsMaterial, tokenFileOf } from './client-certificate.ts'
import { type ClientNodeConfig, clientNodeConfig, MissingPackageError } from './client-node.ts'
import { type ClusterConfig, ClusterConfigError } from './cluster-config.ts'

/** Headers, `auth` and TLS material of a request. */
export type RequestCredentials = Pick<
  RequestOptions,
  'auth' | 'headers' | 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'
>

/** A plugin, a token file or an identity provider failed to provide credentials. */
export class CredentialsError extends CodedError {
  constructor(user: string, source: string, cause: unknown, hint: string | undefined) {
    const problem = cause instanceof Error && cause.message !== '' ? cause.message : String(cause)
    const text = problem.trim().slice(0, 2000)
    super('CREDENTIALS', `no credentials for user "${user}" of ${source}: ${text}`, {
      value: user,
      cause,
      hint,
    })
  }
}

/** How long to use the result of client-node's authenticators, which check files and expiry dates on each call. */
const freshForMs = 5_000

/**
 * The credentials for one cluster: from its configuration, or from client-node's authenticators (exec plugins, OIDC),
 * which are loaded only if needed. Concurrent requests share one call of an authenticator.
 */
export class Credentials {
  readonly #config: ClusterConfig
  readonly #deadlineMs: number
  #authenticator: Promise<ClientNodeConfig> | undefined
  #pending: Promise<RequestCredentials> | undefined
  #current: RequestCredentials | undefined
  #readMs = Number.NEGATIVE_INFINITY

  /** `deadlineMs` bounds the wait for a plugin or an identity provider. */
  constructor(config: ClusterConfig, deadlineMs: number) {
    this.#config = config
    this.#deadlineMs = deadlineMs
  }

  /** Rejects with {@link CredentialsError}, or with `ClusterConfigError` if a certificate has expired. */
  async get(): Promise<RequestCredentials> {
    if (this.#current !== undefined && performance.now() - this.#readMs < freshForMs) {
      return this.#current
    }
    return await this.#read()
  }

  /**
   * Call when the server has rejected `refused`. Clears the authenticators' caches and asks them again. Resolves with
   * `undefined` if they have no other credentials.
   */
  async replace(refused: RequestCredentials): Promise<RequestCredentials | undefined> {
    if (this.#pending === undefined && this.#current === refused) {
      this.#authenticator = undefined
    }
    const credentials =
      this.#current === refused || this.#current === undefined ? await this.#read() : this.#current
    return credentials === refused ? undefined : credentials
  }

  #read(): Promise<RequestCredentials> {
    return (this.#pending ??= this.#ask().finally(() => (this.#pending = undefined)))
  }

  async #ask(): Promise<RequestCredentials> {
    const { user, source, impersonation } = this.#config
    let options: RequestOptions
    try {
      options = await withDeadline('asking for credentials', this.#options(), this.#deadlineMs)
    } catch (error) {
      const way = error instanceof MissingPackageError ? error.hint : hintFor(this.#config)
      throw new CredentialsError(user.name, source, error, way)
    }
    const { auth, headers, ca, cert, key, rejectUnauthorized, servername } = options
    const found: RequestCredentials = {
      headers: {
        // Token files end with a line feed, which headers must not contain.
        ...Object.fromEntries(
          Object.entries(headers ?? {}).map(([name, value]) => [name, String(value).trim()]),
        ),
        ...(impersonation as OutgoingHttpHeaders),
      },
      ...present({ auth, ca, cert, key, rejectUnauthorized, servername }),
    }
    if (typeof cert === 'string' || Buffer.isBuffer(cert)) {
      try {
        checkValidity(cert, user.certFile ?? source)
      } catch (error) {
        if (error instanceof ClusterConfigError) throw error
        throw new CredentialsError(user.name, source, error, hintFor(this.#config))
      }
    }
    // Keeps the object for equal content, so that callers can compare by identity.
    if (!isDeepStrictEqual(found, this.#current)) this.#current = found
    this.#readMs = performance.now()
    return this.#current ?? found
  }

  /** The options of a plugin or an identity provider; without one, of the configuration and its files. */
  async #options(): Promise<RequestOptions> {
    const { cluster, user } = this.#config
    const { exec = null, authProvider = null } = user
    const isProvider = authProvider !== null && tokenFileOf(authProvider) === undefined
    if (exec === null && !isProvider) {
      const token = user.token ?? readTokenFile(this.#config)
      const headers: Record<string, string> = {}
      if (user.impersonateUser !== undefined) headers['Impersonate-User'] = user.impersonateUser
      if (token !== undefined && token !== '') headers['Authorization'] = `Bearer ${token}`
      return present({
        headers,
        ...tlsMaterial(this.#config),
        rejectUnauthorized: cluster.skipTLSVerify ? false : undefined,
        servername: textOf(cluster.tlsServerName),
        auth: textOf(user.username) && `${user.username}:${user.password ?? ''}`,
      })
    }
    // The connection pool handles proxies. A separate configuration shares no authenticators' cache with others.
    const { proxyUrl: _, ...direct } = cluster
    const use = exec === null ? 'its identity provider' : 'its plugin'
    this.#authenticator ??= clientNodeConfig(use, direct, user)
    const options: RequestOptions = {}
    await (await this.#authenticator).applyToHTTPSOptions(options)
    return options
  }
}

function hintFor({ user }: ClusterConfig): string {
  const exec = user.exec as { command?: string; installHint?: string } | null | undefined
  if (exec === null || exec === undefined) return 'check the user entry of the kubeconfig'
  return exec.installHint ?? `run the plugin by hand to see what it says: ${exec.command}`
}

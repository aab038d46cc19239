import type { OutgoingHttpHeaders } from 'node:http'
import type { RequestOptions } from 'node:https'
import { isDeepStrictEqual } from 'node:util'
import type { KubeConfig } from '@kubernetes/client-node'
import { CodedError } from '../../lib/coded-error.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { checkValidity } from './client-certificate.ts'
import { ClusterConfigError } from './cluster-config-error.ts'
import type { ClusterConfig } from './cluster-config.ts'
import { needsAuthenticator, staticCredentials } from './static-credentials.ts'

/** What a request needs to be let in: headers, `auth`, and TLS material. */
export type RequestCredentials = Pick<
  RequestOptions,
  'auth' | 'headers' | 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'
>

/** Credentials that could not be had: from a plugin, a token file, an identity provider. */
export class CredentialsError extends CodedError {
  constructor(user: string, source: string, cause: unknown, hint: string) {
    const problem = cause instanceof Error && cause.message !== '' ? cause.message : String(cause)
    const text = problem.trim().slice(0, 2000)
    super('CREDENTIALS', `no credentials for user "${user}" of ${source}: ${text}`, {
      value: user,
      cause,
      hint,
    })
  }
}

/** How long one answer of client-node's authenticators is used; they look at files and expiry dates when asked. */
const freshForMs = 5_000

/**
 * The credentials for one cluster: what its configuration holds, and where they have to be asked for, by client-node's
 * authenticators (exec plugins, OIDC), which are loaded for that alone. However many requests ask at once, they are asked
 * for once.
 */
export class Credentials {
  readonly #config: ClusterConfig
  readonly #deadlineMs: number
  #kubeConfig: Promise<KubeConfig> | undefined
  #pending: Promise<RequestCredentials> | undefined
  #current: RequestCredentials | undefined
  #readMs = Number.NEGATIVE_INFINITY

  /** `deadlineMs` bounds the wait for a plugin or an identity provider. */
  constructor(config: ClusterConfig, deadlineMs: number) {
    this.#config = config
    this.#deadlineMs = deadlineMs
  }

  /** Rejects with {@link CredentialsError}, or with `ClusterConfigError` where a certificate has expired. */
  async get(): Promise<RequestCredentials> {
    if (this.#current !== undefined && performance.now() - this.#readMs < freshForMs) {
      return this.#current
    }
    return await this.#read()
  }

  /**
   * To be called when the server did not accept `refused`: forgets what the authenticators remember and asks them
   * again. `undefined` when they have nothing else to offer.
   */
  async replace(refused: RequestCredentials): Promise<RequestCredentials | undefined> {
    if (this.#pending === undefined && this.#current === refused) {
      this.#kubeConfig = undefined
    }
    const credentials =
      this.#current === refused || this.#current === undefined ? await this.#read() : this.#current
    return credentials === refused ? undefined : credentials
  }

  async #read(): Promise<RequestCredentials> {
    this.#pending ??= this.#ask().finally(() => {
      this.#pending = undefined
    })
    return await this.#pending
  }

  async #ask(): Promise<RequestCredentials> {
    const { user, source, impersonation } = this.#config
    let options: RequestOptions
    try {
      const asking = needsAuthenticator(user) ? this.#authenticate() : this.#readStatic()
      options = await withDeadline('asking for credentials', asking, this.#deadlineMs)
    } catch (error) {
      throw new CredentialsError(user.name, source, error, hintFor(this.#config))
    }
    const { auth, headers, ca, cert, key, rejectUnauthorized, servername } = options
    const found: RequestCredentials = {
      headers: {
        ...trimmed(headers as Record<string, unknown>),
        ...(impersonation as OutgoingHttpHeaders),
      },
      ...withoutUndefined({ auth, ca, cert, key, rejectUnauthorized, servername }),
    }
    this.#check(found)
    // The same object for the same content, so that whoever compares can do so by identity.
    if (!isDeepStrictEqual(found, this.#current)) this.#current = found
    this.#readMs = performance.now()
    return this.#current ?? found
  }

  async #readStatic(): Promise<RequestOptions> {
    return staticCredentials(this.#config)
  }

  async #authenticate(): Promise<RequestOptions> {
    this.#kubeConfig ??= kubeConfigOf(this.#config)
    const kubeConfig = await this.#kubeConfig
    const options: RequestOptions = {}
    await kubeConfig.applyToHTTPSOptions(options)
    return options
  }

  #check({ cert }: RequestCredentials): void {
    const { user, source } = this.#config
    if (typeof cert !== 'string' && !Buffer.isBuffer(cert)) return
    try {
      checkValidity(cert, user.certFile ?? source)
    } catch (error) {
      if (error instanceof ClusterConfigError) throw error
      throw new CredentialsError(user.name, source, error, hintFor(this.#config))
    }
  }
}

/** A `KubeConfig` of its own, so that its authenticators remember nothing of others. */
async function kubeConfigOf({ cluster, user }: ClusterConfig): Promise<KubeConfig> {
  const clientNode = await import('@kubernetes/client-node')
  const kubeConfig = new clientNode.KubeConfig()
  // Proxies are the connection pool's business, which asks for them once.
  const { proxyUrl: _, ...direct } = cluster
  // client-node refuses plain HTTP unless certificates need no check; there are none.
  const isPlain = cluster.server.startsWith('http:')
  kubeConfig.loadFromClusterAndUser(isPlain ? { ...direct, skipTLSVerify: true } : direct, user)
  return kubeConfig
}

function hintFor({ user }: ClusterConfig): string {
  const exec = user.exec as { command?: string; installHint?: string } | null | undefined
  if (exec === null || exec === undefined) return 'check the user entry of the kubeconfig'
  return exec.installHint ?? `run the plugin by hand to see what it says: ${exec.command}`
}

/** Token files end with a line feed, which no header may hold. */
function trimmed(headers: Record<string, unknown> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name, String(value).trim()]),
  )
}

function withoutUndefined(options: Record<string, unknown>): RequestCredentials {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

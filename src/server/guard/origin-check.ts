/*
 * Keeps foreign pages out. A page of another site can make a browser send requests here, even under a name of its own that
 * resolves to this machine (DNS rebinding). So the Host must be a known name. The Origin, which pages cannot forge, must
 * be the gateway's own or an allowed one.
 */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import { CodedError } from '../../lib/coded-error.ts'
import { HostNames } from '../../lib/host-names.ts'
import type { ServerOptions } from '../server-options.ts'
import type { Refusal } from './refusal.ts'

/** Checks the host ({@link HostNames}) and the origin of a request by its headers, for both transports. */
export class OriginCheck {
  readonly #hosts: HostNames
  readonly #allowedOrigins: ReadonlySet<string>
  readonly #publicOrigin: string | undefined

  constructor({
    host,
    allowedHosts,
    allowedOrigins,
    publicUrl,
  }: Pick<ServerOptions, 'host' | 'allowedHosts' | 'allowedOrigins' | 'publicUrl'>) {
    const seen = publicUrl === undefined ? undefined : new URL(publicUrl)
    this.#publicOrigin = seen?.origin
    this.#hosts = new HostNames(host, [...(seen === undefined ? [] : [seen.host]), ...allowedHosts])
    this.#allowedOrigins = new Set(allowedOrigins)
  }

  refusal(headers: IncomingHttpHeaders): Refusal | undefined {
    if (!this.#hosts.has(headers.host)) {
      const host = JSON.stringify(headers.host ?? '')
      return {
        status: 403,
        reason: `Host ${host} is not a name of this gateway.`,
        hint: 'add it to server.allowedHosts to allow it',
      }
    }
    const { origin } = headers
    const site = headers['sec-fetch-site']
    // Browsers omit the origin of simple GET requests, but always send this header. Other clients send neither.
    const isFromOwnPage =
      origin === undefined
        ? site === undefined ||
          site === 'same-origin' ||
          site === 'none' ||
          (headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document')
        : origin === this.#publicOrigin || hostOf(origin) === headers.host?.toLowerCase()
    if (isFromOwnPage || this.allowedOrigin(headers) !== undefined) return undefined
    const from = origin ?? `a ${String(site)} page`
    return {
      status: 403,
      reason: `Requests from ${JSON.stringify(from)} are refused.`,
      hint: 'add the origin to server.allowedOrigins to allow it',
    }
  }

  /** The origin of the request if it is foreign and allowed. */
  allowedOrigin({ origin }: IncomingHttpHeaders): string | undefined {
    return origin !== undefined && this.#allowedOrigins.has(origin) ? origin : undefined
  }

  /**
   * Whether the browser says, by headers that a page cannot forge, that a script of an accepted page sends this request.
   * Call it only for requests without a {@link refusal}, whose origin is an accepted one.
   */
  isByOwnScript({ origin, ...headers }: IncomingHttpHeaders): boolean {
    if (origin !== undefined) return true
    return headers['sec-fetch-site'] === 'same-origin' && headers['sec-fetch-dest'] === 'empty'
  }

  /** The origin of the gateway's own pages, as browsers see it. */
  ownOrigin({ headers, socket }: IncomingMessage): string {
    const scheme = socket instanceof TLSSocket ? 'https' : 'http'
    return this.#publicOrigin ?? `${scheme}://${(headers.host ?? '').toLowerCase()}`
  }

  /**
   * Whether the browser says that a page of the gateway's own origin sends this request, so that cookies count. A request
   * that changes something, or opens a WebSocket, must name its origin. Pages of allowed origins do not count as own.
   */
  isByOwnPage(request: IncomingMessage): boolean {
    const { method, headers } = request
    const { origin } = headers
    const site = headers['sec-fetch-site']
    if (origin !== undefined) {
      return origin === this.ownOrigin(request) && (site === undefined || site === 'same-origin')
    }
    return method === 'GET' && headers.upgrade === undefined && site === 'same-origin'
  }
}

/** The host and port of an origin; `undefined` for `null` and other schemes. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1]
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Whether only this machine can reach the address. `localhost` is the only name that counts, since others may resolve to
 * any address.
 */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Throws UNSAFE_ADDRESS if other machines can reach the address without authentication, unless
 * `insecureNoAuth` is set.
 */
export function checkAddress(
  { host, insecureNoAuth }: Pick<ServerOptions, 'host' | 'insecureNoAuth'>,
  asksWho: boolean,
): void {
  if (asksWho || insecureNoAuth || isLoopback(host)) return
  const problem = `host ${host} is not a loopback address: every client that reaches it would read with the credentials of the gateway`
  const hint =
    'leave the host out to listen on 127.0.0.1, authenticate callers (--auth token-review), or pass --insecure-no-auth if something else controls access'
  throw new CodedError('UNSAFE_ADDRESS', problem, { value: host, hint })
}

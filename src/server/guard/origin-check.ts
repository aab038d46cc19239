import type { IncomingHttpHeaders } from 'node:http'
import type { HostList } from './host-list.ts'
import type { Refusal } from './refusal.ts'

/** Checks host and origin of a request by its headers, for both transports. */
export class OriginCheck {
  readonly #hosts: HostList
  readonly #allowedOrigins: ReadonlySet<string>

  constructor(hosts: HostList, allowedOrigins: readonly string[]) {
    this.#hosts = hosts
    this.#allowedOrigins = new Set(allowedOrigins)
  }

  /** The refusal of the request; `undefined` if it is accepted. */
  refusal(headers: IncomingHttpHeaders): Refusal | undefined {
    if (!this.knowsHost(headers)) {
      const host = JSON.stringify(headers.host ?? '')
      return {
        status: 403,
        reason: `Host ${host} is not a name of this gateway; name it in server.allowedHosts if it should be one.`,
      }
    }
    if (this.#fromOwnPage(headers) || this.allowedOrigin(headers) !== undefined) return undefined
    const from = headers.origin ?? `a ${String(headers['sec-fetch-site'])} page`
    return {
      status: 403,
      reason: `Requests from ${JSON.stringify(from)} are refused; name the origin in server.allowedOrigins if it may ask.`,
    }
  }

  /** Whether the `Host` is one of the gateway's names. */
  knowsHost(headers: IncomingHttpHeaders): boolean {
    return this.#hosts.includes(headers.host)
  }

  /** The origin of the request if it is foreign and allowed. */
  allowedOrigin({ origin }: IncomingHttpHeaders): string | undefined {
    return origin !== undefined && this.#allowedOrigins.has(origin) ? origin : undefined
  }

  #fromOwnPage(headers: IncomingHttpHeaders): boolean {
    const { origin } = headers
    if (origin !== undefined) return hostOf(origin) === headers.host?.toLowerCase()
    // Browsers omit the origin of simple GET requests, but always send this header. Other clients send neither.
    const site = headers['sec-fetch-site']
    if (site === undefined || site === 'same-origin' || site === 'none') return true
    return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  }
}

/** The host and port of an origin; `undefined` for `null` and other schemes. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1]
}

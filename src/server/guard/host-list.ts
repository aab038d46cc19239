import { BlockList, isIP } from 'node:net'
import { UnsafeAddressError } from '../server-errors.ts'
import type { ServerOptions } from '../server-options.ts'

/** The host of a `Host` header, lower case; `port` is `undefined` if the header has none. */
interface NamedHost {
  readonly name: string
  readonly port: string | undefined
}

const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/**
 * The allowed names of the server. A foreign page can let its own name resolve to this machine (DNS rebinding) and then
 * counts as the same origin, but the browser still sends the foreign name as `Host`.
 */
export class HostList {
  readonly #names: ReadonlySet<string>

  /** `boundHost` is the listening address; entries of `allowedHosts` are `name` or `name:port`. */
  constructor(boundHost: string, allowedHosts: readonly string[]) {
    const bound = boundHost.includes(':') ? `[${boundHost}]` : boundHost
    const own = wildcards.has(boundHost) ? [] : [bound]
    const names = [...loopbackNames, ...own, ...allowedHosts]
    this.#names = new Set(names.map((name) => name.toLowerCase()))
  }

  /** Loopback names and the bound address match with any port, since ports may be forwarded. */
  includes(header: string | undefined): boolean {
    const host = parseHost(header)
    if (host === undefined) return false
    return (
      this.#names.has(host.name) ||
      (host.port !== undefined && this.#names.has(`${host.name}:${host.port}`))
    )
  }
}

function parseHost(header: string | undefined): NamedHost | undefined {
  const match = hostHeader.exec(header?.toLowerCase() ?? '')
  if (match?.[1] === undefined) return undefined
  return { name: match[1], port: match[2] }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Whether only this machine can reach the address. Of names only `localhost` counts, since others may resolve to any
 * address.
 */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Throws {@link UnsafeAddressError} if other machines can reach the address without authentication, unless
 * `insecureNoAuth` is set.
 */
export function checkAddress(
  { host, insecureNoAuth }: Pick<ServerOptions, 'host' | 'insecureNoAuth'>,
  asksWho: boolean,
): void {
  if (!asksWho && !insecureNoAuth && !isLoopback(host)) throw new UnsafeAddressError(host)
}

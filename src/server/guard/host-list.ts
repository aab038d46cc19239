/** What a `Host` header names, lower case; the port is `undefined` where the header has none. */
interface NamedHost {
  readonly name: string
  readonly port: string | undefined
}

const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/**
 * The names under which the server may be asked. A page of a stranger can have its own name resolve to this machine (DNS
 * rebinding), and then counts as the same origin; but the browser still sends that name as `Host`.
 */
export class HostList {
  readonly #names: ReadonlySet<string>

  /** `boundHost` is the address that is listened on; entries of `allowedHosts` are `name` or `name:port`. */
  constructor(boundHost: string, allowedHosts: readonly string[]) {
    const bound = boundHost.includes(':') ? `[${boundHost}]` : boundHost
    const own = wildcards.has(boundHost) ? [] : [bound]
    const names = [...loopbackNames, ...own, ...allowedHosts]
    this.#names = new Set(names.map((name) => name.toLowerCase()))
  }

  /** Loopback names and the bound address count with any port, since ports are forwarded and published. */
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

/**
 * The names by which a server may be asked: those of loopback, the address that it is bound to, and others that are given:
 * `name`, which matches with any port, or `name:port`. A foreign page can let its own name resolve to this machine (DNS
 * rebinding) and then counts as the same origin, but the browser still sends the foreign name as `Host`.
 */
export class HostNames {
  readonly #names: ReadonlySet<string>

  constructor(host: string, others: readonly string[] = []) {
    const own = wildcards.has(host) ? [] : [host.includes(':') ? `[${host}]` : host]
    const names = [...loopbackNames, ...own, ...others]
    this.#names = new Set(names.map((name) => name.toLowerCase()))
  }

  /** Whether a `Host` header has one of them. */
  has(header: string | undefined): boolean {
    const [whole, name] = hostHeader.exec(header?.toLowerCase() ?? '') ?? []
    if (whole === undefined || name === undefined) return false
    return this.#names.has(name) || this.#names.has(whole)
  }
}

const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

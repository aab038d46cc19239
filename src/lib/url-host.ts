/** The host and the port of a URL of HTTP, as sockets take them: an IPv6 address without its brackets. */
export function hostOf({ hostname, port, protocol }: URL): {
  readonly hostname: string
  readonly port: number
} {
  const byDefault = protocol === 'https:' ? 443 : 80
  return {
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? byDefault : Number(port),
  }
}

import { BlockList, isIP } from 'node:net'
import { UnsafeAddressError } from '../server-errors.ts'
import type { ServerOptions } from '../server-options.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether only this machine can reach the address. Of names only `localhost` counts, since any other may be resolved anew. */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Throws {@link UnsafeAddressError} where others could reach the address, they are not asked who they are, and nobody said
 * that they need not be.
 */
export function checkAddress(
  { host, insecureNoAuth }: Pick<ServerOptions, 'host' | 'insecureNoAuth'>,
  asksWho: boolean,
): void {
  if (!asksWho && !insecureNoAuth && !isLoopback(host)) throw new UnsafeAddressError(host)
}

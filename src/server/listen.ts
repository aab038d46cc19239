import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { CodedError } from '../lib/coded-error.ts'

/** Listens on an address. Resolves with the bound address. Rejects with LISTEN. */
export async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    throw listenError(host, port, error as NodeJS.ErrnoException)
  }
  return server.address() as AddressInfo
}

export function listenError(host: string, port: number, cause: NodeJS.ErrnoException): CodedError {
  const known = problems[cause.code ?? '']?.(port)
  const { problem = cause.message, hint = 'choose another --host or --port' } = known ?? {}
  const text = `cannot listen on ${host}, port ${port}: ${problem}`
  return new CodedError('LISTEN', text, { value: port, hint, cause })
}

const noAddress = { problem: 'this machine has no such address', hint: 'choose another --host' }

/** The problems by Node's error codes. */
const problems: Readonly<
  Record<string, (port: number) => { readonly problem: string; readonly hint: string }>
> = {
  EADDRINUSE: (port) => ({
    problem: 'the port is already in use',
    hint: `choose another one (--port ${port + 1}, or --port 0 for any free one), or stop the program that uses it`,
  }),
  EACCES: () => ({ problem: 'not permitted', hint: 'choose a port from 1024 on' }),
  EADDRNOTAVAIL: () => noAddress,
  ENOTFOUND: () => noAddress,
}

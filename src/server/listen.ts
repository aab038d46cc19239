import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { CodedError } from '../lib/coded-error.ts'

/** Listens on an address. Resolves with the bound one. Rejects with {@link ListenError}. */
export async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    throw new ListenError(host, port, error as NodeJS.ErrnoException)
  }
  return server.address() as AddressInfo
}

export class ListenError extends CodedError {
  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    const { problem, hint } = listenProblem(port, cause)
    super('LISTEN', `cannot listen on ${host}, port ${port}: ${problem}`, {
      value: port,
      hint,
      cause,
    })
  }
}

function listenProblem(
  port: number,
  cause: NodeJS.ErrnoException,
): { readonly problem: string; readonly hint: string } {
  switch (cause.code ?? '') {
    case 'EADDRINUSE':
      return {
        problem: 'the port is taken',
        hint: `choose another one (--port ${port + 1}, or --port 0 for any free one), or stop the program that has it`,
      }
    case 'EACCES':
      return { problem: 'not permitted', hint: 'choose a port from 1024 on' }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return { problem: 'this machine has no such address', hint: 'choose another --host' }
    default:
      return { problem: cause.message, hint: 'choose another --host or --port' }
  }
}

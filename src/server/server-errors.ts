import { CodedError } from '../lib/coded-error.ts'

/** An address that other machines can reach without authentication. */
export class UnsafeAddressError extends CodedError {
  constructor(host: string) {
    super(
      'UNSAFE_ADDRESS',
      `host ${host} is not a loopback address: every client that reaches it would read with the credentials of the gateway`,
      {
        value: host,
        hint: 'leave the host out to listen on 127.0.0.1, authenticate callers (--auth token-review), or pass --insecure-no-auth if something else controls access',
      },
    )
  }
}

/** The server cannot listen on its address. */
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

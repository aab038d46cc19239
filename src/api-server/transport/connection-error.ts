/*
 * The errors of requests without an answer. It maps the many errors of Node's sockets, TLS and DNS to a few causes that an
 * operator can act on, each with a hint.
 */

import { CodedError } from '../../lib/coded-error.ts'

/** The cause of a failed connection. */
export type ConnectionFailure =
  | 'refused'
  | 'reset'
  | 'timeout'
  | 'name'
  | 'unreachable'
  | 'certificate-expired'
  | 'certificate-not-yet-valid'
  | 'unknown-authority'
  | 'wrong-host'
  | 'client-certificate'
  | 'tls'
  | 'protocol'
  | 'closed'
  | 'other'

/** An API server could not be reached, or a connection to it broke. */
export class ConnectionError extends CodedError {
  /** `host:port`. */
  readonly host: string
  readonly failure: ConnectionFailure
  /** Whether nothing listens there, so that a retry at once is useless. */
  readonly refused: boolean

  constructor(failure: ConnectionFailure, host: string, problem: string, cause?: unknown) {
    const code = `CONNECTION_${failure.toUpperCase().replaceAll('-', '_')}`
    super(code, `${host}: ${problem}`, { value: host, cause, hint: hints[failure] })
    this.host = host
    this.failure = failure
    this.refused = failure === 'refused'
  }
}

const failures: Readonly<Record<string, ConnectionFailure>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ERR_STREAM_PREMATURE_CLOSE: 'reset',
  Z_BUF_ERROR: 'reset',
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'name',
  EAI_AGAIN: 'name',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  CERT_HAS_EXPIRED: 'certificate-expired',
  CERT_NOT_YET_VALID: 'certificate-not-yet-valid',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'unknown-authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'unknown-authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unknown-authority',
  UNABLE_TO_GET_ISSUER_CERT: 'unknown-authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unknown-authority',
  CERT_SIGNATURE_FAILURE: 'unknown-authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'wrong-host',
  HOSTNAME_MISMATCH: 'wrong-host',
}

const hints: Partial<Record<ConnectionFailure, string>> = {
  refused: 'check that the API server is running, and its address and port',
  reset: 'the API server, or a proxy in front of it, closed the connection',
  timeout: 'check the address, and the firewalls on the way',
  name: "check the server's name in the kubeconfig, and DNS",
  unreachable: 'check the network and the VPN',
  'certificate-expired': "the API server's certificate has to be renewed",
  'certificate-not-yet-valid': "check this machine's clock",
  'unknown-authority': 'set certificate-authority in the kubeconfig to the CA of this cluster',
  'wrong-host': 'use a name that the certificate holds, or set tls-server-name',
  'client-certificate': 'the API server did not accept the client certificate of this user',
  tls: 'check that the address is that of an API server, and https its protocol',
  protocol: 'check that the address is that of an API server, and whether it expects https',
}

/** The connection error for a failure of node:http, node:tls or node:zlib. */
export function connectionErrorOf(host: string, error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const text = message === '' ? code : message
  const failure = failures[code] ?? prefixes.find(([form]) => form.test(`${code} ${message}`))?.[1]
  return new ConnectionError(failure ?? 'other', host, text, error)
}

/** The causes of further codes, and of alerts in messages. The first match counts. */
const prefixes: readonly (readonly [RegExp, ConnectionFailure])[] = [
  [
    /ALERT_(CERTIFICATE|BAD_CERTIFICATE|UNKNOWN_CA|UNSUPPORTED_CERT)|alert (certificate|bad cert|unknown ca)/i,
    'client-certificate',
  ],
  [/^(ERR_SSL|ERR_TLS|EPROTO )/, 'tls'],
  [/^(HPE_|Z_)/, 'protocol'],
  [/^(CERT_|\S*_CERT)/, 'tls'],
]

/*
 * The TLS certificate of the server. It is read at the start and after each change of its files, and checked before use.
 * An operator may replace one file before the other. So if the pair does not match, the previous certificate stays in use
 * until the next look.
 */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerOptions as HttpsOptions } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { certificateEnd } from '../../api-server/kubeconfig/client-certificate.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { FollowedFiles } from '../../lib/file-follower.ts'
import type { ServerLog } from '../operation-options.ts'

/** The files of the server's certificate, in PEM. They may change while the server runs. */
export interface CertificateFiles {
  /** The certificate, followed by intermediate ones. */
  readonly tlsCert: string
  readonly tlsKey: string
  /** The CA of trusted client certificates. The server then requests a certificate, which remains optional. */
  readonly tlsClientCa?: string | undefined
}

export function certificateError(problem: string, cause?: unknown): CodedError {
  const hint = 'give server.tlsCert and server.tlsKey, a certificate and its key, PEM'
  return new CodedError('TLS_CERTIFICATE', `TLS: ${problem}`, { cause, hint })
}

/** TLS 1.0 and 1.1 are broken (RFC 8996). */
const minVersion = 'TLSv1.2'
const handshakeDeadlineMs = 10_000

/** The certificate of a server. It follows its files, so a rotated certificate needs no restart. */
export class ServerCertificate implements Disposable {
  readonly #options: Pick<HttpsOptions, 'requestCert'>
  readonly #servers: Server[] = []
  readonly #context: FollowedFiles<SecureContextOptions>

  /** Throws TLS_CERTIFICATE. */
  constructor(files: CertificateFiles, log: ServerLog) {
    const { tlsCert, tlsKey, tlsClientCa } = files
    this.#options = { requestCert: tlsClientCa !== undefined }
    this.#context = new FollowedFiles(
      [tlsCert, tlsKey, ...(tlsClientCa === undefined ? [] : [tlsClientCa])],
      () => readContext(files),
      // One file may be replaced before the other.
      (error) => log.error('the previous certificate stays in use', { error }),
      (context) => {
        for (const server of this.#servers) server.setSecureContext(context)
      },
    )
  }

  createServer(options: HttpsOptions): Server {
    const server = createServer({
      ...options,
      ...this.#context.value,
      ...this.#options,
      handshakeTimeout: handshakeDeadlineMs,
      // Clients without a certificate still get an answer. Trust is decided per request.
      rejectUnauthorized: false,
    })
    this.#servers.push(server)
    return server
  }

  /** When the certificate in use ends, in Unix milliseconds. */
  get endMs(): number | undefined {
    return certificateEnd(this.#context.value.cert as string)
  }

  [Symbol.dispose](): void {
    this.#context[Symbol.dispose]()
  }
}

function readContext({ tlsCert, tlsKey, tlsClientCa }: CertificateFiles): SecureContextOptions {
  const [cert, key] = [read(tlsCert), read(tlsKey)]
  const ca: { ca?: string } = tlsClientCa === undefined ? {} : { ca: read(tlsClientCa) }
  const context = { cert, key, ...ca, minVersion } as const
  try {
    // Node accepts any text as a CA, and then trusts no certificate.
    if (ca.ca !== undefined) new X509Certificate(ca.ca).toString()
  } catch (cause) {
    throw certificateError(`${tlsClientCa}: ${(cause as Error).message}`, cause)
  }
  try {
    createSecureContext(context)
  } catch (cause) {
    throw certificateError(`${tlsCert} and ${tlsKey}: ${(cause as Error).message}`, cause)
  }
  return context
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw certificateError((cause as Error).message, cause)
  }
}

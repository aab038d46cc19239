import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerOptions as HttpsOptions } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { certificateEnd } from '../../api-server/kubeconfig/client-certificate.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { FileWatcher } from '../../lib/file-watcher.ts'
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
  readonly #files: CertificateFiles
  readonly #log: ServerLog
  readonly #servers: Server[] = []
  readonly #followed: FileWatcher
  #context: SecureContextOptions

  /** Throws TLS_CERTIFICATE. */
  constructor(files: CertificateFiles, log: ServerLog) {
    this.#files = files
    this.#log = log
    const { tlsCert, tlsKey, tlsClientCa } = files
    const all = [tlsCert, tlsKey, ...(tlsClientCa === undefined ? [] : [tlsClientCa])]
    this.#followed = new FileWatcher(all, () => this.#changed())
    try {
      this.#context = readContext(files)
    } catch (error) {
      this.#followed[Symbol.dispose]()
      throw error
    }
  }

  createServer(options: HttpsOptions): Server {
    const server = createServer({
      ...options,
      ...this.#context,
      handshakeTimeout: handshakeDeadlineMs,
      requestCert: this.#files.tlsClientCa !== undefined,
      // Clients without a certificate still get an answer. Trust is decided per request.
      rejectUnauthorized: false,
    })
    this.#servers.push(server)
    return server
  }

  /** When the certificate in use ends, in Unix milliseconds. */
  get endMs(): number | undefined {
    return certificateEnd(this.#context.cert as string)
  }

  [Symbol.dispose](): void {
    this.#followed[Symbol.dispose]()
  }

  #changed(): void {
    try {
      this.#context = readContext(this.#files)
      for (const server of this.#servers) server.setSecureContext(this.#context)
    } catch (error) {
      // One file may be replaced before the other.
      this.#log.error('the previous certificate stays in use', { error })
    }
  }
}

function readContext({ tlsCert, tlsKey, tlsClientCa }: CertificateFiles): SecureContextOptions {
  const [cert, key] = [read(tlsCert), read(tlsKey)]
  const ca = tlsClientCa === undefined ? {} : { ca: certificatesOf(tlsClientCa, read(tlsClientCa)) }
  const context = { cert, key, ...ca, minVersion } as const
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

/** Node accepts any text as a CA, and then trusts no certificate. */
function certificatesOf(file: string, text: string): string {
  try {
    new X509Certificate(text).toString()
    return text
  } catch (cause) {
    throw certificateError(`${file}: ${(cause as Error).message}`, cause)
  }
}

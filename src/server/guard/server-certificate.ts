import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerOptions as HttpsOptions } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { CodedError } from '../../lib/coded-error.ts'
import { FileWatcher } from '../../lib/file-watcher.ts'
import type { ServerLog } from '../operation-options.ts'

/** Where the server's certificate is; files in PEM, which may change while it runs. */
export interface CertificateFiles {
  /** With the intermediate ones behind it. */
  readonly tlsCert: string
  readonly tlsKey: string
  /** Of those whose client certificates are trusted; callers are asked for one then, and need not have one. */
  readonly tlsClientCa?: string | undefined
}

/** Files that make no certificate. */
export class CertificateError extends CodedError {
  constructor(problem: string, cause?: unknown) {
    super('TLS_CERTIFICATE', `TLS: ${problem}`, {
      cause,
      hint: 'give server.tlsCert and server.tlsKey, a certificate and its key, PEM',
    })
  }
}

/** TLS 1.0 and 1.1 are broken (RFC 8996). */
const minVersion = 'TLSv1.2'
const handshakeDeadlineMs = 10_000

/** The certificate of a server, which follows its files: what is rotated is served without a restart. */
export class ServerCertificate implements Disposable {
  readonly #files: CertificateFiles
  readonly #log: ServerLog
  readonly #servers: Server[] = []
  readonly #followed: FileWatcher
  #context: SecureContextOptions

  /** Throws {@link CertificateError}. */
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

  /** A server with this certificate. */
  createServer(options: HttpsOptions): Server {
    const server = createServer({
      ...options,
      ...this.#context,
      handshakeTimeout: handshakeDeadlineMs,
      requestCert: this.#files.tlsClientCa !== undefined,
      // Whoever has none may still be told so by an answer; who is trusted is decided for each request.
      rejectUnauthorized: false,
    })
    this.#servers.push(server)
    return server
  }

  [Symbol.dispose](): void {
    this.#followed[Symbol.dispose]()
  }

  #changed(): void {
    try {
      this.#context = readContext(this.#files)
      for (const server of this.#servers) server.setSecureContext(this.#context)
    } catch (error) {
      // One file may have been replaced before the other.
      this.#log.error('the certificate stays as it was', { error })
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
    throw new CertificateError(`${tlsCert} and ${tlsKey}: ${(cause as Error).message}`, cause)
  }
  return context
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new CertificateError((cause as Error).message, cause)
  }
}

/** Node takes any text for a CA, and then trusts nobody. */
function certificatesOf(file: string, text: string): string {
  try {
    new X509Certificate(text).toString()
    return text
  } catch (cause) {
    throw new CertificateError(`${file}: ${(cause as Error).message}`, cause)
  }
}

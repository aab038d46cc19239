import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { type ClusterConfig, ClusterConfigError } from './cluster-config.ts'

/**
 * Reads every file that a cluster's configuration names, and checks its certificates. Throws {@link ClusterConfigError}
 * for an unreadable file, a file without a certificate, a key of another certificate, and a client certificate that is
 * not valid now.
 */
export function checkTlsMaterial({ cluster, user, source }: ClusterConfig): void {
  const ca = read('certificate-authority', cluster.caFile, cluster.caData, source)
  const cert = read('client-certificate', user.certFile, user.certData, source)
  const key = read('client-key', user.keyFile, user.keyData, source)
  const { tokenFile } =
    (user.authProvider as { config?: { tokenFile?: string } } | null)?.config ?? {}
  read('tokenFile', tokenFile, undefined, source)
  check('certificate-authority', cluster.caFile ?? source, () => createSecureContext({ ca }))
  check('client-certificate', user.certFile ?? source, () => createSecureContext({ cert }))
  check('client-key', user.keyFile ?? source, () => createSecureContext({ cert, key }))
  if (cert !== undefined) checkValidity(cert, user.certFile ?? source)
}

/** Throws {@link ClusterConfigError} unless the certificate (PEM) is valid now. `where` names its file. */
export function checkValidity(pem: string | Buffer, where: string): void {
  const { validFrom, validTo } = new X509Certificate(pem)
  const expires = new Date(validTo)
  const begins = new Date(validFrom)
  const now = Date.now()
  if (expires.getTime() < now) {
    throw new ClusterConfigError(
      'CLIENT_CERTIFICATE_EXPIRED',
      `the client certificate in ${where} expired at ${expires.toISOString()}`,
      { value: expires, hint: 'have it renewed; kubeadm certs renew, or a new kubeconfig' },
    )
  }
  if (begins.getTime() > now) {
    throw new ClusterConfigError(
      'CLIENT_CERTIFICATE_NOT_YET_VALID',
      `the client certificate in ${where} is valid only from ${begins.toISOString()}`,
      { value: begins, hint: "check this machine's clock" },
    )
  }
}

function read(
  what: string,
  file: string | undefined,
  data: string | undefined,
  source: string,
): Buffer | undefined {
  if (file === undefined || file === '') {
    return data === undefined || data === '' ? undefined : Buffer.from(data, 'base64')
  }
  try {
    return readFileSync(file)
  } catch (error) {
    throw new ClusterConfigError(
      'CREDENTIAL_FILE_UNREADABLE',
      `${what} of ${source}: ${file} cannot be read: ${(error as Error).message}`,
      { value: file, cause: error, hint: 'relative paths start at the folder of the kubeconfig' },
    )
  }
}

function check(what: string, where: string, use: () => unknown): void {
  try {
    use()
  } catch (error) {
    throw new ClusterConfigError(
      'CERTIFICATE_INVALID',
      `${what} in ${where} cannot be used: ${(error as Error).message}`,
      { value: where, cause: error, hint: 'it must be PEM, and the key that of the certificate' },
    )
  }
}

/*
 * Reads the files of a cluster's configuration: certificates, keys and tokens. It checks them before their use, so that
 * an error names the file and not a failed handshake. It also finds out when the credentials end.
 */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { fieldsOf } from '../../kubernetes/fields.ts'
import { type ClusterConfig, ClusterConfigError } from './cluster-config.ts'

/**
 * Reads every file that a cluster's configuration names, and checks the certificates. Throws {@link ClusterConfigError}
 * for an unreadable file, a file without a certificate, a key of another certificate, and a client certificate that is
 * not valid now.
 */
export function checkTlsMaterial(config: ClusterConfig): void {
  const { cluster, user, source } = config
  const { ca, cert, key } = tlsMaterial(config)
  readTokenFile(config)
  // `createSecureContext` accepts a text without a certificate and then trusts nobody, so `X509Certificate` reads the CA, too.
  // Without a CA, `createSecureContext` loads the root certificates of Node, which takes milliseconds.
  check(
    'certificate-authority',
    cluster.caFile ?? source,
    () => ca && [createSecureContext({ ca }), new X509Certificate(ca)],
  )
  check('client-certificate', user.certFile ?? source, () => cert && createSecureContext({ cert }))
  check('client-key', user.keyFile ?? source, () => key && createSecureContext({ cert, key }))
  if (cert !== undefined) checkValidity(cert, user.certFile ?? source)
}

/** The certificates and the key of a configuration (PEM), from its files or its data. */
export function tlsMaterial({
  cluster,
  user,
  source,
}: ClusterConfig): Readonly<Record<'ca' | 'cert' | 'key', Buffer | undefined>> {
  return {
    ca: read('certificate-authority', cluster.caFile, cluster.caData, source),
    cert: read('client-certificate', user.certFile, user.certData, source),
    key: read('client-key', user.keyFile, user.keyData, source),
  }
}

/** The token in the file that a configuration names; `undefined` if it names none. */
export function readTokenFile({ user, source }: ClusterConfig): string | undefined {
  return read('tokenFile', tokenFileOf(user.authProvider), undefined, source)?.toString().trim()
}

export function tokenFileOf(authProvider: unknown): string | undefined {
  const { config } = (authProvider ?? {}) as { config?: { tokenFile?: string } | null }
  return config?.tokenFile
}

/**
 * When the credentials of a configuration end, in Unix milliseconds, by kind: `client-certificate`, `token` and
 * `token-file`. Leaves out unknown ends and unreadable files.
 */
export function credentialEnds(config: ClusterConfig): ReadonlyMap<string, number> {
  const { token = '' } = config.user
  const ends: Readonly<Record<string, () => number | undefined>> = {
    'client-certificate': () => certificateEnd(tlsMaterial(config).cert),
    token: () => expiryOf(token),
    'token-file': () => expiryOf(readTokenFile(config) ?? ''),
  }
  const known = new Map<string, number>()
  for (const [name, endOf] of Object.entries(ends)) {
    try {
      const endMs = endOf()
      if (endMs !== undefined) known.set(name, endMs)
    } catch {
      // The requests will report the reason.
    }
  }
  return known
}

/** When a certificate (PEM) ends, in Unix milliseconds. Throws if the text is no certificate. */
export function certificateEnd(pem: string | Buffer | undefined): number | undefined {
  return pem === undefined ? undefined : Date.parse(new X509Certificate(pem).validTo)
}

/**
 * The expiry of a JWT in Unix milliseconds, unverified; `undefined` for other tokens, and for an end that is no date.
 */
export function expiryOf(token: string): number | undefined {
  try {
    const [, claims = ''] = token.split('.')
    const { exp } = fieldsOf(JSON.parse(Buffer.from(claims, 'base64url').toString()))
    const endMs = typeof exp === 'number' ? exp * 1_000 : Number.NaN
    return Number.isNaN(new Date(endMs).getTime()) ? undefined : endMs
  } catch {
    return undefined
  }
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
      { value: expires, hint: 'renew it (kubeadm certs renew), or get a new kubeconfig' },
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
      {
        value: where,
        cause: error,
        hint: 'it must be PEM, and the key must belong to the certificate',
      },
    )
  }
}

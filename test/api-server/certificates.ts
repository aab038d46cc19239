import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A certificate and its key, PEM, and where they are. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly certFile: string
  readonly keyFile: string
}

export interface CertificateOrder {
  readonly name: string
  /** `IP:127.0.0.1`, `DNS:example.com`. */
  readonly altName?: string
  /** `YYMMDDHHMMSSZ`. */
  readonly from?: string
  readonly to?: string
}

/** A certificate authority for a test, in a folder of its own; needs the `openssl` command. */
export interface CertificateAuthority extends AsyncDisposable {
  readonly dir: string
  readonly ca: string
  readonly caFile: string
  readonly issue: (order: CertificateOrder) => Promise<Certificate>
}

export const createCertificateAuthority = async (): Promise<CertificateAuthority> => {
  const dir = await mkdtemp(join(tmpdir(), 'informerql-certificates-'))
  const openssl = async (...args: readonly string[]): Promise<void> => {
    await run('openssl', args, { cwd: dir })
  }
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await openssl(
    'req',
    '-x509',
    ...newKey,
    '-subj',
    '/CN=test-ca',
    '-days',
    '2',
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
  )
  await writeFile(
    join(dir, 'ca.cnf'),
    [
      '[ca]\ndefault_ca = test\n[test]\ndatabase = index.txt\nserial = serial\nnew_certs_dir = .',
      'default_md = sha256\npolicy = any\nunique_subject = no\n[any]\ncommonName = supplied\n',
    ].join('\n'),
  )
  await writeFile(join(dir, 'index.txt'), '')
  await writeFile(join(dir, 'serial'), '01')
  return {
    dir,
    ca: await readFile(join(dir, 'ca.crt'), 'utf8'),
    caFile: join(dir, 'ca.crt'),
    issue: async ({ name, altName = 'IP:127.0.0.1', from, to }) => {
      const [key, request, cert, extensions] = ['key', 'csr', 'crt', 'ext'].map(
        (suffix) => `${name}.${suffix}`,
      ) as [string, string, string, string]
      await openssl('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', key, '-out', request)
      await writeFile(join(dir, extensions), `subjectAltName = ${altName}\n`)
      const dates =
        from === undefined || to === undefined
          ? ['-days', '1']
          : ['-startdate', from, '-enddate', to]
      await openssl(
        ...[
          'ca',
          '-batch',
          '-notext',
          '-config',
          'ca.cnf',
          '-cert',
          'ca.crt',
          '-keyfile',
          'ca.key',
        ],
        ...['-extfile', extensions, '-in', request, '-out', cert, ...dates],
      )
      const [certFile, keyFile] = [join(dir, cert), join(dir, key)]
      return {
        cert: await readFile(certFile, 'utf8'),
        key: await readFile(keyFile, 'utf8'),
        certFile,
        keyFile,
      }
    },
    [Symbol.asyncDispose]: async () => rm(dir, { recursive: true, force: true }),
  }
}

import {
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate and its key, PEM, and where they are. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly certFile: string
  readonly keyFile: string
}

interface CertificateOrder {
  readonly name: string
  /** Addresses and names of the host; `127.0.0.1` unless given. */
  readonly hosts?: readonly string[]
  /** Valid around now unless given. */
  readonly from?: Date
  readonly to?: Date
}

/** A certificate authority for a test, in a folder of its own. */
export interface CertificateAuthority extends AsyncDisposable {
  readonly dir: string
  readonly ca: string
  readonly caFile: string
  readonly issue: (order: CertificateOrder) => Promise<Certificate>
}

/** In as few bytes as it takes: Go refuses more. */
const lengthOf = ({ length }: Uint8Array): readonly number[] => {
  if (length < 0x80) return [length]
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
}

/** One element of DER (X.690): its tag, its length, its content. */
const der = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(content)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body)]), body])
}
const sequence = (...content: readonly Uint8Array[]): Buffer => der(0x30, ...content)
const octets = (content: Uint8Array): Buffer => der(0x04, content)
const bits = (content: Uint8Array): Buffer => der(0x03, Buffer.of(0), content)
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const critical = Buffer.from('0101ff', 'hex')

const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'))
const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(identifier('550403'), der(0x0c, Buffer.from(name)))))
const time = (date: Date): Buffer =>
  der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]|\.\d+Z/g, '')}Z`))
const basicConstraintsOfAnAuthority = sequence(
  identifier('551d13'),
  critical,
  octets(sequence(critical)),
)
const subjectAltName = (hosts: readonly string[]): Buffer => {
  const names = hosts.map((host) =>
    isIPv4(host)
      ? der(0x87, Buffer.from(host.split('.').map(Number)))
      : der(0x82, Buffer.from(host)),
  )
  return sequence(identifier('551d11'), octets(sequence(...names)))
}

interface CertificateContent {
  readonly subject: string
  readonly publicKey: KeyObject
  readonly from: Date
  readonly to: Date
  readonly extension: Buffer
}

/** An X.509 certificate (RFC 5280), PEM. */
const certify = (content: CertificateContent, issuer: string, issuerKey: KeyObject): string => {
  const serial = Buffer.concat([Buffer.of(1), randomBytes(8)])
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serial),
    ecdsaWithSha256,
    commonName(issuer),
    sequence(time(content.from), time(content.to)),
    commonName(content.subject),
    content.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(content.extension)),
  )
  const signature = sign('sha256', toBeSigned, issuerKey)
  return new X509Certificate(sequence(toBeSigned, ecdsaWithSha256, bits(signature))).toString()
}

const newKeyPair = (): { publicKey: KeyObject; privateKey: KeyObject } =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })

const hoursFromNow = (hours: number): Date => new Date(Date.now() + hours * 3_600_000)

export const createCertificateAuthority = async (
  issuer = 'test-ca',
): Promise<CertificateAuthority> => {
  const dir = await mkdtemp(join(tmpdir(), 'informerql-certificates-'))
  const { publicKey, privateKey } = newKeyPair()
  const always = { from: hoursFromNow(-1), to: hoursFromNow(24) }
  const extension = basicConstraintsOfAnAuthority
  const ca = certify({ subject: issuer, publicKey, ...always, extension }, issuer, privateKey)
  const caFile = join(dir, 'ca.crt')
  await writeFile(caFile, ca)
  return {
    dir,
    ca,
    caFile,
    issue: async ({ name, hosts = ['127.0.0.1'], from = always.from, to = always.to }) => {
      const pair = newKeyPair()
      const content = {
        subject: name,
        publicKey: pair.publicKey,
        from,
        to,
        extension: subjectAltName(hosts),
      }
      const cert = certify(content, issuer, privateKey)
      const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
      const [certFile, keyFile] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)]
      await writeFile(certFile, cert)
      await writeFile(keyFile, key)
      return { cert, key, certFile, keyFile }
    },
    [Symbol.asyncDispose]: async () => rm(dir, { recursive: true, force: true }),
  }
}

import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { type ApiAnswer, type ApiRequest, requestApiServer } from './control-plane-client.ts'
import {
  ControlPlaneError,
  freePort,
  type ServerProcess,
  startServerProcess,
} from './control-plane-process.ts'

/** Somebody who may talk to the API server; what they may do there is RBAC's business. */
export interface ControlPlaneToken {
  readonly token: string
  readonly user: string
  readonly uid: string
  readonly groups: readonly string[]
}

/** The kube-apiserver of one control plane. */
export interface ApiServer {
  readonly url: string
  /** The certificates to trust, PEM; empty before the first start. */
  readonly ca: () => string
  /** Undefined before the first start. */
  readonly process: () => ServerProcess | undefined
  /** Starts it at the same address as before, and waits until it is ready. */
  readonly start: () => Promise<void>
  readonly kill: () => Promise<void>
  /** As the first of its tokens, unless the request names another. */
  readonly request: (path: string, options?: ApiRequest) => Promise<ApiAnswer>
  /** Writes a kubeconfig file for one of its tokens and answers with the path. */
  readonly kubeconfigFor: (token: string) => Promise<string>
}

export interface ApiServerOptions {
  readonly binDir: string
  readonly dir: string
  readonly startTimeoutMs: number
  readonly etcdUrl: string
  readonly tokens: readonly [ControlPlaneToken, ...ControlPlaneToken[]]
  /** Further flags, which win over its own. */
  readonly flags: readonly string[]
}

const kubeconfigText = (url: string, ca: string, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
      },
    ],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })

const tokenLine = ({ token, user, uid, groups }: ControlPlaneToken): string =>
  `${token},${user},${uid},"${groups.join(',')}"\n`

/** Writes what kube-apiserver reads at start, and answers with its flags. */
const layOut = async (
  { dir, etcdUrl, tokens, flags }: ApiServerOptions,
  port: number,
): Promise<readonly string[]> => {
  const keys = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  await writeFile(join(dir, 'service-account.key'), keys.privateKey, { mode: 0o600 })
  await writeFile(join(dir, 'service-account.pub'), keys.publicKey)
  await writeFile(join(dir, 'tokens.csv'), tokens.map(tokenLine).join(''), { mode: 0o600 })
  return [
    `--etcd-servers=${etcdUrl}`,
    // History goes only when a test says so.
    '--etcd-compaction-interval=0',
    `--cert-dir=${join(dir, 'certificates')}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    // Without these it refuses a machine that has no network but loopback.
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(dir, 'service-account.pub')}`,
    `--service-account-signing-key-file=${join(dir, 'service-account.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=RBAC',
    `--token-auth-file=${join(dir, 'tokens.csv')}`,
    '--disable-admission-plugins=ServiceAccount',
    '--allow-privileged=true',
    ...flags,
  ]
}

/** Lays out a kube-apiserver below `dir`; nothing runs before `start`. */
export const createApiServer = async (options: ApiServerOptions): Promise<ApiServer> => {
  const { binDir, dir, tokens, startTimeoutMs } = options
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  const flags = await layOut(options, port)
  let running: ServerProcess | undefined
  let others = 0
  let agent = new Agent({ keepAlive: true })
  let ca = ''

  const request = async (path: string, how?: ApiRequest): Promise<ApiAnswer> =>
    requestApiServer({ url, ca, token: tokens[0].token, agent }, path, how)

  /** Ready, and past the moment when it has made its own first namespace. */
  const ready = async (): Promise<boolean> => {
    ca = await readFile(join(dir, 'certificates/apiserver.crt'), 'utf8')
    const answers = [await request('/readyz'), await request('/api/v1/namespaces/default')]
    return answers.every(({ status }) => status === 200)
  }

  return {
    url,
    ca: () => ca,
    process: () => running,
    start: async () => {
      if (running?.running() === true) throw new ControlPlaneError('kube-apiserver is running')
      const log = join(dir, 'kube-apiserver.log')
      running = await startServerProcess(join(binDir, 'kube-apiserver'), flags, log)
      await running.ready(ready, startTimeoutMs)
    },
    kill: async () => {
      await running?.kill()
      agent.destroy()
      agent = new Agent({ keepAlive: true })
    },
    request,
    kubeconfigFor: async (token) => {
      const known = tokens.findIndex((one) => one.token === token)
      // Others are tokens of ServiceAccounts.
      const path = join(dir, `kubeconfig-${known < 0 ? `other-${++others}` : known}.json`)
      await writeFile(path, kubeconfigText(url, ca, token), { mode: 0o600 })
      return path
    },
  }
}

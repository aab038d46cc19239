import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findControlPlane } from './control-plane-binaries.ts'
import { type ApiAnswer, type ApiRequest, requestApiServer } from './control-plane-client.ts'
import { createEtcd, etcdConcurrency } from './control-plane-etcd.ts'
import {
  ControlPlaneError,
  freePort,
  type ServerProcess,
  startGuard,
  startServerProcess,
} from './control-plane-process.ts'

export { findControlPlane } from './control-plane-binaries.ts'

/** Somebody who may talk to the API server; what they may do there is RBAC's business. */
export interface ControlPlaneToken {
  readonly token: string
  readonly user: string
  readonly uid: string
  readonly groups: readonly string[]
}

export interface ControlPlaneOptions {
  /** Where the binaries are; found by {@link findControlPlane} unless given. */
  readonly binDir?: string
  /** Further users, beside the plane's own administrator. */
  readonly tokens?: readonly ControlPlaneToken[]
  /** Further flags for kube-apiserver; they win over the plane's own. */
  readonly serverFlags?: readonly string[]
  /** How long each server may take until it is ready; 60 s unless given. */
  readonly startTimeoutMs?: number
}

/** A copy of the cluster's whole state, which lives as long as its plane. */
export interface DataSnapshot {
  readonly dir: string
}

/** A genuine kube-apiserver and etcd on loopback, gone when disposed of or when the process that started them ends. */
export interface ControlPlane extends AsyncDisposable {
  /** `https://127.0.0.1:port`, the same for the plane's whole life. */
  readonly url: string
  /** The certificates to trust, PEM. */
  readonly ca: string
  /** The administrator's bearer token (group `system:masters`). */
  readonly token: string
  /** A kubeconfig file for the administrator. */
  readonly kubeconfigPath: string
  /** Writes a kubeconfig file for one of the tokens and answers with its path. */
  readonly kubeconfigFor: (token: string) => Promise<string>
  /** Sends one request, as the administrator unless the request names a token. */
  readonly request: (path: string, options?: ApiRequest) => Promise<ApiAnswer>
  /** SIGKILL for kube-apiserver: its clients lose their connections in the middle of whatever they do. */
  readonly killServer: () => Promise<void>
  /** Starts kube-apiserver again at the same address and waits until it is ready. */
  readonly startServer: () => Promise<void>
  /**
   * Compacts etcd to the current revision, which it answers with. kube-apiserver goes on serving older watches from
   * its own memory until it is restarted.
   */
  readonly compact: () => Promise<string>
  /** Writes an object straight into etcd (`/registry/pods/NAMESPACE/NAME`) and answers with its resourceVersion. */
  readonly put: (key: string, object: object) => Promise<string>
  /** Writes many objects, some dozens at a time, in no particular order. */
  readonly putMany: (objects: Iterable<readonly [key: string, object: object]>) => Promise<void>
  /** Copies the state. etcd pauses meanwhile; kube-apiserver stays up. */
  readonly snapshotData: () => Promise<DataSnapshot>
  /** Plays a restored backup: both servers stop, and start again on the older state. */
  readonly restoreData: (snapshot: DataSnapshot) => Promise<void>
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
const layOutServer = async (
  dir: string,
  port: number,
  etcdUrl: string,
  tokens: readonly ControlPlaneToken[],
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
    // Without these a machine that has no network but loopback is refused.
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
  ]
}

const startIn = async (
  dir: string,
  binDir: string,
  options: ControlPlaneOptions,
): Promise<ControlPlane> => {
  const startTimeoutMs = options.startTimeoutMs ?? 60_000
  const etcd = await createEtcd(binDir, dir, startTimeoutMs)
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  const token = randomUUID()
  const administrator = { token, user: 'admin', uid: 'admin', groups: ['system:masters'] }
  const tokens = [administrator, ...(options.tokens ?? [])]
  const flags = await layOutServer(dir, port, etcd.url, tokens)
  const guard = startGuard(dir)
  let server: ServerProcess | undefined
  let agent = new Agent({ keepAlive: true })
  let ca = ''
  let snapshots = 0

  const watchOver = (): void => guard.watch([etcd.process(), ...(server ? [server] : [])])

  const startEtcd = async (): Promise<void> => {
    const started = etcd.start()
    await started.finally(watchOver)
  }

  const request = async (path: string, how?: ApiRequest): Promise<ApiAnswer> =>
    requestApiServer({ url, ca, token, agent }, path, how)

  /** Ready, and past the moment when it has made its own first namespace. */
  const serverReady = async (): Promise<boolean> => {
    ca = await readFile(join(dir, 'certificates/apiserver.crt'), 'utf8')
    const answers = [await request('/readyz'), await request('/api/v1/namespaces/default')]
    return answers.every(({ status }) => status === 200)
  }

  const startServer = async (): Promise<void> => {
    if (server?.running() === true) throw new ControlPlaneError('kube-apiserver is running')
    server = await startServerProcess(
      join(binDir, 'kube-apiserver'),
      [...flags, ...(options.serverFlags ?? [])],
      join(dir, 'kube-apiserver.log'),
    )
    watchOver()
    await server.ready(serverReady, startTimeoutMs)
  }

  const killServer = async (): Promise<void> => {
    await server?.kill()
    watchOver()
    agent.destroy()
    agent = new Agent({ keepAlive: true })
  }

  const stop = async (): Promise<void> => {
    await server?.kill()
    await etcd.process().kill()
    agent.destroy()
    await guard.dismiss()
    await rm(dir, { recursive: true, force: true })
  }

  const kubeconfigFor = async (whose: string): Promise<string> => {
    const path = join(dir, `kubeconfig-${tokens.findIndex((known) => known.token === whose)}.json`)
    await writeFile(path, kubeconfigText(url, ca, whose), { mode: 0o600 })
    return path
  }

  const putAll = async (rest: Iterator<readonly [string, object]>): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      await etcd.put(...next.value)
    }
  }

  try {
    await startEtcd()
    await startServer()
  } catch (error) {
    await stop()
    throw error
  }

  return {
    url,
    ca,
    token,
    kubeconfigPath: await kubeconfigFor(token),
    kubeconfigFor,
    request,
    killServer,
    startServer,
    compact: etcd.compact,
    put: etcd.put,
    putMany: async (objects) => {
      const rest = objects[Symbol.iterator]()
      await Promise.all(Array.from({ length: etcdConcurrency }, async () => putAll(rest)))
    },
    snapshotData: async () => {
      const snapshot = { dir: join(dir, `snapshot-${snapshots++}`) }
      await etcd.process().kill()
      await etcd.copyDataTo(snapshot.dir)
      await startEtcd()
      return snapshot
    },
    restoreData: async (snapshot) => {
      await killServer()
      await etcd.process().kill()
      await etcd.replaceDataBy(snapshot.dir)
      await startEtcd()
      await startServer()
    },
    [Symbol.asyncDispose]: stop,
  }
}

/**
 * Starts a control plane of its own, in a temporary folder, and waits until it is ready (about two seconds). Throws a
 * {@link ControlPlaneError} with the server's last log lines when it is not ready in time, or when the binaries are missing.
 */
export const startControlPlane = async (
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> => {
  const found = options.binDir === undefined ? findControlPlane() : { binDir: options.binDir }
  if ('missing' in found) throw new ControlPlaneError(`no real control plane: ${found.missing}`)
  const dir = await mkdtemp(join(tmpdir(), 'informerql-control-plane-'))
  return startIn(dir, found.binDir, options)
}

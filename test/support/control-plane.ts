import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ControlPlaneToken, createApiServer } from './control-plane-api-server.ts'
import { findControlPlane } from './control-plane-binaries.ts'
import { type Controllers, createControllers } from './control-plane-controllers.ts'
import type { ApiAnswer, ApiRequest } from './control-plane-client.ts'
import { createEtcd } from './control-plane-etcd.ts'
import { ControlPlaneError, type ServerProcess, startGuard } from './control-plane-process.ts'

export { findControlPlane } from './control-plane-binaries.ts'

export interface ControlPlaneOptions {
  /** Where the binaries are; found by {@link findControlPlane} unless given. */
  readonly binDir?: string
  /** Further users, beside the plane's own administrator. */
  readonly tokens?: readonly ControlPlaneToken[]
  /** Further flags for kube-apiserver; they win over the plane's own. */
  readonly serverFlags?: readonly string[]
  /** Whether kube-controller-manager runs, too: makes ReplicaSets, pods and EndpointSlices, and collects garbage. Off by default. */
  readonly controllers?: boolean
  /** Whether the binary that serves exec in place of a kubelet has to be there, too. Off by default. */
  readonly execKubelet?: boolean
  /** How long each server may take until it is ready; 60 s unless given. */
  readonly startTimeoutMs?: number
}

/** A copy of the cluster's whole state, which lives as long as its plane. */
interface DataSnapshot {
  readonly dir: string
}

/** A genuine kube-apiserver and etcd on loopback, with controllers where they are asked for, gone when disposed of or when the process that started them ends. */
export interface ControlPlane extends AsyncDisposable {
  /** `https://127.0.0.1:port`, the same for the plane's whole life. */
  readonly url: string
  /** Where etcd listens, `http://127.0.0.1:port`, the same for the plane's whole life. */
  readonly etcdUrl: string
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
  /**
   * Plays a restored backup: both servers stop, and start again on the older state. A starting kube-apiserver writes
   * some dozens of revisions of its own, so only versions beyond those are in the future now.
   */
  readonly restoreData: (snapshot: DataSnapshot) => Promise<void>
}

const startIn = async (
  dir: string,
  binDir: string,
  options: ControlPlaneOptions,
): Promise<ControlPlane> => {
  const startTimeoutMs = options.startTimeoutMs ?? 60_000
  const token = randomUUID()
  const administrator = { token, user: 'admin', uid: 'admin', groups: ['system:masters'] }
  const etcd = await createEtcd({ binDir, dir, startTimeoutMs })
  const server = await createApiServer({
    binDir,
    dir,
    startTimeoutMs,
    etcdUrl: etcd.url,
    tokens: [administrator, ...(options.tokens ?? [])],
    flags: options.serverFlags ?? [],
  })
  let controllers: Controllers | undefined
  const guard = startGuard(dir)
  const guarded = (): readonly ServerProcess[] =>
    [etcd.process(), server.process(), controllers?.process()].filter(
      (started) => started !== undefined,
    )

  const start = async (part: { readonly start: () => Promise<void> }): Promise<void> =>
    part.start().finally(() => guard.watch(guarded()))

  const stop = async (): Promise<void> => {
    await controllers?.kill()
    await server.kill()
    await etcd.process()?.kill()
    await guard.dismiss()
    await rm(dir, { recursive: true, force: true })
  }

  try {
    await start(etcd)
    await start(server)
    if (options.controllers === true) {
      const kubeconfigPath = await server.kubeconfigFor(token)
      controllers = await createControllers({ binDir, dir, kubeconfigPath, startTimeoutMs })
      await start(controllers)
    }
  } catch (error) {
    await stop()
    throw error
  }

  let snapshots = 0
  return {
    url: server.url,
    etcdUrl: etcd.url,
    ca: server.ca(),
    token,
    kubeconfigPath: await server.kubeconfigFor(token),
    kubeconfigFor: server.kubeconfigFor,
    request: server.request,
    killServer: server.kill,
    startServer: async () => start(server),
    compact: etcd.compact,
    put: etcd.put,
    putMany: etcd.putMany,
    snapshotData: async () => {
      const snapshot = { dir: join(dir, `snapshot-${snapshots++}`) }
      await etcd.process()?.kill()
      await etcd.copyDataTo(snapshot.dir)
      await start(etcd)
      return snapshot
    },
    restoreData: async (snapshot) => {
      await server.kill()
      await etcd.process()?.kill()
      await etcd.replaceDataBy(snapshot.dir)
      await start(etcd)
      await start(server)
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
  const found =
    options.binDir === undefined ? findControlPlane(options) : { binDir: options.binDir }
  if ('missing' in found) throw new ControlPlaneError(`no real control plane: ${found.missing}`)
  const dir = await mkdtemp(join(tmpdir(), 'informerql-control-plane-'))
  return startIn(dir, found.binDir, options)
}

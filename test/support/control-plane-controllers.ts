import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requestApiServer } from './control-plane-client.ts'
import {
  ControlPlaneError,
  freePort,
  type ServerProcess,
  startServerProcess,
} from './control-plane-process.ts'

/** The controllers of a control plane: what makes ReplicaSets, pods and EndpointSlices, and collects garbage. */
export interface Controllers {
  /** Undefined before they are started. */
  readonly process: () => ServerProcess | undefined
  /** Starts them and waits until they are healthy. */
  readonly start: () => Promise<void>
  readonly kill: () => Promise<void>
}

export interface ControllersOptions {
  readonly binDir: string
  readonly dir: string
  /** A kubeconfig file of somebody who may do everything. */
  readonly kubeconfigPath: string
  readonly startTimeoutMs: number
}

const binary = 'kube-controller-manager'

/** Those that tests need; the others would only cost time. */
const names = [
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'job-controller',
  'endpointslice-controller',
  'garbage-collector-controller',
]

/** Lays out a kube-controller-manager below `dir`; nothing runs before `start`. */
export const createControllers = async (options: ControllersOptions): Promise<Controllers> => {
  const { binDir, dir, kubeconfigPath, startTimeoutMs } = options
  const port = await freePort()
  const certificates = join(dir, 'controller-certificates')
  const flags = [
    `--kubeconfig=${kubeconfigPath}`,
    `--controllers=${names.join(',')}`,
    '--leader-elect=false',
    `--service-account-private-key-file=${join(dir, 'service-account.key')}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${certificates}`,
  ]
  let running: ServerProcess | undefined
  const healthy = async (): Promise<boolean> => {
    const ca = await readFile(join(certificates, `${binary}.crt`), 'utf8')
    const target = { url: `https://127.0.0.1:${port}`, ca, token: '' }
    return (await requestApiServer(target, '/healthz')).status === 200
  }
  return {
    process: () => running,
    start: async () => {
      if (running?.running() === true) throw new ControlPlaneError(`${binary} is running`)
      running = await startServerProcess(join(binDir, binary), flags, join(dir, `${binary}.log`))
      await running.ready(healthy, startTimeoutMs)
    },
    kill: async () => running?.kill(),
  }
}

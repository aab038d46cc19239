import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayOptions } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import type { Fields } from '../gateway/test-cluster.ts'
import type { ControlPlane } from '../support/control-plane.ts'
import { startLoopbackProxy } from '../soak/loopback-proxy.ts'

/** An API server that is written to, and that goes wrong, in one schedule. */
export interface ScheduledCluster extends AsyncDisposable {
  readonly selection: Omit<GatewayOptions['clusters'][number], 'name'>
  /** Puts a pod into the namespace default, or a node, where nothing of its name is there, or what it was before. */
  readonly put: (object: Fields) => Promise<void>
  readonly delete: (object: Fields) => Promise<void>
  /** Forgets what was before, for everybody who asks from now on. */
  readonly forget: () => Promise<void>
  /** Breaks connections, or is away for a moment; `forgets` is called where it forgets what was before. */
  readonly disturb: (random: () => number, forgets: () => void) => Promise<void>
  /** What it lists in the end. */
  readonly list: (kind: 'Pod' | 'Node') => Promise<readonly Fields[]>
}

const resourceOf = ({ kind }: Fields): { group: ''; version: 'v1'; resource: string } => ({
  group: '',
  version: 'v1',
  resource: kind === 'Pod' ? 'pods' : 'nodes',
})

export const simulatedCluster = async (): Promise<ScheduledCluster> => {
  const simulator = await startSimulator()
  const { storage, faults } = simulator
  return {
    selection: { server: simulator.url },
    put: async (object) => {
      const { name, namespace = '' } = object.metadata
      const before = storage.get(resourceOf(object), namespace, name)
      if (before === undefined) storage.create(resourceOf(object), object)
      else storage.update(resourceOf(object), object)
    },
    delete: async (object) => {
      const { name, namespace = '' } = object.metadata
      storage.delete(resourceOf(object), namespace, name)
    },
    forget: async () => faults.inject({ fault: { type: 'compact-history' } }),
    disturb: async (random) => {
      if (random() < 0.5) faults.inject({ fault: { type: 'refuse-connections', forMs: 50 } })
      else faults.inject({ fault: { type: 'drop-connections' } })
    },
    // Not by HTTP: it may be away for a moment.
    list: async (kind) => [...storage.list(resourceOf({ kind }))],
    [Symbol.asyncDispose]: async () => simulator[Symbol.asyncDispose](),
  }
}

const pathOf = ({ kind, metadata = {} }: Fields): string => {
  const { name } = metadata
  const list = kind === 'Pod' ? '/api/v1/namespaces/default/pods' : '/api/v1/nodes'
  return name === undefined ? list : `${list}/${name}`
}

/** A real one, emptied, behind a proxy; it is killed at most once, as it takes seconds to come back. */
export const realCluster = async (plane: ControlPlane): Promise<ScheduledCluster> => {
  const proxy = await startLoopbackProxy(Number(new URL(plane.url).port))
  const answer = async (path: string, method: 'GET' | 'DELETE'): Promise<Fields> => {
    const { status, text } = await plane.request(path, { method })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text)
  }
  await answer(`${pathOf({ kind: 'Pod' })}?gracePeriodSeconds=0`, 'DELETE')
  await answer(pathOf({ kind: 'Node' }), 'DELETE')
  let wasKilled = false
  return {
    selection: {
      kubeconfig: plane.kubeconfigPath,
      server: `https://127.0.0.1:${proxy.port}`,
    },
    // Past the API, which would not let a pod be put with its status.
    put: async (object) => {
      const { name, namespace } = object.metadata
      const key = namespace === undefined ? `minions/${name}` : `pods/${namespace}/${name}`
      await plane.put(`/registry/${key}`, object)
    },
    delete: async (object) => {
      await answer(`${pathOf(object)}?gracePeriodSeconds=0`, 'DELETE')
    },
    forget: async () => {
      await plane.compact()
    },
    disturb: async (random, forgets) => {
      const dice = random()
      if (dice < 0.5) proxy.cut()
      else if (dice < 0.85 || wasKilled) proxy.refuse(50)
      else {
        wasKilled = true
        await plane.killServer()
        await sleep(random() * 50)
        // Its memory; etcd has more, which is not asked.
        forgets()
        await plane.startServer()
      }
    },
    list: async (kind) => (await answer(pathOf({ kind }), 'GET')).items,
    [Symbol.asyncDispose]: async () => proxy[Symbol.asyncDispose](),
  }
}

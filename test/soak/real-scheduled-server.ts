import { expect } from 'vitest'
import { loadClusterConfig } from 'informerql/cluster'
import type { Unstructured } from 'informerql/informer'
import type { ApiAnswer, ApiRequest } from '../support/control-plane-client.ts'
import type { ControlPlane } from '../support/control-plane.ts'
import { startLoopbackProxy } from './loopback-proxy.ts'
import { itemsOf, listPath, type ScheduledServer } from './scheduled-server.ts'

/**
 * A real API server for one schedule, in namespaces of its own, behind a proxy: connections break, freeze and are
 * refused, history is compacted and, at most once as it takes seconds, the server is killed and comes back.
 */
export async function realServer(
  plane: ControlPlane,
  namespaces: readonly string[],
): Promise<ScheduledServer & AsyncDisposable> {
  const request = async (path: string, options: ApiRequest): Promise<ApiAnswer> => {
    const answer = await plane.request(path, options)
    expect([200, 201], answer.text).toContain(answer.status)
    return answer
  }
  for (const name of namespaces) {
    await request('/api/v1/namespaces', { method: 'POST', body: { metadata: { name } } })
  }
  const proxy = await startLoopbackProxy(Number(new URL(plane.url).port))
  const path = (namespace = '', name = ''): string =>
    `/api/v1/namespaces/${namespace}/configmaps${name === '' ? '' : `/${name}`}`
  let restarted = false

  const restart = async (random: () => number): Promise<void> => {
    restarted = true
    // With its memory gone, a server has no history but etcd's.
    if (random() < 0.5) await plane.compact()
    await plane.killServer()
    await plane.startServer()
  }

  return {
    config: loadClusterConfig({
      kubeconfig: plane.kubeconfigPath,
      server: `https://127.0.0.1:${proxy.port}`,
    }),
    namespaces,
    put: async (object, exists) => {
      const { namespace, name } = object.metadata
      const answer = exists
        ? await request(path(namespace, name), { method: 'PUT', body: object })
        : await request(path(namespace), { method: 'POST', body: object })
      return answer.json() as Unstructured
    },
    delete: async (namespace, name) => {
      await request(path(namespace, name), { method: 'DELETE' })
    },
    disturb: async (random) => {
      const choice = random()
      if (choice < 0.45) proxy.cut()
      else if (choice < 0.65) proxy.freeze()
      else if (choice < 0.75) proxy.refuse(20)
      else if (choice < 0.96 || restarted) await plane.compact()
      else await restart(random)
    },
    // A refusal of connections has a time of its own.
    calm: async () => new Promise((resolve) => setTimeout(resolve, 30)),
    list: async (selection) => itemsOf((await request(listPath(selection), {})).json()),
    [Symbol.asyncDispose]: async () => proxy[Symbol.asyncDispose](),
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../support/control-plane.ts'

/** A pod, as much of it as a kubelet has to know. */
interface BoundPod {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly deletionTimestamp?: string
  }
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] }
}

const pauseMs = 20

/**
 * Says of each pod of a namespace that it runs and is ready, and ends those that are to be deleted, one after the other, as
 * kubelets would: without that no rollout goes on. Resolves when the signal is aborted.
 */
export const runFakeKubelet = async (
  plane: ControlPlane,
  namespace: string,
  signal: AbortSignal,
): Promise<void> => {
  const path = `/api/v1/namespaces/${namespace}/pods`
  let started = 0
  const act = async ({ metadata, status }: BoundPod): Promise<boolean> => {
    const { name, uid } = metadata
    if (metadata.deletionTimestamp !== undefined) {
      const body = { gracePeriodSeconds: 0, preconditions: { uid } }
      await plane.request(`${path}/${name}`, { method: 'DELETE', body })
      return true
    }
    if (status?.conditions?.some(({ type }) => type === 'Ready') === true) return false
    started += 1
    await plane.request(`${path}/${name}/status`, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { status: readyStatus(`10.1.${Math.floor(started / 250)}.${(started % 250) + 1}`) },
    })
    return true
  }
  while (!signal.aborted) {
    const answer = await plane.request(path)
    // It may be told to ask less often.
    const items = answer.status === 200 ? (answer.json() as { items: BoundPod[] }).items : []
    for (const pod of items) if (await act(pod)) break
    await sleep(pauseMs)
  }
}

const readyStatus = (ip: string): object => {
  const now = new Date().toISOString()
  const types = ['Ready', 'ContainersReady', 'PodScheduled', 'Initialized']
  return {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    startTime: now,
    conditions: types.map((type) => ({ type, status: 'True', lastTransitionTime: now })),
  }
}

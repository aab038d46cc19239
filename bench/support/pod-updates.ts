import { setTimeout as delay } from 'node:timers/promises'
import type { KubernetesObject } from '../../src/kubernetes/object.ts'
import type { Storage } from '../../src/simulator.ts'
import { pods } from './pod-resource.ts'

/** When a pod was written: `process.hrtime`, which all processes of a machine share, in nanoseconds. */
export const writtenAnnotation = 'bench/written-ns'

type Pod = KubernetesObject & {
  readonly status?: { readonly containerStatuses?: readonly { readonly restartCount: number }[] }
}

/**
 * Updates pods at an even pace until aborted, one after the other: a status as a kubelet writes it, and the moment of the
 * write in {@link writtenAnnotation}.
 */
export async function updatePods(
  storage: Storage,
  updatesPerSecond: number,
  signal: AbortSignal,
): Promise<void> {
  const names = namesOf(storage)
  // A stride that visits every pod, and neighbours (siblings, mostly) far apart in time.
  await paced(updatesPerSecond, signal, (update) =>
    updatePod(storage, names[(update * 7919) % names.length], (restarts) => restarts + 1),
  )
}

/** The same with the first `hot` pods in turn, each of which has restarted more often then than any other pod. */
export async function restartPods(
  storage: Storage,
  { updatesPerSecond, hot }: { readonly updatesPerSecond: number; readonly hot: number },
  signal: AbortSignal,
): Promise<void> {
  const names = namesOf(storage).slice(0, hot)
  await paced(updatesPerSecond, signal, (update) =>
    updatePod(storage, names[(update * 7) % names.length], () => 1_000_000 + update),
  )
}

type PodName = Pick<KubernetesObject['metadata'], 'namespace' | 'name'>

function namesOf(storage: Storage): readonly PodName[] {
  return Array.from(storage.list(pods), ({ metadata }) => metadata)
}

async function paced(
  perSecond: number,
  signal: AbortSignal,
  write: (update: number) => void,
): Promise<void> {
  if (perSecond <= 0) return
  const startMs = performance.now()
  let updates = 0
  while (!signal.aborted) {
    // A process may have a hundred servers, each with its own pace.
    const nextMs = startMs + ((updates + 1) * 1_000) / perSecond
    await delay(Math.max(1, nextMs - performance.now()))
    const due = ((performance.now() - startMs) * perSecond) / 1000
    // Never more than 50 at a time, should the process have been asleep.
    updates = Math.max(updates, Math.floor(due) - 50)
    for (; updates < due; updates++) write(updates)
  }
}

function updatePod(
  storage: Storage,
  at: PodName | undefined,
  restarted: (restarts: number) => number,
): void {
  const pod: Pod | undefined = at && storage.get(pods, at.namespace ?? '', at.name)
  if (pod === undefined) return
  const statuses = pod.status?.containerStatuses ?? []
  storage.update(pods, {
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: {
        ...pod.metadata.annotations,
        [writtenAnnotation]: String(process.hrtime.bigint()),
      },
    },
    status: {
      ...pod.status,
      containerStatuses: statuses.map((status) => ({
        ...status,
        restartCount: restarted(status.restartCount),
      })),
    },
  })
}

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
  if (updatesPerSecond <= 0) return
  const names = [...storage.list(pods)].map(({ metadata }) => metadata)
  const startMs = performance.now()
  let updates = 0
  while (!signal.aborted) {
    await delay(1)
    const due = ((performance.now() - startMs) * updatesPerSecond) / 1000
    // Never more than 50 at a time, should the process have been asleep.
    updates = Math.max(updates, due - 50)
    for (; updates < due; updates++) {
      // A stride that visits every pod, and neighbours (siblings, mostly) far apart in time.
      const name = names[(Math.floor(updates) * 7919) % names.length]
      if (name !== undefined) updatePod(storage, name.namespace ?? '', name.name)
    }
  }
}

function updatePod(storage: Storage, namespace: string, name: string): void {
  const pod: Pod | undefined = storage.get(pods, namespace, name)
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
        restartCount: status.restartCount + 1,
      })),
    },
  })
}

import type { Simulator } from 'informerql/simulator'

const pods = { group: '', version: 'v1', resource: 'pods' }

/** Makes a pod whose container crashes at each start, without an owner unless `metadata` names one. `since`: when it became unready. */
export function breakPod(
  { storage }: Simulator,
  namespace: string,
  name: string,
  metadata: object = {},
  since?: Date,
): void {
  const waiting = { reason: 'CrashLoopBackOff', message: `back-off restarting ${name}` }
  storage.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name }, ...metadata },
    spec: { containers: [{ name: 'main', image: 'busybox:1' }] },
    status: {
      phase: 'Running',
      ...(since !== undefined && {
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: since.toISOString() }],
      }),
      containerStatuses: [
        {
          name: 'main',
          image: 'busybox:1',
          imageID: '',
          ready: false,
          restartCount: 3,
          state: { waiting },
          lastState: { terminated: { exitCode: 1, reason: 'Error' } },
        },
      ],
    },
  })
}

/** Deletes a pod. */
export function removePod({ storage }: Simulator, namespace: string, name: string): void {
  storage.delete(pods, namespace, name)
}

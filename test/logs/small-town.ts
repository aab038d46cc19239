import { resources, type Unstructured } from 'informerql/kubernetes'
import type { Storage } from 'informerql/simulator'

export const namespace = 'shop'

/** A node whose kubelet answers, and one whose does not. */
export const putNodes = (storage: Storage): void => {
  for (const [name, status] of [
    ['up', 'True'],
    ['down', 'Unknown'],
  ] as const) {
    storage.create(resources.nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: {
        addresses: [{ type: 'InternalIP', address: '10.0.0.9' }],
        conditions: [{ type: 'Ready', status }],
      },
    })
  }
}

/** How one container of a pod is. */
export interface Run {
  readonly state?: object
  readonly lastState?: object
  readonly restartCount?: number
  readonly containerID?: string
}

export const running = (run: number, startedAt: Date = new Date(Date.now() - 60_000)): Run => ({
  state: { running: { startedAt: startedAt.toISOString() } },
  restartCount: run,
  containerID: `containerd://run-${run}`,
})

export const failed = (run: number): object => ({
  terminated: {
    containerID: `containerd://run-${run}`,
    exitCode: 1,
    reason: 'Error',
    startedAt: new Date(Date.now() - 8_000).toISOString(),
    finishedAt: new Date(Date.now() - 2_000).toISOString(),
  },
})

export interface PodParts {
  readonly node?: string
  readonly linesPerSecond?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly owner?: Unstructured
  readonly init?: Run
  readonly in?: string
  readonly uid?: string
}

/** A pod of one container `app`. */
export const podOf = (name: string, run: Run, parts: PodParts = {}): Unstructured => {
  const { node = 'up', linesPerSecond = 20, labels = {}, owner, init } = parts
  const of = (container: string, one: Run): object => ({
    name: container,
    ready: true,
    restartCount: 0,
    image: 'app:1.2.3',
    imageID: '',
    lastState: {},
    ...one,
  })
  const container = (one: string): object => ({ name: one, image: 'app:1.2.3' })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: parts.in ?? namespace,
      uid: parts.uid ?? `uid-of-${name}`,
      labels: {
        'app.kubernetes.io/name': 'app',
        'app.kubernetes.io/component': 'worker',
        ...labels,
      },
      annotations: { 'simulator/log-lines-per-second': String(linesPerSecond) },
      ...(owner && {
        ownerReferences: [
          {
            apiVersion: owner.apiVersion,
            kind: owner.kind,
            name: owner.metadata.name,
            uid: owner.metadata.uid ?? '',
            controller: true,
          },
        ],
      }),
    },
    spec: {
      nodeName: node,
      ...(init && { initContainers: [container('prepare')] }),
      containers: [container('app')],
    },
    status: {
      phase: 'Running',
      ...(init && { initContainerStatuses: [of('prepare', init)] }),
      containerStatuses: [of('app', run)],
    },
  }
}

export const putPod = (storage: Storage, ...parts: Parameters<typeof podOf>): Unstructured =>
  storage.create(resources.pods, podOf(...parts))

export const changePod = (storage: Storage, ...parts: Parameters<typeof podOf>): Unstructured => {
  return storage.update(resources.pods, podOf(...parts))
}

export const removePod = (storage: Storage, name: string): void => {
  storage.delete(resources.pods, namespace, name)
}

/** A Deployment and its ReplicaSet. */
export const putDeployment = (storage: Storage, name: string): readonly Unstructured[] => {
  const spec = { selector: { matchLabels: { app: name } }, template: {} }
  const deployment = storage.create(resources.deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, uid: `uid-of-${name}` },
    spec,
  })
  const set = storage.create(resources.replicaSets, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-1`,
      namespace,
      uid: `uid-of-${name}-1`,
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name,
          uid: `uid-of-${name}`,
          controller: true,
        },
      ],
    },
    spec,
  })
  return [deployment, set]
}

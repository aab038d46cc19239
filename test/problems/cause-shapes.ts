import type { Fields } from '../gateway/test-cluster.ts'
import {
  ago,
  claim,
  condition,
  containerStatus,
  event,
  failing,
  just,
  late,
  pod,
  podSpec,
  type ProblemShape,
  ready,
  type ShapedObject,
  terminated,
  unavailable,
  unready,
  waiting,
  web,
  workload,
} from './shape-parts.ts'

const partly: Fields = {
  observedGeneration: 1,
  replicas: 3,
  updatedReplicas: 3,
  readyReplicas: 2,
  availableReplicas: 2,
  unavailableReplicas: 1,
  conditions: [
    condition('Available', 'False', 'MinimumReplicasUnavailable'),
    condition('Progressing', 'True', 'NewReplicaSetAvailable'),
  ],
}
const owner = 'ReplicaSet/web-1'
const crashing = (name: string): ShapedObject =>
  failing(
    name,
    waiting('CrashLoopBackOff'),
    { restartCount: 7, lastState: terminated('Error', 1) },
    owner,
  )
const unscheduled = (message: string): Fields => ({
  phase: 'Pending',
  conditions: [{ ...condition('PodScheduled', 'False', 'Unschedulable'), message }],
})
const probe = event('a.1', { kind: 'Pod', name: 'a' }, 5, {
  reason: 'Unhealthy',
  message: 'Readiness probe failed: HTTP probe failed with statuscode: 503',
})
const creating = (name: string): ShapedObject =>
  pod(
    name,
    {
      phase: 'Pending',
      conditions: unready,
      containerStatuses: [containerStatus({ waiting: { reason: 'ContainerCreating' } })],
    },
    { owner },
  )
const nowhere = { ...podSpec, nodeSelector: { 'shape.example.com/os': 'linux' } }
const deployment = (name: string): ShapedObject => ({
  is: 'apps/v1 Deployment',
  name,
  object: workload,
  status: unavailable,
})
const waitsForLinux = (name: string): ShapedObject =>
  pod(name, unscheduled("0/2 nodes are available: 2 node(s) didn't match Pod's node affinity"), {
    owner: `Deployment/${name}`,
    object: { spec: nowhere },
  })

/** One cause is one row, as bad as its impact. */
export const causeShapes: readonly ProblemShape[] = [
  {
    wrong:
      'A Deployment that was complete has had too few replicas for 10 minutes, and some are ready',
    rows: [['Deployment/web', 'MinimumReplicasUnavailable', 'WARNING', 1]],
    objects: web(partly),
  },
  {
    wrong: 'One of three pods crashes again and again',
    rows: [['Deployment/web', 'CrashLoopBackOff', 'WARNING', 1]],
    objects: [...web(partly), crashing('a')],
  },
  {
    wrong: 'A pod that is ready has crashed some minutes ago',
    rows: [['Pod/a', 'CrashLoopBackOff', 'WARNING', 1]],
    objects: [
      pod('a', {
        phase: 'Running',
        conditions: ready,
        containerStatuses: [
          containerStatus(
            { running: { startedAt: just } },
            { ready: true, restartCount: 7, lastState: terminated('Error', 1) },
          ),
        ],
      }),
    ],
  },
  {
    wrong: 'A readiness probe fails again and again, and no pod is ready',
    rows: [['Deployment/web', 'Unhealthy', 'CRITICAL', 1]],
    says: 'Readiness probe failed: HTTP probe failed with statuscode: 503',
    objects: [...web(late), pod('a', { phase: 'Running', conditions: unready }, { owner }), probe],
  },
  {
    wrong: 'A volume cannot be mounted, and the containers are not created for 10 minutes',
    rows: [['Deployment/web', 'FailedMount', 'CRITICAL', 1]],
    says: 'no such volume',
    objects: [...web(unavailable), creating('a'), event('a.1', { kind: 'Pod', name: 'a' }, 4)],
  },
  {
    wrong: 'A StatefulSet waits for a claim that is not bound',
    rows: [['StatefulSet/db', 'ProvisioningFailed', 'CRITICAL', 2]],
    says: 'no room for a volume',
    objects: [
      { is: 'v1 PersistentVolumeClaim', name: 'data', object: claim, status: { phase: 'Pending' } },
      {
        is: 'apps/v1 StatefulSet',
        name: 'db',
        object: { spec: { ...workload.spec, serviceName: 'db' } },
        status: { observedGeneration: 1, replicas: 1 },
      },
      pod(
        'db-0',
        unscheduled('0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.'),
        {
          owner: 'StatefulSet/db',
          object: {
            spec: {
              ...podSpec,
              volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
            },
          },
        },
      ),
      event('data.1', { kind: 'PersistentVolumeClaim', name: 'data' }, 3, {
        reason: 'ProvisioningFailed',
        message: 'no room for a volume',
      }),
    ],
  },
  {
    wrong: 'Pods of several Deployments ask for a label that no Node has',
    rows: [['Deployment/api', 'Unschedulable', 'CRITICAL', 2]],
    says: 'no Node has shape.example.com/os=linux',
    objects: [
      { is: 'v1 Node', name: 'node-without-os', status: { conditions: ready } },
      ...['shop', 'api'].flatMap((name) => [deployment(name), waitsForLinux(name)]),
      event('shop.1', { kind: 'Pod', name: 'shop' }, 5, {
        reason: 'FailedScheduling',
        message: "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
      }),
    ],
  },
  {
    wrong: 'No scheduler has said anything of a pod for 10 minutes',
    rows: [['Pod/a', 'NotScheduled', 'CRITICAL', 1]],
    says: 'no node has been chosen for it',
    objects: [
      pod(
        'a',
        { phase: 'Pending' },
        { object: { spec: { ...podSpec, tolerations: [{ operator: 'Exists' }] } } },
      ),
    ],
    isLate: true,
  },
  {
    wrong: 'A quota refuses a pod of a Deployment, and the node of another pod is down',
    rows: [
      ['Deployment/web', 'FailedCreate', 'CRITICAL', 1],
      ['Node/node-gone', 'NotReady', 'CRITICAL', 1],
    ],
    objects: [
      {
        is: 'v1 Node',
        name: 'node-gone',
        status: { conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown')] },
      },
      ...web(unavailable, {
        replicas: 1,
        conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', ago(5))],
      }),
      pod(
        'a',
        { phase: 'Running', conditions: unready },
        { owner, object: { spec: { ...podSpec, nodeName: 'node-gone' } } },
      ),
    ],
  },
]

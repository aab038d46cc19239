import {
  ago,
  long,
  just,
  condition,
  container,
  podSpec,
  selector,
  template,
  workload,
  containerStatus,
  waiting,
  terminated,
  pod,
  unready,
  ready,
  failing,
  web,
  unavailable,
  late,
  job,
  failedJob,
  failedPod,
  cronJob,
  claim,
  autoscaler,
  scaling,
  event,
  type ProblemShape,
} from './shape-parts.ts'

/** The ways in which things go wrong, in the order of the documentation. */
export const problemShapes: readonly ProblemShape[] = [
  {
    wrong: 'Containers of a Deployment crash again and again',
    rows: [['Deployment/web', 'CrashLoopBackOff', 'CRITICAL', 3]],
    objects: [
      ...web(unavailable),
      ...['a', 'b', 'c'].map((name) =>
        failing(
          name,
          waiting('CrashLoopBackOff'),
          { restartCount: 7, lastState: terminated('Error', 1) },
          'ReplicaSet/web-1',
        ),
      ),
    ],
  },
  {
    wrong: 'A container that crashes again and again runs just now',
    rows: [['Deployment/web', 'CrashLoopBackOff', 'CRITICAL', 1]],
    objects: [
      ...web(unavailable),
      pod(
        'a',
        {
          phase: 'Running',
          conditions: ready,
          containerStatuses: [
            containerStatus(
              { running: { startedAt: just } },
              { ready: true, restartCount: 7, lastState: terminated('Error', 1) },
            ),
          ],
        },
        { owner: 'ReplicaSet/web-1' },
      ),
    ],
  },
  {
    wrong: 'A container that has crashed runs again, and is not ready yet',
    rows: [['Deployment/web', 'Error', 'CRITICAL', 1]],
    objects: [
      ...web(unavailable),
      pod(
        'a',
        {
          phase: 'Running',
          conditions: unready,
          containerStatuses: [
            containerStatus(
              { running: { startedAt: just } },
              { ready: false, restartCount: 1, lastState: terminated('Error', 1) },
            ),
          ],
        },
        { owner: 'ReplicaSet/web-1' },
      ),
    ],
  },
  {
    wrong: 'A container takes more memory than its limit',
    rows: [['Deployment/web', 'OOMKilled', 'CRITICAL', 1]],
    objects: [
      ...web(unavailable),
      failing(
        'a',
        waiting('CrashLoopBackOff'),
        { restartCount: 2, lastState: terminated('OOMKilled', 137) },
        'ReplicaSet/web-1',
      ),
    ],
  },
  {
    wrong: 'An image cannot be pulled, and the rollout is past its deadline',
    rows: [['Deployment/web', 'ImagePullBackOff', 'CRITICAL', 2]],
    objects: [
      ...web(late),
      failing('a', waiting('ImagePullBackOff'), {}, 'ReplicaSet/web-1'),
      failing('b', waiting('ImagePullBackOff'), {}, 'ReplicaSet/web-1'),
    ],
  },
  {
    wrong: 'An init container fails',
    rows: [['Pod/a', 'CrashLoopBackOff', 'CRITICAL', 1]],
    objects: [
      pod(
        'a',
        {
          phase: 'Pending',
          conditions: unready,
          initContainerStatuses: [
            containerStatus(waiting('CrashLoopBackOff'), {
              name: 'init',
              lastState: terminated('Error', 2),
            }),
          ],
        },
        { object: { spec: { ...podSpec, initContainers: [{ ...container, name: 'init' }] } } },
      ),
    ],
  },
  {
    wrong: 'No node has room for a pod',
    rows: [['StatefulSet/db', 'Unschedulable', 'CRITICAL', 1]],
    objects: [
      {
        is: 'apps/v1 StatefulSet',
        name: 'db',
        object: { spec: { ...workload['spec'], serviceName: 'db' } },
        status: { observedGeneration: 1, replicas: 1 },
      },
      pod(
        'db-0',
        { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'Unschedulable')] },
        { owner: 'StatefulSet/db' },
      ),
    ],
  },
  {
    wrong: 'A pod of a StatefulSet runs, and has not been ready for 10 minutes',
    rows: [['StatefulSet/db', 'ContainersNotReady', 'WARNING', 1]],
    objects: [
      {
        is: 'apps/v1 StatefulSet',
        name: 'db',
        object: { spec: { ...workload['spec'], serviceName: 'db' } },
        status: { observedGeneration: 1, replicas: 3, readyReplicas: 2 },
      },
      pod('db-0', { phase: 'Running', conditions: unready }, { owner: 'StatefulSet/db' }),
    ],
  },
  {
    wrong: 'A pod of a DaemonSet runs, and has not been ready for 10 minutes',
    rows: [['DaemonSet/agent', 'ContainersNotReady', 'WARNING', 1]],
    objects: [
      {
        is: 'apps/v1 DaemonSet',
        name: 'agent',
        object: { spec: { selector, template } },
        status: {
          observedGeneration: 1,
          currentNumberScheduled: 2,
          desiredNumberScheduled: 2,
          numberMisscheduled: 0,
          numberReady: 1,
          numberAvailable: 1,
          updatedNumberScheduled: 2,
        },
      },
      pod('agent-a', { phase: 'Running', conditions: unready }, { owner: 'DaemonSet/agent' }),
    ],
  },
  {
    wrong: 'A rollout is past its deadline, and its pods do not say why',
    rows: [['Deployment/web', 'ProgressDeadlineExceeded', 'CRITICAL', 1]],
    objects: web(late),
  },
  {
    wrong: 'A rollout goes on, within its deadline',
    rows: [],
    objects: [
      ...web(unavailable),
      pod(
        'a',
        { phase: 'Running', conditions: [condition('Ready', 'False', 'ContainersNotReady', just)] },
        { owner: 'ReplicaSet/web-1' },
      ),
    ],
  },
  {
    wrong: 'A Deployment that was complete has had too few replicas for 10 minutes',
    rows: [['Deployment/web', 'MinimumReplicasUnavailable', 'CRITICAL', 1]],
    objects: web({
      ...unavailable,
      conditions: [
        condition('Available', 'False', 'MinimumReplicasUnavailable'),
        condition('Progressing', 'True', 'NewReplicaSetAvailable'),
      ],
    }),
  },
  {
    wrong: 'A quota, or an admission webhook, refuses the pods of a Deployment',
    rows: [['Deployment/web', 'FailedCreate', 'CRITICAL', 1]],
    objects: web(
      {
        observedGeneration: 1,
        unavailableReplicas: 3,
        conditions: [condition('ReplicaFailure', 'True', 'FailedCreate')],
      },
      { replicas: 0, conditions: [condition('ReplicaFailure', 'True', 'FailedCreate')] },
    ),
  },
  {
    wrong: 'A node evicted pods, and left them behind',
    rows: [['Deployment/web', 'Evicted', 'WARNING', 2]],
    objects: [
      ...web({
        observedGeneration: 1,
        replicas: 3,
        updatedReplicas: 3,
        readyReplicas: 3,
        availableReplicas: 3,
      }),
      ...['a', 'b'].map((name) =>
        pod(
          name,
          { phase: 'Failed', reason: 'Evicted', message: 'the node had too little memory' },
          { owner: 'ReplicaSet/web-1' },
        ),
      ),
    ],
  },
  {
    wrong: 'A Job has failed more often than it may',
    rows: [['Job/import', 'BackoffLimitExceeded', 'CRITICAL', 1]],
    objects: [
      { is: 'batch/v1 Job', name: 'import', object: job, status: failedJob },
      pod('import-a', failedPod, { owner: 'Job/import' }),
      pod('import-b', failedPod, { owner: 'Job/import' }),
    ],
  },
  {
    wrong: 'A pod of a Job has failed, and the Job tries again',
    rows: [],
    objects: [
      {
        is: 'batch/v1 Job',
        name: 'import',
        object: job,
        status: { startTime: long, failed: 1, active: 1 },
      },
      pod('import-a', failedPod, { owner: 'Job/import' }),
    ],
  },
  {
    wrong: 'The last run of a CronJob has failed',
    rows: [['CronJob/nightly', 'BackoffLimitExceeded', 'CRITICAL', 1]],
    objects: [
      {
        is: 'batch/v1 CronJob',
        name: 'nightly',
        object: cronJob,
        status: { lastScheduleTime: ago(20), lastSuccessfulTime: ago(80) },
      },
      {
        is: 'batch/v1 Job',
        name: 'nightly-1',
        owner: 'CronJob/nightly',
        object: job,
        status: failedJob,
      },
    ],
  },
  {
    wrong: 'A run of a CronJob has failed, and a later one has succeeded',
    rows: [],
    objects: [
      {
        is: 'batch/v1 CronJob',
        name: 'nightly',
        object: cronJob,
        status: { lastScheduleTime: ago(6), lastSuccessfulTime: ago(5) },
      },
      {
        is: 'batch/v1 Job',
        name: 'nightly-1',
        owner: 'CronJob/nightly',
        object: job,
        status: failedJob,
      },
    ],
  },
  {
    wrong: 'A node does not report; pods of two Deployments are on it',
    rows: [['Node/node-down', 'NotReady', 'CRITICAL', 2]],
    objects: [
      {
        is: 'v1 Node',
        name: 'node-down',
        status: { conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown')] },
      },
      ...web(late),
      pod(
        'a',
        { phase: 'Running', conditions: unready },
        {
          owner: 'ReplicaSet/web-1',
          object: { spec: { ...podSpec, nodeName: 'node-down' } },
        },
      ),
      {
        is: 'apps/v1 Deployment',
        name: 'other',
        object: workload,
        status: unavailable,
      },
      pod(
        'b',
        { phase: 'Running', conditions: unready },
        { owner: 'Deployment/other', object: { spec: { ...podSpec, nodeName: 'node-down' } } },
      ),
    ],
  },
  {
    wrong: 'A node runs out of memory and of disk space',
    rows: [
      ['Node/node-full', 'DiskPressure', 'WARNING', 1],
      ['Node/node-full', 'MemoryPressure', 'WARNING', 1],
    ],
    objects: [
      {
        is: 'v1 Node',
        name: 'node-full',
        status: {
          conditions: [
            ...ready,
            condition('MemoryPressure', 'True', 'KubeletHasInsufficientMemory'),
            condition('DiskPressure', 'True', 'KubeletHasDiskPressure'),
          ],
        },
      },
    ],
  },
  {
    wrong: 'A PersistentVolumeClaim has lost its volume',
    rows: [['PersistentVolumeClaim/data', 'Lost', 'CRITICAL', 1]],
    objects: [
      { is: 'v1 PersistentVolumeClaim', name: 'data', object: claim, status: { phase: 'Lost' } },
    ],
  },
  {
    wrong: 'A PersistentVolumeClaim has had no volume for 10 minutes',
    rows: [['PersistentVolumeClaim/data', 'Pending', 'WARNING', 1]],
    objects: [
      { is: 'v1 PersistentVolumeClaim', name: 'data', object: claim, status: { phase: 'Pending' } },
    ],
    isLate: true,
  },
  {
    wrong: 'A PersistentVolumeClaim waits for the first pod, as its StorageClass says',
    rows: [],
    objects: [
      {
        is: 'storage.k8s.io/v1 StorageClass',
        name: 'on-demand',
        object: { provisioner: 'example.com/disk', volumeBindingMode: 'WaitForFirstConsumer' },
      },
      {
        is: 'v1 PersistentVolumeClaim',
        name: 'data',
        object: { spec: { ...claim.spec, storageClassName: 'on-demand' } },
        status: { phase: 'Pending' },
      },
    ],
    isLate: true,
  },
  {
    wrong: 'A HorizontalPodAutoscaler has no metrics',
    rows: [['HorizontalPodAutoscaler/web', 'FailedGetResourceMetric', 'WARNING', 1]],
    objects: [
      {
        is: 'autoscaling/v2 HorizontalPodAutoscaler',
        name: 'web',
        object: autoscaler,
        status: scaling([
          condition('AbleToScale', 'True'),
          condition('ScalingActive', 'False', 'FailedGetResourceMetric'),
        ]),
      },
    ],
  },
  {
    wrong: 'A HorizontalPodAutoscaler is at its maximum',
    rows: [['HorizontalPodAutoscaler/web', 'TooManyReplicas', 'WARNING', 1]],
    objects: [
      {
        is: 'autoscaling/v2 HorizontalPodAutoscaler',
        name: 'web',
        object: autoscaler,
        status: scaling([
          condition('AbleToScale', 'True'),
          condition('ScalingActive', 'True'),
          condition('ScalingLimited', 'True', 'TooManyReplicas'),
        ]),
      },
    ],
  },
  {
    wrong: 'The server of an APIService does not answer',
    rows: [['APIService/v1.broken.example.com', 'ServiceNotFound', 'CRITICAL', 1]],
    objects: [
      {
        is: 'apiregistration.k8s.io/v1 APIService',
        name: 'v1.broken.example.com',
        object: {
          spec: {
            group: 'broken.example.com',
            version: 'v1',
            groupPriorityMinimum: 100,
            versionPriority: 100,
            insecureSkipTLSVerify: true,
            service: { namespace: 'default', name: 'broken' },
          },
        },
        status: { conditions: [condition('Available', 'False', 'ServiceNotFound')] },
      },
    ],
  },
  {
    wrong: 'A certificate has expired',
    rows: [['Certificate/shop', 'Expired', 'CRITICAL', 1]],
    objects: [
      {
        is: 'cert-manager.io/v1 Certificate',
        name: 'shop',
        status: { conditions: [condition('Ready', 'False', 'Expired')] },
      },
    ],
  },
  {
    wrong: 'A custom resource has not been ready for 10 minutes',
    rows: [['Certificate/shop', 'Pending', 'WARNING', 1]],
    objects: [
      {
        is: 'cert-manager.io/v1 Certificate',
        name: 'shop',
        status: { conditions: [condition('Ready', 'False', 'Pending')] },
      },
    ],
  },
  {
    wrong: 'Warning Events about a pod repeat, and nothing else is wrong with it',
    rows: [['Deployment/web', 'FailedMount', 'WARNING', 1]],
    objects: [
      ...web({
        observedGeneration: 1,
        replicas: 3,
        updatedReplicas: 3,
        readyReplicas: 3,
        availableReplicas: 3,
      }),
      pod('a', { phase: 'Running', conditions: ready }, { owner: 'ReplicaSet/web-1' }),
      event('a.1', { kind: 'Pod', name: 'a' }, 2),
      event('a.2', { kind: 'Pod', name: 'a' }, 2),
    ],
  },
  {
    wrong: 'Warning Events about a pod repeat, and the pod says what is wrong',
    rows: [['Pod/a', 'CreateContainerConfigError', 'CRITICAL', 1]],
    objects: [
      failing('a', waiting('CreateContainerConfigError')),
      event('a.1', { kind: 'Pod', name: 'a' }, 9, { reason: 'Failed' }),
    ],
  },
  {
    wrong: 'A Warning Event that does not repeat, or has long been over',
    rows: [],
    objects: [
      pod('a', { phase: 'Running', conditions: ready }),
      event('a.1', { kind: 'Pod', name: 'a' }, 1),
      event('a.2', { kind: 'Pod', name: 'a' }, 20, {
        reason: 'Unhealthy',
        firstTimestamp: ago(50),
        lastTimestamp: ago(40),
      }),
    ],
  },
]

import type { Fields } from './test-cluster.ts'

/** An object to create, and the status that it is given. */
export type PrintedObject = readonly [path: string, object: Fields, status?: Fields]

export const printedNamespace = 'printed'

const core = `/api/v1/namespaces/${printedNamespace}`
const inGroup = (group: string): string => `/apis/${group}/namespaces/${printedNamespace}`
const ago = (seconds: number): string =>
  new Date(Math.trunc(Date.now() / 1000 - seconds) * 1000).toISOString().replace('.000', '')

const labels = { app: 'printed' }
const containers = [
  { name: 'main', image: 'nginx:1' },
  { name: 'side', image: 'redis:7' },
]
const template = { metadata: { labels }, spec: { containers, nodeSelector: { disk: 'ssd' } } }
const expressions = {
  matchLabels: labels,
  matchExpressions: [
    { key: 'tier', operator: 'In', values: ['b', 'a'] },
    { key: 'env', operator: 'NotIn', values: ['dev'] },
    { key: 'track', operator: 'Exists' },
    { key: 'aged', operator: 'DoesNotExist' },
  ],
}
const expressed = {
  selector: expressions,
  template: { ...template, metadata: { labels: { ...labels, tier: 'a', track: 'x' } } },
}

const condition = (type: string, status: string, reason = 'Test'): Fields => ({
  type,
  status,
  reason,
  lastTransitionTime: ago(100),
})
const state = (name: string, now: Fields, more: Fields = {}): Fields => ({
  name,
  image: 'nginx:1',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: now,
  ...more,
})
const running = { running: { startedAt: ago(50) } }
const ended = (exitCode: number, reason = '', finished = 300, signal = 0): Fields => ({
  terminated: {
    exitCode,
    ...(signal === 0 ? {} : { signal }),
    ...(reason === '' ? {} : { reason }),
    startedAt: ago(finished + 50),
    finishedAt: ago(finished),
  },
})
const waiting = (reason: string): Fields => ({ waiting: { reason } })

const pod = (name: string, status: Fields, spec: Fields = {}): PrintedObject => [
  `${core}/pods`,
  { metadata: { name, labels }, spec: { containers, ...spec } },
  status,
]
const initContainers = [
  { name: 'first', image: 'busybox:3' },
  { name: 'second', image: 'busybox:3' },
]
const sidecar = [{ name: 'proxy', image: 'envoy:1', restartPolicy: 'Always' }]

const pods: readonly PrintedObject[] = [
  pod('running', {
    phase: 'Running',
    conditions: [condition('Ready', 'True')],
    podIPs: [{ ip: '10.1.2.3' }],
    podIP: '10.1.2.3',
    containerStatuses: [
      state('main', running, {
        ready: true,
        restartCount: 3,
        lastState: ended(1, 'Error', 400),
      }),
      state('side', running, {
        ready: true,
        restartCount: 1,
        lastState: ended(1, 'Error', 7_300),
      }),
    ],
  }),
  pod('pending', { phase: 'Pending' }, { nodeName: 'node-a' }),
  pod('evicted', { phase: 'Failed', reason: 'Evicted' }),
  pod('gated', {
    phase: 'Pending',
    conditions: [condition('PodScheduled', 'False', 'SchedulingGated')],
  }),
  pod('crashing', {
    phase: 'Running',
    nominatedNodeName: 'node-b',
    containerStatuses: [
      state('main', waiting('CrashLoopBackOff'), {
        restartCount: 9,
        lastState: ended(137, 'OOMKilled'),
      }),
      state('side', running, { ready: true }),
    ],
  }),
  pod('done', {
    phase: 'Succeeded',
    containerStatuses: [state('main', ended(0, 'Completed')), state('side', ended(0, 'Completed'))],
  }),
  pod('half-done', {
    phase: 'Running',
    conditions: [condition('Ready', 'False')],
    containerStatuses: [
      state('main', ended(0, 'Completed')),
      state('side', running, { ready: true }),
    ],
  }),
  pod('half-failed', {
    phase: 'Running',
    containerStatuses: [state('main', ended(0, 'Completed')), state('side', ended(2, 'Error'))],
  }),
  pod('signalled', { phase: 'Failed', containerStatuses: [state('main', ended(137, '', 300, 9))] }),
  pod('exited', { phase: 'Failed', containerStatuses: [state('main', ended(3))] }),
  pod(
    'initializing',
    {
      phase: 'Pending',
      initContainerStatuses: [
        state('first', ended(0, 'Completed'), { restartCount: 2, lastState: ended(1, 'Error') }),
        state('second', running),
      ],
      containerStatuses: [state('main', waiting('PodInitializing'))],
    },
    { initContainers },
  ),
  pod(
    'initialized',
    {
      phase: 'Running',
      conditions: [condition('Initialized', 'True')],
      initContainerStatuses: [
        state('first', ended(0, 'Completed'), { restartCount: 6, lastState: ended(1, 'Error') }),
      ],
      containerStatuses: [state('main', running, { restartCount: 5 })],
    },
    { initContainers: initContainers.slice(0, 1) },
  ),
  pod(
    'init-crashing',
    {
      phase: 'Pending',
      initContainerStatuses: [state('first', waiting('CrashLoopBackOff'), { restartCount: 4 })],
    },
    { initContainers },
  ),
  pod(
    'init-failed',
    { phase: 'Failed', initContainerStatuses: [state('first', ended(5))] },
    { initContainers },
  ),
  pod(
    'with-sidecar',
    {
      phase: 'Running',
      conditions: [condition('Initialized', 'True'), condition('Ready', 'True')],
      initContainerStatuses: [
        state('proxy', running, {
          ready: true,
          started: true,
          restartCount: 2,
          lastState: ended(1, 'Error', 90),
        }),
      ],
      containerStatuses: [state('main', running, { ready: true }), state('side', running)],
    },
    { initContainers: sidecar, readinessGates: [{ conditionType: 'example.com/a' }] },
  ),
  pod(
    'gates-met',
    { phase: 'Running', conditions: [condition('example.com/a', 'True')] },
    { readinessGates: [{ conditionType: 'example.com/a' }, { conditionType: 'example.com/b' }] },
  ),
]

const counts = { replicas: 3, readyReplicas: 2, availableReplicas: 1, updatedReplicas: 3 }
const apps = inGroup('apps/v1')
const batch = inGroup('batch/v1')

const workloads: readonly PrintedObject[] = [
  [
    `${apps}/deployments`,
    { metadata: { name: 'a' }, spec: { replicas: 3, selector: { matchLabels: labels }, template } },
    counts,
  ],
  [`${apps}/deployments`, { metadata: { name: 'b' }, spec: expressed }],
  [
    `${apps}/replicasets`,
    { metadata: { name: 'a' }, spec: { replicas: 3, ...expressed } },
    { replicas: 3, readyReplicas: 2, availableReplicas: 1 },
  ],
  [
    `${apps}/statefulsets`,
    {
      metadata: { name: 'a' },
      spec: { replicas: 3, serviceName: 'a', selector: { matchLabels: labels }, template },
    },
    { replicas: 3, readyReplicas: 2 },
  ],
  [
    `${apps}/daemonsets`,
    { metadata: { name: 'a' }, spec: expressed },
    {
      desiredNumberScheduled: 5,
      currentNumberScheduled: 4,
      numberMisscheduled: 0,
      numberReady: 3,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
    },
  ],
  [
    `${batch}/cronjobs`,
    {
      metadata: { name: 'a' },
      spec: {
        schedule: '*/5 * * * *',
        timeZone: 'Etc/UTC',
        suspend: true,
        jobTemplate: {
          spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
        },
      },
    },
    {
      lastScheduleTime: ago(200),
      active: [{ kind: 'Job', name: 'x', namespace: printedNamespace }],
    },
  ],
]

const job = (name: string, spec: Fields, status: Fields = {}): PrintedObject => [
  `${batch}/jobs`,
  {
    metadata: { name },
    spec: {
      ...spec,
      template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } },
    },
  },
  status,
]

const jobs: readonly PrintedObject[] = [
  job('waiting', { completions: 3, parallelism: 2 }),
  job('running', { parallelism: 3 }, { startTime: ago(75), active: 1, succeeded: 1 }),
  job('suspended', { suspend: true }, { conditions: [condition('Suspended', 'True')] }),
  job(
    'done',
    {},
    {
      startTime: ago(600),
      completionTime: ago(300),
      succeeded: 1,
      conditions: [condition('SuccessCriteriaMet', 'True'), condition('Complete', 'True')],
    },
  ),
  job(
    'failed',
    {},
    {
      startTime: ago(600),
      failed: 1,
      conditions: [condition('FailureTarget', 'True'), condition('Failed', 'True')],
    },
  ),
]

export const printedWorkloads: readonly PrintedObject[] = [...pods, ...workloads, ...jobs]

import { condition, type HealthCase, notReady, ready } from './health-case.ts'
import type { Fields } from './test-cluster.ts'

const waiting = (reason: string, more: object = {}): Fields => ({
  name: 'main',
  state: { waiting: { reason, message: 'back-off' } },
  ...more,
})
const ended = (exitCode: number, reason: string): Fields => ({ terminated: { exitCode, reason } })

const spec = { containers: [] }

export const podHealthCases: readonly HealthCase[] = (
  [
    ['runs', { phase: 'Running', conditions: ready }, 'HEALTHY'],
    ['has run', { phase: 'Succeeded' }, 'HEALTHY', 'Completed'],
    [
      'is not ready',
      { phase: 'Running', conditions: notReady },
      'PROGRESSING',
      'ContainersNotReady',
    ],
    [
      'crashes',
      {
        phase: 'Running',
        conditions: notReady,
        containerStatuses: [waiting('CrashLoopBackOff', { lastState: ended(137, 'OOMKilled') })],
      },
      'DEGRADED',
      'CrashLoopBackOff',
      'container main: back-off; ended with OOMKilled, exit code 137',
    ],
    [
      'has no image',
      { phase: 'Pending', containerStatuses: [waiting('ImagePullBackOff')] },
      'DEGRADED',
      'ImagePullBackOff',
    ],
    [
      'has a failing init container',
      {
        phase: 'Pending',
        initContainerStatuses: [waiting('CrashLoopBackOff')],
        containerStatuses: [waiting('PodInitializing')],
      },
      'DEGRADED',
      'CrashLoopBackOff',
    ],
    [
      'is in its init containers',
      {
        phase: 'Pending',
        initContainerStatuses: [{ name: 'init', state: { running: {} } }],
        containerStatuses: [waiting('PodInitializing')],
      },
      'PROGRESSING',
      'PodInitializing',
    ],
    [
      'is past its init containers',
      {
        phase: 'Running',
        conditions: ready,
        initContainerStatuses: [{ name: 'init', state: ended(0, 'Completed') }],
      },
      'HEALTHY',
    ],
    [
      'was killed for its memory',
      {
        phase: 'Running',
        conditions: notReady,
        containerStatuses: [{ name: 'main', state: ended(137, 'OOMKilled') }],
      },
      'DEGRADED',
      'OOMKilled',
    ],
    [
      'runs again after it was killed',
      {
        phase: 'Running',
        conditions: ready,
        containerStatuses: [
          { name: 'main', state: { running: {} }, lastState: ended(137, 'OOMKilled') },
        ],
      },
      'HEALTHY',
    ],
    [
      'runs for a moment between two crashes',
      {
        phase: 'Running',
        conditions: notReady,
        containerStatuses: [
          {
            name: 'main',
            ready: false,
            restartCount: 7,
            state: { running: { startedAt: '2026-01-02T10:00:00Z' } },
            lastState: ended(1, 'Error'),
          },
        ],
      },
      'DEGRADED',
      'Error',
      'container main: restarted 7 times; ended with Error, exit code 1',
    ],
    [
      'is created again after it was killed',
      {
        phase: 'Running',
        conditions: notReady,
        containerStatuses: [
          waiting('ContainerCreating', {
            ready: false,
            restartCount: 1,
            lastState: ended(137, 'OOMKilled'),
          }),
        ],
      },
      'DEGRADED',
      'OOMKilled',
      'restarted once',
    ],
    [
      'has an init container that runs again after an error',
      {
        phase: 'Pending',
        conditions: notReady,
        initContainerStatuses: [
          {
            name: 'init',
            ready: false,
            restartCount: 2,
            state: { running: {} },
            lastState: ended(1, 'Error'),
          },
        ],
        containerStatuses: [waiting('PodInitializing')],
      },
      'DEGRADED',
      'Error',
    ],
    [
      'has an init container that was done at last',
      {
        phase: 'Running',
        conditions: notReady,
        initContainerStatuses: [
          {
            name: 'init',
            ready: true,
            restartCount: 2,
            state: ended(0, 'Completed'),
            lastState: ended(1, 'Error'),
          },
        ],
        containerStatuses: [
          { name: 'main', ready: false, restartCount: 0, state: { running: {} } },
        ],
      },
      'PROGRESSING',
      'ContainersNotReady',
    ],
    [
      'runs again after it had ended well',
      {
        phase: 'Running',
        conditions: notReady,
        containerStatuses: [
          {
            name: 'main',
            ready: false,
            restartCount: 1,
            state: { running: {} },
            lastState: ended(0, 'Completed'),
          },
        ],
      },
      'PROGRESSING',
      'ContainersNotReady',
    ],
    [
      'was ready after its restart, and fails its probe now',
      {
        phase: 'Running',
        conditions: [
          {
            ...condition('Ready', 'False', 'ContainersNotReady'),
            lastTransitionTime: '2026-01-02T11:00:00Z',
          },
        ],
        containerStatuses: [
          {
            name: 'main',
            ready: false,
            restartCount: 1,
            state: { running: { startedAt: '2026-01-02T10:00:00Z' } },
            lastState: ended(1, 'Error'),
          },
        ],
      },
      'PROGRESSING',
      'ContainersNotReady',
    ],
    [
      'is evicted',
      { phase: 'Failed', reason: 'Evicted', message: 'low on memory' },
      'DEGRADED',
      'Evicted',
    ],
    [
      'has failed',
      { phase: 'Failed', containerStatuses: [{ name: 'main', state: ended(2, 'Error') }] },
      'DEGRADED',
      'Error',
      'exit code 2',
    ],
    [
      'finds no node',
      {
        phase: 'Pending',
        conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes')],
      },
      'DEGRADED',
      'Unschedulable',
      '0/3 nodes',
    ],
    [
      'is gated',
      { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'SchedulingGated')] },
      'SUSPENDED',
      'SchedulingGated',
    ],
    [
      'is on a silent node',
      { phase: 'Running', conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown')] },
      'UNKNOWN',
      'NodeStatusUnknown',
    ],
    ['waits', { phase: 'Pending' }, 'PROGRESSING', 'Pending'],
    [
      'has been changed',
      { phase: 'Running', conditions: ready, observedGeneration: 0 },
      'PROGRESSING',
      'NotObserved',
    ],
    [
      'has a container that is done beside one that runs',
      {
        phase: 'Running',
        conditions: notReady,
        containerStatuses: [
          { name: 'done', state: ended(0, 'Completed') },
          { name: 'main', state: { running: {} } },
        ],
      },
      'PROGRESSING',
      'ContainersNotReady',
    ],
  ] as const
).map(([says, ...rest]) => [says, spec, ...rest])

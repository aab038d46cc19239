import { condition, type HealthCase, ready } from './health-case.ts'

/** Of a kind of which nothing is known. */
export const customHealthCases: readonly HealthCase[] = [
  ['says nothing', {}, {}, ''],
  ['says what nobody knows', {}, { conditions: [condition('Shiny', 'True')] }, ''],
  ['is ready', {}, { conditions: ready }, 'HEALTHY'],
  [
    'is not ready yet',
    {},
    { conditions: [condition('Ready', 'False', 'Creating')] },
    'PROGRESSING',
    'Creating',
  ],
  [
    'may be ready',
    {},
    { conditions: [condition('Ready', 'Unknown', 'Checking')] },
    'PROGRESSING',
    'Checking',
  ],
  [
    'has failed',
    {},
    { conditions: [condition('Ready', 'False', 'BuildFailed')] },
    'DEGRADED',
    'BuildFailed',
  ],
  [
    'is stalled',
    {},
    { conditions: [...ready, condition('Stalled', 'True', 'Stuck')] },
    'DEGRADED',
    'Stuck',
  ],
  [
    'is degraded',
    {},
    { conditions: [condition('Available', 'True'), condition('Degraded', 'True', 'Half')] },
    'DEGRADED',
    'Half',
  ],
  [
    'is reconciled',
    {},
    { conditions: [...ready, condition('Reconciling', 'True', 'Applying')] },
    'PROGRESSING',
    'Applying',
  ],
  [
    'fails again and again',
    {},
    {
      conditions: [
        condition('Reconciling', 'True', 'ProgressingWithRetry'),
        condition('Ready', 'False', 'HealthCheckFailed'),
      ],
    },
    'DEGRADED',
    'HealthCheckFailed',
  ],
  [
    'is not in step',
    {},
    {
      conditions: [
        condition('Ready', 'False', 'Creating'),
        condition('Synced', 'False', 'ReconcileError'),
      ],
    },
    'DEGRADED',
    'ReconcileError',
  ],
  [
    'is available',
    {},
    { conditions: [condition('Available', 'True'), condition('Progressing', 'False')] },
    'HEALTHY',
  ],
  [
    'is not available',
    {},
    { conditions: [condition('Available', 'False', 'Timeout')] },
    'DEGRADED',
    'Timeout',
  ],
  [
    'progresses',
    {},
    { conditions: [condition('Progressing', 'True', 'RollingOut')] },
    'PROGRESSING',
    'RollingOut',
  ],
  [
    'is not looked at yet',
    {},
    { observedGeneration: 0, conditions: ready },
    'PROGRESSING',
    'NotObserved',
  ],
  [
    'has an old condition',
    {},
    { conditions: [{ ...ready[0], observedGeneration: 0 }] },
    'PROGRESSING',
    'Ready',
  ],
  ['is suspended', { suspend: true }, { conditions: ready }, 'SUSPENDED', 'Suspended'],
  [
    'is refused by one of its parents',
    {},
    {
      parents: [
        { conditions: [condition('Accepted', 'True')] },
        { conditions: [condition('Accepted', 'False', 'RefNotPermitted')] },
      ],
    },
    'DEGRADED',
    'RefNotPermitted',
  ],
  ['has failed by its phase', {}, { phase: 'PartiallyFailed' }, 'DEGRADED', 'PartiallyFailed'],
  ['is made by its phase', {}, { phase: 'Provisioning' }, 'PROGRESSING', 'Provisioning'],
  ['runs by its phase', {}, { phase: 'Running' }, 'HEALTHY'],
]

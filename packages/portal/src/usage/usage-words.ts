const gibibyte = 2 ** 30

/** Cores as Kubernetes writes them: `27m`, `1.25`. */
const cores = (number: number): string =>
  number < 1 ? `${Math.round(number * 1000)}m` : String(Number(number.toFixed(2)))

/** Bytes: `89 MiB`, `1.5 GiB`. */
const bytes = (number: number): string =>
  number < gibibyte
    ? `${Math.round(number / 2 ** 20)} MiB`
    : `${Number((number / gibibyte).toFixed(1))} GiB`

/** The texts about the use of CPU and memory. */
export const usageWords = {
  title: 'Use',
  resources: { cpu: 'CPU', memory: 'Memory' },
  amounts: { cpu: cores, memory: bytes },
  used: (amount: string, isPart = false): string =>
    `${amount} used${isPart ? ' by your pods' : ''}`,
  notUsed: 'use unknown',
  requested: (amount: string, isPart = false): string =>
    `${amount} requested${isPart ? ' by your pods' : ''}`,
  notRequested: 'nothing requested',
  limit: (amount: string, isPart = false): string =>
    `limit ${amount}${isPart ? ' of your pods' : ''}`,
  someLimits: (amount: string, some: number, pods: number, isPart: boolean): string =>
    `limit ${amount} for ${some.toLocaleString('en')} of ${isPart ? 'your ' : ''}${pods.toLocaleString('en')} pods`,
  noLimit: 'no limit',
  capacity: (amount: string): string => `${amount} allocatable`,
  ofPods: (pods: number): string =>
    `Of ${pods === 1 ? 'its pod' : `its ${pods.toLocaleString('en')} pods`} that ${pods === 1 ? 'has' : 'have'} not ended, together.`,
  uses: 'Uses',
  unmeasured: 'The use of CPU and memory is not measured here: the cluster has no metrics-server.',
  forbidden: (what: string): string => `You may not see what ${what} use of CPU and memory.`,
  unreachable: 'The use of CPU and memory is not known at present: metrics-server does not answer.',
  unknown: '–',
  ofRequested: 'Used, and requested',
  ofAllocatable: 'Used, and allocatable to pods',
  /** Headings of numbers in a file. */
  numbers: {
    cpu: (of: string): string => `CPU ${of} (millicores)`,
    memory: (of: string): string => `Memory ${of} (bytes)`,
    of: { used: 'used', requested: 'requested', limit: 'limit', allocatable: 'allocatable' },
  },
  columns: {
    usageCpu: 'CPU',
    cpuRequests: 'CPU requests',
    cpuLimits: 'CPU limits',
    cpuAllocatable: 'CPU allocatable',
    usageMemory: 'Memory',
    memoryRequests: 'Memory requests',
    memoryLimits: 'Memory limits',
    memoryAllocatable: 'Memory allocatable',
  },
} as const

const time = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** `14:05`, in the reader's zone. */
const clock = (ms: number): string => time.format(ms)

/** The texts about use over time. */
export const chartWords = {
  title: 'Use over the last hour',
  clock,
  loading: 'Reading what was measured',
  chart: (resource: string, from: number, to: number): string =>
    `${resource} from ${clock(from)} to ${clock(to)}. The same values are in the table below.`,
  lines: { used: 'used', requested: 'requested', limit: 'limit', allocatable: 'allocatable' },
  source: {
    MEASURED: (since: number | undefined): string =>
      since === undefined
        ? 'As the gateway has measured, which it does while somebody looks.'
        : `As the gateway has measured since ${clock(since)}, while somebody looked.`,
    PROMETHEUS: 'From Prometheus.',
  },
  at: (ms: number): string => `at ${clock(ms)}`,
  ofPods: 'The pods that exist now, together.',
  nothing: 'Nothing was measured yet. The first values are here within a minute.',
  away: 'Prometheus does not answer: this is what the gateway has measured itself.',
  full: 'The gateway has no room for the use of all of these pods: the values are too low.',
  marks: 'What happened',
  restarted: (container: string, reason: string | undefined): string =>
    `${container} restarted${reason === undefined ? '' : `: ${reason}`}`,
  created: 'created',
  rollout: (name: string): string => `rollout of ${name}`,
  rollback: (name: string): string => `rolled back to ${name}`,
  by: (what: string, manager: string | null): string =>
    manager === null ? what : `${what} by ${manager}`,
  cordoned: (is: boolean): string => (is ? 'cordoned' : 'uncordoned'),
  nodeReady: (status: string): string =>
    status === 'True' ? 'ready again' : status === 'False' ? 'not ready' : 'silent: not ready',
  table: 'As a table',
  time: 'Time',
  pods: 'Pods',
  none: '–',
} as const

const count = (number: number): string => number.toLocaleString('en')

const objects = (number: number): string =>
  `${count(number)} ${number === 1 ? 'object' : 'objects'}`

const is = (number: number): string => (number === 1 ? 'is' : 'are')

/** How long something takes, roughly. */
const minutes = (number: number): string =>
  number < 1 ? 'less than a minute' : `some ${count(Math.ceil(number))} min`

/** The texts of actions on many objects. */
export const bulkWords = {
  title: 'Actions',
  key: 'Show the actions for the selection',
  on: (label: string, number: number, kind: string): string => `${label}: ${count(number)} ${kind}`,
  oneAtATime: 'Another one is still running.',
  reading: (read: number, all: number): string => `Reading ${count(read)} of ${count(all)}…`,
  try: 'See what changes',
  incomplete: 'Fill in what is asked for, then see what changes.',
  dry: {
    running: (through: number, all: number): string =>
      `The API server tries it without storing anything: ${count(through)} of ${count(all)}`,
    changes: (number: number, all: number): string =>
      number === all
        ? `All ${objects(number)} would change.`
        : `${count(number)} of ${objects(all)} would change.`,
    refused: (number: number): string => `${count(number)} ${is(number)} refused and left out.`,
    same: (number: number): string => `${count(number)} ${is(number)} so already and left out.`,
    untried: (number: number): string => `${count(number)} ${is(number)} not tried and left out.`,
    removed: 'is removed',
    more: (number: number): string => `and ${count(number)} more`,
    states: {
      waiting: 'waits',
      writing: 'is tried',
      done: 'changes',
      same: 'is so already',
      failed: 'is refused',
    },
  },
  run: {
    running: (through: number, all: number): string => `${count(through)} of ${objects(all)} done`,
    done: (number: number): string => `${objects(number)} done.`,
    failed: (number: number): string => `${count(number)} failed.`,
    waiting: (number: number): string => `${count(number)} ${is(number)} not done.`,
    states: {
      waiting: 'waits',
      writing: 'is written',
      done: 'done',
      same: 'done',
      failed: 'failed',
    },
    goesOn: 'You may close this: it goes on while the page is open.',
  },
  /** A restart is over when its pods are replaced, not when it is written. */
  restart: {
    running: (through: number, all: number): string =>
      `${count(through)} of ${count(all)} restarts begun`,
    begun: (number: number): string =>
      `The ${number === 1 ? 'restart' : 'restarts'} of ${objects(number)} ${number === 1 ? 'has' : 'have'} begun.`,
    rollouts: (out: number, all: number, stuck: number): string =>
      `${count(out)} of ${count(all)} rolled out${stuck === 0 ? '' : `, ${count(stuck)} degraded`}.`,
    states: { going: 'begun', out: 'rolled out', stuck: 'degraded' },
  },
  pace: (perMinute: number, left: number): string =>
    `The gateway takes ${count(perMinute)} writes a minute from one user, tries included: the others wait their turn, ${minutes(left / perMinute)}.`,
  cut: {
    stopped: 'It was stopped.',
    unreachable:
      'The gateway does not answer, so it was stopped. What was on its way may have been done.',
    signedOut: 'The gateway does not know you any more, so it was stopped. Sign in, then go on.',
  },
  restarts: (pods: number | undefined): string =>
    pods === undefined
      ? 'its pods are replaced'
      : `${count(pods)} ${pods === 1 ? 'pod is' : 'pods are'} replaced`,
  users: (number: number, named: readonly string[]): string => {
    const more = number - named.length
    const uses = `${objects(number)} ${number === 1 ? 'uses' : 'use'} it: ${named.join(', ')}`
    return more > 0 ? `${uses} and ${count(more)} more` : uses
  },
  usersUnknown: 'who uses it is not known',
  autoscaler: (name: string, bounds: readonly [number, number] | undefined): string =>
    bounds === undefined
      ? `autoscaler ${name} sets it again`
      : `autoscaler ${name} sets it again, ${bounds[0]} to ${bounds[1]}`,
  manager: (tool: string, name: string, isSeen: boolean): string =>
    `${isSeen ? 'managed by' : 'says that it is of'} ${tool} ${name}`,
  /** A Job counts the pod as failed. */
  remade: ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
    `${kind} ${name} makes a new one${kind === 'Job' ? ', unless it has failed too often' : ''}`,
  emptyDir: 'the data in its emptyDir volumes is lost',
  sum: {
    used: (number: number): string =>
      `${count(number)} ${is(number)} used by others, which may fail without ${number === 1 ? 'it' : 'them'}.`,
    unknown: (number: number): string => `Who uses ${count(number)} of them is not known.`,
    scaled: (number: number): string =>
      `${count(number)} ${number === 1 ? 'has' : 'have'} an autoscaler, which sets the number again.`,
    managed: (tool: string, number: number, all: number, effect: string): string =>
      `${count(number)} of ${count(all)} ${is(number)} managed by ${tool}. ${effect}`,
    saidToBeOf: (tool: string, number: number, all: number, effect: string): string =>
      `${count(number)} of ${count(all)} ${number === 1 ? 'says that it is' : 'say that they are'} of ${tool}, of which you see no more. ${effect}`,
    remade: (number: number, all: number): string =>
      `${count(number)} of ${count(all)} ${is(number)} made again by ${number === 1 ? 'its controller' : 'their controllers'}.`,
    pods: (number: number): string =>
      `${count(number)} ${number === 1 ? 'pod belongs' : 'pods belong'} to them.`,
    emptyDir: (number: number): string =>
      number === 1
        ? '1 loses the data in its emptyDir volumes.'
        : `${count(number)} lose the data in their emptyDir volumes.`,
  },
  gone: (number: number): string => `${objects(number)} ${is(number)} gone meanwhile.`,
  stop: 'Stop',
  stopTrying: 'Stop, and take those that are tried',
  retry: (number: number): string => `Retry the ${count(number)} that failed`,
  goOn: (number: number): string => `Go on with ${count(number)}`,
  confirmCount: (number: number): string => `Type ${number} to confirm`,
  confirm: (label: string, number: number): string => `${label} ${count(number)}`,
  table: 'The objects',
  columns: { object: 'Object', what: 'What happens', state: 'State' },
  chip: (label: string, through: number, all: number): string =>
    `${label}: ${count(through)} of ${count(all)}`,
  chipFailed: (number: number): string => `, ${count(number)} failed`,
} as const

const plural = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`

/** The texts of the logs. */
export const logWords = {
  title: 'Lines of the logs',
  container: 'Container',
  all: 'All containers',
  contains: 'Contains',
  previous: 'Run before the restart',
  wrap: 'Wrap',
  columns: 'Columns',
  columnsTitle: 'A column for each field of lines that are JSON',
  message: 'Line',
  rest: 'Other fields',
  time: 'Time',
  pod: 'Pod',
  level: 'Level',
  levels: {
    '': 'All levels',
    error: 'Errors',
    warn: 'Warnings and worse',
    info: 'Info and worse',
  },
  since: 'Since',
  spans: {
    '': 'Last lines',
    '5m': '5 minutes',
    '15m': '15 minutes',
    '1h': '1 hour',
    '6h': '6 hours',
    '24h': '24 hours',
  },
  zone: (zone: string): string => `Times: ${zone}`,
  download: 'Download',
  hold: 'Hold',
  goOn: (waiting: number): string =>
    waiting === 0 ? 'Go on' : `Go on (${plural(waiting, 'new line')})`,
  clear: 'Clear',
  toEnd: 'To the end',
  loading: 'Opening the logs',
  streaming: (number: number, all: number): string => `${number} of ${all} streaming`,
  ended: 'These runs have ended.',
  notFollowed: (number: number): string =>
    `${plural(number, 'container')} not followed: too many at once.`,
  skipped: (number: number): string => `${plural(number, 'line')} left out: too many at once.`,
  cut: 'Earlier lines are dropped.',
  others: (number: number): string => `${number} not streaming`,
  states: {
    WAITING: 'waits',
    STREAMING: 'streams',
    ENDED: 'has ended',
    FAILED: 'cannot be read',
  },
  none: 'No lines yet.',
  noneOfLevel: (hidden: number): string =>
    `No line of this level: ${plural(hidden, 'line')} hidden.`,
  failed: 'The logs could not be read.',
} as const

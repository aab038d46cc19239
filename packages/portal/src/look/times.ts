// Made once: an age has its time in its title, and tables have many. 24 hours, as logs have them, whatever the browser's language.
const hourCycle = 'h23'
const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle } as const
const time = new Intl.DateTimeFormat(undefined, clock)
const date = { year: 'numeric', month: 'numeric', day: 'numeric' } as const
const withDay = new Intl.DateTimeFormat(undefined, { ...date, ...clock })
const minutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', hourCycle })
const words = { dateStyle: 'medium', timeStyle: 'short', hourCycle } as const
const minutesWithDay = new Intl.DateTimeFormat(undefined, words)

/** The time of day in the reader's zone: `16:05:09`. */
export const timeOfDay = (at: Date): string => time.format(at)

/** The day and the time in the reader's zone. */
export const dayAndTime = (at: Date): string => withDay.format(at)

/** The time of day to the minute; with the day if that is not today. */
export const moment = (at: Date): string =>
  (at.toDateString() === new Date().toDateString() ? minutes : minutesWithDay).format(at)

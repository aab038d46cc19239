const inZone = {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
} as const
const time = new Intl.DateTimeFormat(undefined, inZone)
const withDate = new Intl.DateTimeFormat(undefined, { ...inZone, month: 'short', day: '2-digit' })

/** A time of a line in the reader's zone; with its day if that is not today. */
export function shownTime(text: string, today: string): string {
  const at = new Date(text)
  return (at.toDateString() === today ? time : withDate).format(at)
}

/** The reader's zone: `Europe/Berlin (UTC+01:00)`. */
export function zoneName(): string {
  const { timeZone } = time.resolvedOptions()
  const minutes = -new Date().getTimezoneOffset()
  const size = Math.abs(minutes)
  const offset = `UTC${minutes < 0 ? '−' : '+'}${two(size / 60)}:${two(size % 60)}`
  return minutes === 0 && timeZone === 'UTC' ? 'UTC' : `${timeZone} (${offset})`
}

function two(number: number): string {
  return String(Math.floor(number)).padStart(2, '0')
}

/*
 * When a CronJob is to run next: its schedule as the controller reads it, with five fields or a word (`@daily`), in a time
 * zone. The search walks over wall clock times, a month, day, hour or minute at a time. A time that the clocks skip is none.
 */

/** The lowest and greatest value of each field: minute, hour, day of month, month, day of week. */
const bounds = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const weekdays = 'sun mon tue wed thu fri sat'.split(' ')

const words: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

type ScheduleFields = readonly [
  minutes: ReadonlySet<number>,
  hours: ReadonlySet<number>,
  days: ReadonlySet<number>,
  months: ReadonlySet<number>,
  weekdays: ReadonlySet<number>,
]

interface Schedule {
  readonly fields: ScheduleFields
  /** If both days are limited, a day matches by either. */
  readonly isAnyDay: boolean
  readonly isAnyWeekday: boolean
}

const maxYears = 5
const minuteMs = 60_000

/**
 * The first time of a schedule after another time, in milliseconds; `undefined` if there is none within some years, or the
 * schedule or time zone cannot be read. Without a time zone: UTC, as the controllers of most clusters run.
 */
export function nextScheduled(
  schedule: string,
  afterMs: number,
  timeZone?: string,
): number | undefined {
  const parsed = scheduleIn(schedule.trim())
  const offsetMs = offsetOf(timeZone)
  if (parsed === undefined || offsetMs === undefined || Number.isNaN(afterMs)) return undefined
  const [minutes, hours, , monthsOf] = parsed.fields
  let wallMs = Math.floor((afterMs + offsetMs(afterMs)) / minuteMs) * minuteMs + minuteMs
  const lastYear = new Date(wallMs).getUTCFullYear() + maxYears
  for (;;) {
    const wall = new Date(wallMs)
    const [year, month, day] = [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()]
    const hour = wall.getUTCHours()
    if (year > lastYear) return undefined
    if (!monthsOf.has(month + 1)) wallMs = Date.UTC(year, month + 1)
    else if (!isOnDay(parsed, wall)) wallMs = Date.UTC(year, month, day + 1)
    else if (!hours.has(hour)) wallMs = Date.UTC(year, month, day, hour + 1)
    else if (!minutes.has(wall.getUTCMinutes())) wallMs += minuteMs
    else {
      const guess = wallMs - offsetMs(wallMs)
      const ms = wallMs - offsetMs(guess)
      if (ms + offsetMs(ms) === wallMs && ms > afterMs) return ms
      wallMs += minuteMs
    }
  }
}

function isOnDay({ fields, isAnyDay, isAnyWeekday }: Schedule, wall: Date): boolean {
  const [, , days, , ofWeek] = fields
  const [isDay, isWeekday] = [days.has(wall.getUTCDate()), ofWeek.has(wall.getUTCDay())]
  return isAnyDay || isAnyWeekday ? isDay && isWeekday : isDay || isWeekday
}

function scheduleIn(text: string): Schedule | undefined {
  const parts = (words[text] ?? text).split(/\s+/)
  if (parts.length !== bounds.length) return undefined
  const sets = parts.map((part, at) => valuesIn(part, at))
  if (sets.includes(undefined)) return undefined
  const fields = sets as unknown as ScheduleFields
  const [isAnyDay = false, isAnyWeekday = false] = [parts[2], parts[4]].map((part = '') =>
    /^[*?](?:\/1)?$/.test(part),
  )
  return { fields, isAnyDay, isAnyWeekday }
}

/** The values of a field: `*`, `1,5-10`, `0-30/5`, `MON-FRI`. */
function valuesIn(field: string, at: number): ReadonlySet<number> | undefined {
  const [low, high] = bounds[at] ?? [0, 0]
  const numberIn = (text: string): number => {
    const names = at === 3 ? months : at === 4 ? weekdays : []
    const named = names.indexOf(text.toLowerCase())
    return named >= 0 ? named + (at === 3 ? 1 : 0) : /^\d+$/.test(text) ? Number(text) : Number.NaN
  }
  const values = new Set<number>()
  for (const range of field.split(',')) {
    const [span = '', step = '1'] = range.split('/')
    const [first = '', last] = span.split('-')
    const isAll = first === '*' || first === '?'
    const from = isAll ? low : numberIn(first)
    const isOpen = isAll || (last === undefined && range.includes('/'))
    const to = isOpen ? high : numberIn(last ?? first)
    const by = Number(step)
    if (!(from >= low && to <= high && from <= to && by >= 1)) return undefined
    // Sunday is 0 and 7.
    for (let one = from; one <= to; one += by) values.add(at === 4 ? one % 7 : one)
  }
  return values
}

const formats = new Map<string, Intl.DateTimeFormat | undefined>()

/** How far the clocks of a zone are ahead of UTC at a time; `undefined` for an unknown zone. */
function offsetOf(timeZone = 'UTC'): ((ms: number) => number) | undefined {
  if (/^(?:Etc\/)?UTC$/i.test(timeZone)) return () => 0
  if (!formats.has(timeZone)) formats.set(timeZone, formatOf(timeZone))
  const format = formats.get(timeZone)
  if (format === undefined) return undefined
  return (ms) => {
    const parts = Object.fromEntries(
      format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
    )
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(ms / minuteMs) * minuteMs
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const numeric = 'numeric' as const
  const parts = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric }
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...parts })
  } catch {
    return undefined
  }
}

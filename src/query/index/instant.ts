const rfc3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/

/**
 * A string that orders as the moment does, from an RFC 3339 time or a Date: the time in UTC without its `Z`, its
 * fraction without trailing zeros. Equal moments have equal keys, whatever their offset. `undefined` where it is none.
 */
export function instantKey(value: unknown): string | undefined {
  const text = value instanceof Date ? isoText(value) : value
  if (typeof text !== 'string') return undefined
  const match = rfc3339.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  if (!isDay(Number(year), Number(month), Number(day))) return undefined
  const offset = offsetMinutes(zone)
  if (offset === undefined) return undefined
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  const utc =
    offset === 0
      ? local
      : isoText(new Date(Date.parse(`${local}Z`) - offset * 60_000))?.slice(0, 19)
  if (utc === undefined) return undefined
  const digits = fraction.replace(/0+$/, '')
  return digits === '' ? utc : `${utc}.${digits}`
}

/** The RFC 3339 time of an {@link instantKey}. */
export function instantOfKey(key: string): string {
  return `${key}Z`
}

/** Years outside 0000 to 9999 would break the order of the keys. */
function isoText(date: Date): string | undefined {
  if (Number.isNaN(date.getTime())) return undefined
  const text = date.toISOString()
  return text.length === 24 ? text : undefined
}

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  if (day <= 28) return true
  const date = new Date(0)
  date.setUTCFullYear(year, month, 0)
  return day <= date.getUTCDate()
}

function offsetMinutes(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(4))
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

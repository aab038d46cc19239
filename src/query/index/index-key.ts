/*
 * The keys of indexes: texts that sort as the values do, whatever their type. A value of another type has no key.
 */

import { type HealthStatus, healthStatuses } from '../../kubernetes/health/health.ts'
import { isRawJson } from '../../lib/json.ts'
import {
  decimalKey,
  decimalOfKey,
  decimalText,
  parseInteger,
  parseQuantity,
} from '../../kubernetes/decimal.ts'

export type IndexType = 'string' | 'int' | 'boolean' | 'dateTime' | 'quantity' | 'healthStatus'

/**
 * The string by which an index of this type keeps a value; `undefined` for values of another type. Equal values have
 * equal keys (`0.5` and `500m`; one moment in two time zones). Keys sort by UTF-16 code units as the values do.
 */
export function indexKeyOf(type: IndexType, value: unknown): string | undefined {
  if (type === 'string' || type === 'boolean' || type === 'healthStatus' || !isShort(value))
    return computedKey(type, value)
  const known = remembered[type]
  let key = known.get(value)
  if (key === undefined && !known.has(value)) {
    key = computedKey(type, value)
    if (known.size >= maxRemembered) known.clear()
    known.set(value, key)
  }
  return key
}

/**
 * A cache of recent keys. Most values recur: an object is indexed in each of its states, and shares times and
 * quantities with its siblings. Reading a time takes a microsecond.
 */
const remembered = {
  int: new Map<string | number, string | undefined>(),
  dateTime: new Map<string | number, string | undefined>(),
  quantity: new Map<string | number, string | undefined>(),
}
const maxRemembered = 4096
const maxRememberedLength = 40

function isShort(value: unknown): value is string | number {
  return typeof value === 'string' ? value.length <= maxRememberedLength : typeof value === 'number'
}

function computedKey(type: IndexType, value: unknown): string | undefined {
  switch (type) {
    case 'string':
      if (typeof value === 'string') return value
      return isPlain(value) ? JSON.stringify(value) : undefined
    case 'boolean':
      return typeof value === 'boolean' ? String(value) : undefined
    case 'healthStatus': {
      const severity = healthStatuses.indexOf(value as HealthStatus)
      return severity < 0 ? undefined : String(severity)
    }
    case 'dateTime':
      return instantKey(value)
    case 'int': {
      const number = parseInteger(value)
      return number === undefined ? undefined : decimalKey(number)
    }
    case 'quantity': {
      const text = isPlain(value) ? JSON.stringify(value) : value
      const number = typeof text === 'string' ? parseQuantity(text) : undefined
      return number === undefined ? undefined : decimalKey(number)
    }
  }
}

/**
 * The inverse of {@link indexKeyOf}, for facets: a string; a boolean; an RFC 3339 time in UTC; a quantity as plain
 * decimal text; an integer as a number or, beyond 2^53, as text; a status of health by its name.
 */
export function valueOfIndexKey(type: IndexType, key: string): string | number | boolean {
  switch (type) {
    case 'string':
      return key
    case 'boolean':
      return key === 'true'
    case 'healthStatus':
      return healthStatuses[Number(key)] ?? key
    case 'dateTime':
      return `${key}Z`
    case 'quantity':
      return decimalText(decimalOfKey(key))
    case 'int': {
      const text = decimalText(decimalOfKey(key))
      return Number.isSafeInteger(Number(text)) ? Number(text) : text
    }
  }
}

/** Numbers and booleans: values that JSON writes without quotes. */
function isPlain(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean' || isRawJson(value)
}

const rfc3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/

/**
 * A string that sorts as the moment does, from an RFC 3339 time or a Date: the time in UTC without its `Z`, the
 * fraction without trailing zeros. Equal moments have equal keys, whatever their offset. `undefined` if the value is
 * not a time.
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

import { isRawJson } from '../../lib/json.ts'
import { decimalKey, decimalOfKey, decimalText, parseInteger, parseQuantity } from './decimal.ts'
import { instantKey, instantOfKey } from './instant.ts'

/** What the values of an index are. */
export type IndexType = 'string' | 'int' | 'boolean' | 'dateTime' | 'quantity'

/**
 * The string by which an index of this type keeps a value; `undefined` where the value is not of the type. Equal values
 * have equal keys (`0.5` and `500m`; one moment in two time zones), and keys order by UTF-16 code units as values do.
 */
export function indexKeyOf(type: IndexType, value: unknown): string | undefined {
  if (type === 'string' || type === 'boolean' || !isShort(value)) return computedKey(type, value)
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
 * The keys of the values that were last asked for. Most of them come again: an object is indexed anew with each of its
 * states, and times and quantities are those of its siblings; and a time takes a microsecond to read.
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
 * The value of an {@link indexKeyOf}, for facets: a string; a boolean; an RFC 3339 time in UTC; a quantity as plain
 * decimal text; an integer as a number or, beyond 2^53, as text.
 */
export function valueOfIndexKey(type: IndexType, key: string): string | number | boolean {
  switch (type) {
    case 'string':
      return key
    case 'boolean':
      return key === 'true'
    case 'dateTime':
      return instantOfKey(key)
    case 'quantity':
      return decimalText(decimalOfKey(key))
    case 'int': {
      const text = decimalText(decimalOfKey(key))
      return Number.isSafeInteger(Number(text)) ? Number(text) : text
    }
  }
}

/** Numbers and booleans: what a JSON text shows without quotes. */
function isPlain(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean' || isRawJson(value)
}

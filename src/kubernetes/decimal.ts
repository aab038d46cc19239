/*
 * Exact decimal numbers: read from quantities and integers, written as keys that sort as the numbers do, added up without
 * rounding, and written as the API server writes quantities.
 */

import { isRawJson } from '../lib/json.ts'

/** An exact decimal number: `sign × 0.digits × 10^exponent`. `digits` has no outer zeros and is `''` for zero. */
export interface Decimal {
  readonly sign: -1 | 0 | 1
  readonly digits: string
  readonly exponent: number
}

const zero: Decimal = { sign: 0, digits: '', exponent: 0 }

/** Far above all quantities and integers in use. */
const maxExponent = 999
const maxTextLength = 64

const quantity =
  /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:([EPTGMK])i|([numkMGTPE])|[eE]([+-]?\d{1,4}))?$/
const binaryPowers: Readonly<Record<string, bigint>> = { K: 1n, M: 2n, G: 3n, T: 4n, P: 5n, E: 6n }
const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}

/**
 * Reads a Kubernetes `resource.Quantity` (`100m`, `1.5Gi`, `2e3`). Exact: does not round to nano as the API server
 * does. `undefined` if the text is not a quantity.
 */
export function parseQuantity(text: string): Decimal | undefined {
  if (text.length > maxTextLength) return undefined
  const match = quantity.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = match[4] ?? '', , binary, decimal, exponent] = match
  let digits = whole + fraction
  if (binary !== undefined) {
    digits = String(BigInt(digits) * 1024n ** (binaryPowers[binary] ?? 0n))
  }
  const power = decimal === undefined ? Number(exponent ?? 0) : (decimalExponents[decimal] ?? 0)
  return decimalOf(sign === '-', digits, power - fraction.length)
}

/** A quantity as the nearest number; NaN for what is no quantity. */
export function quantityOf(value: unknown): number {
  const read = parseQuantity(String(value))
  return read === undefined ? Number.NaN : Number(decimalText(read))
}

const integer = /^([+-]?)(\d+)$/

/**
 * Reads a whole number: a number, a bigint, digits as text, or a `JSON.rawJSON`. `undefined` if the value is none of
 * these.
 */
export function parseInteger(value: unknown): Decimal | undefined {
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return undefined
    if (Number.isSafeInteger(value)) return decimalOf(value < 0, String(Math.abs(value)), 0)
    return parseInteger(BigInt(value))
  }
  if (typeof value === 'bigint') return parseInteger(String(value))
  if (isRawJson(value)) return parseInteger(JSON.stringify(value))
  if (typeof value !== 'string' || value.length > maxTextLength) return undefined
  const match = integer.exec(value)
  return match === null ? undefined : decimalOf(match[1] === '-', match[2] ?? '', 0)
}

/** `±digits × 10^power`, normalised; `undefined` if it is too large or too small for an index. */
function decimalOf(negative: boolean, digits: string, power: number): Decimal | undefined {
  const number = normalised(negative, digits, power)
  return Math.abs(number.exponent) > maxExponent ? undefined : number
}

function normalised(negative: boolean, digits: string, power: number): Decimal {
  let start = 0
  while (digits.charCodeAt(start) === 0x30) start += 1
  let end = digits.length
  while (end > start && digits.charCodeAt(end - 1) === 0x30) end -= 1
  if (start === end) return zero
  const exponent = digits.length - start + power
  return { sign: negative ? -1 : 1, digits: digits.slice(start, end), exponent }
}

const bias = 5000

/**
 * A string that sorts by UTF-16 code units as the number does: a digit for the sign, the biased exponent, the digits.
 * Negative numbers have the nines' complement of both, and end in `~`, which sorts above all digits: of two negative
 * numbers with a common prefix, the longer one is less.
 */
export function decimalKey({ sign, digits, exponent }: Decimal): string {
  if (sign === 0) return '1'
  if (sign > 0) return `2${bias + exponent}${digits}`
  return `0${complement(`${bias + exponent}${digits}`)}~`
}

export function decimalOfKey(key: string): Decimal {
  if (key.startsWith('1')) return zero
  const negative = key.startsWith('0')
  const body = negative ? complement(key.slice(1, -1)) : key.slice(1)
  return {
    sign: negative ? -1 : 1,
    digits: body.slice(4),
    exponent: Number(body.slice(0, 4)) - bias,
  }
}

function complement(digits: string): string {
  let out = ''
  for (const digit of digits) out += 9 - Number(digit)
  return out
}

export function sumOf(numbers: readonly Decimal[]): Decimal {
  const total = new DecimalTotal()
  for (const number of numbers) total.add(number)
  return total.value
}

export class DecimalTotal {
  /** In units of 10 ^ `#power`. */
  #units = 0n
  #power = 0

  add(number: Decimal, times = 1): void {
    if (number.sign === 0) return
    const units = BigInt(number.digits) * BigInt(times)
    this.addUnits(number.sign < 0 ? -units : units, powerOf(number))
  }

  addUnits(units: bigint, power: number): void {
    if (power < this.#power) {
      this.#units *= 10n ** BigInt(this.#power - power)
      this.#power = power
    }
    this.#units += power === this.#power ? units : units * 10n ** BigInt(power - this.#power)
  }

  get value(): Decimal {
    const units = this.#units
    return normalised(units < 0n, String(units < 0n ? -units : units), this.#power)
  }
}

/** The power of ten of the last digit. */
export function powerOf({ digits, exponent }: Decimal): number {
  return exponent - digits.length
}

/** Plain decimal text: `-0.25`, `1610612736`. */
export function decimalText({ sign, digits, exponent }: Decimal): string {
  if (sign === 0) return '0'
  const text =
    exponent <= 0
      ? `0.${'0'.repeat(-exponent)}${digits}`
      : exponent >= digits.length
        ? digits + '0'.repeat(exponent - digits.length)
        : `${digits.slice(0, exponent)}.${digits.slice(exponent)}`
  return sign < 0 ? `-${text}` : text
}

const decimalSuffixes: ReadonlyMap<number, string> = new Map([
  [-9, 'n'],
  [-6, 'u'],
  [-3, 'm'],
  [0, ''],
  [3, 'k'],
  [6, 'M'],
  [9, 'G'],
  [12, 'T'],
  [15, 'P'],
  [18, 'E'],
])
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const

/**
 * A number as the API server writes a quantity (`CanonicalizeBytes` in apimachinery's `resource.Quantity`): a whole
 * number with the largest suffix. With `isBinary`, whole numbers from 1,024 have the suffixes of powers of 1,024.
 */
export function quantityText(number: Decimal, isBinary: boolean): string {
  if (number.sign === 0) return '0'
  const minus = number.sign < 0 ? '-' : ''
  const power = powerOf(number)
  if (isBinary && power >= 0) {
    let whole = BigInt(number.digits) * 10n ** BigInt(power)
    if (whole >= 1024n) {
      let at = 0
      while (at < binarySuffixes.length - 1 && whole % 1024n === 0n) {
        whole /= 1024n
        at += 1
      }
      return `${minus}${whole}${binarySuffixes[at]}`
    }
  }
  const exponent = Math.min(18, Math.floor(power / 3) * 3)
  const digits = number.digits + '0'.repeat(power - exponent)
  return `${minus}${digits}${decimalSuffixes.get(exponent) ?? `e${exponent}`}`
}

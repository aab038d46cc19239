import type { Int64 } from './wire/scalars.ts'

/** An {@link Int64} with all of its digits. */
export function int64ToBigInt(value: Int64): bigint {
  return BigInt(typeof value === 'number' ? value : value.rawJSON)
}

/** An {@link Int64} as the nearest double: exact up to 2^53. */
export function int64ToNumber(value: Int64): number {
  return typeof value === 'number' ? value : Number(value.rawJSON)
}

import { isRawJson } from '../lib/json.ts'
import type { RawNumber } from './wire/scalars.ts'

/** A type whose every member, at any depth, can be assigned to. */
export type Mutable<T> = T extends RawNumber
  ? T
  : T extends object
    ? { -readonly [Member in keyof T]: Mutable<T[Member]> }
    : T

/**
 * A deep copy of an object, to be modified: what comes from an informer is read-only and shares structure. Integers of more
 * digits than a double holds stay what they are (`structuredClone` would lose them).
 */
export function mutableCopy<T>(value: T): Mutable<T> {
  return copied(value) as Mutable<T>
}

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isRawJson(value)) return value
  if (Array.isArray(value)) return value.map(copied)
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    // A member of that name would otherwise set the prototype.
    if (name === '__proto__') define(copy, name, copied(member))
    else copy[name] = copied(member)
  }
  return copy
}

function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

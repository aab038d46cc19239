import type { Form } from './field-case.ts'

/**
 * What stands at a path, with `[*]` for the one item of a list: `at('spec.volumes[*].name', 'data')`. Names with dots stand in
 * brackets: `metadata.labels[a.b/c]`. The name of the target unless said otherwise.
 */
export function at(path: string, value: unknown = targetName): Form {
  const steps = [...path.matchAll(/\[\*\]|\[([^\]]+)\]|([^.[]+)/g)].map(
    ([text, quoted, name]) => quoted ?? name ?? text,
  )
  return steps.reduceRight<unknown>(
    (inner, step) => (step === '[*]' ? [inner] : { [step]: inner }),
    value,
  ) as Form
}

/** All forms as one. */
export function all(...forms: readonly Form[]): Form {
  return forms.reduce<unknown>((one, other) => merged(one, other), {}) as Form
}

function merged(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) {
    const length = Math.max(one.length, other.length)
    return Array.from({ length }, (_, index) => merged(one[index], other[index]))
  }
  if (!isMembers(one) || !isMembers(other)) return other ?? one
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...names].map((name) => [name, merged(one[name], other[name])]))
}

const isMembers = (value: unknown): value is Form =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Stands for the name of who is meant. */
export const targetName = '<name>'

/** Stands for the UID of who is meant. */
export const targetUid = '<uid>'

/*
 * Paths into objects, as SDL and clients write them: parsed once, then read from any object. A path through a list or a map
 * has several values.
 */

import { CodedError } from '../../lib/coded-error.ts'
import { SharedValues } from '../../lib/shared-values.ts'
import { quoted } from '../../lib/text.ts'

/**
 * A step of a path: into a field; into every item of a list or value of a map; into the items whose member has a value
 * (`true` and numbers by their text); or into the items that have a member at all.
 */
export type PathStep =
  | { readonly form: 'field'; readonly name: string }
  | { readonly form: 'each' }
  | { readonly form: 'matching'; readonly member: string; readonly value: string }
  | { readonly form: 'having'; readonly member: string }

/**
 * A path into an object, as in SDL: `spec.containers[*].image`, `metadata.labels["app.example/tier"]`,
 * `status.conditions[type="Ready"].status`.
 */
export interface Path {
  readonly text: string
  readonly steps: readonly PathStep[]
  /** Whether it goes into lists, so that it may have several values. */
  readonly many: boolean
}

export class PathError extends CodedError {
  /** The position of the error; the first character is column 1. */
  readonly column: number

  constructor(text: string, column: number, problem: string) {
    super('PATH', `path ${quoted(text)}, column ${column}: ${problem}`, {
      value: text,
      hint: 'write it as spec.containers[*].image or metadata.labels["app.example/tier"]',
    })
    this.column = column
  }
}

const fieldName = /[^.[\]"\s]+/y
const match = /\[[^.[\]"\s=]+="(?:[^"\\]|\\.)*"\]/y
const having = /\[[^.[\]"\s=*]+\]/y
const quotedKey = /\["(?:[^"\\]|\\.)*"\]/y
const nothing: readonly unknown[] = []

/** Deeper than any object. Bounds the cost of a path on each object of a list. */
const maxSteps = 64

/** A thousand kinds declare the same paths. */
const parsed = new SharedValues<Path>()

/**
 * Parses a path: names separated by dots, `[*]`, `[member="value"]`, `[member]`, `["quoted.key"]` (JSON strings).
 * Throws {@link PathError}.
 */
export function parsePath(text: string): Path {
  return parsed.get(text) ?? parsed.add(text, parsedPath(text))
}

function parsedPath(text: string): Path {
  const steps: PathStep[] = []
  let at = 0
  while (at < text.length) {
    if (steps.length === maxSteps) {
      throw new PathError(text, at + 1, `has more than ${maxSteps} steps`)
    }
    if (text.startsWith('[*]', at)) {
      steps.push({ form: 'each' })
      at += 3
      continue
    }
    const matching = matchAt(match, text, at)
    if (matching !== undefined) {
      const equals = matching.indexOf('=')
      const value = unquote(text, at + equals, matching.slice(equals + 1, -1))
      steps.push({ form: 'matching', member: matching.slice(1, equals), value })
      at += matching.length
      continue
    }
    const member = matchAt(having, text, at)?.slice(1, -1)
    if (member !== undefined && !/^\d+$/.test(member)) {
      steps.push({ form: 'having', member })
      at += member.length + 2
      continue
    }
    if (text[at] === '[') {
      const key = matchAt(quotedKey, text, at)
      if (key === undefined)
        throw new PathError(text, at + 1, 'expected [*], ["key"], [member] or [member="value"]')
      steps.push({ form: 'field', name: unquote(text, at, key.slice(1, -1)) })
      at += key.length
      continue
    }
    if (steps.length > 0) {
      if (text[at] !== '.') throw new PathError(text, at + 1, 'expected a dot, [*] or ["key"]')
      at += 1
    }
    const name = matchAt(fieldName, text, at)
    if (name === undefined) throw new PathError(text, at + 1, 'expected the name of a field')
    steps.push({ form: 'field', name })
    at += name.length
  }
  if (steps.length === 0) throw new PathError(text, 1, 'is empty')
  return { text, steps, many: steps.some(({ form }) => form !== 'field') }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

function unquote(text: string, at: number, literal: string): string {
  try {
    return JSON.parse(literal) as string
  } catch {
    throw new PathError(text, at + 2, `${literal} is not a JSON string`)
  }
}

/**
 * All values at a path, in document order. Skips missing and null values. A list at the end of the path is one value.
 */
export function valuesAt(path: Path, object: unknown): readonly unknown[] {
  if (!path.many) {
    const value = valueAt(path, object)
    return value === undefined ? nothing : [value]
  }
  const values: unknown[] = []
  collect(path.steps, 0, object, values)
  return values
}

/** The first value at a path; `undefined` if it is missing or null. */
export function valueAt(path: Path, object: unknown): unknown {
  if (path.many) return valuesAt(path, object)[0]
  let value = object
  for (const step of path.steps) {
    if (step.form === 'field') value = fieldOf(value, step.name)
    if (value === undefined) return undefined
  }
  return value ?? undefined
}

function collect(
  steps: readonly PathStep[],
  from: number,
  start: unknown,
  values: unknown[],
): void {
  let value = start
  for (let at = from; at < steps.length; at += 1) {
    if (typeof value !== 'object' || value === null) return
    const step = steps[at]
    if (step?.form === 'field') {
      value = fieldOf(value, step.name)
      continue
    }
    const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
    for (const item of items) {
      if (step === undefined || isMeant(step, item)) collect(steps, at + 1, item, values)
    }
    return
  }
  if (value !== undefined && value !== null) values.push(value)
}

function isMeant(step: PathStep, item: unknown): boolean {
  switch (step.form) {
    case 'field':
    case 'each':
      return true
    case 'having':
      return (fieldOf(item, step.member) ?? null) !== null
    case 'matching': {
      const value = fieldOf(item, step.member)
      const isPlain = typeof value === 'boolean' || typeof value === 'number'
      return (isPlain ? String(value) : value) === step.value
    }
  }
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  // Members that every JavaScript object inherits, such as "constructor", do not count.
  if (name in Object.prototype && !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

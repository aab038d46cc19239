import { CodedError } from './coded-error.ts'

/** A value in an options object that makes no sense there. */
export class InvalidOptionError extends CodedError {
  readonly option: string

  constructor(option: string, value: unknown, expected: string) {
    super('INVALID_OPTION', `${option} is ${shown(value)}`, { value, hint: `give ${expected}` })
    this.option = option
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 200))
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/** Options as callers may write them: one that is `undefined` is absent. */
export type Given<T extends object> = { readonly [K in keyof T]?: T[K] | undefined }

/** The defaults, each replaced by the option of its name where that is not `undefined`. */
export function withDefaults<T extends object>(defaults: T, options: Given<T>): T {
  const filled: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(defaults)) {
    filled[name] = (options as Readonly<Record<string, unknown>>)[name] ?? value
  }
  return filled as T
}

/** The same options without those that are `undefined`, so that they can be laid over others. */
export function present<T extends object>(options: T): T {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as T
}

/** Throws {@link InvalidOptionError} unless it is a number of milliseconds, 0 or more; `Infinity` is no limit. */
export function requireDeadline(option: string, value: number | undefined): void {
  if (value === undefined || (typeof value === 'number' && value >= 0)) return
  throw new InvalidOptionError(option, value, 'milliseconds, 0 or more; Infinity for no deadline')
}

/** Throws {@link InvalidOptionError} unless it is a finite number, `least` or more. */
export function requireNumber(option: string, value: number | undefined, least = 0): void {
  if (value === undefined || (Number.isFinite(value) && value >= least)) return
  throw new InvalidOptionError(option, value, `a number, ${least} or more`)
}

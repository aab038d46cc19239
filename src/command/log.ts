/*
 * The log of the command: lines of JSON for programs, or lines for people, each written at once.
 */

import { pino } from 'pino'
import type { Config } from '../config/config.ts'
import type { GatewayLog } from '../gateway/observers.ts'
import { CodedError } from '../lib/coded-error.ts'

/** The destination of log lines. */
interface LogStream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

interface LogOptions {
  readonly level: Config['logLevel']
  readonly format: Config['logFormat']
  readonly stream: LogStream
}

export function isJsonLog({ format, stream }: Omit<LogOptions, 'level'>): boolean {
  return format === 'json' || (format === 'auto' && stream.isTTY !== true)
}

/** The log of the program, by pino. docs/observability.md lists its fields. */
export function createLog(options: LogOptions): GatewayLog {
  const { level, stream } = options
  const isJson = isJsonLog(options)
  const isTerminal = stream.isTTY === true
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => void stream.write(isJson ? line : lineForPeople(line, isTerminal)) },
  )
  return {
    info: (message, details = {}) => logger.info(fieldsOf(details), message),
    warn: (message, details = {}) => logger.warn(fieldsOf(details), message),
    error: (message, details = {}) => logger.error(fieldsOf(details), message),
  }
}

/** The details as fields. An error becomes an object, and its code is a field of the line. */
function fieldsOf(details: object): object {
  const { error, ...rest } = details as { readonly error?: unknown }
  if (error === undefined) return details
  const code = error instanceof CodedError ? { code: error.code } : {}
  return { ...code, ...rest, error: errorFields(error) }
}

/** A cause of a cause of a cause: further ones say nothing new. */
const maxCauses = 3
const maxErrorLength = 8_192

/** The named parts of an error alone: others may hold a response, a request or a value. */
function errorFields(error: unknown, causes = maxCauses): object {
  if (!(error instanceof Error)) return { message: cut(String(error)) }
  const { name, message, stack, cause } = error
  const { code, hint } = error as { readonly code?: unknown; readonly hint?: unknown }
  return {
    type: name,
    ...(typeof code === 'string' ? { code } : {}),
    message: cut(message),
    ...(typeof hint === 'string' ? { hint } : {}),
    stack: cut(stack ?? ''),
    ...(cause === undefined || causes === 0 ? {} : { cause: errorFields(cause, causes - 1) }),
  }
}

function cut(text: string): string {
  return text.length > maxErrorLength ? `${text.slice(0, maxErrorLength)}…` : text
}

interface LogLine {
  readonly level: string
  readonly time: string
  readonly msg: string
  readonly cluster?: string
  readonly kind?: string
  readonly error?: { readonly stack?: string; readonly message?: string }
}

/** `10:04:05 warn  cluster: kind: message key=value`, and the stack of an error below. */
function lineForPeople(line: string, isTerminal: boolean): string {
  const { level, time, msg, cluster, kind, error, ...rest } = JSON.parse(line) as LogLine
  const at = isTerminal ? new Date(time).toTimeString().slice(0, 8) : time
  const details = Object.entries(rest).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`)
  const stack = error === undefined ? '' : `\n${error.stack || error.message}`
  const text = [cluster, kind, msg].filter((part) => part !== undefined).join(': ')
  // A message may quote an API server: control characters are replaced, and further lines are indented.
  const printable = `${text}${details.join('')}${stack}`
    .replaceAll(/[^\P{Cc}\n\t]/gu, '\u{FFFD}')
    .replaceAll('\n', '\n  ')
  return `${at} ${level.padEnd(5)} ${printable}\n`
}

import { inspect } from 'node:util'
import { CodedError } from '../lib/coded-error.ts'

/** Receives the lines of a controller. `console` is one. */
export interface ControllerLog {
  info(message: string, details?: object): void
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}

/** Writes each line to standard error: `2026-01-31T12:00:00.000Z info started controller=website workers=4`. */
export const standardErrorLog: ControllerLog = {
  info: (message, details) => write('info', message, details),
  warn: (message, details) => write('warn', message, details),
  error: (message, details) => write('error', message, details),
}

function write(level: string, message: string, details: object = {}): void {
  const members = Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${shown(value)}`)
  process.stderr.write(`${new Date().toISOString()} ${level} ${message}${members.join('')}\n`)
}

/** For errors of this package and of the API server, the message says it all. For others, the stack says where. */
function textOf(error: Error): string {
  return error instanceof CodedError ? error.message : (error.stack ?? error.message)
}

function shown(value: unknown): string {
  const text = value instanceof Error ? textOf(value) : value
  if (typeof text !== 'string') return inspect(text, { breakLength: Number.POSITIVE_INFINITY })
  return /^[\w./:-]+$/.test(text) ? text : JSON.stringify(text)
}

/** A log that adds these details to each line. */
export function logWith(log: ControllerLog, details: object): ControllerLog {
  return {
    info: (message, more) => log.info(message, { ...details, ...more }),
    warn: (message, more) => log.warn(message, { ...details, ...more }),
    error: (message, more) => log.error(message, { ...details, ...more }),
  }
}

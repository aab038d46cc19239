import { pino } from 'pino'
import type { Config } from '../config/config.ts'
import type { GatewayLog } from '../gateway/gateway-log.ts'

/** Where lines go. */
export interface LogStream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** A log by pino: one JSON object per line, or a line for people where a terminal reads it. */
export function createLog(level: Config['logLevel'], stream: LogStream): GatewayLog {
  const logger = pino(
    { level, base: null, serializers: { error: pino.stdSerializers.err } },
    { write: (line) => void stream.write(stream.isTTY === true ? lineForPeople(line) : line) },
  )
  return {
    info: (message, details = {}) => logger.info(details, message),
    warn: (message, details = {}) => logger.warn(details, message),
    error: (message, details = {}) => logger.error(details, message),
  }
}

/** `10:04:05 warn  message key=value`, and the stack of an error below. */
function lineForPeople(line: string): string {
  const { level, time, msg, error, ...rest } = JSON.parse(line) as {
    readonly level: number
    readonly time: number
    readonly msg: string
    readonly error?: { readonly stack?: string; readonly message?: string }
  } & Readonly<Record<string, unknown>>
  const at = new Date(time).toTimeString().slice(0, 8)
  const name = (pino.levels.labels[level] ?? '').padEnd(5)
  const details = Object.entries(rest).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`)
  const stack =
    error === undefined ? '' : `\n${error.stack ?? error.message ?? JSON.stringify(error)}`
  return `${at} ${name} ${msg}${details.join('')}${stack}\n`
}

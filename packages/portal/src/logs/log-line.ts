/**
 * What a line of a log says of itself: its level and its fields. Levels are recognised in JSON (`level`, `severity`, and
 * the numbers of pino and bunyan), in logfmt, in the headers of klog, and as words in capitals or brackets.
 */
export type Level = 'error' | 'warn' | 'info' | 'debug'

/** The worst first. */
const levels = ['error', 'warn', 'info', 'debug'] as const

/** Whether a line is shown by the filter `least`. Lines without a level are shown where `info` is. */
export function isOfLevel(level: Level | undefined, least: Level | ''): boolean {
  return least === '' || levels.indexOf(level ?? 'info') <= levels.indexOf(least)
}

const words: Readonly<Record<string, Level>> = {
  emerg: 'error',
  emergency: 'error',
  alert: 'error',
  panic: 'error',
  fatal: 'error',
  crit: 'error',
  critical: 'error',
  severe: 'error',
  error: 'error',
  err: 'error',
  warn: 'warn',
  warning: 'warn',
  notice: 'info',
  info: 'info',
  information: 'info',
  debug: 'debug',
  trace: 'debug',
  verbose: 'debug',
}
const known = Object.keys(words).join('|')
const inJson = new RegExp(
  `"(?:level|severity|lvl|log\\.level)"\\s*:\\s*"?(${known}|\\d{2})\\b`,
  'iu',
)
const inPairs = new RegExp(`\\b(?:level|severity|lvl)="?(${known})\\b`, 'iu')
const inText = new RegExp(
  `(?:^|[\\s[(<|])(${known.toUpperCase()})(?=$|[\\s\\]):>|])|[[(](${known})[\\])]`,
  'u',
)
const inKlog = /^([EFWI])\d{4} \d\d:\d\d:\d\d/u
const klog: Readonly<Record<string, Level>> = { E: 'error', F: 'error', W: 'warn', I: 'info' }
/** What a level stands in. Further on, its word is part of the message. */
const headLength = 300

/** The level of a line; `undefined` if it says none. */
export function levelOf(text: string): Level | undefined {
  const head = text.slice(0, headLength)
  const letter = inKlog.exec(head)?.[1]
  if (letter !== undefined) return klog[letter]
  const word = (inJson.exec(head) ?? inPairs.exec(head))?.[1] ?? wordIn(head)
  if (word === undefined) return undefined
  if (!/^\d/.test(word)) return words[word.toLowerCase()]
  const number = Number(word)
  return number >= 50 ? 'error' : number >= 40 ? 'warn' : number >= 30 ? 'info' : 'debug'
}

function wordIn(head: string): string | undefined {
  const [, plain, bracketed] = inText.exec(head) ?? []
  return plain ?? bracketed
}

/** Whether a line goes on with the one before it, as those of a stack trace do. */
export function isContinuation(text: string): boolean {
  return /^(?:\s|Caused by:|\.\.\. \d+ more)/u.test(text)
}

/** The fields of a line of JSON; `undefined` for any other line. */
export function fieldsOf(text: string): ReadonlyMap<string, string> | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const parsed = JSON.parse(text) as Readonly<Record<string, unknown>>
    return new Map(
      Object.entries(parsed).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    )
  } catch {
    return undefined
  }
}

const messageNames = ['msg', 'message', 'event']
/** The gateway says the time, and the level has its colour. */
const toldNames: ReadonlySet<string> = new Set(['time', 'ts', 'timestamp', '@timestamp', 'date'])

/** The columns of lines of JSON: the message first, then the most frequent fields, in the order in which they come. */
export function columnsOf(
  lines: Iterable<ReadonlyMap<string, string>>,
  most: number,
): readonly string[] {
  const counts = new Map<string, number>()
  for (const line of lines) {
    for (const name of line.keys()) {
      if (!toldNames.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  const frequent = new Set(
    [...counts]
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, most)
      .map(([name]) => name),
  )
  const message = messageNames.find((name) => counts.has(name))
  const others = [...counts.keys()].filter((name) => frequent.has(name) && name !== message)
  return message === undefined ? others : [message, ...others.slice(0, most - 1)]
}

/** The fields that have no column, as `name=value`. */
export function restOf(fields: ReadonlyMap<string, string>, columns: readonly string[]): string {
  return [...fields]
    .filter(([name]) => !columns.includes(name) && !toldNames.has(name))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}

/** The unique ends of names: `abcde` of `web-7d9f-abcde` beside `web-7d9f-fghij`. */
export function uniqueEnds(names: readonly string[]): ReadonlyMap<string, string> {
  const [first = '', ...others] = names
  let length = others.length === 0 ? 0 : first.length
  for (const other of others) {
    while (!other.startsWith(first.slice(0, length))) length--
  }
  // At a boundary, and never the whole of a name.
  const start = first.slice(0, length).lastIndexOf('-') + 1
  return new Map(names.map((name) => [name, name.slice(start)]))
}

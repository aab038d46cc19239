/*
 * Cuts the bytes of a log with `timestamps=true` into lines. It keeps the beginning of a line that is longer than
 * `maxLineBytes`, and skips the rest, so that it holds at most one line.
 */

export interface LogEntry {
  /** RFC 3339, UTC, with nine digits after the second; `''` if the line has none. */
  readonly time: string
  readonly text: string
  /** Whether only the beginning of the line is kept. */
  readonly truncated: boolean
}

/** The size of the longest time before a line, including a blank: `2026-11-23T14:02:11.123456789+01:00 `. */
const maxTimeBytes = 40

const lineFeed = 0x0a
const space = 0x20

export class LogLines {
  readonly #maxBytes: number
  #open: Buffer[] = []
  #openBytes = 0
  #isCut = false

  constructor(maxLineBytes: number) {
    this.#maxBytes = maxLineBytes + maxTimeBytes
  }

  /** The lines that end in a chunk. */
  take(chunk: Buffer): LogEntry[] {
    const entries: LogEntry[] = []
    let from = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      this.#hold(chunk, from, end)
      entries.push(this.#ended())
      from = end + 1
    }
    this.#hold(chunk, from, chunk.length)
    return entries
  }

  /** The last line, if it has no line feed. */
  rest(): LogEntry[] {
    return this.#openBytes === 0 ? [] : [this.#ended()]
  }

  #hold(chunk: Buffer, from: number, end: number): void {
    const room = this.#maxBytes - this.#openBytes
    const until = Math.min(end, from + room)
    if (until < end) this.#isCut = true
    if (until <= from) return
    // Copies, since a range would hold the whole chunk of the socket in memory.
    this.#open.push(Buffer.from(chunk.subarray(from, until)))
    this.#openBytes += until - from
  }

  #ended(): LogEntry {
    const bytes = Buffer.concat(this.#open, this.#openBytes)
    const truncated = this.#isCut
    this.#open = []
    this.#openBytes = 0
    this.#isCut = false
    const blank = bytes.indexOf(space)
    const hasTime = blank >= 0 && blank <= maxTimeBytes
    const time = hasTime ? utcTime(bytes.toString('latin1', 0, blank)) : undefined
    // Decodes the text anew: a slice of the line would hold the line in memory.
    const text = bytes.toString('utf8', time === undefined ? 0 : blank + 1).replace(/\r$/, '')
    // A cut may split a character.
    return { time: time ?? '', text: truncated ? text.replace(/\uFFFD+$/, '') : text, truncated }
  }
}

const asWritten = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/
const rfc3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

/** A time in UTC with nine digits, so that times compare as texts. Kubelets write the time of their node's zone. */
function utcTime(text: string): string | undefined {
  if (asWritten.test(text)) return text
  const [, seconds = '', digits = '', zone = ''] = rfc3339.exec(text) ?? []
  if (seconds === '') return undefined
  const nanos = digits.padEnd(9, '0')
  if (zone === 'Z') return `${seconds}.${nanos}Z`
  const atMs = Date.parse(`${seconds}${zone}`)
  return Number.isNaN(atMs) ? undefined : `${new Date(atMs).toISOString().slice(0, 19)}.${nanos}Z`
}

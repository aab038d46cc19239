/*
 * The lines that wait for one reader. While the buffer is full, the streams wait, and so do the API servers. A reader who
 * stays behind for longer loses the oldest lines, which are counted. For a reader who takes nothing at all, nothing more
 * is read.
 */

import { stringBytes } from '../../informer/codec/template.ts'
import { jsonIn, JsonText } from '../../lib/json.ts'
import type { LogLine } from '../schema/gateway-types.ts'
import type { LogLimits } from './log-limits.ts'

/** A line, and the follower that has read it. */
export class HeldLine implements LogLine {
  readonly cluster: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly time: string | null
  readonly text: string
  readonly truncated: boolean
  readonly of: LineReader

  constructor(line: Omit<HeldLine, 'fields'>) {
    this.cluster = line.cluster
    this.namespace = line.namespace
    this.pod = line.pod
    this.container = line.container
    this.time = line.time
    this.text = line.text
    this.truncated = line.truncated
    this.of = line.of
  }

  get fields(): JsonText | null {
    const { text } = this
    return text.startsWith('{') && jsonIn(text) !== undefined ? new JsonText(text) : null
  }
}

export interface LineReader {
  /** Called when the number of its held lines changes, with the difference. */
  holds(difference: number): void
}

/** How long the streams wait for a reader before lines are skipped: a browser that opens a page takes its time. */
export const patienceMs = 1_000
/** A reader who takes nothing for this long has stopped. Nothing more is read for it until it takes a frame. */
const stoppedMs = 10_000
/** The memory of V8's objects for a line, besides its text. */
const lineBytes = 160

export class LogBuffer {
  readonly #limits: Pick<LogLimits, 'maxLines' | 'maxBytes'>
  readonly #waits: boolean
  #lines: HeldLine[] = []
  #bytes = 0
  #skipped = 0
  /** Since when the buffer has been full, by `performance.now()`. */
  #fullSinceMs: number | undefined
  #takenMs = performance.now()
  #taken = Promise.withResolvers<void>()
  #isClosed = false

  /** `waits`: whether a reader takes lines. Otherwise the newest lines are kept. */
  constructor(limits: Pick<LogLimits, 'maxLines' | 'maxBytes'>, waits: boolean) {
    this.#limits = limits
    this.#waits = waits
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0 && this.#skipped === 0
  }

  get bytes(): number {
    return this.#bytes
  }

  push(line: HeldLine): void {
    if (this.#isClosed) return
    this.#lines.push(line)
    this.#bytes += sizeOf(line)
    line.of.holds(1)
    if (!this.#isOver(1)) return
    // Makes room for a quarter at once, since sorting for each line would cost too much.
    this.#lines.sort(byTime)
    let dropped = 0
    while (dropped < this.#lines.length && this.#isOver(0.75, dropped)) {
      this.#bytes -= sizeOf(this.#lines[dropped] as HeldLine)
      dropped += 1
    }
    letGo(this.#lines.splice(0, dropped))
    this.#skipped += dropped
  }

  /** Waits while the buffer is full, as long as the reader may still catch up. `undefined` if there is room. */
  room(): Promise<void> | undefined {
    const nowMs = performance.now()
    // Waits from three quarters on: the rest is for streams that read at the same time.
    if (!this.#waits || !this.#isOver(0.75)) {
      this.#fullSinceMs = undefined
      return undefined
    }
    this.#fullSinceMs ??= nowMs
    const isStopped = nowMs - Math.max(this.#takenMs, this.#fullSinceMs) > stoppedMs
    if (isStopped) return this.#taken.promise
    const leftMs = patienceMs - (nowMs - this.#fullSinceMs)
    if (leftMs <= 0) return undefined
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, leftMs)
    return Promise.race([this.#taken.promise, late.promise]).finally(() => clearTimeout(timer))
  }

  /** Takes the oldest lines, in the order of their times, and the number of lines that were skipped before them. */
  take(most: { readonly lines: number; readonly bytes: number }): {
    readonly lines: readonly HeldLine[]
    readonly skipped: number
  } {
    this.#lines.sort(byTime)
    let count = 0
    let bytes = 0
    for (const line of this.#lines) {
      if (count === most.lines || (count > 0 && bytes > most.bytes)) break
      bytes += sizeOf(line)
      count += 1
    }
    const lines = this.#lines.splice(0, count)
    const skipped = this.#skipped
    this.#bytes -= bytes
    this.#skipped = 0
    this.#takenMs = performance.now()
    const taken = this.#taken
    this.#taken = Promise.withResolvers()
    taken.resolve()
    letGo(lines)
    return { lines, skipped }
  }

  /** Drops the lines of a follower: the reader may no longer see them. */
  drop(of: LineReader): void {
    const dropped = this.#lines.filter((line) => line.of === of)
    this.#lines = this.#lines.filter((line) => line.of !== of)
    this.#bytes -= dropped.reduce((sum, line) => sum + sizeOf(line), 0)
    letGo(dropped)
  }

  /** Drops all lines, and ends all waits. Holds nothing more. */
  close(): void {
    this.#isClosed = true
    letGo(this.#lines.splice(0))
    this.#bytes = 0
    this.#taken.resolve()
  }

  /** Whether the lines exceed a share of the limits, not counting the first `without` lines. */
  #isOver(share: number, without = 0): boolean {
    const { maxLines, maxBytes } = this.#limits
    return this.#lines.length - without > maxLines * share || this.#bytes > maxBytes * share
  }
}

function letGo(lines: readonly HeldLine[]): void {
  for (const { of } of lines) of.holds(-1)
}

function sizeOf({ text }: HeldLine): number {
  return stringBytes(text) + lineBytes
}

/** Lines without a time keep their place. */
function byTime({ time: a }: HeldLine, { time: b }: HeldLine): number {
  if (a === null || b === null || a === b) return 0
  return a < b ? -1 : 1
}

import { encodeResumeToken, type ResumePosition } from '../reads/resume-token.ts'
import type { FramePlan } from './frame-plan.ts'
import type { PageState } from './group-content.ts'
import type { SentChange } from './live-change.ts'

/** The resource version of each kind that is read, by type name; the followed kind's is the first. */
export type Positions = Readonly<Record<string, string>>

export interface FrameWriterOptions extends Omit<ResumePosition, 'positions' | 'isAhead' | 'rows'> {
  readonly plan: FramePlan
  readonly maxFrameObjects: number
  readonly maxFrameBytes: number
}

/** Some changes that fit into one frame. */
interface FramePart {
  readonly changes: readonly SentChange[]
  readonly text: string
}

/** Where frames stand: all that was sent is known up to `positions`, those before the last one are behind `before`. */
export interface FramesAt {
  readonly reset: boolean
  /** Of the last one; those before it are as synced as `wasSynced` says. */
  readonly wasSynced: boolean
  /** What tokens say before the last frame; the same as `positions` where that is not the last one either. */
  readonly before: Positions
  readonly positions: Positions
  /** Whether some rows have been told as they came to be behind `positions`. */
  readonly isAhead: boolean
  /** How a page is behind the last one. */
  readonly page: PageState | undefined
}

/** A frame as it is sent, and what it says. */
export interface WrittenFrame {
  readonly changes: readonly SentChange[]
  /** The payload, UTF-8. */
  readonly payload: Buffer
  readonly positions: Positions
  readonly isAhead: boolean
  /** What a page has come to with it; empty in the midst of the steps to it. */
  readonly rows: string | undefined
}

/** Writes the frames of one group. */
export class FrameWriter {
  readonly #options: FrameWriterOptions

  constructor(options: FrameWriterOptions) {
    this.#options = options
  }

  /**
   * Changes as frames within the limits, at least one, each written when it is asked for. Only behind the last of them has
   * everything been sent that led to its position, so the others keep the one before.
   */
  *frames(changes: readonly SentChange[], at: FramesAt): Generator<WrittenFrame, void> {
    let waiting: FramePart | undefined
    let { reset } = at
    const { wasSynced, before, positions, page } = at
    const within = page && { ...page, rows: '' }
    for (const part of this.#parts(changes)) {
      if (waiting !== undefined) {
        const midst = { synced: wasSynced, positions: before, isAhead: true, page: within }
        yield this.#written(waiting, { reset, ...midst })
        reset = false
      }
      waiting = part
    }
    if (waiting !== undefined) {
      // In the midst of a change there are several states of a page behind one position.
      const isMidst = positions === before
      const last = isMidst ? within : page
      const isAhead = isMidst || at.isAhead
      yield this.#written(waiting, { reset, synced: true, positions, isAhead, page: last })
    }
  }

  #written(
    { changes, text }: FramePart,
    at: Pick<FramesAt, 'reset' | 'positions' | 'isAhead' | 'page'> & { readonly synced: boolean },
  ): WrittenFrame {
    const { plan, ...known } = this.#options
    const { reset, synced, positions, isAhead, page } = at
    const rows = page?.rows
    const payload = plan.frame({
      reset,
      synced,
      totalCount: page?.totalCount,
      changes: `[${text}]`,
      resumeToken: encodeResumeToken({ ...known, positions, isAhead, rows }),
      resourceVersion: positions[plan.kind.typeName] ?? '',
    })
    return { changes, payload: utf8(payload), positions, isAhead, rows }
  }

  *#parts(changes: readonly SentChange[]): Generator<FramePart, void> {
    const { plan, maxFrameObjects, maxFrameBytes } = this.#options
    let texts: string[] = []
    let length = 0
    let start = 0
    for (const [number, change] of changes.entries()) {
      const text = plan.change(change)
      const isFull = texts.length >= maxFrameObjects || length + text.length > maxFrameBytes
      if (texts.length > 0 && isFull) {
        yield { changes: changes.slice(start, number), text: texts.join(',') }
        ;[texts, length, start] = [[], 0, number]
      }
      texts.push(text)
      length += text.length + 1
    }
    yield { changes: changes.slice(start), text: texts.join(',') }
  }
}

/** In memory of its own: what is kept for a while would keep all of the pool that short-lived bytes are cut from. */
function utf8(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

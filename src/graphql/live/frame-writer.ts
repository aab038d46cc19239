import type { GraphQLFormattedError } from 'graphql'
import { boundedFormatted } from '../errors/bounded-errors.ts'
import { encodeResumeToken, type Positions, type ResumePosition } from '../reads/resume-token.ts'
import type { FramePlan, PageState, SentChange } from './frame-plan.ts'

export interface FrameWriterOptions extends Omit<ResumePosition, 'positions' | 'isAhead'> {
  readonly plan: FramePlan
  readonly maxFrameObjects: number
  readonly maxFrameBytes: number
  /** How the latest rows were read, as JSON; `undefined` if frames carry no explanation. */
  readonly explanation: () => string | undefined
  /** Since when the caches that the group reads may be out of date, by RFC 3339; `null` while they are in step. */
  readonly staleSince: () => string | null
}

/** The state of some frames: the last one leads to `positions`, those before it stay at `before`. */
export interface FramesAt {
  /** Whether the changes are a snapshot. Then only its last frame is synced. */
  readonly reset: boolean
  /** The positions of the tokens before the last frame; equal to `positions` if further frames lead there. */
  readonly before: Positions
  readonly positions: Positions
  /** Whether some rows were written in a state later than `positions`. */
  readonly isAhead: boolean
  readonly page: PageState | undefined
}

export interface WrittenFrame {
  readonly changes: readonly SentChange[]
  readonly payload: Buffer
  readonly positions: Positions
  readonly isAhead: boolean
}

export class FrameWriter {
  readonly #options: FrameWriterOptions

  constructor(options: FrameWriterOptions) {
    this.#options = options
  }

  /**
   * Changes as frames within the limits, at least one. Each frame is written when it is taken. Only the last one has
   * all changes up to its positions, so the others keep the positions before.
   */
  *frames(changes: readonly SentChange[], at: FramesAt): Generator<WrittenFrame, void> {
    const { plan, maxFrameObjects, maxFrameBytes } = this.#options
    let { reset } = at
    let fields = plan.changes.map((): string[] => [])
    let length = 0
    let start = 0
    for (const [number, change] of changes.entries()) {
      const texts = plan.changes.map((write) => write(change))
      const more = texts.reduce((sum, text) => sum + text.length + 1, 0)
      const isFull = number - start >= maxFrameObjects || length + more > maxFrameBytes
      if (number > start && isFull) {
        const within = { reset, synced: !at.reset, positions: at.before, isAhead: true }
        yield this.#written(changes.slice(start, number), fields, { ...at, ...within })
        reset = false
        fields = plan.changes.map(() => [])
        ;[length, start] = [0, number]
      }
      for (const [field, text] of texts.entries()) fields[field]?.push(text)
      length += more
    }
    // Within a change, a page has several states at one position.
    const isAhead = at.isAhead || at.positions === at.before
    yield this.#written(changes.slice(start), fields, { ...at, reset, synced: true, isAhead })
  }

  #written(
    changes: readonly SentChange[],
    fields: readonly (readonly string[])[],
    { reset, synced, positions, isAhead, page }: FramesAt & { readonly synced: boolean },
  ): WrittenFrame {
    const { plan, explanation, staleSince, ...known } = this.#options
    const payload = plan.payload({
      reset,
      synced,
      totalCount: page?.totalCount,
      facets: page?.facets,
      changes: fields.map((texts) => `[${texts.join(',')}]`),
      resumeToken: encodeResumeToken({ ...known, positions, isAhead }),
      resourceVersion: positions[plan.kind.typeName] ?? '',
      staleSince: staleSince(),
      errors: errorsOf(plan, changes),
      explained: explanation(),
    })
    return { changes, payload: utf8(payload), positions, isAhead }
  }
}

/** The errors of the rows as JSON, with paths from the root; `undefined` without errors. */
function errorsOf({ key }: FramePlan, changes: readonly SentChange[]): string | undefined {
  const errors = changes.flatMap((change, at) => {
    if (change.errors === '') return none
    return (JSON.parse(change.errors) as readonly GraphQLFormattedError[]).map((error) => {
      const [field = '', ...rest] = error.path ?? []
      return { ...error, path: [key, field, at, ...rest] }
    })
  })
  return errors.length === 0 ? undefined : JSON.stringify(boundedFormatted(errors))
}

const none: readonly GraphQLFormattedError[] = []

/** A buffer with its own memory: a slice of the shared pool would keep the whole pool in memory. */
function utf8(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

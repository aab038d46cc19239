import type { GraphQLFormattedError } from 'graphql'
import { boundedFormatted } from '../errors/bounded-errors.ts'
import { encodeResumeToken, type Positions, type ResumePosition } from '../reads/resume-token.ts'
import type { FramePlan } from './frame-plan.ts'
import type { PageState, SentChange } from './group-content.ts'

export interface FrameWriterOptions extends Omit<ResumePosition, 'positions' | 'isAhead'> {
  readonly plan: FramePlan
  readonly maxFrameObjects: number
  readonly maxFrameBytes: number
  /** How the latest rows were read, as JSON; `undefined` if frames carry no explanation. */
  readonly explanation: () => string | undefined
}

/** Some changes that fit into one frame. */
interface FramePart {
  readonly changes: readonly SentChange[]
  /** The text of each field `changes`. */
  readonly texts: readonly string[]
}

/** The state of some frames: the last one leads to `positions`, those before it stay at `before`. */
export interface FramesAt {
  readonly reset: boolean
  /** Whether frames before the last one are synced. The last one is. */
  readonly wasSynced: boolean
  /** The positions of the tokens before the last frame; equal to `positions` if further frames lead there. */
  readonly before: Positions
  readonly positions: Positions
  /** Whether some rows were written in a state later than `positions`. */
  readonly isAhead: boolean
  /** The page that the last frame leads to. */
  readonly page: PageState | undefined
}

/** A frame, as bytes and as changes. */
export interface WrittenFrame {
  readonly changes: readonly SentChange[]
  /** The payload, UTF-8. */
  readonly payload: Buffer
  readonly positions: Positions
  readonly isAhead: boolean
}

/** Writes the frames of one group. */
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
    let waiting: FramePart | undefined
    let { reset } = at
    const { wasSynced, before, positions, page } = at
    for (const part of this.#parts(changes)) {
      if (waiting !== undefined) {
        const midst = { synced: wasSynced, positions: before, isAhead: true, page }
        yield this.#written(waiting, { reset, ...midst })
        reset = false
      }
      waiting = part
    }
    if (waiting !== undefined) {
      // Within a change, a page has several states at one position.
      const isMidst = positions === before
      const isAhead = isMidst || at.isAhead
      yield this.#written(waiting, { reset, synced: true, positions, isAhead, page })
    }
  }

  #written(
    { changes, texts }: FramePart,
    at: Pick<FramesAt, 'reset' | 'positions' | 'isAhead' | 'page'> & { readonly synced: boolean },
  ): WrittenFrame {
    const { plan, explanation, ...known } = this.#options
    const { reset, synced, positions, isAhead, page } = at
    const frame = plan.frame({
      reset,
      synced,
      totalCount: page?.totalCount,
      changes: texts,
      resumeToken: encodeResumeToken({ ...known, positions, isAhead }),
      resourceVersion: positions[plan.kind.typeName] ?? '',
    })
    const explained = explanation()
    const extensions = explained === undefined ? '' : `,"extensions":{"explain":${explained}}`
    const payload = `{${errorsOf(plan, changes)}"data":{${JSON.stringify(plan.key)}:${frame}}${extensions}}`
    return { changes, payload: utf8(payload), positions, isAhead }
  }

  *#parts(changes: readonly SentChange[]): Generator<FramePart, void> {
    const { plan, maxFrameObjects, maxFrameBytes } = this.#options
    let fields = plan.changes.map((): string[] => [])
    let length = 0
    let start = 0
    const part = (end: number): FramePart => ({
      changes: changes.slice(start, end),
      texts: fields.map((texts) => `[${texts.join(',')}]`),
    })
    for (const [number, change] of changes.entries()) {
      const written = plan.changes.map(({ write }) => write(change))
      const more = written.reduce((sum, text) => sum + text.length + 1, 0)
      const isFull = number - start >= maxFrameObjects || length + more > maxFrameBytes
      if (number > start && isFull) {
        yield part(number)
        fields = plan.changes.map(() => [])
        ;[length, start] = [0, number]
      }
      for (const [at, text] of written.entries()) fields[at]?.push(text)
      length += more
    }
    yield part(changes.length)
  }
}

/** The member `errors` of a payload: the errors of its rows, with paths from the root. */
function errorsOf({ key }: FramePlan, changes: readonly SentChange[]): string {
  const errors = changes.flatMap((change, at) => {
    if (change.errors === '') return none
    return (JSON.parse(change.errors) as readonly GraphQLFormattedError[]).map((error) => {
      const [field = '', ...rest] = error.path ?? []
      return { ...error, path: [key, field, at, ...rest] }
    })
  })
  return errors.length === 0 ? '' : `"errors":${JSON.stringify(boundedFormatted(errors))},`
}

const none: readonly GraphQLFormattedError[] = []

/** A buffer with its own memory: a slice of the shared pool would keep the whole pool in memory. */
function utf8(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

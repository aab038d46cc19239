import { type GraphQLFormattedError, locatedError } from 'graphql'
import { boundedFormatted } from '../errors/bounded-errors.ts'
import { type ClientError, clientResult, withoutTransportDetails } from '../errors/client-error.ts'
import { encodeResumeToken, type Positions, type ResumePosition } from '../reads/resume-token.ts'
import type { FramePlan, FrameParts, PageState, SentChange } from './frame-plan.ts'
import type { ListGap } from './group/group-list.ts'

export interface FrameWriterOptions {
  readonly plan: FramePlan
  /** What its resume tokens hold besides the positions. */
  readonly token: () => Omit<ResumePosition, 'positions' | 'isAhead'>
  /** Positions as its resume tokens have them. */
  readonly positionsIn: (positions: Positions) => Positions
  /** The name of the position that is the frame's `resourceVersion`; `undefined` if it follows several lists. */
  readonly ownPosition: string | undefined
  readonly maxFrameObjects: number
  readonly maxFrameBytes: number
  /** How the latest rows were read, as JSON; `undefined` if frames carry no explanation. */
  readonly explanation: () => string | undefined
  /** Since when the caches that the group reads may be out of date, by RFC 3339; `null` while they are in step. */
  readonly staleSince: () => string | null
  /** What is missing, or may be out of date. */
  readonly gaps: () => readonly ListGap[]
  /** The types of the kinds that are looked at for problems, and of those that should be. */
  readonly lookedAt: () => Pick<FrameParts, 'lookedAt' | 'notLookedAt'>
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
  /** What the first of the frames reports as errors. */
  readonly failures?: readonly ClientError[] | undefined
}

export interface WrittenFrame {
  readonly changes: readonly SentChange[]
  readonly payload: Buffer
  readonly positions: Positions
  readonly isAhead: boolean
  /** Whether it reports errors besides those of rows. */
  readonly hasFailures: boolean
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
    let { reset, failures } = at
    let fields = plan.changes.map((): string[] => [])
    let length = 0
    let start = 0
    for (const [number, change] of changes.entries()) {
      const texts = plan.changes.map((write) => write(change))
      const more = texts.reduce((sum, text) => sum + text.length + 1, 0)
      const isFull = number - start >= maxFrameObjects || length + more > maxFrameBytes
      if (number > start && isFull) {
        const within = { reset, synced: !at.reset, positions: at.before, isAhead: true }
        yield this.#written(changes.slice(start, number), fields, { ...at, ...within, failures })
        reset = false
        failures = undefined
        fields = plan.changes.map(() => [])
        ;[length, start] = [0, number]
      }
      for (const [field, text] of texts.entries()) fields[field]?.push(text)
      length += more
    }
    // Within a change, a page has several states at one position.
    const isAhead = at.isAhead || at.positions === at.before
    yield this.#written(changes.slice(start), fields, {
      ...at,
      reset,
      failures,
      synced: true,
      isAhead,
    })
  }

  #written(
    changes: readonly SentChange[],
    fields: readonly (readonly string[])[],
    { reset, synced, positions, isAhead, page, failures }: FramesAt & { readonly synced: boolean },
  ): WrittenFrame {
    const { plan, token, positionsIn, ownPosition, explanation, staleSince, gaps, lookedAt } =
      this.#options
    const payload = plan.payload({
      reset,
      synced,
      totalCount: page?.totalCount,
      counts: page?.counts ?? [],
      get lookedAt() {
        return lookedAt().lookedAt
      },
      get notLookedAt() {
        return lookedAt().notLookedAt
      },
      get complete() {
        return lookedAt().notLookedAt.length === 0
      },
      facets: page?.facets,
      changes: fields.map((texts) => `[${texts.join(',')}]`),
      // Most positions of several lists are many, and not every subscriber selects the token.
      get resumeToken() {
        return encodeResumeToken({ ...token(), positions: positionsIn(positions), isAhead })
      },
      resourceVersion: (ownPosition && positions[ownPosition]) ?? '',
      staleSince: staleSince(),
      incomplete: gaps().map(({ gap }) => gap),
      errors: errorsOf(plan, changes, failures),
      explained: explanation(),
    })
    const hasFailures = failures !== undefined && failures.length > 0
    return { changes, payload: utf8(payload), positions, isAhead, hasFailures }
  }
}

/** The errors of a frame and its rows as JSON, with paths from the root; `undefined` without errors. */
function errorsOf(
  { key }: FramePlan,
  changes: readonly SentChange[],
  failures: readonly ClientError[] = [],
): string | undefined {
  const located = failures.map((error) => locatedError(error, undefined, [key]))
  const ofFrame = clientResult({ data: null, errors: located }).errors
  const ofRows = changes.flatMap((change, at) => {
    if (change.errors === '') return none
    return (JSON.parse(change.errors) as readonly GraphQLFormattedError[]).map((error) => {
      const [field = '', ...rest] = error.path ?? []
      return { ...error, path: [key, field, at, ...rest] }
    })
  })
  const errors = [...ofFrame.map((error) => withoutTransportDetails(error).toJSON()), ...ofRows]
  return errors.length === 0 ? undefined : JSON.stringify(boundedFormatted(errors))
}

const none: readonly GraphQLFormattedError[] = []

/** A buffer with its own memory: a slice of the shared pool would keep the whole pool in memory. */
function utf8(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

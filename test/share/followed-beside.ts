import { FrameFold, PageFold } from 'informerql/client'
import { expect } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import type { AnsweredError, GatewayCaller } from '../support/gateway.ts'

/** Beyond the waits of a follower whose holder refuses it or is gone. */
const wait = { timeout: 60_000, interval: 100 }

/** A subscription whose root field is called `frame`, with all that has come of it. */
export interface Followed {
  readonly frames: readonly Fields[]
  /** The codes of its end; `undefined`: it goes on. */
  readonly ended: () => readonly string[] | undefined
  readonly leave: () => void
}

export const followedAt = (
  caller: GatewayCaller,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Followed => {
  const frames: Fields[] = []
  let ended: readonly string[] | undefined
  const codesOf = (errors: readonly AnsweredError[]): readonly string[] =>
    errors.map(({ extensions }) => extensions?.code)
  const leave = caller.connect().subscribe<Fields>(
    { query, variables },
    {
      next: ({ data, errors = [] }) => {
        if (data != null && data.frame !== null) frames.push(data.frame)
        else ended = codesOf(errors as unknown as readonly AnsweredError[])
      },
      error: (error) => {
        ended = Array.isArray(error) ? codesOf(error as AnsweredError[]) : [String(error)]
      },
      complete: () => (ended ??= ['complete']),
    },
  )
  return { frames, ended: () => ended, leave }
}

/** What a client shows of the frames: the rows that they lead to, or the values that each of them has as a whole. */
export const shownOf = ({ frames, ended }: Followed): Fields => {
  const codes = ended()
  if (codes !== undefined) return { ended: codes }
  const last = frames.at(-1)
  if (last === undefined) return undefined
  const { reset: _reset, changes = [], ...values } = last
  if (Array.isArray(last) || !('reset' in last)) return last
  const isPage = frames.some((frame) => frame.changes.some((one: Fields) => 'step' in one))
  const fold = isPage ? new PageFold<Fields>() : new FrameFold<Fields>()
  for (const frame of frames) fold.apply(frame)
  const rows =
    fold instanceof PageFold
      ? fold.rows
      : [...fold.objects].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  return { ...values, changes: undefined, rows, isOfChanges: changes.length >= 0 }
}

/** The same subscription at a gateway that shares the clusters, and at the one that holds all. */
export class FollowedBeside {
  readonly shared: Followed
  readonly whole: Followed
  readonly #query: string

  constructor(shared: GatewayCaller, whole: GatewayCaller, query: string) {
    this.#query = query
    this.shared = followedAt(shared, query)
    this.whole = followedAt(whole, query)
  }

  /** Waits until both show the same, and, if given, something in particular. Returns what they show. */
  async areSame(like: (shown: Fields) => boolean = () => true): Promise<Fields> {
    let shown: Fields
    await expect
      .poll(() => {
        shown = shownOf(this.whole)
        const other = shownOf(this.shared)
        if (shown === undefined || !like(shown))
          return { query: this.#query, whole: JSON.stringify(shown) }
        const unlike = Object.keys({ ...shown, ...other }).filter(
          (name) => JSON.stringify(shown[name]) !== JSON.stringify(other?.[name]),
        )
        if (unlike.length === 0) return undefined
        const told = unlike.map((name) => [
          name,
          JSON.stringify(other?.[name]),
          JSON.stringify(shown[name]),
        ])
        return { query: this.#query, told }
      }, wait)
      .toBeUndefined()
    return shown
  }

  leave(): void {
    this.shared.leave()
    this.whole.leave()
  }
}

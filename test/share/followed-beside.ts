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

/** What a client shows of the frames: the rows that they lead to, and the other values of the last one. */
const shownOf = ({ frames, ended }: Followed): Fields => {
  const codes = ended()
  if (codes !== undefined) return { ended: codes }
  const last = frames.at(-1)
  if (last === undefined || !('reset' in last)) return last
  const { reset: _reset, changes: _changes, ...values } = last
  const isPage = frames.some(({ changes }) => changes.some((one: Fields) => 'step' in one))
  const fold = isPage ? new PageFold<Fields>() : new FrameFold<Fields>()
  for (const frame of frames) fold.apply(frame)
  const rows =
    fold instanceof PageFold
      ? fold.rows
      : [...fold.objects].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  return { ...values, rows }
}

/** The same subscription at a gateway that shares the clusters, and at the one that holds all. */
export interface FollowedBeside {
  readonly query: string
  readonly shared: Followed
  readonly whole: Followed
  readonly leave: () => void
}

export const followedBeside = (
  { shared, whole }: Readonly<Record<'shared' | 'whole', GatewayCaller>>,
  field: string,
): FollowedBeside => {
  const query = `subscription { frame: ${field} }`
  const both = { shared: followedAt(shared, query), whole: followedAt(whole, query) }
  const leave = (): void => Object.values(both).forEach((one) => one.leave())
  return { query, ...both, leave }
}

/** Waits until both show the same, and, if given, something in particular. */
export const areSame = async (
  { query, shared, whole }: FollowedBeside,
  like: (shown: Fields) => boolean = () => true,
): Promise<void> => {
  await expect
    .poll(() => {
      const shown = shownOf(whole)
      const other = shownOf(shared)
      if (shown === undefined || !like(shown)) return `${query} shows ${JSON.stringify(shown)}`
      const unlike = Object.keys({ ...shown, ...other }).filter(
        (name) => JSON.stringify(shown[name]) !== JSON.stringify(other?.[name]),
      )
      const told = unlike.map((name) => {
        return `${name}: ${JSON.stringify(other?.[name])}, not ${JSON.stringify(shown[name])}`
      })
      return unlike.length === 0 ? '' : [query, ...told].join('\n')
    }, wait)
    .toBe('')
}

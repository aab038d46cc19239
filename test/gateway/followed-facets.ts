import type { Client } from 'graphql-ws'
import { Waits } from '../support/waits.ts'
import type { Fields } from './test-cluster.ts'

/** A subscription to counts. */
export interface FollowedFacets {
  readonly frames: readonly Fields[]
  /** How it has ended with errors, if it has. */
  readonly problems: readonly Fields[]
  readonly until: (holds: (frame: Fields) => boolean) => Promise<void>
  readonly ended: () => Promise<void>
  readonly leave: () => void
}

const deadlineMs = 15_000

export function followFacets(client: Client, field: string): FollowedFacets {
  const frames: Fields[] = []
  const problems: Fields[] = []
  const waits = new Waits(deadlineMs)
  const leave = client.subscribe<Fields>(
    { query: `subscription { frame: ${field} }` },
    {
      next: ({ data, errors }) => {
        if (errors !== undefined) problems.push(...errors)
        if (data?.frame !== undefined && data.frame !== null) frames.push(data.frame)
        waits.changed()
      },
      error: (error) => {
        problems.push(...(Array.isArray(error) ? error : [error]))
        waits.changed()
      },
      complete: () => waits.changed(),
    },
  )
  const last = (): Fields => frames.at(-1)
  return {
    frames,
    problems,
    leave,
    until: (holds) =>
      waits.until(
        () => {
          if (problems.length > 0) throw new Error(JSON.stringify(problems))
          return frames.length > 0 && holds(last())
        },
        () => `the last frame is ${JSON.stringify(last())}`,
      ),
    ended: () =>
      waits.until(
        () => problems.length > 0,
        () => 'it has not ended',
      ),
  }
}

import type { Client } from 'graphql-ws'
import { Waits } from '../support/waits.ts'
import type { Fields } from './test-cluster.ts'

/** What a client holds of a live page. */
export interface HeldPage {
  readonly rows: readonly Fields[]
  readonly totalCount: number
}

/** A frame, and what was held behind it. */
export interface PageBehind {
  readonly frame: Fields
  readonly held: HeldPage
}

export interface FollowedPage {
  readonly seen: readonly PageBehind[]
  readonly held: () => HeldPage
  /** What was wrong with the steps, if anything, and how it has ended. */
  readonly problems: readonly string[]
  readonly until: (holds: (held: HeldPage) => boolean) => Promise<void>
  readonly leave: () => void
}

/** The fold that the documentation gives to clients; says what no step may do. */
export function appliedSteps(
  { rows: before }: HeldPage,
  frame: Fields,
  problem: (text: string) => void,
): HeldPage {
  const { reset, totalCount, changes } = frame
  const rows = reset === true ? [] : [...before]
  for (const change of changes) {
    const { step, index, from, object, objectId } = change
    const isThere = index >= 0 && index < rows.length + (step === 'INSERT' ? 1 : 0)
    if (!isThere) problem(`out of range: ${JSON.stringify(change)} of ${rows.length}`)
    const at = step === 'MOVE' ? from : index
    if (step !== 'INSERT' && rows[at]?.id !== objectId) {
      problem(`another row: ${JSON.stringify(change)}`)
    }
    if (step === 'REMOVE') rows.splice(index, 1)
    else if (step === 'MOVE') rows.splice(index, 0, ...rows.splice(from, 1))
    else if (step === 'INSERT') rows.splice(index, 0, object)
    else rows[index] = object
  }
  const ids = rows.map(({ id }) => id)
  if (new Set(ids).size < ids.length) problem(`twice: ${JSON.stringify(ids)}`)
  return { rows, totalCount }
}

const deadlineMs = 15_000

/** Follows a page from where one stood, holding what one held there. `field` has an open list of arguments. */
export function followPage(
  client: Client,
  { field, selection }: { readonly field: string; readonly selection: string },
  from?: PageBehind,
): FollowedPage {
  let held: HeldPage = from?.held ?? { rows: [], totalCount: -1 }
  const seen: PageBehind[] = []
  const problems: string[] = []
  const waits = new Waits(deadlineMs)
  const ended = (text: string): void => {
    problems.push(text)
    waits.changed()
  }
  const query = `subscription ($from: String) {
    page: ${field}, resumeFrom: $from) {
      reset synced totalCount resumeToken resourceVersion
      changes { step index from objectId object { id ${selection} } }
    }
  }`
  let isLeft = false
  const end = client.subscribe<{ page: Fields }>(
    { query, variables: { from: from?.frame.resumeToken } },
    {
      next: ({ data, errors }) => {
        if (data == null) problems.push(JSON.stringify(errors))
        else {
          held = appliedSteps(held, data.page, (text) => problems.push(text))
          seen.push({ frame: data.page, held })
        }
        waits.changed()
      },
      error: (error) => ended(JSON.stringify(error)),
      complete: () => {
        if (!isLeft) ended('completed')
      },
    },
  )
  return {
    seen,
    problems,
    held: () => held,
    leave: () => {
      isLeft = true
      end()
    },
    until: (holds) => {
      const why = (): string => `${field}: ${problems.join('; ')} holding ${JSON.stringify(held)}`
      return waits.until(() => {
        if (problems.length > 0) throw new Error(why())
        return seen.length > 0 && holds(held)
      }, why)
    },
  }
}

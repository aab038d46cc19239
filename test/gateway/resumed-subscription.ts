import type { Client } from 'graphql-ws'
import { Waits } from '../support/waits.ts'
import type { Fields } from './test-cluster.ts'

/** What a client holds, by id. */
export type Held = ReadonlyMap<string, Fields>

/** A frame, and what was held behind it. */
export interface HeldBehind {
  readonly frame: Fields
  readonly held: Held
}

/** The fold that the documentation gives to clients. */
export const applied = (held: Held, { reset, changes }: Fields): Held => {
  const next = new Map(reset === true ? [] : held)
  for (const { type, objectId, object } of changes) {
    if (type === 'REMOVED') next.delete(objectId)
    else next.set(objectId, object)
  }
  return next
}

export interface Resumed {
  /** Each frame, with what was held behind it. */
  readonly seen: readonly HeldBehind[]
  readonly held: () => Held
  readonly until: (holds: (held: Held) => boolean) => Promise<void>
  readonly leave: () => void
}

const deadlineMs = 30_000

/** Follows a field from where one stood, holding what one held there. `field` has an open list of arguments. */
export const resume = (
  client: Client,
  { field, selection }: { readonly field: string; readonly selection: string },
  from?: HeldBehind,
): Resumed => {
  let held: Held = from?.held ?? new Map()
  const seen: HeldBehind[] = []
  const waits = new Waits(deadlineMs)
  let failure: unknown
  const query = `subscription ($from: String) {
    frame: ${field}, resumeFrom: $from) {
      reset synced resumeToken resourceVersion
      changes { type removal objectId object { id ${selection} } }
    }
  }`
  const leave = client.subscribe<{ frame: Fields }>(
    { query, variables: { from: from?.frame.resumeToken } },
    {
      next: ({ data, errors }) => {
        if (data == null) failure = JSON.stringify(errors)
        else {
          held = applied(held, data.frame)
          seen.push({ frame: data.frame, held })
        }
        waits.changed()
      },
      error: (error) => {
        failure = error
        waits.changed()
      },
      complete: () => {
        failure ??= 'completed'
        waits.changed()
      },
    },
  )
  return {
    seen,
    held: () => held,
    leave,
    until: (holds) =>
      waits.until(
        () => {
          if (seen.length > 0 && holds(held)) return true
          if (failure !== undefined) throw new Error(`${field}: ${JSON.stringify(failure)}`)
          return false
        },
        () => `${field}: in vain`,
      ),
  }
}

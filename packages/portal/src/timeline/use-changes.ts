/*
 * The changes of a timeline, newest first. A subscription brings the newest ones and each further one; older ones are asked
 * for. Rows that both bring are one.
 */

import { useCallback, useEffect, useState } from 'react'
import {
  type ChangeRowFragment as ChangeRow,
  FollowChangesDocument,
  type FollowChangesSubscription,
  type FollowChangesSubscriptionVariables,
  OlderChangesDocument,
} from '../gateway/documents.ts'
import { type AnswerError, errorsOf, useGateway } from '../gateway/gateway.ts'

export type ChangesOf = Omit<FollowChangesSubscriptionVariables, 'first'>
type Gaps = NonNullable<FollowChangesSubscription['changes']>['incomplete']

export interface Changes {
  readonly rows: readonly ChangeRow[]
  readonly state: 'loading' | 'live' | 'failed'
  readonly errors: readonly AnswerError[]
  readonly gaps: Gaps
  /** Asks for older ones; absent if there are none, or no more are shown. */
  readonly older?: () => void
}

const first = 100
/** As many as the gateway has on a page. */
const most = 500

interface State extends Omit<Changes, 'older'> {
  readonly hasOlder: boolean
}

const loading: State = { rows: [], state: 'loading', errors: [], gaps: [], hasOlder: false }

/** Follows changes. Keep `of` the same while it means the same. */
export function useChanges(of: ChangesOf): Changes {
  const gateway = useGateway()
  const [{ hasOlder, ...shown }, setState] = useState(loading)
  useEffect(() => {
    setState(loading)
    return gateway.socket.subscribe(
      { query: FollowChangesDocument.toString(), variables: { ...of, first } },
      {
        next({ data, errors = [] }) {
          const { changes: frame } = (data ?? {}) as Partial<FollowChangesSubscription>
          if (frame == null) {
            setState((before) => ({ ...before, state: 'failed', errors: errors as AnswerError[] }))
            return
          }
          const { reset, changes, incomplete: gaps } = frame
          setState(({ rows, hasOlder: had }) => ({
            rows: reset ? changes : joined(changes, rows).slice(0, most),
            state: 'live',
            errors: [],
            gaps,
            hasOlder: reset ? changes.length >= first : had,
          }))
        },
        error: (error) =>
          setState((before) => ({ ...before, state: 'failed', errors: errorsOf(error as Error) })),
        complete: () => {},
      },
    )
  }, [gateway, of])
  const count = shown.rows.length
  const older = useCallback(() => {
    const variables = { ...of, first: Math.min(most, count + first) }
    gateway.ask(OlderChangesDocument, variables).then(
      ({ data: { changes }, errors }) =>
        setState((before) => {
          if (changes === null) return { ...before, errors }
          const rows = joined(before.rows, changes.nodes).slice(0, most)
          return { ...before, rows, hasOlder: changes.pageInfo.hasNextPage && rows.length < most }
        }),
      (error: Error) => setState((before) => ({ ...before, errors: errorsOf(error) })),
    )
  }, [gateway, of, count])
  return { ...shown, ...(hasOlder ? { older } : {}) }
}

/** Rows of which the first ones are newer. */
function joined(newer: readonly ChangeRow[], older: readonly ChangeRow[]): readonly ChangeRow[] {
  const known = new Set(newer.map(({ id }) => id))
  return [...newer, ...older.filter(({ id }) => !known.has(id))]
}

import { useLayoutEffect, useReducer, useRef, useState } from 'react'
import type { ProblemRowFragment as ProblemRow } from '../gateway/documents.ts'
import { type HeldRows, heldRows, useHold } from '../look/held-rows.ts'
import { hasSeveralClusters, useScope } from '../scope.ts'
import { words } from '../words.ts'
import { ProblemLine } from './problem-line.tsx'
import styles from './problem-list.module.css'
import type { Problems } from './use-problems.ts'

/** Problems as lines, which stay in their places while the pointer is over them. */
export function ProblemList({ problems }: { readonly problems: Problems }) {
  const { scope } = useScope()
  const frame = useRef<HTMLDivElement>(null)
  const [isHeld, setHeld] = useState(false)
  useHold(frame, setHeld)
  const [, drawAgain] = useReducer((times: number) => times + 1, 0)
  const shown = useRef<readonly ProblemRow[]>([])
  const { rows, gone, newAbove } = isHeld
    ? stillRows(shown.current, problems.rows)
    : { rows: problems.rows, gone: none, newAbove: 0 }
  useLayoutEffect(() => {
    shown.current = rows
  })
  return (
    <div ref={frame}>
      {newAbove === 0 ? null : (
        <div className={styles['above']}>
          <button
            type="button"
            onClick={() => {
              shown.current = []
              drawAgain()
            }}
          >
            {words.table.newAbove(newAbove)}
          </button>
        </div>
      )}
      <ul>
        {rows.map((problem) => (
          <ProblemLine
            key={problem.id}
            problem={problem}
            before={problems.before.get(problem.id)}
            hasCluster={hasSeveralClusters(scope)}
            isOver={gone.has(problem.id)}
          />
        ))}
      </ul>
    </div>
  )
}

const none: ReadonlySet<string> = new Set()

/** The rows in the places that they have; those that come after all of them follow, and those that come before the last one are counted. */
function stillRows(
  shown: readonly ProblemRow[],
  live: readonly ProblemRow[],
): HeldRows<ProblemRow> & { readonly newAbove: number } {
  const held = heldRows(shown, new Map(live.map((row) => [row.id, row])))
  const known = new Set(shown.map(({ id }) => id))
  const last = live.findLastIndex(({ id }) => known.has(id))
  return {
    rows: [...held.rows, ...live.slice(last + 1)],
    gone: held.gone,
    newAbove: live.slice(0, last + 1).filter(({ id }) => !known.has(id)).length,
  }
}

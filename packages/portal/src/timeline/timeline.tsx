import { useMemo } from 'react'
import { gapSentences } from '../look/gaps.ts'
import { Failure } from '../look/notice.tsx'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import controls from '../look/controls.module.css'
import type { ChangeRowFragment as ChangeRow } from '../gateway/documents.ts'
import { words } from '../words.ts'
import { ChangeLine } from './change-line.tsx'
import styles from './timeline.module.css'
import { type ChangesOf, useChanges } from './use-changes.ts'

const said = words.timeline

/** Events tell of changes themselves; they have a view of their own. */
function withoutEvents(of: ChangesOf): ChangesOf {
  return { ...of, where: { ...of.where, kind: { not: { eq: 'Event' } } } }
}

/** The changes of some objects, live, the newest first. Keep `of` the same while it means the same. */
export function Timeline({
  of,
  isOfOne = false,
  compare,
  most = Infinity,
}: {
  readonly of: ChangesOf
  /** Whether all are of one object, which goes without saying. */
  readonly isOfOne?: boolean
  /** Shows the object as it was at a change. */
  readonly compare?: ((change: ChangeRow) => void) | undefined
  /** Shows no more than these. */
  readonly most?: number
}) {
  const shown = useMemo(() => (of.types == null && of.ids == null ? withoutEvents(of) : of), [of])
  const { rows, state, errors, gaps, older } = useChanges(shown)
  const [error] = errors
  if (error?.extensions?.code === 'NO_ARCHIVE') {
    return <p className={styles['note']}>{said.noArchive}</p>
  }
  const sentences = gapSentences(
    gaps.filter(({ code }) => code !== 'NOT_SERVED'),
    said.what,
  )
  return (
    <div className={styles['timeline']}>
      {errors.length > 0 ? <Failure errors={errors} /> : null}
      <div role="status">
        {sentences.map((sentence) => (
          <p key={sentence} className={styles['note']}>
            {sentence}
          </p>
        ))}
      </div>
      {state === 'loading' ? <RowsSkeleton rows={4} /> : null}
      <ol>
        {rows.slice(0, most).map((change) => (
          <ChangeLine
            key={change.id}
            change={change}
            isOfOne={isOfOne}
            compare={
              compare === undefined || change.type === 'REMOVED' ? undefined : () => compare(change)
            }
          />
        ))}
      </ol>
      {state === 'live' && rows.length === 0 ? <p className={styles['note']}>{said.none}</p> : null}
      {older === undefined || most < Infinity ? null : (
        <button type="button" className={controls['button']} onClick={older}>
          {said.older}
        </button>
      )}
    </div>
  )
}

import { useState } from 'react'
import { BulkMenu } from '../bulk/bulk-bar.tsx'
import type { Kind } from '../gateway/kinds.ts'
import controls from '../look/controls.module.css'
import { words } from '../words.ts'
import styles from './kind-table.module.css'
import { mostPicked, type Picked } from './picked.ts'

const say = words.table

/** What is selected, and what can be done with it, below the table, which it does not move. Nothing where nothing is selected. */
export function SelectionBar({
  kind,
  picked: { ids, pick, pickAll, outside, gone, isPicking, failure },
  count,
}: {
  readonly kind: Kind
  readonly picked: Picked
  /** The objects that the table lists. */
  readonly count: number | undefined
}) {
  const [isActing, setActing] = useState(false)
  const isShown = ids.size > 0 || isActing || gone > 0 || isPicking || failure !== undefined
  if (!isShown) return null
  return (
    <section className={styles['selection']} aria-label={say.selection} ref={keepRoom}>
      {ids.size === 0 ? null : (
        <button type="button" className={controls['quiet']} onClick={() => pick(new Set())}>
          {say.picked(ids.size)}
        </button>
      )}
      {isPicking || count === undefined || ids.size >= Math.min(count, mostPicked) ? null : (
        <button type="button" className={controls['button']} onClick={pickAll}>
          {say.picksAll(count, mostPicked)}
        </button>
      )}
      <span role="status" className={styles['said']}>
        {[
          ...(isPicking ? [say.pickingAll] : []),
          ...(outside > 0 ? [say.outside(outside)] : []),
          ...(gone > 0 ? [say.gone(gone)] : []),
          ...(failure === undefined ? [] : [say.pickFailed(failure)]),
        ].join(' · ')}
      </span>
      {gone > 0 && ids.size === 0 ? (
        <button
          type="button"
          className={controls['icon']}
          aria-label={words.object.close}
          onClick={() => pick(new Set())}
        >
          ×
        </button>
      ) : null}
      {ids.size > 0 || isActing ? (
        <div className={styles['tools']}>
          <BulkMenu kind={kind} ids={ids} onActing={setActing} />
        </div>
      ) : null}
    </section>
  )
}

/** Leaves the room of the bar below the last row when the bar goes: rows at the end of a table would move down otherwise. */
function keepRoom(bar: HTMLElement): () => void {
  const page = bar.parentElement
  page?.style.setProperty('--room', '0')
  return () => page?.style.setProperty('--room', `${bar.offsetHeight}px`)
}

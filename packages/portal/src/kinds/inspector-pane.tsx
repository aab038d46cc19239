import { type CSSProperties, lazy, type PointerEvent, Suspense, useState } from 'react'
import { words } from '../words.ts'
import styles from './kind-table.module.css'
import type { TableView } from './table-view.ts'

const Inspector = lazy(async () => {
  const loaded = await import('../object/inspector.tsx')
  return { default: loaded.Inspector }
})

const kept = 'informerql.inspector'
const narrowest = 20
const widest = 75
const closed: TableView = { open: undefined, tab: undefined, logs: undefined, history: undefined }

/** The inspector at the right of a table. Its edge is dragged, or moved by arrow keys. */
export function InspectorPane({
  object,
  id,
  view: { tab, logs, history },
  change,
}: {
  /** Its `nameId`, or its `id`. */
  readonly object: string
  /** Its `id`, where it is known. */
  readonly id: string | undefined
  readonly view: TableView
  readonly change: (changed: TableView, isStep: boolean) => void
}) {
  const [percent, setPercent] = useState(() => Number(localStorage.getItem(kept) ?? 40))
  const resize = (to: number): void => {
    const next = Math.round(Math.min(widest, Math.max(narrowest, to)))
    setPercent(next)
    localStorage.setItem(kept, String(next))
  }
  const drag = (event: PointerEvent<HTMLDivElement>): void => {
    event.preventDefault()
    const edge = event.currentTarget
    const space = edge.closest(`.${styles['split']}`)?.getBoundingClientRect()
    if (space === undefined) return
    edge.setPointerCapture(event.pointerId)
    const move = ({ clientX }: globalThis.PointerEvent): void => {
      resize((100 * (space.right - clientX)) / space.width)
    }
    edge.addEventListener('pointermove', move)
    edge.addEventListener(
      'lostpointercapture',
      () => edge.removeEventListener('pointermove', move),
      {
        once: true,
      },
    )
  }
  return (
    <>
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label={words.table.inspectorWidth}
        aria-valuenow={percent}
        aria-valuemin={narrowest}
        aria-valuemax={widest}
        tabIndex={0}
        className={styles['divider']}
        onPointerDown={drag}
        onKeyDown={(event) => {
          if (event.key === 'ArrowLeft') resize(percent + 5)
          else if (event.key === 'ArrowRight') resize(percent - 5)
        }}
      />
      <div className={styles['inspector']} style={{ '--width': `${percent}%` } as CSSProperties}>
        <Suspense fallback={null}>
          <Inspector
            object={object}
            id={id}
            tab={tab}
            logs={logs}
            history={history}
            change={(changed) => change(changed, false)}
            onClose={() => change(closed, false)}
          />
        </Suspense>
      </div>
    </>
  )
}

import { lazy, Suspense } from 'react'
import type { SeenObject } from '../object/live-object.ts'
import summary from '../object/summary.module.css'
import { pageState } from '../page-state.ts'
import type { ObjectUsage } from '../usage/usage.ts'
import styles from './fold.module.css'
import { chartWords } from './chart-words.ts'

// Brings uPlot.
const UseCharts = lazy(async () => ({ default: (await import('./use-charts.tsx')).UseCharts }))

const kept = 'informerql.charts'
const state = pageState()

/** The charts of an object, folded until they are opened. Whoever opens them once finds them open everywhere. */
export function UseOverTime(props: {
  readonly object: SeenObject
  readonly use: ObjectUsage
  /** Another value whenever its use is measured. */
  readonly since: unknown
}) {
  const isOpen = state.useState(() => localStorage.getItem(kept) === 'open')
  return (
    <details
      className={styles['fold']}
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        if (open === isOpen) return
        if (open) localStorage.setItem(kept, 'open')
        else localStorage.removeItem(kept)
        state.changed()
      }}
    >
      <summary className={summary['heading']}>{chartWords.title}</summary>
      {isOpen ? (
        <Suspense fallback={null}>
          <UseCharts {...props} />
        </Suspense>
      ) : null}
    </details>
  )
}

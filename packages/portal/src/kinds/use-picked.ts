import { useState } from 'react'
import { useKept } from '../kept-view.ts'
import type { TableView } from './table-view.ts'

type Picked = ReadonlySet<string>

/** More make an address too long. */
const mostInAddress = 50

/** The rows that the user has picked. The address has them, unless they are many; Back brings back those, too. */
export function usePicked(
  { picked: text }: TableView,
  change: (changed: TableView, isStep: boolean) => void,
): readonly [Picked, (picked: Picked) => void] {
  const { entry, read, keep } = useKept<Picked>('picked')
  const first = (): Picked => read() ?? new Set(text?.split(','))
  const [shown, setShown] = useState(() => ({ entry, picked: first() }))
  if (shown.entry !== entry) setShown({ entry, picked: first() })
  const pick = (picked: Picked): void => {
    keep(picked)
    setShown({ entry, picked })
    const isNamed = picked.size > 0 && picked.size <= mostInAddress
    const next = isNamed ? [...picked].join(',') : undefined
    if (next !== text) change({ picked: next }, false)
  }
  return [shown.picked, pick]
}

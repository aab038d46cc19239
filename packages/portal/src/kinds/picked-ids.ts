import { useState } from 'react'
import { useKept } from '../kept-view.ts'
import type { TableView } from './table-view.ts'

/** Ids of objects, and a function that replaces them. */
export type PickedIds = readonly [ids: Ids, pick: (ids: Ids) => void]

type Ids = ReadonlySet<string>

/** More make an address too long. */
const mostInAddress = 50

/** The rows that the user has picked. The address has them, unless they are many; Back brings back those, too. */
export function usePickedIds(
  { picked: text }: TableView,
  change: (changed: TableView, isStep: boolean) => void,
): PickedIds {
  const { entry, read, keep } = useKept<Ids>('picked')
  const first = (): Ids => read() ?? new Set(text?.split(','))
  const [shown, setShown] = useState(() => ({ entry, picked: first() }))
  if (shown.entry !== entry) setShown({ entry, picked: first() })
  const pick = (picked: Ids): void => {
    keep(picked)
    setShown({ entry, picked })
    const isNamed = picked.size > 0 && picked.size <= mostInAddress
    const next = isNamed ? [...picked].join(',') : undefined
    if (next !== text) change({ picked: next }, false)
  }
  return [shown.picked, pick]
}

import { lazy, Suspense, useState } from 'react'
import type { TableView } from '../kinds/table-view.ts'
import { Look } from './look.tsx'

export type { TableView }

export interface KindTableProps {
  /** The resource and its group: `pods`, `deployments.apps`, `widgets.stable.example.com`. */
  readonly resource: string
  /** What is shown at first: the filter as it is typed, the order, the columns, the object in the inspector. */
  readonly view?: TableView
  /** The user changes what is shown: to keep it, in an address for example. */
  readonly onView?: (view: TableView) => void
}

const Table = lazy(async () => {
  const { NamedKindTable: component } = await import('../kinds/named-kind-table.tsx')
  return { default: component }
})

/** The objects of a kind as a live table, with its filter, its columns and the inspector. It fills its place. */
export function KindTable({ resource, view: first = {}, onView }: KindTableProps) {
  const [view, setView] = useState(first)
  const change = (changed: TableView): void => {
    const next = { ...view, ...changed }
    setView(next)
    onView?.(next)
  }
  return (
    <Look>
      <Suspense fallback={null}>
        <Table resource={resource} view={view} change={change} />
      </Suspense>
    </Look>
  )
}

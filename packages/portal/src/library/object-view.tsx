import { lazy, Suspense, useState } from 'react'
import type { ObjectTab } from '../object/object-tabs.ts'
import { Look } from './look.tsx'

export type { ObjectTab }

export interface ObjectViewProps {
  /** The `id` of the object. */
  readonly id: string
  /** The first tab. Default: the summary. */
  readonly tab?: ObjectTab
  /** The user chooses a tab. */
  readonly onTab?: (tab: ObjectTab) => void
  /** With it, the view has a button that closes it. */
  readonly onClose?: () => void
}

const View = lazy(async () => {
  const { ObjectView: component } = await import('../object/object-view.tsx')
  return { default: component }
})

/** An object, live: its health and why, what is around it, its events, its YAML, and who may do what. It fills its place. */
export function ObjectView({ id, tab = 'summary', onTab, onClose }: ObjectViewProps) {
  const [shown, show] = useState(tab)
  return (
    <Look>
      <Suspense fallback={null}>
        <View
          key={id}
          id={id}
          tab={shown}
          onTab={(next) => {
            show(next)
            onTab?.(next)
          }}
          {...(onClose === undefined ? {} : { onClose })}
        />
      </Suspense>
    </Look>
  )
}

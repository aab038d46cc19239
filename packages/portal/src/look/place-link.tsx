import type { MouseEvent, ReactNode } from 'react'
import { type Target, usePlace } from '../scope.ts'

/** A link to another view. */
export function PlaceLink({
  to,
  children,
  ...given
}: {
  readonly to: Target
  readonly children: ReactNode
  readonly className?: string | undefined
  readonly title?: string
  readonly 'aria-label'?: string
}) {
  const { hrefOf, open } = usePlace()
  const follow = (event: MouseEvent): void => {
    const { button, metaKey, ctrlKey, shiftKey, altKey } = event
    // Another tab or window is the browser's business.
    if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return
    event.preventDefault()
    open(to)
  }
  return (
    <a {...given} href={hrefOf(to)} onClick={follow}>
      {children}
    </a>
  )
}

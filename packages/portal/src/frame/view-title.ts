import { useEffect, useSyncExternalStore } from 'react'
import { words } from '../words.ts'

const listeners = new Set<() => void>()

/** Names the view in the tab of the browser, and where it is pinned. */
export function useViewTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${words.frame.product}`
    for (const listener of listeners) listener()
  }, [title])
}

/** The name of the view that is shown. */
export function useShownTitle(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => document.title.replace(` · ${words.frame.product}`, ''),
  )
}

import { useEffect } from 'react'
import { pageState } from '../page-state.ts'
import { words } from '../words.ts'

const state = pageState()

/** Names the view in the tab of the browser, and where it is pinned. */
export function useViewTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${words.frame.product}`
    state.changed()
  }, [title])
}

/** The name of the view that is shown. */
export function useShownTitle(): string {
  return state.useState(() => document.title.replace(` · ${words.frame.product}`, ''))
}

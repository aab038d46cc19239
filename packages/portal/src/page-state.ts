import { useSyncExternalStore } from 'react'

/** State of the page outside of React. */
export interface PageState {
  /** Renders the components that {@link useState | use} it again. */
  readonly changed: () => void
  /** What `read` returns, now and after each change. Another value must be another one by `Object.is`. */
  readonly useState: <T>(read: () => T) => T
}

/** Lets components follow state that is kept outside of React. */
export function pageState(): PageState {
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    changed: () => {
      for (const listener of listeners) listener()
    },
    useState: (read) => useSyncExternalStore(subscribe, read),
  }
}

/*
 * How views were when the user left them, so that Back shows them so again: the place in a table, the row of the keyboard.
 * It is kept for an entry of the browser's history, as long as the page lives. A link to the same view begins anew.
 */
import { createContext, useContext } from 'react'

const kept = new Map<string, unknown>()

/** The entry of the history that is shown; `undefined` where views are part of another application. */
export const EntryContext = createContext<string | undefined>(undefined)

/** The name of an entry: its number and its path. Its parameters change while it is shown. */
export function entryName(number: number, path: string): string {
  return `${number} ${path}`
}

/** Forgets the entries from a number on: a new one has replaced them. */
export function forgetEntries(from: number): void {
  for (const name of kept.keys()) {
    if (Number.parseInt(name) >= from) kept.delete(name)
  }
}

/** What a view keeps under a name for the entry that is shown. */
export function useKept<T>(name: string): {
  readonly entry: string | undefined
  readonly read: () => T | undefined
  readonly keep: (value: T) => void
} {
  const entry = useContext(EntryContext)
  const key = `${entry} ${name}`
  return {
    entry,
    read: () => (entry === undefined ? undefined : (kept.get(key) as T | undefined)),
    keep: (value) => {
      if (entry !== undefined) kept.set(key, value)
    },
  }
}

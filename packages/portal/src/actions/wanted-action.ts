import { pageState } from '../page-state.ts'
import type { ActionName } from './action-list.ts'

const state = pageState()
let wanted: { readonly id: string; readonly name: ActionName } | undefined

/** Has the menu of an object open the dialog of an action as soon as it is shown. */
export function wantAction(id: string, name: ActionName): void {
  wanted = { id, name }
  state.changed()
}

/** The action that is wanted of an object, and a function that forgets it. */
export function useWantedAction(id: string): readonly [ActionName | undefined, () => void] {
  const name = state.useState(() => (wanted?.id === id ? wanted.name : undefined))
  return [
    name,
    () => {
      wanted = undefined
      state.changed()
    },
  ]
}

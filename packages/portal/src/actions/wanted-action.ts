import { pageState } from '../page-state.ts'
import type { Inputs } from './action-inputs.tsx'
import type { ActionName } from './action-list.ts'

const state = pageState()
let wanted: (WantedAction & { readonly id: string }) | undefined

export interface WantedAction {
  readonly name: ActionName
  /** What is filled in already. */
  readonly inputs?: Inputs
}

/** Has the menu of an object open the dialog of an action as soon as it is shown. */
export function wantAction(id: string, name: ActionName, inputs: Inputs = {}): void {
  wanted = { id, name, inputs }
  state.changed()
}

/** The action that is wanted of an object, and a function that forgets it. */
export function useWantedAction(id: string): readonly [WantedAction | undefined, () => void] {
  const action = state.useState(() => (wanted?.id === id ? wanted : undefined))
  return [
    action,
    () => {
      wanted = undefined
      state.changed()
    },
  ]
}

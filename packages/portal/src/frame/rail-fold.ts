import { pageState } from '../page-state.ts'

/** How the rail stands: with words, as icons, or out of sight until it is asked for. */
export type RailState = 'open' | 'folded' | 'drawer'

const kept = 'informerql.rail'
const narrow = matchMedia('(max-width: 1100px)')
const phone = matchMedia('(max-width: 600px)')
const page = pageState()

/** The user's choice holds for windows of the same kind: who folds the rail in a wide window has it unfolded in a narrow one. */
function state(): RailState {
  if (phone.matches) return 'drawer'
  const choice = localStorage.getItem(`${kept}.${narrow.matches ? 'narrow' : 'wide'}`)
  if (choice === 'open' || choice === 'folded') return choice
  return narrow.matches ? 'folded' : 'open'
}

narrow.addEventListener('change', page.changed)
phone.addEventListener('change', page.changed)

/** The state of the rail, and a function that folds or unfolds it, and keeps the choice. */
export function useRailFold(): readonly [RailState, () => void] {
  const shown = page.useState(state)
  return [
    shown,
    () => {
      const next = state() === 'open' ? 'folded' : 'open'
      localStorage.setItem(`${kept}.${narrow.matches ? 'narrow' : 'wide'}`, next)
      page.changed()
    },
  ]
}

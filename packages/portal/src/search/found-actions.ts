import { type ActionName, actionNames, kindsOf } from '../actions/action-list.ts'
import { wantAction } from '../actions/wanted-action.ts'
import { useTakesWrites } from '../actions/writable.ts'
import type { Kind } from '../gateway/kinds.ts'
import { words } from '../words.ts'
import type { Entry } from './entries.ts'
import { useFoundObjects } from './found-objects.ts'

/** Shorter words are the beginning of too many. */
const leastLetters = 3
const most = 6

/** The action that a text begins with, as `scale` in `scale invoice`, and the rest of the text. */
function wantedIn(text: string): { readonly name: ActionName; readonly rest: string } | undefined {
  const lower = text.toLowerCase()
  const [first = ''] = lower.split(' ')
  if (first.length < leastLetters) return undefined
  const fits = (label: string): boolean =>
    lower.startsWith(`${label} `) || (label.startsWith(first) && !label.includes(' '))
  const name = actionNames.find((one) => fits(words.actions.of[one].label.toLowerCase()))
  if (name === undefined) return undefined
  const label = words.actions.of[name].label.toLowerCase()
  const rest = lower.startsWith(`${label} `) ? text.slice(label.length) : text.slice(first.length)
  return { name, rest: rest.trim() }
}

/** What can be done with the objects that a text names: `scale invoice`. Its dialog opens on the page of the object. */
export function useFoundActions(typed: string, kinds: readonly Kind[]): readonly Entry[] {
  const isWritable = useTakesWrites()
  const wanted = isWritable ? wantedIn(typed) : undefined
  const { entries } = useFoundObjects(wanted?.rest ?? '', kinds)
  if (wanted === undefined || wanted.rest === '') return []
  const { name } = wanted
  const fitting = kindsOf(name)
  return entries
    .filter(({ tag = '' }) => fitting === undefined || fitting.includes(tag))
    .slice(0, most)
    .map(({ id = '', ...entry }) => ({
      ...entry,
      because: undefined,
      key: `action ${name} ${id}`,
      title: `${words.actions.of[name].label} ${entry.title}`,
      run: () => wantAction(id, name),
    }))
}

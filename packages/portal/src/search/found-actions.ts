import { actionNames, kindsOf } from '../actions/action-list.ts'
import { wantAction } from '../actions/wanted-action.ts'
import { useTakesWrites } from '../actions/writable.ts'
import type { Kind } from '../gateway/kinds.ts'
import { kindsWithLogs, type ObjectTab } from '../object/object-tabs.ts'
import { useShells } from '../shell/shells.ts'
import { words } from '../words.ts'
import { otherActionWords, tabDeeds, typeName } from './deed-words.ts'
import { type Deed, deedsIn } from './deeds.ts'
import type { Entry } from './entries.ts'
import { useFoundObjects } from './found-objects.ts'

const most = 6

/** Something to do with an object that the search leads to. */
interface ObjectDeed extends Deed {
  readonly key: string
  /** The kinds that have it; absent: all. */
  readonly kinds?: readonly string[] | undefined
  /** What the page of an object is to do when it is shown… */
  readonly run?: (id: string) => void
  /** …and the tab that it shows. */
  readonly tab?: ObjectTab
}

/** What can be done with the objects that a text names, and the actions themselves, which say that a name must follow. */
export interface FoundActions {
  /** `scale invoice`: the dialog, or the tab, opens on the page of the object. */
  readonly named: readonly Entry[]
  /** `scale`: takes a name, which the field waits for then. */
  readonly waiting: readonly Entry[]
}

export function useFoundActions(typed: string, kinds: readonly Kind[]): FoundActions {
  const deeds = useDeeds(typed !== '')
  const wanted = deedsIn(typed, deeds)
  // Other kinds of the same name would take the places of those that can be acted on.
  const ofKinds = wanted.map(({ deed }) => deed.kinds)
  const only = ofKinds.every((names) => names !== undefined) ? ofKinds.flat() : undefined
  const { entries } = useFoundObjects(wanted[0]?.name ?? '', kinds, only)
  return {
    named: wanted
      .flatMap(({ deed }) =>
        entries
          .filter(({ tag = '' }) => deed.kinds === undefined || deed.kinds.includes(tag))
          .map((entry) => deedWith(entry, deed)),
      )
      .slice(0, most),
    waiting: deeds.map(({ key, label, also }) => ({
      key: `deed ${key}`,
      icon: 'action',
      title: label,
      detail: typeName(label),
      also,
      fill: `${label} `,
    })),
  }
}

function deedWith({ id = '', ...entry }: Entry, { key, label, run, tab }: ObjectDeed): Entry {
  return {
    ...entry,
    because: undefined,
    key: `action ${key} ${id}`,
    title: `${label} ${entry.title}`,
    tab,
    run: () => run?.(id),
  }
}

function useDeeds(isAsked: boolean): readonly ObjectDeed[] {
  const takesWrites = useTakesWrites()
  const hasShells = useShells(isAsked)
  const actions = takesWrites ? actionNames : []
  return [
    ...actions.map((name): ObjectDeed => ({
      key: name,
      label: words.actions.of[name].label,
      also: otherActionWords[name] ?? [],
      kinds: kindsOf(name),
      run: (id) => wantAction(id, name),
    })),
    tabDeed('logs', kindsWithLogs),
    ...(hasShells ? [tabDeed('shell', ['Pod'])] : []),
    tabDeed('yaml'),
    ...(takesWrites ? [tabDeed('edit')] : []),
  ]
}

function tabDeed(name: keyof typeof tabDeeds, kinds?: readonly string[]): ObjectDeed {
  return { key: name, ...tabDeeds[name], kinds, tab: name === 'edit' ? 'yaml' : name }
}

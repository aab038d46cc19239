import { Dialog } from '@base-ui/react/dialog'
import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, type MouseEvent, useEffect, useId, useState } from 'react'
import { Keys } from '../frame/keys-dialog.tsx'
import { Health } from '../look/health.tsx'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import type { Entry, EntryGroup } from './entries.ts'
import { fitOfEntry, fitting, looseFit, partFit } from './fit.ts'
import { type FoundActions, useFoundActions } from './found-actions.ts'
import { useFoundObjects } from './found-objects.ts'
import { useOwnEntries } from './own-entries.ts'
import styles from './palette.module.css'
import { noteRecent, recentEntries } from './recent.ts'

const said = words.search

/** The search over the page, by Ctrl/Cmd-K: kinds, objects, views and actions. */
export function Palette({
  isOpen,
  setOpen,
  openKeys,
}: {
  readonly isOpen: boolean
  readonly setOpen: (open: boolean) => void
  readonly openKeys: () => void
}) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay['backdrop']} />
        <Dialog.Popup
          className={`${overlay['dialog']} ${styles['palette']}`}
          aria-label={said.title}
        >
          <Search
            openKeys={openKeys}
            close={() => {
              setOpen(false)
            }}
          />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Search({
  close,
  openKeys,
}: {
  readonly close: () => void
  readonly openKeys: () => void
}) {
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const type = (value: string): void => {
    setTyped(value)
    setChosenKey(undefined)
  }
  const { kinds, ...own } = useOwnEntries({ openKeys })
  const found = useFoundObjects(text, kinds)
  const toDo = useFoundActions(text, kinds)
  const groups = groupsOf(text, { ...own, objects: found.entries, toDo })
  const entries = groups.flatMap((group) => group.entries)
  // By its key: the chosen entry stays chosen when others come.
  const [chosenKey, setChosenKey] = useState<string | undefined>(undefined)
  const chosen = entries.find(({ key }) => key === chosenKey) ?? entries[0]
  const leave = useOpen(close)
  const open: typeof leave = (entry, event) => {
    if (entry.fill === undefined) leave(entry, event)
    else type(entry.fill)
  }
  const id = useId()
  const idOf = (entry: Entry): string => `${id}-${entries.indexOf(entry)}`
  const move = (step: number): void => {
    if (chosen === undefined) return
    const place = (entries.indexOf(chosen) + step + entries.length) % entries.length
    setChosenKey(entries[place]?.key)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown') move(1)
    else if (event.key === 'ArrowUp') move(-1)
    else if (event.key === 'Enter' && chosen !== undefined) open(chosen, event)
    else return
    event.preventDefault()
  }
  useEffect(() => {
    if (chosen !== undefined)
      document.getElementById(idOf(chosen))?.scrollIntoView({ block: 'nearest' })
  }, [chosen?.key])
  const isEmpty = entries.length === 0
  return (
    <>
      <div className={styles['head']}>
        <Icon name="search" />
        <input
          className={styles['input']}
          role="combobox"
          aria-label={said.title}
          aria-expanded={!isEmpty}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={chosen === undefined ? undefined : idOf(chosen)}
          placeholder={said.placeholder}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={({ target }) => type(target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label={said.title}
        aria-busy={found.isPending}
        className={styles['list']}
      >
        {groups.map((group) => (
          <div key={group.name} role="group" aria-labelledby={`${id}-${group.name}`}>
            <div id={`${id}-${group.name}`} className={overlay['label']}>
              {said[group.name]}
            </div>
            {group.entries.map((entry) => (
              <Line
                key={entry.key}
                id={idOf(entry)}
                entry={entry}
                isChosen={entry === chosen}
                choose={() => {
                  setChosenKey(entry.key)
                }}
                open={(event) => {
                  open(entry, event)
                }}
              />
            ))}
          </div>
        ))}
      </div>
      {isEmpty && !found.isPending ? (
        <div className={styles['nothing']}>
          <p>{said.nothing(text)}</p>
          <p>{said.nothingNext}</p>
        </div>
      ) : null}
      <Foot text={text} entries={entries.length} found={found} />
    </>
  )
}

/** What the search shows for a text: without one, what was opened last, the views and the actions. */
function groupsOf(
  text: string,
  all: {
    readonly ofKinds: readonly Entry[]
    readonly objects: readonly Entry[]
    readonly clusters: readonly Entry[]
    readonly toDo: FoundActions
    readonly views: readonly Entry[]
    readonly actions: readonly Entry[]
  },
): readonly EntryGroup[] {
  if (text === '') {
    return withEntries([
      { name: 'recent', entries: recentEntries() },
      { name: 'views', entries: all.views },
      { name: 'actions', entries: all.actions },
    ])
  }
  const { named, waiting } = all.toDo
  // Names of the page come before objects that fit as well, so that what is typed most stays at its place.
  const groups: readonly EntryGroup[] = [
    { name: 'clusters', entries: fitting(text, all.clusters, 4) },
    { name: 'views', entries: fitting(text, all.views, 4) },
    { name: 'kinds', entries: fitting(text, all.ofKinds, 5) },
    ...(named.length > 0
      ? []
      : [{ name: 'actions' as const, entries: fitting(text, [...waiting, ...all.actions], 4) }]),
    { name: 'objects', entries: all.objects },
  ]
  return withEntries([
    { name: 'actions', entries: named },
    ...groups.toSorted((one, other) => rankOf(text, one) - rankOf(text, other)),
  ])
}

/** How well the best entry of a group fits, to order the groups. */
function rankOf(text: string, { name, entries }: EntryGroup): number {
  const best = Math.min(...entries.map((entry) => fitOfEntry(text, entry) ?? looseFit))
  // A part of a name means the object that has it. Labels and addresses are found by parts only.
  if (name === 'objects') return Math.min(best, partFit)
  return best < partFit ? best : best + 0.5
}

function withEntries(groups: readonly EntryGroup[]): readonly EntryGroup[] {
  const offered = new Set<string>()
  return groups
    .map(({ name, entries }) => ({
      name,
      entries: entries.filter(({ key }) => !offered.has(key) && offered.add(key)),
    }))
    .filter(({ entries }) => entries.length > 0)
}

/** Opens an entry; with Ctrl or Cmd in another tab. */
function useOpen(
  close: () => void,
): (entry: Entry, event: Pick<MouseEvent, 'ctrlKey' | 'metaKey'>) => void {
  const router = useRouter()
  const { scope } = useScope()
  return (entry, { ctrlKey, metaKey }) => {
    noteRecent(entry)
    close()
    entry.run?.()
    if (entry.href !== undefined) {
      const href = inScope(entry.href, scope, entry.tab)
      if (ctrlKey || metaKey) window.open(href)
      else router.history.push(href)
    }
  }
}

/** The scope goes along, except to a pinned view, which has its own. */
function inScope(
  href: string,
  { clusters, namespaces }: ReturnType<typeof useScope>['scope'],
  tab: string | undefined,
): string {
  if (href.includes('?')) return href
  const search = new URLSearchParams({
    ...(clusters === undefined ? {} : { cluster: clusters.join(',') }),
    ...(namespaces === undefined ? {} : { ns: namespaces.join(',') }),
    ...(tab === undefined ? {} : { tab }),
  }).toString()
  return search === '' ? href : `${href}?${search}`
}

function Line({
  id,
  entry: { icon, title, detail, tag, because, status },
  isChosen,
  choose,
  open,
}: {
  readonly id: string
  readonly entry: Entry
  readonly isChosen: boolean
  readonly choose: () => void
  readonly open: (event: MouseEvent) => void
}) {
  return (
    // The field has the focus and takes the keys.
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      data-highlighted={isChosen ? '' : undefined}
      className={`${overlay['item']} ${styles['line']}`}
      onMouseMove={choose}
      onMouseDown={(event) => {
        event.preventDefault()
      }}
      onClick={open}
    >
      <span className={styles['icon']}>
        {status === undefined || status === null ? (
          <Icon name={icon} />
        ) : (
          <Health status={status} bare />
        )}
      </span>
      <span className={styles['title']} title={title}>
        {title}
      </span>
      {detail === undefined ? null : <span className={styles['detail']}>{detail}</span>}
      {because === undefined ? null : (
        <span className={styles['because']} title={because}>
          {because}
        </span>
      )}
      {tag === undefined ? null : <span className={styles['tag']}>{tag}</span>}
    </div>
  )
}

function Foot({
  text,
  entries,
  found: { more, notLookedAt, gaps, errors, isPending },
}: {
  readonly text: string
  readonly entries: number
  readonly found: ReturnType<typeof useFoundObjects>
}) {
  const { namespaces } = useScope().scope
  return (
    <div className={styles['foot']}>
      <div className={styles['notes']} role="status">
        {text === '' ? null : (
          <span className="visually-hidden">
            {isPending ? said.searching : said.results(entries)}
          </span>
        )}
        {errors.map(({ message }) => (
          <span key={message} className={styles['error']}>
            {message}
          </span>
        ))}
        {more > 0 ? <span>{said.more(more)}</span> : null}
        {text !== '' && namespaces !== undefined ? <span>{said.inScope(namespaces)}</span> : null}
        {gaps.map((sentence) => (
          <span key={sentence}>{sentence}</span>
        ))}
        {notLookedAt.length > 0 ? (
          <span title={notLookedAt.join(', ')}>{said.notLookedAt(notLookedAt)}</span>
        ) : null}
      </div>
      <div className={styles['keys']} aria-hidden="true">
        <Keys keys="↑ ↓" /> {said.select}
        <Keys keys="↵" /> {said.open}
        <Keys keys="Esc" /> {said.leave}
      </div>
    </div>
  )
}

import { useEffect, useLayoutEffect, useRef } from 'react'
import { pageState } from '../page-state.ts'

/** A key of the page. */
export interface KeyBinding {
  /** `g p` (one after the other), `?`, `mod+k` (Ctrl, or Cmd on a Mac), `shift+ArrowDown`. */
  readonly keys: string
  /** Other keys that do the same where a component takes them by itself ({@link runKey}). */
  readonly also?: readonly string[]
  /** Whether {@link keys} is such a key, too. Default: it works in the whole page. */
  readonly isOwn?: boolean
  /** Whether it comes before others of the same key, whenever these are bound. */
  readonly isFirst?: boolean
  /** What it does, for the list of keys. */
  readonly does: string
  readonly run: (key: string) => void
}

type Bindings = readonly KeyBinding[]

const isMac = navigator.platform.startsWith('Mac')
/** How long the page waits for the second key of two. */
const sequenceMs = 2_000
const held = new Set<{ readonly current: Bindings }>()
const state = pageState()
let shown: Bindings = []
/** {@link shown} without those whose key another one has. */
let listed: Bindings = []
let pending = ''
let pendingAt = 0
/** How many views are loading that will bind keys, and the key that was pressed meanwhile. */
let loading = 0
let early = ''

function changed(): void {
  shown = [...held].flatMap(({ current }) => current)
  listed = [...new Map(shown.map((binding) => [binding.keys, binding])).values()]
  if (early !== '' && start(early)) early = ''
  state.changed()
}

/** Letters belong to a field of text while it has the focus, and all keys to an open dialog or menu. */
function isTaken({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    target.closest(
      'input:not([type=checkbox], [type=radio]), textarea, select, [role=dialog], [role=menu], [role=listbox]',
    ) !== null
  )
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.repeat) return
  const key = keyOf(event)
  if (key.startsWith('mod+')) {
    if (start(key)) event.preventDefault()
    return
  }
  early = ''
  if (isTaken(event)) return
  // By the times of the keys, not of their handling: a busy page does not lose the second one.
  const isSecond = pending !== '' && event.timeStamp - pendingAt < sequenceMs
  const sequence = isSecond ? `${pending} ${key}` : key
  pending = ''
  if (start(sequence)) {
    event.preventDefault()
  } else if (shown.some(({ keys }) => keys.startsWith(`${sequence} `))) {
    pending = sequence
    pendingAt = event.timeStamp
  } else if (loading > 0) {
    early = sequence
  }
}

function start(sequence: string): boolean {
  // The latest component comes first: a view may take a key of the frame.
  const bindings = shown.filter(({ keys, isOwn }) => keys === sequence && isOwn !== true)
  const binding = bindings.find(({ isFirst }) => isFirst) ?? bindings.at(-1)
  if (binding === undefined) return false
  binding.run(sequence)
  return true
}

/** The key that is pressed, as bindings name it. */
function keyOf({
  key,
  shiftKey,
  ctrlKey,
  metaKey,
}: Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey'>): string {
  const name = key === ' ' ? 'Space' : key
  if (isMac ? metaKey : ctrlKey) return `mod+${name.length === 1 ? name.toLowerCase() : name}`
  if (ctrlKey || metaKey) return `other+${name}`
  return shiftKey && name.length > 1 ? `shift+${name}` : name
}

/** Runs what a component has bound to the key that is pressed on it. */
export function runKey(
  event: Parameters<typeof keyOf>[0] & { readonly preventDefault: () => void },
  bindings: Bindings,
): void {
  const key = keyOf(event)
  const binding = bindings.find(({ keys, also }) => keys === key || also?.includes(key))
  if (binding === undefined) return
  event.preventDefault()
  binding.run(key)
}

addEventListener('keydown', pressed)
// The user has gone on to something else.
addEventListener('pointerdown', () => {
  early = ''
})

/** While the component is mounted, the last key that nothing takes waits for the view that is loading. */
export function useEarlyKeys(): void {
  useEffect(() => {
    loading++
    return () => {
      loading--
      // The view has bound its keys by then.
      setTimeout(() => {
        if (loading === 0) early = ''
      })
    }
  }, [])
}

/** Binds keys while the component is mounted. They do nothing while a field, a dialog or a menu has the focus, except `mod+…`. */
export function useKeys(bindings: Bindings): void {
  const latest = useRef(bindings)
  useLayoutEffect(() => {
    latest.current = bindings
  })
  useEffect(() => {
    // Each binding runs what the latest rendering says.
    const own = {
      current: latest.current.map((binding, index) => ({
        ...binding,
        run: (key: string) => latest.current[index]?.run(key),
      })),
    }
    held.add(own)
    changed()
    return () => {
      held.delete(own)
      changed()
    }
  }, [bindings.map(({ keys, does }) => `${keys} ${does}`).join('\n')])
}

/** All keys that do something now, each once. */
export function useShownKeys(): Bindings {
  return state.useState(() => listed)
}

/** A key as people know it: `Ctrl K`, `⌘ K`, `g p`. */
export function keyWords(keys: string): readonly string[] {
  return keys.split(' ').flatMap((key) => {
    const parts = key.split('+')
    return parts.map(
      (part) =>
        keyNames[part] ?? (parts.length > 1 && part.length === 1 ? part.toUpperCase() : part),
    )
  })
}

const keyNames: Readonly<Record<string, string>> = {
  mod: isMac ? '⌘' : 'Ctrl',
  shift: '⇧',
  ArrowDown: '↓',
  ArrowUp: '↑',
  PageDown: 'PgDn',
  PageUp: 'PgUp',
  Enter: '↵',
  Escape: 'Esc',
}

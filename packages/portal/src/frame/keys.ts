import { useEffect, useLayoutEffect, useRef } from 'react'
import { pageState } from '../page-state.ts'

/** A key of the page. */
export interface KeyBinding {
  /** `g p` (one after the other), `?`, `mod+k` (Ctrl, or Cmd on a Mac). */
  readonly keys: string
  /** What it does, for the list of keys. */
  readonly does: string
  readonly run: () => void
}

type Bindings = readonly KeyBinding[]

const isMac = navigator.platform.startsWith('Mac')
/** How long the page waits for the second key of two. */
const sequenceMs = 2_000
const held = new Set<{ readonly current: Bindings }>()
const state = pageState()
let shown: Bindings = []
let pending = ''
let pendingAt = 0

function changed(): void {
  shown = [...held].flatMap(({ current }) => current)
  state.changed()
}

/** Keys belong to a field while it has the focus, and to an open dialog or menu. */
function isTaken({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    target.closest('input, textarea, select, [role=dialog], [role=menu], [role=listbox]') !== null
  )
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.repeat) return
  const hasMod = isMac ? event.metaKey : event.ctrlKey
  if (hasMod) {
    start(event, `mod+${event.key.toLowerCase()}`)
    return
  }
  if (event.ctrlKey || event.metaKey || isTaken(event)) return
  // By the times of the keys, not of their handling: a busy page does not lose the second one.
  const isSecond = pending !== '' && event.timeStamp - pendingAt < sequenceMs
  const sequence = isSecond ? `${pending} ${event.key}` : event.key
  pending = ''
  if (start(event, sequence)) return
  if (!shown.some(({ keys }) => keys.startsWith(`${sequence} `))) return
  pending = sequence
  pendingAt = event.timeStamp
}

function start(event: KeyboardEvent, sequence: string): boolean {
  // The latest component comes first: a view may take a key of the frame.
  const binding = shown.findLast(({ keys }) => keys === sequence)
  if (binding === undefined) return false
  event.preventDefault()
  binding.run()
  return true
}

addEventListener('keydown', pressed)

/** Binds keys while the component is mounted. They do nothing while a field, a dialog or a menu has the focus, except `mod+…`. */
export function useKeys(bindings: Bindings): void {
  const latest = useRef(bindings)
  useLayoutEffect(() => {
    latest.current = bindings
  })
  useEffect(() => {
    // Each binding runs what the latest rendering says.
    const own = {
      current: latest.current.map(({ keys, does }, index) => ({
        keys,
        does,
        run: () => latest.current[index]?.run(),
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

/** All keys that do something now. */
export function useShownKeys(): Bindings {
  return state.useState(() => shown)
}

/** A key as people know it: `Ctrl K`, `⌘ K`, `g p`. */
export function keyWords(keys: string): readonly string[] {
  return keys
    .split(' ')
    .flatMap((key) =>
      key.startsWith('mod+') ? [isMac ? '⌘' : 'Ctrl', key.slice(4).toUpperCase()] : [key],
    )
}

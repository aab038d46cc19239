import { useSyncExternalStore } from 'react'
import { words } from '../words.ts'
import { dayAndTime } from './times.ts'

const units = [
  ['y', 31_536_000],
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const

/** A span of time in at most two units, as `kubectl get` writes ages: `14s`, `3m20s`, `5d`. */
export function spanOf(ms: number): string {
  let seconds = Math.max(0, Math.round(ms / 1000))
  const first = units.findIndex(([, size]) => seconds >= size)
  if (first < 0) return '0s'
  const [unit, size] = units[first] ?? ['s', 1]
  const count = Math.floor(seconds / size)
  seconds -= count * size
  const next = units[first + 1]
  const rest = next === undefined ? 0 : Math.floor(seconds / next[1])
  return count < 10 && next !== undefined && rest > 0
    ? `${count}${unit}${rest}${next[0]}`
    : `${count}${unit}`
}

const listeners = new Set<() => void>()
let now = Date.now()
let clock: ReturnType<typeof setInterval> | undefined

/** One clock for all ages of the page, which turns each second while any is shown. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  clock ??= setInterval(() => {
    now = Date.now()
    for (const one of listeners) one()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(clock)
    clock = undefined
  }
}

/** Clocks differ: what has just happened is not to come. */
const clocksMs = 10_000

/** Whether a time is to come. */
export function isAhead(time: number, at: number): boolean {
  return time - at > clocksMs
}

/** The age of a time, or how far ahead it is: `5d`, `in 89d`. */
export function ageOf(time: number, at: number): string {
  return isAhead(time, at) ? words.ahead(spanOf(time - at)) : spanOf(Math.max(0, at - time))
}

/** The age of a time, by RFC 3339, or how far ahead it is; its absolute form is in its title. */
export function Age({ since }: { readonly since: string | null | undefined }) {
  const text = useSyncExternalStore(subscribe, () =>
    since === null || since === undefined ? '' : ageOf(Date.parse(since), now),
  )
  if (since === null || since === undefined) return null
  return (
    <time dateTime={since} title={dayAndTime(new Date(since))}>
      {text}
    </time>
  )
}

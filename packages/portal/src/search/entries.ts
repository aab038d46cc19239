import type { HealthStatus } from '../look/health.tsx'
import type { IconName } from '../look/icons.tsx'

/** A line of the search: a kind, an object, a view, or something to do. */
export interface Entry {
  /** Unique, and the same whenever the entry is offered. */
  readonly key: string
  readonly icon: IconName
  readonly title: string
  /** Beside the title, dimmed: the namespace, the group. */
  readonly detail?: string | undefined
  /** At the end of the line: the kind of an object. */
  readonly tag?: string | undefined
  /** Why it was found, where the title does not say it: `image: nginx:1.27`. */
  readonly because?: string | undefined
  readonly status?: HealthStatus | undefined
  /** Other words that find it. */
  readonly also?: readonly string[]
  /** An address of the page… */
  readonly href?: string
  /** …or something to do. */
  readonly run?: () => void
}

/** Entries under their heading. */
export interface EntryGroup {
  readonly name: 'recent' | 'kinds' | 'objects' | 'views' | 'actions'
  readonly entries: readonly Entry[]
}

/**
 * How well a text fits a title, the best being 0; undefined if it does not. A beginning is better than the beginning of a
 * later word, and that is better than any other part; last come letters that only appear in this order (`dply`).
 */
export function fitOf(text: string, title: string): number | undefined {
  const wanted = text.toLowerCase()
  const whole = title.toLowerCase()
  if (whole === wanted) return 0
  if (whole.startsWith(wanted)) return 1
  const place = whole.indexOf(wanted)
  if (place > 0) return /[a-z0-9]/.test(whole[place - 1] ?? '') ? 3 : 2
  let from = 0
  for (const letter of wanted) {
    from = whole.indexOf(letter, from) + 1
    if (from === 0) return undefined
  }
  // Two letters in order are in nearly every title.
  return wanted.length > 2 ? 4 : undefined
}

/** The entries that a text fits, the best first. */
export function fitting(text: string, entries: readonly Entry[], most: number): readonly Entry[] {
  return entries
    .flatMap((entry) => {
      const fits = [entry.title, ...(entry.also ?? [])].flatMap((word) => fitOf(text, word) ?? [])
      return fits.length === 0 ? [] : [{ entry, fit: Math.min(...fits) }]
    })
    .toSorted((a, b) => a.fit - b.fit || a.entry.title.length - b.entry.title.length)
    .slice(0, most)
    .map(({ entry }) => entry)
}

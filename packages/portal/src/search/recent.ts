import type { Entry } from './entries.ts'

type RecentEntry = Pick<Entry, 'key' | 'icon' | 'title' | 'detail' | 'tag'> & {
  readonly href: string
}

const kept = 'informerql.recent'
const most = 8

/** What the user has opened from the search, the latest first. */
export function recentEntries(): readonly RecentEntry[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(kept) ?? '[]')
    return Array.isArray(list) ? list.filter(isEntry).slice(0, most) : []
  } catch {
    return []
  }
}

function isEntry(value: unknown): value is RecentEntry {
  const { key, icon, title, href } = (value ?? {}) as Partial<RecentEntry>
  return [key, icon, title, href].every((part) => typeof part === 'string')
}

/** Notes that the user has opened an entry. */
export function noteRecent({ key, icon, title, detail, tag, href, run }: Entry): void {
  // An action is offered for what it is done with.
  if (href === undefined || run !== undefined) return
  const others = recentEntries().filter((entry) => entry.key !== key)
  const next = [{ key, icon, title, detail, tag, href }, ...others].slice(0, most)
  localStorage.setItem(kept, JSON.stringify(next))
}

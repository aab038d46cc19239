import { pageState } from '../page-state.ts'

/** A view that the user has pinned: an address of the page, and its name. */
export interface PinnedView {
  readonly title: string
  /** The path and its parameters: `/kinds/pods?q=health:degraded`. */
  readonly href: string
}

const kept = 'informerql.pinned'
const state = pageState()
let views: readonly PinnedView[] = read()

function read(): readonly PinnedView[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(kept) ?? '[]')
    return Array.isArray(list) ? list.filter(isView) : []
  } catch {
    return []
  }
}

function isView(value: unknown): value is PinnedView {
  const { title, href } = (value ?? {}) as Partial<PinnedView>
  return typeof title === 'string' && typeof href === 'string' && href.startsWith('/')
}

function becomes(next: readonly PinnedView[]): void {
  views = next
  state.changed()
}

// Another tab may pin as well.
addEventListener('storage', ({ key }) => {
  if (key === kept) becomes(read())
})

/** The pinned views, and a function that pins one, or unpins it if it is pinned. */
export function usePinned(): readonly [readonly PinnedView[], (view: PinnedView) => void] {
  const pinned = state.useState(() => views)
  return [
    pinned,
    (view) => {
      const others = views.filter(({ href }) => href !== view.href)
      const next = others.length < views.length ? others : [...views, view]
      localStorage.setItem(kept, JSON.stringify(next))
      becomes(next)
    },
  ]
}
